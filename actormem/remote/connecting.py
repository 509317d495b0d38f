"""Connecting to a memory that `actormem serve` has open.

Example: a Starlette application of which `uvicorn app:app --workers 4` makes four processes with one memory, beside
one `actormem serve memory/ --unix /run/app/memory.sock`.

    from contextlib import asynccontextmanager

    import actormem
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    @asynccontextmanager
    async def lifespan(app):
        async with actormem.connect("unix:/run/app/memory.sock", wait_s=10) as runtime:
            app.state.runtime = runtime
            yield

    async def chat(request):
        asked = await request.json()
        session = await request.app.state.runtime.spawn(asked["session"], user=asked["user"])
        async with session.turn(asked["words"]) as turn:
            turn.reply("Your model's answer to turn.messages.")
        return JSONResponse({"tokens": turn.trace.tokens})

    app = Starlette(routes=[Route("/chat", chat, methods=["POST"])], lifespan=lifespan)
"""

import os
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import TaskGroup

from actormem.core.values import Owner, SessionKey
from actormem.errors import ActorMemError, StoppedError
from actormem.front import positive
from actormem.kernel import Clock, SystemClock
from actormem.limits import TURN_WAIT_S
from actormem.remote.connection import Connection, open_client
from actormem.remote.runtime import RemoteRuntime

__all__ = ["connect"]

KEY_VARIABLE = "ACTORMEM_KEY"
BEAT_S = 15.0  # between two words of ours on the turns that are open: the server waits for three
RETRY_S = 0.1


class Beats:
    """Tells the server of the turns that are still open here, and does what nobody waits for."""

    def __init__(self, connection: Connection, group: TaskGroup) -> None:
        self._connection = connection
        self._group = group
        self._open: set[tuple[SessionKey, str]] = set()

    def soon(self, call: Any, *arguments: object) -> None:
        """Call it beside."""
        self._group.start_soon(call, *arguments)

    def opened(self, key: SessionKey, turn_id: str) -> None:
        """It is open from here on."""
        self._open.add((key, turn_id))

    def ended(self, key: SessionKey, turn_id: str) -> None:
        """It is not open any more."""
        self._open.discard((key, turn_id))

    async def beat(self) -> None:
        """Tell of all of them, once."""
        by_owner: dict[Owner, list[tuple[str, str]]] = defaultdict(list)
        for key, turn_id in self._open:
            by_owner[key.owner].append((key.session_id, turn_id))
        for owner, turns in by_owner.items():
            with suppress(ActorMemError):  # the next use of the turn tells what is wrong
                await self._connection.ask("keep_turns", owner, body={"turns": turns})

    async def run(self, clock: Clock) -> None:
        """Tell of them, for ever."""
        while True:
            await clock.sleep(BEAT_S)
            await self.beat()


@asynccontextmanager
async def connect(
    url: str, *, key: str | None = None, turn_wait_s: float = TURN_WAIT_S, wait_s: float = 0.0
) -> AsyncGenerator[RemoteRuntime]:
    """Connect to a memory at a server: the same methods as `open` gives, for many processes that share one memory.

    `async with actormem.connect("unix:/run/app/memory.sock") as runtime:`, in each worker, beside one
    `actormem serve memory/ --unix /run/app/memory.sock`. Entered and left in one task; asyncio and trio.

    A turn is held open at the server while its process lives; where that dies, it ends within a minute, and the same
    message id resumes it. Where the server dies, what is asked raises StoppedError until it is there again.

    Args:
        url: `unix:PATH`, or an http or https URL.
        key: Of the server; None for the variable `ACTORMEM_KEY`, and where that is not set for none.
        turn_wait_s: Seconds a turn waits at most for the turn before it.
        wait_s: Seconds to wait for a server that is not there yet.

    Raises:
        StoppedError: No server answers there.
        UsageError: The URL is none, or (RefusedError) the key.
    """
    clock, wait_s = SystemClock(), positive("wait_s", wait_s) if wait_s else 0.0
    async with open_client(url, key or os.environ.get(KEY_VARIABLE)) as client:
        connection = Connection(client, url)
        await _reached(connection, clock, wait_s)
        failure: BaseException | None = None
        async with anyio.create_task_group() as group:
            beats = Beats(connection, group)
            group.start_soon(beats.run, clock)
            try:
                yield RemoteRuntime(connection, beats, clock, positive("turn_wait_s", turn_wait_s))
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # the task group would wrap it
                failure = error
            finally:
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure


async def _reached(connection: Connection, clock: Clock, wait_s: float) -> None:
    until_s = clock.monotonic_s() + wait_s
    while True:
        try:
            await connection.ask("health")
        except StoppedError:
            if clock.monotonic_s() >= until_s:
                raise
            await clock.sleep(RETRY_S)
        else:
            return
