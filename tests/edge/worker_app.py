"""An application of several processes that share one memory: each connects when it starts."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import actormem

URL = "MEMORY_URL"


@asynccontextmanager
async def lifespan(application: Starlette) -> AsyncGenerator[None]:
    """Connected for as long as the process serves."""
    async with actormem.connect(os.environ[URL], wait_s=20) as runtime:
        application.state.runtime = runtime
        yield


async def chat(request: Request) -> JSONResponse:
    """One turn of one session: says back how many messages the model would see, and which process answered."""
    asked = await request.json()
    session = await request.app.state.runtime.spawn(asked["session"], user=asked["user"])
    async with session.turn(asked["words"], id=asked["id"]) as turn:
        turn.reply(f"{asked['words']} indeed")
    return JSONResponse({"seen": len(turn.messages), "process": os.getpid()})


app = Starlette(routes=[Route("/chat", chat, methods=["POST"])], lifespan=lifespan)
