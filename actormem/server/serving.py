"""Running the server: one event loop, one runtime, and an end that is waited for, within a deadline.

Law: a signal ends nothing at once: requests that run have until the deadline, then they are cut off, and record what
they have; turns nobody answered are ended; and what was left is told.
"""

import contextlib
import math
import signal
import socket
from collections.abc import Generator

import anyio
import msgspec
import uvicorn
from starlette.types import ASGIApp

from actormem.server.state import ServerState

__all__ = ["Drained", "serve"]

SWEEP_S = 1.0
CUT_OFF_WAIT_S = 6.0  # requests that were cut off record what they have
CONNECTIONS_MAX = 4_096
KEEP_ALIVE_S = 75  # longer than clients keep an idle connection, so that none is closed under a request


class Drained(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended.

    Attributes:
        signal: The number of the signal that ended it; 0 for none.
        cut_off: Requests that had not ended at the deadline.
        turns_left: Turns that were open and had no reply.
    """

    signal: int
    cut_off: int
    turns_left: int


class Server(uvicorn.Server):
    """Uvicorn's, with signals left to us: its own way raises them again while the runtime is still to be closed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave them."""
        yield


async def serve(state: ServerState, application: ASGIApp, bound: socket.socket, *, drain_s: float) -> Drained:
    """Serve until a signal comes; asyncio only, as uvicorn is.

    Args:
        bound: Where; it is closed at the end.
        drain_s: Seconds that running requests have after the signal. A second signal cuts them off at once.
    """
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(drain_s + CUT_OFF_WAIT_S),
    )
    ending = Ending(Server(config), state, drain_s)
    async with anyio.create_task_group() as group:
        group.start_soon(ending.watch)
        group.start_soon(_sweep, state)
        await ending.server.serve(sockets=[bound])
        group.cancel_scope.cancel()
    turns_left = await state.turns.end_all()
    await state.aclose()
    return Drained(signal=ending.signal, cut_off=ending.cut_off_count, turns_left=turns_left)


class Ending:
    """What signals do."""

    def __init__(self, server: Server, state: ServerState, drain_s: float) -> None:
        self.server = server
        self.signal = 0
        self.cut_off_count = 0
        self._state = state
        self._drain_s = drain_s

    async def watch(self) -> None:
        """Wait for signals: the first one lets requests come to their end, in time; the second one does not."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with anyio.create_task_group() as group:
                async for number in signals:
                    if self.signal:
                        self._cut_off()
                        continue
                    self.signal = int(number)
                    self.server.should_exit = True
                    self._state.stopping.set()
                    group.start_soon(self._cut_off_in_time)

    async def _cut_off_in_time(self) -> None:
        await anyio.sleep(self._drain_s)
        self._cut_off()

    def _cut_off(self) -> None:
        """Cut off what runs; it records what it has, and is waited for."""
        running = [one for one in self._state.running if not one.cancel_called]
        self.cut_off_count += len(running)
        for one in running:
            one.cancel()


async def _sweep(state: ServerState) -> None:
    while True:
        await anyio.sleep(SWEEP_S)
        await state.turns.sweep()
