"""What a session tells of its turns: which there were, and why their contexts were what they were."""

import sqlite3
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import msgspec
import pytest

import actormem
from actormem import Budget, NotFoundError, StoppedError, Trace, UsageError
from actormem.actors.history import PAGE_EVENTS, search_back
from actormem.core.session.events import MessageAdded, Rewound, SessionEvent, encode_event
from actormem.core.values import Owner, SessionKey
from actormem.ports import AppendEvents, StoredEvent
from actormem.storage.checks import checksum
from actormem.storage.record import open_record
from tests.runtimes import FakeClock, answered, chunk, opened

pytestmark = pytest.mark.anyio

CALL = {"id": "c-1", "type": "function", "function": {"name": "track", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c-1", "content": "sent"}
BEGAN = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)


async def test_turns_are_told_oldest_first_with_their_times_messages_and_tokens() -> None:
    clock = FakeClock(now_ms=int(BEGAN.timestamp() * 1000))
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", timezone="Asia/Shanghai")
        assert await session.turns() == ()
        await session.add({"role": "user", "content": "not a turn", "id": "aside"})
        async with session.turn("Where is it?", id="t-1") as turn:
            clock.hold(2)
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL], "id": "call"})
            await turn.add({**RESULT, "id": "result"})
            await turn.context()
            last = turn.trace
            turn.reply({"role": "assistant", "content": "On its way.", "id": "reply"})
        clock.hold(60)
        async with session.turn("谢谢", id="t-2") as turn:
            turn.feed(chunk("不客"))
            [first, second] = await session.turns()
            assert (second.outcome, second.ended, second.message_ids) == ("open", None, ("t-2",))
            assert second.context_tokens == turn.trace.tokens
            assert second.began == BEGAN + timedelta(seconds=62)
        assert first == actormem.PastTurn(
            id="t-1",
            outcome="complete",
            began=BEGAN,
            ended=BEGAN + timedelta(seconds=2),
            message_ids=("t-1", "call", "result", "reply"),
            context_tokens=last.tokens,
        )
        assert [turn.outcome for turn in await session.turns()] == ["complete", "partial"]


async def test_the_trace_of_every_turn_is_read_back_as_it_was_after_opening_again_too(tmp_path: Path) -> None:
    seen: dict[str, Trace] = {}
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("old", user="ada"), "我对花生过敏。")
        session = await runtime.spawn("s", user="ada", system="You help.", budget=Budget(context=700))
        for number in range(30):
            async with session.turn(f"推荐第 {number} 道菜，不要有我过敏的东西？", id=f"t-{number}") as turn:
                assert await session.trace(turn.id) == turn.trace, "the open one's"
                seen[turn.id] = turn.trace
                turn.reply("好的，给您推荐番茄炒蛋。")
            assert await session.trace(f"t-{number}") == seen[f"t-{number}"]
        assert {turn.id: turn.context_tokens for turn in await session.turns()} == {
            id: trace.tokens for id, trace in seen.items()
        }
    assert any(trace.included for trace in seen.values())
    assert any(trace.left_out for trace in seen.values())
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        for id, trace in seen.items():
            assert await session.trace(id) == trace


async def test_the_last_context_of_a_turn_still_tells_what_its_note_shows() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("old", user="ada"), "I'm allergic to peanuts.")
        session = await runtime.spawn("s", user="ada")
        async with session.turn("What am I allergic to?", id="t") as turn:
            included = turn.trace.included
            assert included
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
            await turn.add(RESULT)
            await turn.context()
            assert turn.trace.included == included
            assert turn.trace.gate == "no new user message"
            turn.reply("Peanuts.")
        assert (await session.trace("t")).included == included


@pytest.mark.parametrize("how", ["failed", "unanswered", "cancelled"])
async def test_a_turn_that_was_not_answered_has_its_trace_too(how: str) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        traces: list[Trace] = []
        with anyio.CancelScope() as scope, suppress(actormem.UsageError):
            async with session.turn("q", id="t") as turn:
                traces.append(turn.trace)
                if how == "failed":
                    turn.reply({"role": "tool"})  # refused, and so the block fails
                if how == "cancelled":
                    scope.cancel()
                    await anyio.lowlevel.checkpoint()
        assert [await session.trace("t")] == traces
        [turn_then] = await session.turns()
        assert turn_then.outcome == ("failed" if how == "failed" else "unanswered")


async def test_a_resumed_turn_has_the_trace_of_its_last_context() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="t"):
            pass
        await session.add({"role": "system", "content": "an aside that takes some tokens"})
        async with session.turn("q", id="t") as turn:
            turn.reply("a")
        assert await session.trace("t") == turn.trace
        assert turn.trace.tokens > 10


async def test_a_turn_that_is_unknown_or_rewound_has_no_trace() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="t-1") as turn:
            turn.reply({"role": "assistant", "content": "a", "id": "r-1"})
        await session.add({"role": "user", "content": "aside", "id": "aside"})
        await answered(session, "more")
        for id, said in (
            ("nothing", "no turn of that id"),
            ("aside", "began no turn"),
            ("r-1", "began no turn"),
        ):
            with pytest.raises(NotFoundError, match=said) as refused:
                await session.trace(id)
            assert refused.value.id == id
        await session.rewind("r-1")
        with pytest.raises(NotFoundError, match="its end was rewound"):
            await session.trace("t-1")
        await session.rewind("t-1")
        with pytest.raises(NotFoundError, match="no turn of that id"):
            await session.trace("t-1")
        async with session.turn("q", id="t-1") as turn:
            turn.reply("b")
        assert await session.trace("t-1") == turn.trace
        with pytest.raises(UsageError):
            await session.trace("")


async def test_a_turn_the_process_ended_in_says_that_it_has_no_trace(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        async with opened(tmp_path) as runtime:
            session = await runtime.spawn("s", user="ada")
            await answered(session, "before")
            entered = anyio.Event()

            async def serve() -> None:
                with suppress(StoppedError):
                    async with session.turn("q", id="t"):
                        entered.set()
                        await anyio.sleep_forever()

            group.start_soon(serve)
            await entered.wait()
        group.cancel_scope.cancel()
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert [turn.outcome for turn in await session.turns()] == ["complete", "unanswered"]
        with pytest.raises(NotFoundError, match="the process ended inside it"):
            await session.trace("t")


@pytest.mark.parametrize("kept", [None, b"", b"not a trace"])
async def test_a_turn_that_another_version_recorded_is_told_and_says_that_it_has_no_trace(
    tmp_path: Path, kept: bytes | None
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="t") as turn:
            turn.reply("a")
    with sqlite3.connect(tmp_path / "record.db") as connection:
        for sequence, body in connection.execute("SELECT sequence, body FROM events").fetchall():
            fields = msgspec.msgpack.decode(body)
            if fields["type"] == "turn_closed":
                del fields["trace"]
                changed = msgspec.msgpack.encode(fields if kept is None else {**fields, "trace": kept})
                values = (changed, checksum(sequence, "", changed, None), sequence)
                connection.execute("UPDATE events SET body = ?, checksum = ? WHERE sequence = ?", values)
    connection.close()
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert [(one.outcome, one.context_tokens) for one in await session.turns()] == [("complete", 0)]
        with pytest.raises(NotFoundError, match="another version"):
            await session.trace("t")


async def test_a_trace_holds_ids_and_numbers_and_no_word_of_anybodys() -> None:
    said = (
        "My order is KX-48210, Zanzibar.",
        "把花生送到文三路",
        "What did I order? Zanzibar?",
        "花生 " * 300,
    )
    async with opened() as runtime:
        await answered(await runtime.spawn("old", user="ada"), "I'm allergic to peanuts.")
        session = await runtime.spawn("s", user="ada", system="You are Zanzibar.", budget=Budget(context=300))
        for text in said * 4:
            await answered(session, text, "Zanzibar, 花生.")
            await runtime.settle()
        for turn in await session.turns():
            kept = msgspec.json.encode(await session.trace(turn.id)).decode()
            for word in ("KX-48210", "Zanzibar", "花生", "文三路", "peanuts", "order", "memory-"):
                assert word not in kept


async def test_searching_back_reads_pages_and_jumps_over_what_was_rewound() -> None:
    key = SessionKey(Owner("", "ada"), "s")
    count = 2 * PAGE_EVENTS + 100
    events: list[SessionEvent] = [
        MessageAdded(id=f"m{number}", tokens=1, time_ms=1, offset_minutes=0, text=None)
        for number in range(1, count + 1)
    ]
    events[count - 11] = Rewound(first=21, sequence=count - 10, epoch_count=1, time_ms=1)
    stored = tuple(
        StoredEvent(sequence=sequence, body=encode_event(event)[0])
        for sequence, event in enumerate(events, 1)
    )
    async with open_record(None) as record:
        await record.sync([AppendEvents(key, stored, 1)])
        seen: list[int] = []

        def look(sequence: int, _: SessionEvent) -> None:
            seen.append(sequence)

        assert await search_back(record, key, count, look) is None
        assert seen == [*range(count, count - 11, -1), *range(20, 0, -1)]
        found = await search_back(record, key, count, lambda sequence, _: sequence if sequence < 9 else None)
        assert found == 8
