"""The fake clock, which every test of time stands on; the real one; and the loop probe."""

from __future__ import annotations

import anyio
import pytest

from actormem.kernel import Clock, LoopProbe, SystemClock
from actormem.testing.clock import EPOCH_MS, FakeClock, settle

pytestmark = pytest.mark.anyio


async def test_time_stands_still_until_it_is_advanced() -> None:
    clock = FakeClock()
    assert (clock.now_ms(), clock.monotonic_s()) == (EPOCH_MS, 0.0)
    await clock.advance(1.5)
    assert (clock.now_ms(), clock.monotonic_s()) == (EPOCH_MS + 1500, 1.5)
    assert FakeClock(now_ms=7).now_ms() == 7


async def test_sleepers_and_deadlines_ring_in_the_order_of_their_times_and_see_that_time() -> None:
    clock = FakeClock()
    log: list[tuple[str, float]] = []

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        log.append(("slept", clock.monotonic_s()))
        await clock.sleep(0.5)
        log.append(("slept again", clock.monotonic_s()))

    async def run_out(seconds: float) -> None:
        with clock.deadline(seconds) as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught
        log.append(("ran out", clock.monotonic_s()))

    async with anyio.create_task_group() as group:
        for seconds in (3.0, 1.0):
            group.start_soon(sleep, seconds)
            group.start_soon(run_out, seconds + 0.25)
        await clock.advance(1)
        assert log == [("slept", 1.0)]
        await clock.advance(10)
    assert log == [
        ("slept", 1.0),
        ("ran out", 1.25),
        ("slept again", 1.5),
        ("slept", 3.0),
        ("ran out", 3.25),
        ("slept again", 3.5),
    ]


async def test_a_deadline_left_in_time_cancels_nothing_later() -> None:
    clock = FakeClock()
    with clock.deadline(1) as scope:
        await clock.sleep(0)
    await clock.advance(2)
    assert not scope.cancel_called
    with clock.deadline(float("inf")):
        await clock.advance(1e6)


async def test_a_sum_of_small_steps_wakes_a_sleeper_of_the_whole() -> None:
    clock = FakeClock()
    woken: list[bool] = []

    async def sleep() -> None:
        await clock.sleep(0.7)
        woken.append(True)

    async with anyio.create_task_group() as group:
        group.start_soon(sleep)
        for _ in range(7):
            await clock.advance(0.1)
        assert woken == [True]


async def test_settle_lets_long_chains_of_tasks_run() -> None:
    events = [anyio.Event() for _ in range(50)]

    async def link(number: int) -> None:
        await events[number].wait()
        if number + 1 < len(events):
            events[number + 1].set()

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(link, number)
        events[0].set()
        await settle()
        assert events[-1].is_set()


async def test_settle_ends_on_asyncio_though_a_task_never_waits(anyio_backend: str) -> None:
    if anyio_backend == "trio":
        return  # trio's own look waits for ever, which is what its users expect

    async def spin() -> None:
        while True:
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(spin)
        await settle()
        group.cancel_scope.cancel()


async def test_the_system_clock_is_a_clock() -> None:
    clock: Clock = SystemClock()
    before_s = clock.monotonic_s()
    await clock.sleep(0)
    with clock.deadline(0) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert clock.monotonic_s() >= before_s
    assert clock.now_ms() > EPOCH_MS


async def test_the_probe_sees_a_loop_that_was_held() -> None:
    clock = FakeClock()
    probe = LoopProbe(clock=clock, interval_s=0.01)
    assert probe.statistics().count == 0
    assert probe.statistics().p99_ms == 0.0
    async with anyio.create_task_group() as group:
        group.start_soon(probe.run)
        await clock.advance(0.48)
        clock.hold(0.05)
        await clock.advance(0.01)
        group.cancel_scope.cancel()
    gaps = probe.statistics()
    assert gaps.count == 50
    assert gaps.p50_ms == pytest.approx(0, abs=1e-6)
    assert gaps.max_ms == pytest.approx(40)
    assert gaps.p99_ms == pytest.approx(40)
