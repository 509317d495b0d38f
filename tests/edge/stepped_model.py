"""A model's server on the loopback, in the test's own event loop, whose streams go on when the test lets them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.openai_wire import DONE, chunks, event, fault
from tests.edge.served import running

__all__ = ["SteppedModel", "Stream", "Watched", "modelling"]


class Watched:
    """An application, how many of its requests are open, and the state that the newest of them found."""

    def __init__(self, app: Any) -> None:
        self.open_count = 0
        self.state: dict[str, Any] = {}
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.open_count += 1
        self.state = scope["state"]
        try:
            await self._app(scope, receive, send)
        finally:
            self.open_count -= 1


class Stream:
    """One reply: its first words go out at once, the rest when `go_on` is set.

    Attributes:
        seen: What the model was given.
        sent: Pieces with words that have gone out.
        ended: Set when no more goes out, by itself or because whoever asked has left.
    """

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.seen: list[dict[str, Any]] = []
        self.sent: list[str] = []
        self.go_on = anyio.Event()
        self.ended = anyio.Event()

    async def pieces(self, body: dict[str, Any]) -> AsyncGenerator[bytes]:
        """The reply on the wire."""
        try:
            for chunk in chunks(body, {"content": self.reply}, {}):
                words = chunk["choices"][0]["delta"].get("content")
                if words and self.sent:
                    await self.go_on.wait()
                if words:
                    self.sent.append(words)
                yield event(chunk)
            yield DONE
        finally:
            self.ended.set()


class SteppedModel:
    """Answers a question with the stream that was made for it; what nobody made one for is a 400.

    Attributes:
        asked_count: Requests so far.
        app: What answers them.
    """

    def __init__(self) -> None:
        self.url = ""
        self.app = Watched(Starlette(routes=[Route("/v1/chat/completions", self.answer, methods=["POST"])]))
        self.asked_count = 0
        self._streams: dict[str, Stream] = {}

    def stream(self, question: str, reply: str) -> Stream:
        """The stream of the next request whose newest message holds this question."""
        self._streams[question] = Stream(reply)
        return self._streams[question]

    async def answer(self, request: Request) -> Response:
        """One request."""
        body = await request.json()
        self.asked_count += 1
        newest = body["messages"][-1]["content"]
        found = next((question for question in self._streams if question in newest), None)
        if found is None:
            return JSONResponse(fault("no such question", "invalid_request"), 400)
        stream = self._streams.pop(found)
        stream.seen = body["messages"]
        return StreamingResponse(stream.pieces(body), media_type="text/event-stream")


@asynccontextmanager
async def modelling() -> AsyncGenerator[SteppedModel]:
    """A model that answers at `model.url`."""
    model = SteppedModel()
    async with running(model.app) as url:
        model.url = f"{url}/v1"
        yield model
