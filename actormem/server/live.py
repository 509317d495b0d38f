"""Live events as a server sends them: `event: KIND`, `data: {…}`; a comment now and then, so that nobody hangs up."""

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from actormem import ActorMemError, LiveEvent
from actormem.remote.operations import Operation, named
from actormem.server.requests import read_call
from actormem.server.responses import NOT_KEPT, failure_response
from actormem.server.state import ServerState

__all__ = ["EVENTS", "LiveEvents"]

BEAT_S = 15.0  # between two comments; proxies hang up after 30 to 60 s of silence
EVENTS = Operation(
    "events", "GET", "/api/events", named("sessions").query, None, LiveEvent,
    "What happens to the user's memory from here on, as server-sent events: ids and kinds, no words.",
)  # fmt: skip


class LiveEvents:
    """An ASGI application of its own: it streams until the caller hangs up or the server is told to stop."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import Request

        try:
            call = await read_call(self._state, EVENTS, Request(scope, receive))
            async with call.runtime.events(**call.whose) as events, anyio.create_task_group() as group:
                group.start_soon(_until_gone, receive, group.cancel_scope)
                group.start_soon(_until_stopped, self._state.stopping, group.cancel_scope)
                group.start_soon(_beat, send)
                await send(_start())
                await send(_part(b": begun\n\n"))
                async for event in events:
                    kind, data = event.kind.encode(), msgspec.json.encode(event)
                    await send(_part(b"event: " + kind + b"\ndata: " + data + b"\n\n"))
            if self._state.stopping.is_set():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ActorMemError as error:
            await failure_response(error)(scope, receive, send)


async def _beat(send: Send) -> None:
    while True:
        await anyio.sleep(BEAT_S)
        await send(_part(b": still here\n\n"))


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _until_stopped(stopping: anyio.Event, scope: anyio.CancelScope) -> None:
    await stopping.wait()
    scope.cancel()


def _start() -> dict[str, object]:
    headers = {**NOT_KEPT, "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
    return {
        "type": "http.response.start",
        "status": 200,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def _part(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
