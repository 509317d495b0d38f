"""Faults of other memories, as promises of this one: compaction, and what memory writes (public issues)."""

import re
from pathlib import Path

import pytest

import actormem
from actormem import Budget
from tests.runtimes import ScriptedLLM, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."
ITEM = re.compile(r"^- \[(m\d+)", re.MULTILINE)


async def compacted(session: actormem.Session, runtime: actormem.Runtime, times: int = 1) -> None:
    """Talk until that many compactions have taken their place."""
    ends = 0
    for number in range(120):
        async with session.turn(f"Turn {number}. {LONG}") as turn:
            ends += turn.trace.epoch_end == "compaction"
            turn.reply("I see.")
        await runtime.settle()
        if ends >= times:
            return
    raise AssertionError("no compaction took its place")


async def test_exact_values_stay_in_sight_though_the_summary_has_none_of_them() -> None:
    """https://github.com/openclaw/openclaw/issues/79588: summaries dropped opaque ids."""
    llm = ScriptedLLM(lambda _: "They talked about this and that.")
    values = ("KX-48210-77", "¥1,284.50", "2031-03-09", "9f3c2ab1")
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600))
        await answered(session, f"The order is {values[0]}, it costs {values[1]}.", "Noted.")
        await answered(session, f"It must be here by {values[2]}; the commit hash is {values[3]}.", "Noted.")
        await compacted(session, runtime, times=3)
        shown = words((await session.context()).messages)
        assert [value for value in values if value not in shown] == []


async def test_two_compactions_give_a_context_that_carries_both() -> None:
    """https://github.com/langchain-ai/langmem/issues/118: the second neither merged with nor replaced the first."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600))
        await answered(session, "My email address has changed to a@x.test.", "Noted.")
        await compacted(session, runtime)
        await answered(session, "I have seat 14C on the train now.", "Noted.")
        await compacted(session, runtime, times=2)
        shown = words((await session.context()).messages)
        assert "a@x.test" in shown
        assert "14C" in shown


@pytest.mark.parametrize("waits", [False, True])
async def test_a_summary_and_what_it_stands_for_are_recorded_together(tmp_path: Path, waits: bool) -> None:
    """https://github.com/microsoft/agent-framework/issues/8099, agentscope#1624: one without the other after a restart.

    `waits`: the summary is ready and waits for its time: a restart neither loses it nor makes it anew.
    """
    llm = ScriptedLLM(lambda _: "They spoke about the weather and a train.")
    async with opened(tmp_path, llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600, recall=0))
        while not llm.call_count:
            await answered(session, f"What else? {LONG}")
            await runtime.settle()
        if not waits:
            await compacted(session, runtime)
        before = await session.context()
        assert ("the weather and a train" in words(before.messages)) is not waits
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert bytes_of((await session.context()).messages) == bytes_of(before.messages)
        if waits:
            await compacted(session, runtime)
            assert "the weather and a train" in words((await session.context()).messages)


async def test_what_recall_brings_is_never_written_into_the_conversation() -> None:
    """https://github.com/CortexReach/memory-lancedb-pro/issues/345: injected blocks piled up and were compacted."""
    async with opened() as runtime:
        for number in range(12):
            await runtime.remember(f"The user likes band{number}.", user="ada", attribute="likes")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=900, recall=120))
        said: list[str] = []
        for number in range(20):
            said += [f"Which bands do I like, and which of them plays at {number} o'clock?", "I see."]
            async with session.turn(said[-2]) as turn:
                ids = ITEM.findall("\n".join(str(m["content"]) for m in turn.messages))
                assert len(ids) == len(set(ids)), "a memory stands once in a context"
                inside = words(turn.messages[-1:])
                assert ("<memory-" in inside) is bool(turn.trace.included)
                turn.reply(said[-1])
            await runtime.settle()
        assert [m.text for m in await session.messages()] == said
        assert all("memory-" not in item.text for item in await runtime.items("ada", history=True))


async def test_blocks_too_large_for_a_smaller_budget_are_merged_and_not_lost() -> None:
    """A budget that shrinks at a new spawn must not cost what the blocks tell."""
    llm = ScriptedLLM(
        lambda prompt: "They want a quiet hotel." if "quiet hotel" in words(prompt) else "Talk."
    )
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=2_000, recall=0))
        await answered(session, "What I need is a quiet hotel by the sea.", "Noted.")
        await compacted(session, runtime, times=2)
        assert "quiet hotel" in words((await session.context()).messages)
        small = await runtime.spawn("s", user="ada", budget=Budget(context=150, recall=0, summary=60))
        for number in range(8):
            await answered(small, f"Turn {number}. {LONG}")
            await runtime.settle()
        context = await small.context()
        assert context.trace.tokens <= 150
        assert "quiet hotel" in words(context.messages)


async def test_the_runtime_without_a_model_calls_none() -> None:
    """https://github.com/redis/agent-memory-server/pull/226: no clean way to turn the model off."""
    llm = ScriptedLLM(lambda _: "never")
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        await compacted(session, runtime)
        after = runtime.statistics()
        assert after.summaries_extractive >= 1
        assert after.summaries_llm == after.llm_failures == llm.call_count == 0
