"""A dead or slow embedder stops no conversation; the trace says what was missing."""

from collections.abc import Sequence

import anyio
import pytest

import actormem
from actormem.ports import Vectors
from tests.runtimes import FakeClock, ScriptedEmbedder, answered, opened, words

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("failure", [actormem.ProviderError("down", provider="x"), ValueError("a bug")])
async def test_a_fact_is_found_while_the_embedder_is_dead_and_the_trace_says_so(failure: Exception) -> None:
    embedder = ScriptedEmbedder()
    async with opened(embedder=embedder) as runtime:
        embedder.failure = failure
        await answered(await runtime.spawn("one", user="ada"), "My new address is 5 Hill Street.")
        async with (await runtime.spawn("two", user="ada")).turn("What is my address?") as turn:
            assert "5 Hill Street" in words(turn.messages)
            assert turn.trace.degraded == ("vector",)
            turn.reply("5 Hill Street.")
        found = await runtime.recall("address", user="ada")
        assert found.degraded == ("vector",)
        assert found
        embedder.failure = None


async def test_a_dead_embedder_holds_nothing_up_and_what_it_missed_is_made_up_for() -> None:
    clock, embedder = FakeClock(), ScriptedEmbedder()
    async with opened(clock=clock, embedder=embedder, idle_s=60) as runtime:
        embedder.failure = actormem.ProviderError("down", provider="x")
        await answered(await runtime.spawn("one", user="ada"), "My new address is 5 Hill Street.")
        await runtime.settle()
        assert runtime.statistics().embed_failures >= 1
        await clock.advance(200)
        assert runtime.statistics().longterm.residents == 0, "it does not keep its owner in memory"
        embedder.failure = None
        assert runtime.statistics().embedded_texts == 0
        await runtime.recall("address", user="ada")
        await runtime.settle()
        assert runtime.statistics().embedded_texts >= 3


async def test_recall_that_misses_its_deadline_goes_on_with_what_there_is() -> None:
    clock, embedder = FakeClock(), ScriptedEmbedder()
    async with opened(clock=clock, embedder=embedder, recall_deadline_s=0.2) as runtime:
        await answered(await runtime.spawn("one", user="ada"), "My new address is 5 Hill Street.")
        await runtime.settle()
        session = await runtime.spawn("two", user="ada")
        embedder.wait_for = anyio.Event()
        contexts: list[str] = []

        async def ask() -> None:
            async with session.turn("What is my address?") as turn:
                contexts.append(words(turn.messages))
                assert turn.trace.degraded == ("vector",)
                turn.reply("5 Hill Street.")

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await clock.advance(0.09)
            assert contexts == []
            await clock.advance(0.02)
        assert "5 Hill Street" in contexts[0]
        embedder.wait_for.set()


async def test_a_context_that_begins_an_epoch_embeds_its_query_once() -> None:
    calls: list[Sequence[str]] = []

    class Counting(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            calls.append(texts)
            return await super().embed(texts)

    async with opened(
        embedder=Counting(), clock=FakeClock()
    ) as runtime:  # nothing in the background till settled
        await runtime.remember("The user likes green tea.", user="ada", attribute="likes", value="green tea")
        session = await runtime.spawn("s", user="ada", budget=actormem.Budget(context=400))
        ends: list[str] = []
        for number in range(14):
            said = (
                f"Which tea do I like, and why, question number {number}? " + "so many words about tea " * 6
            )
            await runtime.settle()
            calls.clear()
            async with session.turn(said) as turn:
                assert len(calls) == 1
                ends += [turn.trace.epoch_end] if turn.trace.epoch_end else []
                turn.reply("Green tea, as far as I know.")
        assert ends
