"""The proxy under /v1: an OpenAI client changes its base_url, names a user and a session, and has a memory.

`/v1/chat/completions` puts the session's context in the place of the messages, sends the request on, passes the answer
through as it comes and records it. Every other path under /v1 passes through as it is, without a memory.
"""

from contextlib import aclosing, suppress
from typing import Any

import anyio
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from actormem import ActorMemError, ProviderError, UsageError
from actormem.remote.event_stream import EventReader
from actormem.server.chat_request import ChatRequest, whose
from actormem.server.chat_turns import ChatTurns
from actormem.server.door import GRANT, KEY_HEADER
from actormem.server.grants import LOCAL
from actormem.server.loose import fields, loose_json
from actormem.server.relay import Sender, call_ids, cancel_when_gone, has_ended, parts
from actormem.server.requests import read_body
from actormem.server.state import ServerState
from actormem.server.turns import HeldTurn
from actormem.server.upstream import answer_headers

__all__ = ["proxy_routes"]

CHAT = "/v1/chat/completions"
METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH"]
LEAVE_S = 5.0  # a turn that is left records what was said, while its client has gone
ANSWER_BYTES_MAX = 64 * 1024 * 1024


def proxy_routes(state: ServerState) -> list[BaseRoute]:
    """The routes under /v1."""
    return [
        Route(CHAT, Chat(state), methods=["POST"]),
        Route("/v1/{path:path}", Passage(state), methods=METHODS),
    ]


class Passage:
    """What goes through as it is."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sender = Sender(send)
        try:
            async with anyio.create_task_group() as group:
                request = Request(scope, receive)
                body = await read_body(request, self._state.settings.body_bytes_max)
                group.start_soon(cancel_when_gone, receive, group.cancel_scope)
                await self._pass(request, body, sender)
                group.cancel_scope.cancel()
        except* Exception as errors:
            await sender.fail(scope, receive, first_of(errors))

    async def _pass(self, request: Request, body: bytes, send: "Sender") -> None:
        path = request.scope["raw_path"].decode("latin-1").removeprefix("/v1/")
        if any(part in (".", "..") for part in path.lower().replace("%2e", ".").split("/")):
            raise UsageError("the path leaves /v1")
        query = request.scope["query_string"].decode("latin-1")
        headers = self._state.upstream.headers(request.headers, keyed=keyed(request))
        async with self._state.upstream.answer(request.method, path, query, body, headers) as answer:
            await send.start(
                answer.status_code, [*answer_headers(answer.headers), (b"x-actormem-memory", b"none")]
            )
            async with aclosing(parts(answer)) as body_parts:
                async for part in body_parts:
                    await send.part(part)
            await send.end()


class Chat:
    """Chat completions with a memory."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._turns = ChatTurns(state)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sender = Sender(send)
        try:
            async with anyio.create_task_group() as group:
                request = Request(scope, receive)
                who = whose(Headers(scope=scope), scope[GRANT])
                asked = ChatRequest.read(await read_body(request, self._state.settings.body_bytes_max))
                group.start_soon(cancel_when_gone, receive, group.cancel_scope)
                async with self._turns.alone(who):
                    held = await self._turns.open(asked, who)
                    await self._answer(request, asked, held, sender)
                group.cancel_scope.cancel()
        except* Exception as errors:
            await sender.fail(scope, receive, first_of(errors))

    async def _answer(self, request: Request, asked: ChatRequest, held: HeldTurn, send: "Sender") -> None:
        """Ask the upstream, pass its answer on, and record it, whatever becomes of it."""
        call_ids: frozenset[str] | None = None
        try:
            headers = self._state.upstream.headers(request.headers, keyed=keyed(request))
            body = asked.sent_on(held.turn.messages)
            query = request.scope["query_string"].decode("latin-1")
            async with self._state.upstream.answer(
                "POST", "chat/completions", query, body, headers
            ) as answer:
                call_ids = await self._relay(answer, held, send)
                if call_ids is not None:
                    await self._turns.answered(held, call_ids)
                await send.end()
        finally:
            if held.busy:
                with anyio.move_on_after(LEAVE_S, shield=True), suppress(ActorMemError):
                    await self._turns.left(held)

    async def _relay(self, answer: Any, held: HeldTurn, send: "Sender") -> frozenset[str] | None:
        """Pass it on; gives the ids of the tools it calls, None where it is no whole reply."""
        headers = [*answer_headers(answer.headers), *told(held)]
        kind = answer.headers.get("content-type", "")
        if answer.status_code == 200 and kind.startswith("text/event-stream"):
            return await self._stream(answer, headers, held, send)
        content = bytearray()
        async for part in parts(answer):
            content += part
            if len(content) > ANSWER_BYTES_MAX:
                raise ProviderError(
                    f"the answer has more than {ANSWER_BYTES_MAX} bytes", provider="the upstream"
                )
        found = replied(held, bytes(content)) if answer.status_code == 200 else None
        await send.start(answer.status_code, headers)
        await send.part(bytes(content))
        return found

    async def _stream(
        self, answer: Any, headers: list[tuple[bytes, bytes]], held: HeldTurn, send: "Sender"
    ) -> frozenset[str] | None:
        reader, found, ended = EventReader(), frozenset[str](), False
        await send.start(answer.status_code, headers)
        async with aclosing(parts(answer)) as body_parts:
            async for part in body_parts:
                for data in reader.read(part):
                    found, ended = fed(held, data, found, ended)
                await send.part(part)
        for data in reader.rest():
            found, ended = fed(held, data, found, ended)
        return found if ended else None


def first_of(errors: BaseExceptionGroup[Exception]) -> Exception:
    """The error that a task group was left by."""
    first = errors.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


def keyed(request: Request) -> bool:
    """Whether the request's Authorization holds a key of ours."""
    return request.scope[GRANT] is not LOCAL and KEY_HEADER not in request.headers


async def whole(answer: Any) -> bytes:
    """The whole body.

    Raises:
        ProviderError: It is too large, or breaks off.
    """
    content = bytearray()
    async with aclosing(parts(answer)) as body_parts:
        async for part in body_parts:
            content += part
            if len(content) > ANSWER_BYTES_MAX:
                raise ProviderError(
                    f"the answer has more than {ANSWER_BYTES_MAX} bytes", provider="the upstream"
                )
    return bytes(content)


def told(held: HeldTurn) -> list[tuple[bytes, bytes]]:
    """What the proxy tells of the turn, beside the upstream's headers."""
    spent = f"{held.turn.trace.elapsed_ms:.1f}".encode()
    id = held.turn.id.encode("ascii", "ignore")
    return [(b"x-actormem-turn", id), (b"x-actormem-context-ms", spent)]


def fed(held: HeldTurn, data: bytes, found: frozenset[str], ended: bool) -> tuple[frozenset[str], bool]:
    """Take in a chunk; gives the tool calls so far, and whether the reply has ended."""
    chunk = fields(loose_json(data))
    with suppress(UsageError):
        held.turn.feed(chunk)
    return found | call_ids(chunk), ended or has_ended(chunk)


def replied(held: HeldTurn, body: bytes) -> frozenset[str] | None:
    """Take in a whole completion; None where it is none."""
    completion = fields(loose_json(body))
    if not completion.get("choices"):
        return None
    try:
        held.turn.reply(completion)
    except UsageError:
        return None
    return call_ids(completion)
