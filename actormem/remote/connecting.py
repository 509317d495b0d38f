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
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from actormem.errors import StoppedError
from actormem.front import positive
from actormem.kernel import Clock, SystemClock
from actormem.limits import TURN_WAIT_S
from actormem.remote.beating import beating
from actormem.remote.connection import Connection, open_client
from actormem.remote.runtime import RemoteRuntime

__all__ = ["connect"]

KEY_VARIABLE = "ACTORMEM_KEY"
RETRY_S = 0.1


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
        async with beating(connection, clock) as beats:
            yield RemoteRuntime(connection, beats, clock, positive("turn_wait_s", turn_wait_s))


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
