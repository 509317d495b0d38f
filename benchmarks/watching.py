"""How long an event loop did not run while some work was done."""

from collections.abc import Awaitable, Callable
from time import perf_counter, thread_time

import anyio

from benchmarks import report

__all__ = ["watched"]

TICK_S = 0.001


async def watched(name: str, work: Callable[[], Awaitable[object]]) -> dict[str, float]:
    """How long the work takes, and for how long the loop was held meanwhile: figures that begin with `name`."""
    gaps_ms, held_ms = list[float](), list[float]()

    async def watch() -> None:
        while True:
            began_s, used_s = perf_counter(), thread_time()
            await anyio.sleep(TICK_S)
            gaps_ms.append((perf_counter() - began_s - TICK_S) * 1000)
            held_ms.append((thread_time() - used_s) * 1000)

    began_s = perf_counter()
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await anyio.sleep(TICK_S)  # the watch has begun
        await work()
        await anyio.sleep(2 * TICK_S)  # and sees the end of the last gap
        group.cancel_scope.cancel()
    return {
        f"{name}_s": perf_counter() - began_s,
        f"{name}_gap_p99_ms": report.percentile(gaps_ms or [0.0], 0.99),
        f"{name}_gap_max_ms": max(gaps_ms, default=0.0),
        f"{name}_held_max_ms": max(held_ms, default=0.0),
    }
