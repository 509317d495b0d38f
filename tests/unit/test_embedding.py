"""Queries of many sessions, embedded together: what comes while a call runs goes into the next; none harms another."""

from collections.abc import Sequence

import anyio
import pytest

import actormem
from actormem.actors import embedding
from actormem.limits import QUERY_REST_S, QUERY_TRIES
from actormem.ports import Vectors
from tests.runtimes import FakeClock, ScriptedEmbedder, opened, settle

pytestmark = pytest.mark.anyio

USERS = ("ada", "bob", "cy", "dee")


class CallByCall(ScriptedEmbedder):
    """Takes one call for queries at a time, and remembers the texts of each."""

    calls_at_once = 1

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors along one axis for each user who is named, and along another for texts of nobody."""
        self.calls.append(list(texts))
        vectors = await super().embed(texts)
        vectors[:] = 0
        for row, text in zip(vectors, texts, strict=True):
            row[next((place for place, user in enumerate(USERS) if user in text), len(USERS))] = 1
        return vectors


async def with_memories(runtime: actormem.Runtime, embedder: CallByCall) -> None:
    """Something to recall for each user, with its vector, and a door shut on the embedder."""
    for user in USERS:
        await runtime.remember(f"The key of {user} is under the mat.", user=user)
        await runtime.remember("Trains run late on Sundays.", user=user)
    await runtime.settle()
    embedder.calls.clear()
    embedder.wait_for = anyio.Event()


class Asked:
    """Recalls that run, by user."""

    def __init__(self, runtime: actormem.Runtime, group: anyio.abc.TaskGroup) -> None:
        self.answers: dict[str, actormem.Recall] = {}
        self._runtime = runtime
        self._group = group

    async def ask(self, user: str, deadline_s: float = 10.0) -> anyio.CancelScope:
        """Begin one, and let it get as far as it can; cancels by what is returned."""
        scope = anyio.CancelScope()

        async def recall() -> None:
            with scope:
                self.answers[user] = await self._runtime.recall(
                    f"key of {user}", user=user, deadline_s=deadline_s
                )

        self._group.start_soon(recall)
        await settle()
        return scope


async def test_a_query_goes_at_once_and_those_that_come_meanwhile_go_together() -> None:
    embedder = CallByCall()
    async with opened(embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        for user in USERS:
            await asked.ask(user)
        assert embedder.calls == [["key of ada"]]
        assert embedder.wait_for is not None
        embedder.wait_for.set()
        await settle()
        assert embedder.calls == [["key of ada"], ["key of bob", "key of cy", "key of dee"]]
        for user in USERS:
            assert not asked.answers[user].degraded
            assert asked.answers[user][0].item.text.startswith(f"The key of {user}")
            assert "vector" in asked.answers[user][0].why, "each has the vectors of its own words"
        counts = runtime.statistics()
        assert (counts.queries_embedded, counts.query_calls) == (4, 2)


async def test_an_embedder_that_takes_several_calls_gets_them() -> None:
    embedder = CallByCall()
    embedder.calls_at_once = 3
    async with opened(embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        for user in USERS:
            await asked.ask(user)
        assert [len(call) for call in embedder.calls] == [1, 1, 1]
        assert embedder.wait_for is not None
        embedder.wait_for.set()


async def test_one_who_leaves_and_one_whose_time_runs_out_take_nothing_from_the_others() -> None:
    clock, embedder = FakeClock(), CallByCall()
    async with opened(clock=clock, embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        first = await asked.ask("ada")
        await asked.ask("bob", deadline_s=1.0)
        await asked.ask("cy")
        gone = await asked.ask("dee")
        first.cancel()
        gone.cancel()
        await clock.advance(0.6)
        assert asked.answers["bob"].degraded == ("vector",)
        assert embedder.wait_for is not None
        embedder.wait_for.set()
        await settle()
        assert embedder.calls == [["key of ada"], ["key of cy"]], "nobody waits for the others any more"
        assert set(asked.answers) == {"bob", "cy"}
        assert not asked.answers["cy"].degraded


async def test_a_call_ends_with_the_last_who_waits_for_it() -> None:
    clock, embedder = FakeClock(), CallByCall()
    async with opened(clock=clock, embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        await asked.ask("ada", deadline_s=1.0)
        await clock.advance(0.6)
        assert asked.answers["ada"].degraded == ("vector",)
        embedder.wait_for = None
        await asked.ask("bob")
        assert not asked.answers["bob"].degraded, "the call that hung holds nobody up"


async def test_a_failure_reaches_each_who_waits() -> None:
    embedder = CallByCall()
    async with opened(embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        for user in USERS:
            await asked.ask(user)
        embedder.failure = ValueError("a bug")
        assert embedder.wait_for is not None
        embedder.wait_for.set()
        await settle()
        assert [asked.answers[user].degraded for user in USERS] == [("vector",)] * 4
        assert all(asked.answers.values()), "recall goes by words"


async def test_more_queries_than_the_queue_holds_go_by_words_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "QUERY_QUEUE_MAX", 2)
    embedder = CallByCall()
    async with opened(embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        for user in USERS:
            await asked.ask(user)
        assert asked.answers["dee"].degraded == ("vector",)
        assert set(asked.answers) == {"dee"}
        assert embedder.wait_for is not None
        embedder.wait_for.set()


async def test_a_call_takes_no_more_texts_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "QUERY_BATCH_TEXTS", 2)
    embedder = CallByCall()
    async with opened(embedder=embedder) as runtime, anyio.create_task_group() as group:
        await with_memories(runtime, embedder)
        asked = Asked(runtime, group)
        for user in USERS:
            await asked.ask(user)
        assert embedder.wait_for is not None
        embedder.wait_for.set()
        await settle()
        assert [len(call) for call in embedder.calls] == [1, 2, 1]


async def test_an_embedder_that_fails_again_and_again_rests_and_queries_go_by_words_at_once() -> None:
    embedder, clock = CallByCall(), FakeClock()
    async with opened(embedder=embedder, clock=clock) as runtime:
        await runtime.remember("The key of ada is under the mat.", user="ada")
        await runtime.settle()
        embedder.failure = actormem.ProviderError("down", provider="x")
        embedder.calls.clear()
        for number in range(QUERY_TRIES + 3):
            found = await runtime.recall(f"key of ada {number}", user="ada", deadline_s=1.0)
            assert found.degraded == ("vector",)
            assert found[0].item.text.startswith("The key")
        assert len(embedder.calls) == QUERY_TRIES
        embedder.failure = None
        await clock.advance(QUERY_REST_S)
        found = await runtime.recall("key of ada again", user="ada", deadline_s=1.0)
        assert found.degraded == ()
        assert len(embedder.calls) == QUERY_TRIES + 1


async def test_who_waits_longer_may_still_ask_an_embedder_that_was_too_late_for_others() -> None:
    embedder, clock = CallByCall(), FakeClock()
    async with opened(embedder=embedder, clock=clock) as runtime:
        await runtime.remember("The key of ada is under the mat.", user="ada")
        await runtime.settle()
        embedder.wait_for = door = anyio.Event()
        embedder.calls.clear()
        async with anyio.create_task_group() as group:
            asked = Asked(runtime, group)
            for _ in range(QUERY_TRIES):
                await asked.ask("ada", deadline_s=1.0)
                await clock.advance(0.5)
                await settle()
                assert asked.answers.pop("ada").degraded == ("vector",)
            calls_count = len(embedder.calls)
            assert calls_count == QUERY_TRIES
            await asked.ask("ada", deadline_s=1.0)
            assert asked.answers.pop("ada").degraded == ("vector",)
            assert len(embedder.calls) == calls_count, "it rests for those who wait a second"
            await asked.ask("ada", deadline_s=9.0)
            assert len(embedder.calls) == calls_count + 1
            door.set()
        assert asked.answers["ada"].degraded == ()
