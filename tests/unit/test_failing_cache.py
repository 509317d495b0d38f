"""The n-th call of the cache fails or hangs, for n = 1 and on: what it held is made anew, and forgetting still ends."""

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import opening
from actormem.actors.patient_cache import PatientCache
from actormem.core.values import Owner
from actormem.kernel import Clock
from actormem.storage.cache import MemoryCache
from actormem.testing.faults import FailingCache, ModelFault
from tests.runtimes import FakeClock, ScriptedEmbedder, ScriptedLLM, files_holding
from tests.unit.test_faults import CANARY, Model, compare, live, passing, reply

pytestmark = pytest.mark.anyio

CALLS_MAX = 60  # of this short life: a loop over them ends
SOME = 7  # one call in so many fails by default; each one with `pytest -m full`
EACH = pytest.param(1, marks=pytest.mark.full)


@pytest.mark.parametrize("stride", [SOME, EACH])
@pytest.mark.parametrize("fault", ["hang", "bug", "garbage"])
async def test_a_cache_that_fails_at_any_call_changes_nothing_that_is_kept(
    tmp_path: Path, fault: ModelFault, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_cache = opening._cache
    for at in range(1, CALLS_MAX, stride):
        folder, model, clock = tmp_path / str(at), Model(), FakeClock()
        made: list[FailingCache] = []

        def failing(
            path: Path | None, time: Clock, at: int = at, made: list[FailingCache] = made
        ) -> FailingCache:
            made.append(FailingCache(made_cache(path, time), at=at, fault=fault, clock=time))
            return made[-1]

        settling, over = anyio.Event(), anyio.Event()
        async with AsyncExitStack() as stack:
            stack.enter_context(anyio.fail_after(60))
            patch = stack.enter_context(monkeypatch.context())
            patch.setattr(opening, "_cache", failing)
            group = await stack.enter_async_context(anyio.create_task_group())
            async with actormem.open(
                folder, llm=ScriptedLLM(reply), embedder=ScriptedEmbedder(), clock=clock, durability="process"
            ) as runtime:
                group.start_soon(passing, clock, made, settling, over)
                await live(runtime, model)
                assert len(model.kept) == 6, "no conversation waits for a cache"
                settling.set()
                await runtime.settle()
                statistics = runtime.statistics()
                for one in (statistics.sessions, statistics.summarizer, statistics.longterm):
                    assert one.restarts == one.given_up == 0, one.last_crash
            over.set()
        await compare(folder, model)
        assert files_holding(folder, CANARY) == [], "what was to be forgotten is, be it at the next opening"
        if not made[0].failed:
            assert at > 5
            assert model.forgotten
            return
    raise AssertionError("there is always one more call")


@pytest.mark.parametrize("fault", ["hang", "bug"])
async def test_what_could_not_be_dropped_is_said_not_to_be(fault: ModelFault) -> None:
    clock, owner = FakeClock(), Owner("", "ada")
    cache = PatientCache(FailingCache(MemoryCache(), at=2, fault=fault, clock=clock), clock)
    await cache.put_many(owner, {"key": b"value"})
    async with anyio.create_task_group() as group:
        group.start_soon(clock.advance, 100.0)
        with pytest.raises(actormem.StorageError):
            await cache.drop_owner(owner)
    assert await cache.get_many(owner, ["key"]) == [b"value"]
    await cache.drop_owner(owner)
    assert await cache.get_many(owner, ["key"]) == [None]
