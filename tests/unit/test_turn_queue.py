"""Turns of one session are serial, first come first served; waiting has an end."""

import anyio
import pytest

from actormem import OverloadedError, Session, UsageError
from tests.runtimes import FakeClock, answered, chunk, opened, settle

pytestmark = pytest.mark.anyio


async def take_part(session: Session, said: str, log: list[str], let_go: anyio.Event) -> None:
    async with session.turn(said) as turn:
        log.append(said)
        await let_go.wait()
        turn.reply(f"answer to {said}")


async def test_turns_of_a_session_are_serial_and_first_come_first_served() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "q", "a")  # from here on, opening a turn waits for no thread
        log: list[str] = []
        doors = [anyio.Event() for _ in range(4)]
        async with anyio.create_task_group() as group:
            for number, door in enumerate(doors):
                group.start_soon(take_part, session, f"q{number}", log, door)
                await settle()
            for number, door in enumerate(doors):
                assert log == [f"q{one}" for one in range(number + 1)]
                door.set()
                await settle()
        texts = [message.text for message in await session.messages()]
    assert texts[2:] == [text for one in range(4) for text in (f"q{one}", f"answer to q{one}")]


async def test_turns_of_two_sessions_do_not_wait_for_each_other() -> None:
    async with opened() as runtime:
        one, other = await runtime.spawn("a", user="ada"), await runtime.spawn("b", user="ada")
        async with one.turn("first") as first, other.turn("second") as second:
            second.reply("2")
            first.reply("1")


async def test_a_turn_that_waits_too_long_is_refused_and_never_happens() -> None:
    clock = FakeClock()
    async with opened(clock=clock, turn_wait_s=5.0) as runtime:
        session = await runtime.spawn("s", user="ada")
        refused: list[OverloadedError] = []

        async def wait() -> None:
            try:
                async with session.turn("too late"):
                    raise AssertionError("it was opened")
            except OverloadedError as error:
                refused.append(error)

        async with anyio.create_task_group() as group, session.turn("first") as turn:
            group.start_soon(wait)
            await clock.advance(4.9)
            assert not refused
            await clock.advance(0.2)
            assert "5" in str(refused[0])
            turn.reply("done")
        await answered(session, "next", "fine")
        assert [m.text for m in await session.messages()] == ["first", "done", "next", "fine"]


async def test_a_waiting_turn_that_is_cancelled_never_happens() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        scope = anyio.CancelScope()

        async def wait() -> None:
            with scope:
                async with session.turn("cancelled"):
                    raise AssertionError("it was opened")

        async with anyio.create_task_group() as group, session.turn("first") as turn:
            group.start_soon(wait)
            await settle()
            scope.cancel()
            await settle()
            turn.reply("done")
        await answered(session, "next", "fine")
        assert [m.text for m in await session.messages()] == ["first", "done", "next", "fine"]


async def test_a_turn_whose_opening_is_cancelled_does_not_hold_the_session_up() -> None:
    entered = False
    for steps in range(0, 60, 3):  # cancelled at each point of the way in
        async with opened() as runtime:
            session = await runtime.spawn("s", user="ada")
            await answered(session, "warm", "up")

            async def open_one(session: Session = session) -> None:
                nonlocal entered
                async with session.turn("q", id="q-1"):
                    entered = True
                    await anyio.sleep_forever()

            async with anyio.create_task_group() as group:
                group.start_soon(open_one)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
            async with session.turn("q", id="q-1") as turn:
                turn.reply("a")
            assert [m.text for m in await session.messages()] == ["warm", "up", "q", "a"]
    assert entered, "the last one came all the way in"


async def test_a_retry_that_is_given_up_does_not_end_the_turn_it_waits_for() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        scope = anyio.CancelScope()

        async def retry() -> None:
            with scope:
                async with session.turn("q", id="q-1"):
                    raise AssertionError("it was opened")

        async with anyio.create_task_group() as group, session.turn("q", id="q-1") as turn:
            group.start_soon(retry)
            await settle()
            scope.cancel()
            await settle()
            turn.reply("a")
        assert [m.text for m in await session.messages()] == ["q", "a"]


async def test_a_retry_of_a_turn_that_is_answered_meanwhile_is_refused() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        said: list[str] = []

        async def retry() -> None:
            with pytest.raises(UsageError, match="already"):
                async with session.turn("q", id="q-1"):
                    pass
            said.append("refused")

        async with anyio.create_task_group() as group, session.turn("q", id="q-1") as turn:
            group.start_soon(retry)
            await settle()
            turn.reply("a")
        assert said == ["refused"]
        assert [m.text for m in await session.messages()] == ["q", "a"]


async def test_the_number_of_waiting_turns_is_bounded() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        refused: list[int] = []
        answers: list[str] = []

        async def wait(number: int) -> None:
            try:
                async with session.turn(f"q{number}") as turn:
                    answers.append(f"q{number}")
                    turn.reply("a")
            except OverloadedError as error:
                refused.append(error.waiting)

        async with anyio.create_task_group() as group, session.turn("first") as turn:
            for number in range(300):
                group.start_soon(wait, number)
            await settle()
            assert refused == [256] * 44
            turn.reply("done")
        assert len(set(answers)) == 256


async def test_messages_added_and_contexts_asked_for_during_a_turn_are_served() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q") as turn:
            turn.feed(chunk("half "))
            await session.add({"role": "system", "content": "aside"})
            assert len((await session.context()).messages) == 2
            turn.feed(chunk("whole", finish="stop"))
        assert [m.text for m in await session.messages()] == ["q", "aside", "half whole"]


async def test_tool_results_may_be_added_at_the_same_time() -> None:
    calls = [
        {"id": f"c{one}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for one in range(5)
    ]
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": calls})
            async with anyio.create_task_group() as group:
                for one in reversed(range(5)):
                    result = {"role": "tool", "tool_call_id": f"c{one}", "content": str(one)}
                    group.start_soon(turn.add, result)
            assert [m["role"] for m in await turn.context()] == ["user", "assistant", *["tool"] * 5]
            turn.reply("done")
        kept = await session.messages()
    assert sorted(m.text for m in kept[2:7]) == ["0", "1", "2", "3", "4"]
    assert len(kept) == 8
