"""OpenAI's side of a check: a server on the loopback that behaves as the check wants it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from actormem.testing.contracts import KEY, PROMPT, Server
from tests.loopback import Answer, Drip, Fault, Hang, LoopbackServer

__all__ = ["ECHO", "REFUSAL", "Behaving", "choice", "closed_port"]

ECHO = f"<html>{PROMPT} {KEY}</html>"
REFUSAL = Answer({"error": {"message": f"bad key {KEY} for {PROMPT}", "code": PROMPT}}, 401)


def choice(**message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


FAULTS: dict[str, Fault | None] = {
    "answers": None,
    "blank": Answer(choice(content=" \n ")),
    "garbage": Answer(ECHO.encode(), content_type="text/html"),
    "refuses": REFUSAL,
    "hangs": Hang(),
    "drips": Drip(),
}


@contextmanager
def closed_port() -> Iterator[int]:
    """A port on which nobody listens, and nobody else will while the block runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


class Behaving:
    """Loopback servers for checks, all closed when the block ends.

    Args:
        garbage: What is sent where a check asks for garbage.
    """

    def __init__(self, garbage: Fault | None = None) -> None:
        self._garbage = garbage
        self._open: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        while self._open:
            self._open.pop().__exit__(None, None, None)

    def url_of(self, server: Server) -> str:
        """Where the adapter finds a server that behaves so."""
        if server.behaviour == "gone":
            port = closed_port()
            self._open.append(port)
            return f"http://127.0.0.1:{port.__enter__()}/v1"
        loopback = LoopbackServer("摘要：退款三天内到账。")
        loopback.always = FAULTS[server.behaviour]
        if server.behaviour == "garbage" and self._garbage is not None:
            loopback.always = self._garbage
        loopback.seen = Bodies(server.requests)
        self._open.append(loopback)
        return loopback.__enter__().base_url


class Bodies(list[Any]):
    """What a loopback server has seen, its bodies told to the check."""

    def __init__(self, requests: list[object]) -> None:
        super().__init__()
        self._requests = requests

    def append(self, seen: Any) -> None:
        """Keep one more."""
        super().append(seen)
        self._requests.append(json.dumps(seen.body, ensure_ascii=False))
