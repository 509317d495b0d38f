"""How one task waits for another to wake it, once: the two waits of every ask.

Law of this file: a wakeup has one waiter, who waits at once; whoever sets it later or twice changes nothing.

On asyncio a bare future does that for less than half of what an event costs, which keeps a line of waiters and is
looked up anew each time: an ask is a quarter cheaper so (`benchmarks.kernel`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

import anyio

__all__ = ["Wakeup", "wakeup_maker"]


class Wakeup(Protocol):
    """Wakes one task, once."""

    def set(self) -> object:
        """Make `wait` return, now or as soon as it is called."""
        ...

    async def wait(self) -> None:
        """Return when it is set."""
        ...


class FutureWakeup:
    """On asyncio. A waiter that is cancelled cancels the future, and `set` then finds it done."""

    __slots__ = ("_future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._future = loop.create_future()

    def set(self) -> None:
        """Make `wait` return."""
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        """Return when it is set."""
        await self._future


def wakeup_maker() -> Callable[[], Wakeup]:
    """What makes wakeups on the event loop that runs now."""
    try:
        inside = asyncio.current_task() is not None  # false in trio as a guest of an asyncio loop, too
    except RuntimeError:
        inside = False
    return partial(FutureWakeup, asyncio.get_running_loop()) if inside else anyio.Event
