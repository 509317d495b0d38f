"""What an owner's background calls may take in a day: never more than the limit, and each day anew."""

import anyio
import msgspec
import pytest

from actormem.actors.daily_tokens import DailyTokens
from actormem.actors.summary_calls import stored_summary
from actormem.core.summary import Summary
from actormem.core.values import Owner
from actormem.storage.cache import MemoryCache
from tests.runtimes import FakeClock

pytestmark = pytest.mark.anyio

ADA, BOB = Owner("", "ada"), Owner("", "bob")


async def test_what_is_taken_never_exceeds_the_limit_whoever_asks_at_once() -> None:
    tokens = DailyTokens(MemoryCache(), FakeClock(), 1_000)
    allowed: list[bool] = []

    async def take() -> None:
        allowed.append(await tokens.take(ADA, 300))

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(take)
    assert sorted(allowed) == [False] * 3 + [True] * 3
    assert await tokens.take(BOB, 1_000), "another owner has his own"
    assert not await tokens.take(BOB, 1)


async def test_what_was_not_used_comes_back_and_what_was_used_beyond_it_counts() -> None:
    tokens = DailyTokens(MemoryCache(), FakeClock(), 1_000)
    assert await tokens.take(ADA, 1_000)
    await tokens.give_back(ADA, 400)
    assert await tokens.take(ADA, 400)
    await tokens.give_back(ADA, 100)
    await tokens.give_back(ADA, -100)
    assert not await tokens.take(ADA, 1)


async def test_a_new_day_begins_at_midnight_utc_and_an_old_one_is_remembered_by_the_cache() -> None:
    clock, cache = FakeClock(now_ms=1_900_022_400_000 - 1_000), MemoryCache()  # a second before midnight
    assert await DailyTokens(cache, clock, 100).take(ADA, 100)
    assert not await DailyTokens(cache, clock, 100).take(ADA, 1), "after a restart"
    await clock.advance(2)
    assert await DailyTokens(cache, clock, 100).take(ADA, 100)


async def test_a_lost_or_foreign_figure_counts_as_none_and_no_limit_keeps_none() -> None:
    clock, cache = FakeClock(), MemoryCache()
    assert await DailyTokens(cache, clock, None).take(ADA, 10**9)
    assert await cache.get_many(ADA, [f"llm_tokens:{clock.now_ms() // 86_400_000}"]) == [None]
    await cache.put_many(ADA, {f"llm_tokens:{clock.now_ms() // 86_400_000}": b"\xff many"})
    assert await DailyTokens(cache, clock, 10).take(ADA, 10)


async def test_a_stored_summary_comes_back_as_a_summary_or_not_at_all() -> None:
    summary = Summary(text="Needs:\n- user: tea", method="llm", repaired_count=1, attached=("KX-1",))
    assert stored_summary(msgspec.msgpack.encode(summary)) == summary
    for damaged in (b"", b"junk", msgspec.msgpack.encode({"text": 1, "method": "llm"}), None):
        assert stored_summary(damaged) is None
