"""A server on the loopback in the test's own event loop, and clients for it."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import uvicorn

import actormem
from actormem.remote.transport import client_library
from actormem.server.application import application
from actormem.server.settings import ServerSettings
from actormem.server.state import ServerState

__all__ = ["Served", "asked", "running", "served"]


class Served:
    """What a test holds of a server."""

    def __init__(self, url: str, state: ServerState, runtime: actormem.Runtime) -> None:
        self.url = url
        self.state = state
        self.runtime = runtime


@asynccontextmanager
async def running(app: Any, *, lifespan: Literal["off", "on"] = "off") -> AsyncGenerator[str]:
    """The application behind a real uvicorn on a free port, with its lifespan where it has one; gives its URL."""
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, lifespan=lifespan, ws="none", access_log=False, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    server.config.load()
    server.lifespan = config.lifespan_class(config)
    async with anyio.create_task_group() as group:
        await server.startup(sockets=[bound])
        group.start_soon(server.main_loop)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            with anyio.CancelScope(shield=True):
                await server.shutdown(sockets=[bound])


@asynccontextmanager
async def served(
    *,
    settings: ServerSettings | None = None,
    path: Any = None,
    embedder: Any = "hashing",
    **options: Any,
) -> AsyncGenerator[Served]:
    """A memory behind a real server."""
    async with actormem.open(path, embedder=embedder, durability="process") as runtime:
        state = ServerState(runtime, settings or ServerSettings())
        try:
            async with running(application(state, **options)) as url:
                yield Served(url, state, runtime)
        finally:
            await state.turns.end_all()
            await state.aclose()


@asynccontextmanager
async def asked(
    *, settings: ServerSettings | None = None, monotonic_s: Any = None, **options: Any
) -> AsyncGenerator[tuple[Any, ServerState]]:
    """A client that calls the application itself, without a network."""
    library = client_library()
    async with actormem.open(None, embedder="hashing") as runtime:
        clock = {} if monotonic_s is None else {"monotonic_s": monotonic_s}
        state = ServerState(runtime, settings or ServerSettings(), **clock)
        transport = library.ASGITransport(app=application(state, **options))
        async with library.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client, state
        await state.turns.end_all()
        await state.aclose()
