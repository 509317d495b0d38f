"""The same question asked twice within a minute of a memory that has not changed."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

import actormem
from actormem.actors.answers import RecentAnswers
from actormem.actors.memory_messages import Recalled, RecallItems
from actormem.adapters.hashing import HashingEmbedder
from actormem.core.recall.partition import Partition
from actormem.testing.clock import FakeClock
from tests.runtimes import opened

pytestmark = pytest.mark.anyio


class Counted(HashingEmbedder):
    """Counts the queries it embeds: texts that come alone."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> object:  # type: ignore[override]
        self.asked += texts
        return await super().embed(texts)


async def test_the_same_question_is_answered_from_what_was_found_a_moment_ago() -> None:
    embedder, clock = Counted(), FakeClock()
    async with opened(embedder=embedder, clock=clock) as runtime:
        await runtime.remember("The boat is called Heron", user="ada")
        await runtime.settle()
        first = await runtime.recall("boat", user="ada")
        again = await runtime.recall("boat", user="ada")
        assert again.hits == first.hits
        assert embedder.asked.count("boat") == 1
        await runtime.recall("boat", user="ada", limit=1)
        await runtime.recall("boat", user="bob")
        assert embedder.asked.count("boat") == 3
        await clock.advance(61)
        await runtime.recall("boat", user="ada")
        assert embedder.asked.count("boat") == 4


async def test_a_memory_that_has_changed_is_asked_anew() -> None:
    async with opened(embedder=HashingEmbedder()) as runtime:
        heron = await runtime.remember("The boat is called Heron", user="ada")
        await runtime.settle()
        assert len(await runtime.recall("boat", user="ada")) == 1
        await runtime.remember("The other boat is called Tern", user="ada")
        assert len(await runtime.recall("boat", user="ada")) == 2
        await runtime.edit(heron.id, "The boat is called Egret", user="ada")
        assert "Egret" in " ".join(hit.item.text for hit in await runtime.recall("boat", user="ada"))
        await runtime.forget(heron.id, user="ada")
        assert len(await runtime.recall("boat", user="ada")) == 1


async def test_an_answer_ends_with_its_items() -> None:
    clock = FakeClock()
    async with opened(embedder=HashingEmbedder(), clock=clock) as runtime:
        ends = datetime.fromtimestamp(clock.now_ms() / 1000 + 30, UTC)
        await runtime.remember("The boat leaves at noon", user="ada", expires=ends)
        await runtime.settle()
        assert len(await runtime.recall("boat", user="ada")) == 1
        await clock.advance(31)
        assert len(await runtime.recall("boat", user="ada")) == 0


async def test_an_answer_given_again_counts_as_shown_again() -> None:
    async with opened(embedder=HashingEmbedder()) as runtime:
        heron = await runtime.remember("The boat is called Heron", user="ada")
        await runtime.settle()
        for _ in range(3):
            await runtime.recall("boat", user="ada")
        assert (await runtime.item(heron.id, user="ada")).shown_count == 3


async def test_an_answer_without_vectors_is_not_kept() -> None:
    class Dead(HashingEmbedder):
        async def embed(self, texts: Sequence[str]) -> object:  # type: ignore[override]
            raise actormem.ProviderError("down", provider="dead")

    async with opened(embedder=Dead()) as runtime:
        await runtime.remember("The boat is called Heron", user="ada")
        for _ in range(2):
            assert (await runtime.recall("boat", user="ada")).degraded == ("vector",)


def test_an_answer_that_was_overtaken_while_it_was_sought_is_not_kept() -> None:
    partition = Partition(8)
    answers = RecentAnswers(partition, FakeClock())
    asked = RecallItems(query="boat", vectors=np.ones((1, 8), np.float32), limit=1)
    answers.keep(asked, Recalled((), 0, ()), partition.version)
    assert answers.find(asked) is not None
    before = partition.version
    partition.refresh_windows(1)
    answers.keep(asked, Recalled((), 0, ()), before)
    assert answers.find(asked) is None
