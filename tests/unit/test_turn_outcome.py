"""How a turn ends: its outcome is recorded whatever ends it, and an unanswered turn can be taken up again."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from actormem import Session, UsageError
from tests.runtimes import answered, bytes_of, chunk, opened

pytestmark = pytest.mark.anyio

CALL = {"index": 0, "id": "call_1", "function": {"name": "track", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "sent"}
Body = Callable[[Session], Awaitable[None]]


def outcomes(folder: Path) -> list[str]:
    """The outcomes a closed folder has, in order."""
    with sqlite3.connect(folder / "record.db") as connection:
        rows = connection.execute("SELECT body FROM events ORDER BY session_no, sequence").fetchall()
    connection.close()
    found = [msgspec.msgpack.decode(body) for (body,) in rows]
    return [event["outcome"] for event in found if event["type"] == "turn_closed"]


async def outcome_of(folder: Path, body: Body) -> tuple[str, list[str]]:
    """The outcome of the only turn in `body`, and the texts the session then has."""
    async with opened(folder) as runtime:
        session = await runtime.spawn("s", user="ada")
        await body(session)
        texts = [message.text for message in await session.messages()]
    [outcome] = outcomes(folder)
    return outcome, texts


async def whole(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.feed(chunk("all of it", finish="stop"))


async def said(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.reply("all of it")


async def broken_off(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.feed(chunk("half", calls=[CALL]))


async def nothing(session: Session) -> None:
    async with session.turn("q"):
        pass


async def only_a_tool_result(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.feed(chunk("wait", calls=[CALL], finish="tool_calls"))
        await turn.add(RESULT)


async def raised(session: Session) -> None:
    with pytest.raises(KeyError, match="mine"):  # noqa: PT012
        async with session.turn("q") as turn:
            turn.feed(chunk("half"))
            raise KeyError("mine")


async def cancelled_while_streaming(session: Session) -> None:
    with anyio.CancelScope() as scope:
        async with session.turn("q") as turn:
            turn.feed(chunk("half", calls=[CALL]))
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught


async def cancelled_before_a_word(session: Session) -> None:
    with anyio.CancelScope() as scope:
        async with session.turn("q"):
            scope.cancel()
            await anyio.lowlevel.checkpoint()


async def cancelled_after_the_whole_reply(session: Session) -> None:
    with anyio.CancelScope() as scope:
        async with session.turn("q") as turn:
            turn.reply("all of it")
            scope.cancel()
            await anyio.lowlevel.checkpoint()


async def cancelled_at_the_end(session: Session) -> None:
    with anyio.CancelScope() as scope:
        async with session.turn("q") as turn:
            turn.reply("all of it")
            scope.cancel()


async def left_at_its_calls(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.reply({"role": "assistant", "content": "wait", "tool_calls": [CALL]})


async def streamed_up_to_its_calls(session: Session) -> None:
    async with session.turn("q") as turn:
        turn.feed(chunk("wait", calls=[CALL], finish="tool_calls"))


@pytest.mark.parametrize(
    ("body", "outcome", "texts"),
    [
        (whole, "complete", ["q", "all of it"]),
        (said, "complete", ["q", "all of it"]),
        (broken_off, "partial", ["q", "half"]),
        (nothing, "unanswered", ["q"]),
        (only_a_tool_result, "unanswered", ["q", "wait", "sent"]),
        (left_at_its_calls, "unanswered", ["q", "wait"]),
        (streamed_up_to_its_calls, "unanswered", ["q", "wait"]),
        (raised, "failed", ["q", "half"]),
        (cancelled_while_streaming, "partial", ["q", "half"]),
        (cancelled_before_a_word, "unanswered", ["q"]),
        (cancelled_after_the_whole_reply, "complete", ["q", "all of it"]),
        (cancelled_at_the_end, "complete", ["q", "all of it"]),
    ],
)
async def test_leaving_records_the_outcome(
    tmp_path: Path, body: Body, outcome: str, texts: Sequence[str]
) -> None:
    assert await outcome_of(tmp_path, body) == (outcome, texts)


async def test_tool_calls_of_a_stream_that_broke_off_are_dropped() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await broken_off(session)
        await cancelled_while_streaming(await runtime.spawn("t", user="ada"))
        for one in (session, await runtime.spawn("t", user="ada")):
            assert [m.tool_calls for m in await one.messages()] == [(), ()]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_native_cancel_of_the_task_records_the_outcome(tmp_path: Path, times: int) -> None:
    async def body(session: Session) -> None:
        begun = asyncio.Event()

        async def serve() -> None:
            async with session.turn("q") as turn:
                turn.feed(chunk("half"))
                begun.set()
                await asyncio.sleep(3600)

        task = asyncio.create_task(serve())
        await begun.wait()
        for _ in range(times):
            task.cancel()
            await anyio.lowlevel.checkpoint()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await outcome_of(tmp_path, body) == ("partial", ["q", "half"])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_timeout_of_asyncio_that_runs_out_records_the_outcome(tmp_path: Path) -> None:
    async def body(session: Session) -> None:
        with pytest.raises(TimeoutError):  # noqa: PT012
            async with asyncio.timeout(None) as timeout, session.turn("q") as turn:
                turn.feed(chunk("half"))
                timeout.reschedule(asyncio.get_running_loop().time())
                await asyncio.sleep(3600)

    assert await outcome_of(tmp_path, body) == ("partial", ["q", "half"])


async def test_an_unanswered_turn_is_resumed_by_its_id_and_the_message_is_not_doubled() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "before")
        with pytest.raises(OSError, match="network"):  # noqa: PT012
            async with session.turn("Where is it?", id="r-1") as turn:
                first = bytes_of(turn.messages)
                raise OSError("network")
        async with session.turn("Where is it?", id="r-1") as turn:
            assert turn.id == "r-1"
            assert bytes_of(turn.messages) == first
            turn.reply("Here.")
        assert [m.text for m in await session.messages()] == ["before", "OK.", "Where is it?", "Here."]


async def test_an_id_that_is_answered_or_added_is_refused_and_nothing_changes() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.add({"role": "user", "content": "added", "id": "a-1"})
        async with session.turn("q", id="q-1") as turn:
            turn.reply("a")
        before = await session.messages()
        for id in ("q-1", "a-1"):
            with pytest.raises(UsageError, match="already"):
                async with session.turn("again", id=id):
                    pass
        assert await session.messages() == before
        await answered(session, "the session goes on")


async def test_a_tool_loop_that_was_left_is_taken_up_after_its_results() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with anyio.CancelScope() as scope:
            async with session.turn("q", id="q-1") as turn:
                turn.feed(chunk("wait", calls=[CALL], finish="tool_calls"))
                await turn.add(RESULT)
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        async with session.turn("q", id="q-1") as turn:
            assert [m["role"] for m in turn.messages] == ["user", "assistant", "tool"]
            turn.reply("sent")
        assert [m.text for m in await session.messages()] == ["q", "wait", "sent", "sent"]


async def test_a_turn_that_was_left_at_its_calls_goes_on_with_their_results() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="q-1") as turn:
            first = turn.messages
            turn.reply({"role": "assistant", "content": "wait", "tool_calls": [CALL]})
        await runtime.settle()
        async with session.turn("q", id="q-1") as turn:
            await turn.add(RESULT)
            second = await turn.context()
            turn.reply("sent")
        assert second[: len(first)] == first
        assert [m["role"] for m in second] == ["user", "assistant", "tool"]
        assert [one.outcome for one in await session.turns()] == ["complete"]


async def test_a_reply_whose_adding_is_cancelled_is_not_lost() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with anyio.CancelScope() as scope:
            async with session.turn("q") as turn:
                turn.feed(chunk("wait", calls=[CALL], finish="tool_calls"))
                scope.cancel()
                await turn.add(RESULT)
        assert [m.text for m in await session.messages()] == ["q", "wait", "sent"]


async def test_a_turn_after_its_end_is_a_usage_error() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q") as turn:
            turn.reply("a")
        for call in (lambda: turn.feed(chunk("x")), lambda: turn.reply("x")):
            with pytest.raises(UsageError, match="not open"):
                call()
        for coroutine in (lambda: turn.add(RESULT), turn.context, turn.__aenter__):
            with pytest.raises(UsageError):
                await coroutine()
        assert [m.text for m in await session.messages()] == ["q", "a"]
        with pytest.raises(UsageError, match="not open"):
            session.turn("never entered").reply("x")


async def test_a_turn_is_entered_once() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q") as turn:
            with pytest.raises(UsageError, match="once"):
                await turn.__aenter__()
            turn.reply("a")
        assert [m.text for m in await session.messages()] == ["q", "a"]
