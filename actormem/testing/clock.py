"""A clock that stands still until a test moves it.

Law of this file: no real time passes here, whatever is asked for.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from itertools import count

import anyio
from anyio.lowlevel import checkpoint

__all__ = ["FakeClock"]

EPOCH_MS = 1_700_000_000_000
"""Where the wall clock starts: 2023-11-14T22:13:20Z."""
SETTLE_LIMIT = 1_000
"""Looks at tasks that never come to rest, before time moves on all the same."""
OVER_MAX = 16
"""Deadlines that are over and still in line, before they are let go of."""
NANO = 1_000_000_000


class FakeClock:
    """A Clock whose time moves only by `advance` and `hold`.

    Args:
        now_ms: Where the wall clock starts, UTC, milliseconds. The monotonic clock starts at 0.
    """

    def __init__(self, *, now_ms: int = EPOCH_MS) -> None:
        self._start_ms = now_ms
        self._time_ns = 0
        self._order = count()
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._over: set[int] = set()

    def now_ms(self) -> int:
        return self._start_ms + self._time_ns // 1_000_000

    def monotonic_s(self) -> float:
        return self._time_ns / NANO

    async def sleep(self, seconds: float) -> None:
        if not seconds > 0:
            await checkpoint()
            return
        event = anyio.Event()
        with self._alarm(seconds, event.set):
            await event.wait()

    def deadline(self, seconds: float) -> AbstractContextManager[anyio.CancelScope]:
        return self._deadline(seconds)

    async def advance(self, seconds: float) -> None:
        """Let time pass: wake sleepers and run deadlines out in the order of their times.

        Before the first, between any two times and after the last, all other tasks run until they wait.
        What runs in threads is not waited for.
        """
        end_ns = self._time_ns + round(seconds * NANO)
        await settle()
        while self._due and self._due[0][0] <= end_ns:
            self._time_ns = max(self._time_ns, self._due[0][0])
            while self._due and self._due[0][0] <= self._time_ns:
                _, number, ring = heapq.heappop(self._due)
                if number in self._over:
                    self._over.discard(number)
                else:
                    ring()
            await settle()
        self._time_ns = end_ns
        await settle()

    def hold(self, seconds: float) -> None:
        """Let time pass while nobody runs, as a blocking call would.

        What is due rings at the next `advance`.
        """
        self._time_ns += round(seconds * NANO)

    @contextmanager
    def _deadline(self, seconds: float) -> Generator[anyio.CancelScope, None, None]:
        with anyio.CancelScope() as scope:
            if not seconds > 0:
                scope.cancel()
                yield scope
            elif seconds == math.inf:
                yield scope
            else:
                with self._alarm(seconds, scope.cancel):
                    yield scope

    @contextmanager
    def _alarm(self, seconds: float, ring: Callable[[], None]) -> Generator[None, None, None]:
        number = next(self._order)
        rung = False

        def once() -> None:
            nonlocal rung
            rung = True
            ring()

        heapq.heappush(self._due, (self._time_ns + math.ceil(seconds * NANO - 0.5), number, once))
        try:
            yield
        finally:
            if not rung:
                self._over.add(number)
                if len(self._over) > OVER_MAX and 2 * len(self._over) > len(self._due):
                    self._forget_over()

    def _forget_over(self) -> None:
        """Let go of what is over and not due for long: it holds whoever waited."""
        self._due = [one for one in self._due if one[1] not in self._over]
        heapq.heapify(self._due)
        self._over.clear()


async def settle() -> None:
    """Return when every other task waits for something."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        await anyio.wait_all_tasks_blocked()
        return
    this = asyncio.current_task()
    calm = 0
    for _ in range(SETTLE_LIMIT):
        # anyio's own look waits 0.1 s of real time whenever a task is busy; a checkpoint is enough here.
        await checkpoint()
        busy = any(not is_waiting(task) for task in asyncio.all_tasks() if task is not this)
        calm = 0 if busy else calm + 1
        if calm == 2:  # once more, for callbacks that a finished task has scheduled
            return


def is_waiting(task: asyncio.Task[object]) -> bool:
    """True if the task waits for a future that is not done."""
    waiter: object = getattr(task, "_fut_waiter", None)
    return isinstance(waiter, asyncio.Future) and not waiter.done()
