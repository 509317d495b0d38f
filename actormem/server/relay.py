"""Passing an upstream's answer on as it comes, and reading along.

Law: what the upstream sends goes to the client byte for byte and at once; reading along never holds it up or spoils it.
"""

import logging
import traceback
from collections.abc import AsyncGenerator
from typing import Any

import anyio
from starlette.types import Receive, Scope, Send

from actormem import ActorMemError, ProviderError
from actormem.remote.transport import client_library
from actormem.server.loose import entries, fields
from actormem.server.responses import failure_response

__all__ = ["Sender", "call_ids", "cancel_when_gone", "has_ended", "parts"]

logger = logging.getLogger(__name__)


def call_ids(chunk: object) -> frozenset[str]:
    """The ids of tool calls in a completion, or in a chunk of one."""
    found: set[str] = set()
    for choice in entries(fields(chunk).get("choices")):
        said = fields(choice).get("delta") or fields(choice).get("message")
        for call in entries(fields(said).get("tool_calls")):
            id = fields(call).get("id")
            if isinstance(id, str) and id:
                found.add(id)
    return frozenset(found)


def has_ended(chunk: object) -> bool:
    """Whether a chunk says that the reply is at its end."""
    return any(fields(one).get("finish_reason") for one in entries(fields(chunk).get("choices")))


async def parts(answer: Any) -> AsyncGenerator[bytes]:
    """The body as it comes.

    Raises:
        ProviderError: It breaks off.
    """
    failure = None
    try:
        async for part in answer.aiter_bytes():
            yield part
    except client_library().HTTPError as error:
        failure = ProviderError(f"the answer broke off ({type(error).__name__})", provider="the upstream")
    if failure is not None:
        raise failure


class Sender:
    """Sends an answer, and knows whether it has begun: a failure can only be told before."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """The head."""
        self._begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def part(self, body: bytes) -> None:
        """A part of the body."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        """The end."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def fail(self, scope: Scope, receive: Receive, error: BaseException) -> None:
        """Tell the error; an answer that has begun is left without its end, so that nobody takes it for whole."""
        if not isinstance(error, ActorMemError):
            # Without the error's words, which may be anybody's.
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.error("a request failed: %s\n%s", type(error).__name__, frames)
        if not self._begun:
            await failure_response(error)(scope, receive, self._send)


async def cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel the scope when the client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
