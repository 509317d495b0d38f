"""A chat server with memory, to be put behind a login and a body limit: one runtime, many sessions, streamed replies.

OPENAI_API_KEY=… CHAT_FOLDER=memory uvicorn --app-dir docs chat_app:app --timeout-graceful-shutdown 10
curl -N '127.0.0.1:8000/chat/ada/s-1?id=q-1' -d 'Where is my order KX-48210?'
"""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import openai
from starlette import applications, requests, responses, routing, types

import actormem

MODEL, STREAMS_MAX = os.getenv("CHAT_MODEL", "gpt-4o-mini"), 500  # at once; more of them wait


@asynccontextmanager
async def lifespan(_: applications.Starlette) -> AsyncGenerator[dict[str, object], None]:
    async with actormem.open(os.getenv("CHAT_FOLDER", "memory")) as runtime, openai.AsyncOpenAI() as client:
        streams = anyio.Semaphore(STREAMS_MAX)
        yield {"runtime": runtime, "chat": client.chat.completions, "streams": streams}  # for each request
        for _place in range(STREAMS_MAX):  # what the server's end cuts off is recorded before memory closes
            await streams.acquire()


class Chat:  # an ASGI application, so that the task that began a turn ends it, however the response ends
    async def __call__(self, scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        request = requests.Request(scope, receive)
        text = (await request.body()).decode()
        session = await request.state.runtime.spawn(**request.path_params, model=MODEL)
        async with (
            request.state.streams,
            session.turn(text, id=request.query_params.get("id")) as turn,
            await request.state.chat.create(model=MODEL, messages=turn.messages, stream=True) as chunks,
            aclosing(events(turn, chunks)) as body,
        ):  # a client that leaves ends the response, then these blocks: what was said so far is recorded
            await responses.StreamingResponse(body, media_type="text/event-stream")(scope, receive, send)


async def events(turn: actormem.Turn, chunks: Any) -> AsyncGenerator[str, None]:
    async for chunk in chunks:
        turn.feed(chunk)
        if chunk.choices and (words := chunk.choices[0].delta.content):
            yield f"data: {json.dumps(words, ensure_ascii=False)}\n\n"
    await turn.end()  # before `done`: whoever has read that may count on the reply
    yield f"event: done\ndata: {json.dumps(turn.id)}\n\n"


async def refused(_: requests.Request, error: Exception) -> responses.Response:
    return responses.JSONResponse({"error": str(error)}, 400 if isinstance(error, ValueError) else 503)


errors = dict.fromkeys((UnicodeError, actormem.ActorMemError, openai.OpenAIError), refused)
routes = [routing.Route("/chat/{user}/{session_id}", Chat(), methods=["POST"])]
app = applications.Starlette(lifespan=lifespan, exception_handlers=errors, routes=routes)
