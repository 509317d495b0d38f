"""A session's compaction from outside: one in flight, in its own time, over a restart, and inside a long turn."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget
from actormem.core.values import JsonValue
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # long, and nothing in it differs by loop
BUDGET = Budget(context=300, recall=0)
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


def told(_: Sequence[Wire]) -> str:
    return "They spoke about travelling north."


def asked_model(**options: object) -> tuple[ScriptedLLM, anyio.Event]:
    """A model, and the event that it was asked."""
    asked = anyio.Event()

    def reply(prompt: Sequence[Wire]) -> str:
        asked.set()
        return told(prompt)

    return ScriptedLLM(reply, **options), asked  # type: ignore[arg-type]


async def turns_until_asked() -> int:
    """Turns after which a session of this budget asks for its first summary."""
    llm = ScriptedLLM(told)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        for number in range(100):
            await answered(session, *said_at(number))
            await runtime.settle()
            if llm.call_count:
                return number + 1
    raise AssertionError("no summary was asked for")


def said_at(number: int) -> tuple[str, str]:
    return f"Turn {number}. {LONG}", f"I see, {number}."


def contents(context: actormem.Context) -> list[str]:
    return [str(message["content"]) for message in context.messages]


async def test_four_contexts_at_once_of_a_session_over_its_mark_ask_for_one_summary() -> None:
    door = anyio.Event()
    llm, asked = asked_model(wait_for=door)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await session.add_many([{"role": "user", "content": f"Turn {n}. {LONG}"} for n in range(20)])
        made: list[actormem.Context] = []

        async def build() -> None:
            made.append(await session.context())

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(build)
        await asked.wait()
        assert len(made) == 4
        assert llm.call_count == 1
        door.set()
        await runtime.settle()
        assert llm.in_flight_max_count == 1


async def test_a_summary_that_takes_seconds_is_swapped_in_later_for_just_its_messages() -> None:
    turns = await turns_until_asked()
    clock = FakeClock()
    llm, asked = asked_model(delay_s=3.0, clock=clock)
    async with opened(llm=llm, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        for number in range(turns):
            await answered(session, *said_at(number))
        await asked.wait()
        said = [text for number in range(turns) for text in said_at(number)]
        prompt = words(llm.prompts[0])
        stands_for = [text for text in said if text in prompt]
        assert stands_for == said[: len(stands_for)]
        said += ["And meanwhile?", "Aha."]  # while the model thinks
        await answered(session, said[-2], said[-1])
        assert "travelling north" not in words((await session.context()).messages)
        assert llm.call_count == 1
        await clock.advance(3.1)
        await runtime.settle()
        while "travelling north" not in words((await session.context()).messages):
            said += [f"Then {len(said)}.", "Aha."]
            await answered(session, said[-2], said[-1])
        assert (await session.context()).trace.epoch == 2, "swapped in, and nothing was cut"
        shown = contents(await session.context())
        assert "They spoke about travelling north." in shown[0]
        verbatim = [text for text in shown if text in said]
        assert verbatim == said[len(said) - len(verbatim) :], "in order, without a gap"
        assert verbatim == said[len(stands_for) :]


@one_loop
async def test_two_summaries_stand_side_by_side_and_neither_loses_what_the_other_says() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600, recall=0))
        await answered(session, "My email has changed to a@x.test, please.", "Noted.")
        seen: list[str] = []
        for number in range(40):
            if number == 12:
                await answered(session, "My seat is 14C, by the window.", "Noted.")
            await answered(session, f"Turn {number}. {LONG}", f"I see, {number}.")
            await runtime.settle()
            seen.append(words((await session.context()).messages))
        assert all("a@x.test" in one for one in seen)
        assert all("14C" in one for one in seen[12:])


@one_loop
async def test_a_compacted_session_is_the_same_after_a_restart_and_in_a_later_runtime(tmp_path: Path) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(told)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        for number in range(10):
            await answered(session, f"Turn {number}. {LONG}", f"I see, {number}.")
            await runtime.settle()
        before = await session.context()
        assert "travelling north" in words(before.messages)
    for _ in range(2):
        async with opened(tmp_path) as runtime:
            again = await (await runtime.spawn("s", user="ada")).context()
            assert bytes_of(again.messages) == bytes_of(before.messages)
            assert again.trace.tokens == before.trace.tokens


def tool_call(number: int) -> dict[str, JsonValue]:
    function = {"name": "find_parcel", "arguments": f'{{"page": {number}}}'}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool_result(number: int) -> dict[str, JsonValue]:
    found = f'{{"order_id": "KX-{number:05d}", "status": "in transit", "note": "{LONG}"}}'
    return {"role": "tool", "tool_call_id": f"c{number}", "content": found}


async def test_tool_groups_of_a_long_turn_are_summarised_in_it_only_where_they_would_be_cut() -> None:
    async with opened(llm=ScriptedLLM(told)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=1_200, recall=0))
        asked = "Where are all of my parcels?"
        ends: list[str] = []
        async with session.turn(asked) as turn:
            before = bytes_of(turn.messages)
            for number in range(40):
                turn.reply(tool_call(number))
                await turn.add(tool_result(number))
                await runtime.settle()
                now = bytes_of(await turn.context())
                if turn.trace.epoch_end:
                    ends.append(turn.trace.epoch_end)
                else:
                    assert now[: len(before)] == before
                before = now
                assert turn.trace.tokens <= 1_200
                shown = [one for one in turn.messages if one.get("content") == asked]
                assert len(shown) == 1, "the user's message stays, in its own words"
                assert "c" + str(number) in words(turn.messages[-2:])
            summaries = [place for place, one in enumerate(turn.messages) if "travelling north" in str(one)]
            assert len(summaries) == 1
            assert str(turn.messages[summaries[0] - 1]["content"]) == asked
            turn.reply("All of them are in transit.")
        assert ends, "a long turn does not fit without"
        assert set(ends) == {"compaction"}, "and was never cut"
        await runtime.settle()
        for number in range(24):  # after the turn it is summarised with what follows, and nothing is lost
            await answered(session, f"Turn {number}. {LONG}", f"I see, {number}.")
            await runtime.settle()
        context = await session.context()
        assert asked not in contents(context)
        assert "tool_calls" not in words(context.messages)
        async with session.turn("What about order KX-00007?") as turn:
            assert "KX-00007" in words(turn.messages)
        assert len(await session.messages()) == 1 + 80 + 1 + 48 + 1


@one_loop
async def test_a_long_turn_without_a_summary_in_time_is_cut_and_nothing_of_it_is_lost() -> None:
    door = anyio.Event()
    llm = ScriptedLLM(told, wait_for=door)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=1_200, recall=0))
        async with session.turn("Where are all of my parcels?") as turn:
            for number in range(30):
                turn.reply(tool_call(number))
                await turn.add(tool_result(number))
                await turn.context()
                assert turn.trace.tokens <= 1_200
                assert "Where are all of my parcels?" in words(turn.messages)
            for number in range(20):
                assert f"KX-{number:05d}" in words(turn.messages), "exact values stand in for what was cut"
            door.set()
            turn.reply("All of them are in transit.")
        await runtime.settle()
        assert llm.call_count >= 1
        context = await session.context()
        assert not [one for one in context.trace.left_out if "over the budget" in one.reason]
        assert "travelling north" in words(context.messages)
