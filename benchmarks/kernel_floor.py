"""The least that an event loop asks for a message and its answer: a queue and a future, or a channel and an event.

No bound, no deadline, no crash, no restart: what an actor costs beside these is what its promises cost. What is told is
counted, as the measured actor does.
"""

import asyncio
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
import anyio.abc

__all__ = ["Channels", "Counter", "Queues"]

DEADLINE_S = 30.0


class Counter(Protocol):
    """Is told of each message that nobody answers."""

    def one(self) -> None:
        """One was handled."""
        ...


class Queues:
    """An asyncio.Queue with one reader, which answers by a future."""

    def __init__(self, handled: Counter) -> None:
        self._handled = handled
        self._queue: asyncio.Queue[tuple[object, asyncio.Future[object] | None]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    def tell(self, message: object) -> None:
        """Send, and wait for nothing."""
        self._queue.put_nowait((message, None))

    async def ask(self, message: object) -> object:
        """Send, and wait for the answer."""
        future = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((message, future))
        return await future

    async def ask_in_time(self, message: object) -> object:
        """The same with a deadline."""
        async with asyncio.timeout(DEADLINE_S):
            return await self.ask(message)

    async def _read(self) -> None:
        while True:
            message, future = await self._queue.get()
            if future is not None:
                future.set_result(message)
            else:
                self._handled.one()


class Channels:
    """trio's memory channel with one reader, which answers by an event."""

    def __init__(self, handled: Counter) -> None:
        self._handled = handled
        self._trio: Any = import_module("trio")
        self._sending, self._receiving = self._trio.open_memory_channel(float("inf"))
        self._group: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        self._group.start_soon(self._read)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(kind, error, trace)

    def tell(self, message: object) -> None:
        """Send, and wait for nothing."""
        self._sending.send_nowait((message, None))

    async def ask(self, message: object) -> object:
        """Send, and wait for the answer."""
        event = self._trio.Event()
        answer: list[object] = []
        self._sending.send_nowait((message, (event, answer)))
        await event.wait()
        return answer[0]

    async def ask_in_time(self, message: object) -> object:
        """The same with a deadline."""
        with self._trio.fail_after(DEADLINE_S):
            return await self.ask(message)

    async def _read(self) -> None:
        while True:
            message, asker = await self._receiving.receive()
            if asker is not None:
                event, answer = asker
                answer.append(message)
                event.set()
            else:
                self._handled.one()
