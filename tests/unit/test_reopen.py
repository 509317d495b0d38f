"""A folder that is opened again, and a session that wakes again, go on byte for byte where they were."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

import actormem
from actormem import Budget, CorruptError
from tests.runtimes import FakeClock, answered, bytes_of, chunk, opened, words

pytestmark = pytest.mark.anyio

TOOLS = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]
CALL = {"id": "c-1", "type": "function", "function": {"name": "track", "arguments": '{"b":1, "a":2}'}}
SAID = (
    "我对花生过敏。",
    "My new address is 5 Hill Street.",
    "What am I allergic to?",
    "我的订单号是 KX-48210。",
    "Where do I live, by the way?",
)


async def lived(runtime: actormem.Runtime, name: str = "s", turns: int = 5) -> actormem.Session:
    """A session that has a bit of everything: notes, tool calls, multimodal parts, settings."""
    session = await runtime.spawn(
        name,
        user="ada",
        system="You help.",
        tools=TOOLS,
        budget=Budget(context=900),
        timezone="Asia/Shanghai",
    )
    for number in range(turns):
        await answered(session, f"{SAID[number % 5]} ({number})", f"Answer {number}.")
    async with session.turn([{"type": "text", "text": "看图"}]) as turn:
        turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
        await turn.add({"role": "tool", "tool_call_id": "c-1", "content": "sent"})
        turn.reply("On its way.")
    return session


async def answers(session: actormem.Session) -> list[bytes]:
    return bytes_of((await session.context()).messages)


def uncounted(item: actormem.Item) -> actormem.Item:
    """The item, however often it was shown."""
    return msgspec.structs.replace(item, shown_count=0, last_shown_ms=0)


def altered(folder: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(folder / "record.db") as connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


@pytest.mark.parametrize("turns", [5, 40])
async def test_the_next_context_is_byte_for_byte_what_it_would_have_been(tmp_path: Path, turns: int) -> None:
    """The same conversation twice: one goes on, the other is closed and opened between any two parts."""
    async with opened(tmp_path) as runtime:
        session = await lived(runtime, turns=turns)
        await runtime.settle()
        before = await session.context()
        messages, items = await session.messages(), await runtime.items("ada", history=True)
        await answered(await runtime.spawn("late", user="ada"), "I'm allergic to walnuts.")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        after = await session.context()
        assert bytes_of(after.messages) == bytes_of(before.messages)
        assert (after.trace.epoch, after.trace.tokens) == (before.trace.epoch, before.trace.tokens)
        assert after.trace.epoch_end == ""
        assert after.trace.budget_tokens == 900
        assert await session.messages() == messages
        known = {item.id for item in items}
        now = [one for one in await runtime.items("ada", history=True) if one.id in known]
        assert [uncounted(one) for one in now] == [uncounted(one) for one in items]
        async with session.turn("And what else am I allergic to?") as turn:
            if not turn.trace.epoch_end:
                assert bytes_of(turn.messages)[: len(after.messages)] == bytes_of(before.messages)
            assert "walnuts" in words(turn.messages)
            turn.reply("Walnuts.")


async def test_settings_are_restored(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        before = (await (await lived(runtime)).context()).trace
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        after = (await session.context()).trace
        assert after.sections == before.sections
        added = await session.add({"role": "user", "content": "x"})
        assert added.offset_minutes == 480


async def test_a_session_is_passivated_when_idle_and_wakes_the_same(tmp_path: Path) -> None:
    clock = FakeClock()
    async with opened(tmp_path, clock=clock, idle_s=60) as runtime:
        session = await lived(runtime)
        await runtime.settle()
        before = await answers(session)
        messages = await session.messages()
        assert runtime.statistics().sessions.residents == 1
        await clock.advance(200)
        assert runtime.statistics().sessions.residents == 0
        assert runtime.statistics().longterm.residents == 0
        assert await answers(session) == before
        assert await session.messages() == messages
        after = await answered(session, "What am I allergic to?")
        assert bytes_of(after)[: len(before)] == before
        assert runtime.statistics().sessions.passivations == 1


async def test_a_session_with_an_open_turn_is_not_passivated() -> None:
    clock = FakeClock()
    async with opened(clock=clock, idle_s=60) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q") as turn:
            await clock.advance(1_000)
            assert runtime.statistics().sessions.residents == 1
            turn.reply("a")
        assert [m.text for m in await session.messages()] == ["q", "a"]


async def test_no_more_sessions_than_the_limit_stay_and_all_of_them_can_be_used() -> None:
    async with opened(resident_limit=3) as runtime:
        sessions = [await runtime.spawn(f"s{number}", user="ada") for number in range(9)]
        for _ in range(2):
            for number, session in enumerate(sessions):
                await answered(session, f"said to {number}")
        assert runtime.statistics().sessions.residents <= 4
        for number, session in enumerate(sessions):
            assert [m.text for m in await session.messages()][::2] == [f"said to {number}"] * 2


@asynccontextmanager
async def closed_inside_a_turn(folder: Path) -> AsyncGenerator[None, None]:
    async with anyio.create_task_group() as group:
        async with opened(folder) as runtime:
            session = await runtime.spawn("s", user="ada")
            await answered(session, "before")
            entered = anyio.Event()

            async def serve() -> None:
                try:
                    async with session.turn("q", id="q-1") as turn:
                        turn.feed(chunk("half"))
                        entered.set()
                        await anyio.sleep_forever()
                except actormem.StoppedError:
                    pass

            group.start_soon(serve)
            await entered.wait()
        group.cancel_scope.cancel()
    yield


async def test_a_turn_that_was_open_at_the_end_is_unanswered_and_can_be_resumed(tmp_path: Path) -> None:
    async with closed_inside_a_turn(tmp_path), opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(await runtime.spawn("other", user="ada"), "nothing is held up")
        async with session.turn("q", id="q-1") as turn:
            assert [m["content"] for m in turn.messages] == ["before", "OK.", "q"]
            turn.reply("a")
        assert [m.text for m in await session.messages()] == ["before", "OK.", "q", "a"]


async def test_an_unanswered_turn_can_be_resumed_after_a_compaction_and_after_reopening(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=1_500))
        for number in range(12):
            await answered(
                session, f"Small talk about the weather and trains, part {number}.", "I see. Go on."
            )
        async with session.turn("q", id="q-1"):
            pass
        await runtime.spawn("s", user="ada", budget=Budget(context=300))
        await runtime.settle()
        await session.add({"role": "assistant", "content": "An aside. " * 20})
        await runtime.settle()
        trace = (await session.context()).trace
        assert any("summarised" in one.reason for one in trace.left_out), str(trace)
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="q-1") as turn:
            turn.reply("a")
        assert [m.text for m in await session.messages()][-3::2] == ["q", "a"]


@pytest.mark.parametrize("whole", [False, True])
async def test_a_damaged_snapshot_is_replayed_from_the_events_or_named(tmp_path: Path, whole: bool) -> None:
    async with opened(tmp_path) as runtime:
        session = await lived(runtime, turns=40)
        await runtime.settle()
        before, messages = await answers(session), await session.messages()
    body = "zeroblob(0)" if whole else "cast('garbage' as blob)"
    altered(tmp_path, f"UPDATE snapshots SET body = {body}")
    async with opened(tmp_path) as runtime:
        try:
            session = await runtime.spawn("s", user="ada")
            assert await answers(session) == before
            assert await session.messages() == messages
        except CorruptError as error:
            if "record.db" not in str(error):
                raise


async def test_no_snapshot_at_all_gives_the_same_state(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await lived(runtime, turns=40)
        await runtime.settle()
        before, trace = await answers(session), (await session.context()).trace
    altered(tmp_path, "DELETE FROM snapshots")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        context = await session.context()
        assert bytes_of(context.messages) == before
        assert (context.trace.sections, context.trace.left_out) == (trace.sections, trace.left_out)


async def test_a_damaged_event_is_a_clear_error_of_its_session_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await lived(runtime)
        await answered(await runtime.spawn("sound", user="ada"), "hi")
    altered(tmp_path, "UPDATE events SET text = 'changed' WHERE name <> '' AND session_no = 1")
    altered(tmp_path, "DELETE FROM snapshots WHERE session_no = 1")
    async with actormem.open(tmp_path, embedder="hashing", clock=FakeClock()) as runtime:
        with pytest.raises(CorruptError, match=r"record\.db"):
            await runtime.spawn("s", user="ada")
        sound = await runtime.spawn("sound", user="ada")
        await answered(sound, "still here")
        assert [m.text for m in await sound.messages()] == ["hi", "OK.", "still here", "OK."]


async def test_what_was_not_taken_in_before_the_end_is_taken_in_afterwards(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "I'm allergic to peanuts.")
        await runtime.settle()
    for table in ("items", "vectors"):
        altered(tmp_path, f"DELETE FROM {table}")
    altered(tmp_path, "UPDATE sessions SET progress = 0")
    async with opened(tmp_path) as runtime:
        await runtime.settle()
        found = await runtime.items("ada")
        assert sorted(item.kind for item in found) == ["episode", "episode", "fact"]
        assert "peanuts" in words(
            await answered(await runtime.spawn("new", user="ada"), "What am I allergic to?")
        )


async def test_an_epoch_that_ended_while_the_folder_was_closed_or_at_rest_says_why(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        await answered(session, "Hello there.")
        before = await session.context()
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", system="You help a lot.")
        trace = (await session.context()).trace
        assert trace.epoch == before.trace.epoch + 1
        assert trace.epoch_end == "a changed system"
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        trace = (await session.context()).trace
        assert trace.epoch_end == ""
        assert 0 < trace.stable_prefix_tokens <= trace.tokens
