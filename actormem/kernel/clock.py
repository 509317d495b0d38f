"""Time as a parameter: what the kernel knows of the hour, and how it waits.

Law of this file: nothing else in the kernel reads a clock, so a test that owns the clock owns time.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Protocol

import anyio

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """What a clock promises.

    1. `monotonic_s` never goes back. `now_ms` may (the wall clock is set by others).
    2. `sleep` returns no earlier than asked for and is a checkpoint, for 0 too.
    3. `deadline` cancels its block, and nothing else, once the time has run out.
    """

    def now_ms(self) -> int:
        """Wall clock, UTC, milliseconds since 1970."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since some moment; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; at least one checkpoint."""
        ...

    def deadline(self, seconds: float) -> AbstractContextManager[anyio.CancelScope]:
        """A block that is cancelled when `seconds` have passed, as `anyio.move_on_after` is.

        The scope's `cancelled_caught` tells whether it ran out.
        """
        ...


class SystemClock:
    """The machine's own clocks."""

    __slots__ = ()

    monotonic_s = staticmethod(time.monotonic)  # read after each message: nothing stands between

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    def deadline(self, seconds: float) -> AbstractContextManager[anyio.CancelScope]:
        return anyio.move_on_after(seconds)
