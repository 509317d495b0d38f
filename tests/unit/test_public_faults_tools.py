"""Faults of other memories, as promises of this one: tool calls and their results (research: public issues)."""

import json
from typing import Any

import pytest

from actormem import Budget
from tests.conversations import Driver, check_groups
from tests.runtimes import answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


def call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "track", "arguments": '{"b":1, "a":2}'}}


def result(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


@pytest.mark.parametrize("large", [0, 30, 400])
def test_at_every_budget_a_call_and_all_its_results_are_in_together_or_out_together(large: int) -> None:
    """https://github.com/letta-ai/letta/issues/2605: a result without its call was refused for ever after."""
    seen: set[int] = set()
    for context in range(64, 900, 12):
        driver = Driver()
        driver.take(("configure", Budget(context=context, keep_recent=context % 5), "", "", "gpt-4o"))
        driver.take(("message", "user", "Where are my parcels? " + "please " * 20))
        driver.take(("group", [("t1", "{}")], None, ["on its way " * 10]))
        driver.take(("group", [("a", "{}"), ("b", '{"q": 2}')], "Two more.", ["x " * large, "sent", "late"]))
        driver.take(("message", "assistant", "They are on their way."))
        driver.take(("message", "user", "And the third?"))
        driver.take(("group", [("u", "{}"), ("v", "{}")], None, ["here"]))  # v never comes
        driver.take(("message", "user", "Never mind."))
        before = [entry.wire for entry in driver.state.view]
        driver.take(("late", "v", "after all"))
        assert [entry.wire for entry in driver.state.view] == before, "the past was rewritten"
        shown = {entry.group for entry in driver.state.view}
        for entry in driver.state.entries:
            assert (entry.group in shown) is (entry.sequence not in driver.state.out)
        seen.add(len(driver.state.view))
    assert len(seen) >= 5, "the budgets cut at different places"


async def test_parallel_calls_are_one_group_whose_large_result_is_cut_in_place() -> None:
    """https://github.com/langchain-ai/langmem/issues/126: the cut fell between two results."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500))
        async with session.turn("Look both up.") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]})
            await turn.add(result("a", "north " * 850))
            await turn.add(result("b", "twenty letters, no more"))
            messages = await turn.context()
            assert [m.get("tool_call_id") for m in messages] == [None, None, "a", "b"]
            assert "left out here by memory" in words(messages[2:3])
            assert messages[3]["content"] == "twenty letters, no more"
            assert turn.trace.tokens <= 500
            turn.reply("Found.")
        check_groups(await answered(session, "Thanks."), ())


async def test_a_call_whose_result_never_comes_blocks_nothing_and_is_counted() -> None:
    """https://github.com/google/adk-python/issues/7236: one lost result blocked every later compaction."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500))
        async with session.turn("Where is it?") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [call("z")]})
        assert runtime.statistics().orphan_tool_calls == 0, "it may still come"
        for number in range(40):
            check_groups(await answered(session, f"Turn {number}. {LONG}"), ())
            await runtime.settle()
        assert runtime.statistics().orphan_tool_calls == 1
        assert runtime.statistics().summaries_extractive >= 2
        assert all(m.get("tool_call_id") != "z" for m in (await session.context()).messages)


async def test_a_result_that_answers_no_call_is_kept_listed_counted_and_never_shown() -> None:
    """https://github.com/letta-ai/letta/issues/2605, from the other side: such a result stands nowhere."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        seen = await answered(session, "Hello.")
        added = await session.add(result("never", "out of nowhere"))
        assert runtime.statistics().orphan_results == 1
        assert (await session.messages())[-1] == added
        assert bytes_of((await session.context()).messages)[: len(seen)] == bytes_of(seen)
        assert "out of nowhere" not in words((await session.context()).messages)


async def test_a_compaction_that_falls_between_a_call_and_its_result_parts_nothing() -> None:
    """https://github.com/openai/openai-agents-python/issues/2317: it killed the run."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500))
        for number in range(30):
            async with session.turn(f"Turn {number}. {LONG}") as turn:
                turn.reply({"role": "assistant", "content": LONG, "tool_calls": [call(f"t{number}")]})
                await runtime.settle()
                check_groups(await turn.context(), [f"t{number}"])
                await turn.add(result(f"t{number}", "on its way"))
                await runtime.settle()
                messages = await turn.context()
                assert messages[-1] == result(f"t{number}", "on its way")
                assert messages[-2]["tool_calls"] == [call(f"t{number}")]
                turn.reply("On its way.")
        assert runtime.statistics().summaries_extractive >= 3


async def test_the_newest_user_message_is_verbatim_in_every_context() -> None:
    """https://github.com/langchain-ai/langmem/issues/111: the summary swallowed it."""
    asked = "Which of these trains leaves first, and from where?"
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.", budget=Budget(context=256))
        for _ in range(4):
            async with session.turn(asked) as turn:
                turn.reply({"role": "assistant", "content": None, "tool_calls": [call("t")]})
                await turn.add(result("t", "a train to the north at noon, " * 60))
                await runtime.settle()
                users = [m["content"] for m in await turn.context() if m["role"] == "user"]
                assert any(str(content).startswith(asked) for content in users)
                turn.reply("The first.")


async def test_what_was_appended_is_what_is_exported_though_the_first_thing_is_a_call() -> None:
    """https://github.com/microsoft/agent-framework/issues/8441: the opening message was lost."""
    said = [
        {"role": "user", "content": "Book a table for 3."},
        {"role": "assistant", "content": None, "tool_calls": [call("t1")]},
        result("t1", "booked"),
        {"role": "assistant", "content": "Booked."},
    ]
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=200))
        await session.add_many(said)
        for number in range(20):
            await answered(session, f"Turn {number}. {LONG}")
            await runtime.settle()
        assert runtime.statistics().summaries_extractive >= 1
        assert [json.loads(m.wire) for m in (await session.messages())[:4]] == said
