"""Calls into the runtime's event loop, from wherever LangGraph and LangChain call: that loop, another one, a thread.

The law of the file: nothing of the runtime is touched outside of its loop, and a thread that would wait for the very
loop it runs in is refused instead.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from actormem import UsageError
from actormem.interruptible import result_of

__all__ = ["LoopCalls", "together"]

AT_ONCE = 32  # calls of one batch: their commits are written together
Done = TypeVar("Done")


class LoopCalls:
    """The way into one event loop.

    Args:
        portal: Of the loop, where it runs in a thread of its own; None: the loop that is running now.

    Raises:
        UsageError: There is no loop, or it is not asyncio's: these libraries know no other.
    """

    def __init__(self, portal: BlockingPortal | None = None) -> None:
        try:
            self._loop = asyncio.get_running_loop() if portal is None else portal.call(_running_loop)
        except RuntimeError:
            raise UsageError(
                "no asyncio event loop is running here",
                hint="make it inside of the loop the runtime was opened in, or give the portal of that loop",
            ) from None

    def blocking(self, call: Callable[[], Awaitable[Done]]) -> Done:
        """What the call gives, for a thread that can wait.

        Raises:
            UsageError: This is the runtime's own loop, which would wait for itself; or that loop has ended.
        """
        if self._is_here():
            raise UsageError(
                "a synchronous method was called in the event loop of the runtime",
                hint="await the asynchronous one of the same name with an `a` before it",
            )
        waiting = self._begun(call)
        try:
            return result_of(waiting)
        except BaseException:
            waiting.cancel()
            raise

    async def awaited(self, call: Callable[[], Awaitable[Done]]) -> Done:
        """What the call gives, for any asyncio loop; cancelling it here cancels it there."""
        if self._is_here():
            return await call()
        return await asyncio.wrap_future(self._begun(call))

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _begun(self, call: Callable[[], Awaitable[Done]]) -> "Future[Done]":
        called: Coroutine[Any, Any, Done] = _called(call)
        try:
            return asyncio.run_coroutine_threadsafe(called, self._loop)
        except RuntimeError:
            called.close()
            raise UsageError("the event loop of the runtime has ended") from None


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _called(call: Callable[[], Awaitable[Done]]) -> Done:
    return await call()


async def together(calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Make the calls beside each other; the first error is raised as it is, when all others have ended."""
    if len(calls) == 1:
        await calls[0]()
        return
    errors: list[Exception] = []
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(call: Callable[[], Awaitable[None]]) -> None:
        async with limiter:
            try:
                await call()
            except Exception as error:
                errors.append(error)

    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(one, call)
    if errors:
        raise errors[0]
