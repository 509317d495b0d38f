"""A server on the loopback that speaks OpenAI's protocol, and misbehaves when it is told to.

It runs in threads of its own on 127.0.0.1, on a port the system picks, and knows nothing of any event loop.
Each request takes the next fault from `faults`; where there is none it is answered as OpenAI would.
"""

import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from benchmarks.openai_wire import DONE, chunks, completion, embeddings, event, usage_of

__all__ = ["Answer", "Drip", "Hang", "LoopbackServer", "Seen"]

DIMENSIONS = 8
DRIP_S = 0.01  # between two bytes of an answer that never ends


@dataclass(frozen=True)
class Answer:
    """Answer with exactly this; a `body` that is not bytes goes out as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """Take the request and say nothing until the server is left."""


@dataclass(frozen=True)
class Drip:
    """Begin an answer and send one blank at a time until the server is left."""


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


Fault = Answer | Hang | Drip


class LoopbackServer:
    """`with LoopbackServer() as server:` and give `server.base_url` to a client.

    Args:
        reply: The text of a chat reply, or its message as a mapping (for tool calls); or a function of the
            request's body that gives one of them.

    Attributes:
        faults: What happens to the next requests, first come first served.
        always: What happens to every request for which `faults` has nothing; None is the usual answer.
        seen: Every request, in order of arrival.
        embedding_order: How the vectors of an answer are ordered: a function of the list of entries.
        refused_words: A request for embeddings with one of these in a text is a 400.
    """

    def __init__(self, reply: str | dict[str, Any] | Callable[[dict[str, Any]], Any] = "好的 (fine)") -> None:
        self.reply = reply
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        self.embedding_order: Callable[[list[Any]], list[Any]] = list
        self.refused_words: set[str] = set()
        self.always: Fault | None = None
        self.released = threading.Event()
        self._http = Http(("127.0.0.1", 0), Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True)

    @property
    def base_url(self) -> str:
        """Where a client finds it, `/v1` included."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def message(self, body: dict[str, Any]) -> dict[str, Any]:
        """The message a chat request is answered with."""
        reply = self.reply(body) if callable(self.reply) else self.reply
        return (
            {"role": "assistant", "content": reply}
            if isinstance(reply, str)
            else {"role": "assistant", **reply}
        )


class Http(ThreadingHTTPServer):
    """Threads that never keep a test from ending."""

    daemon_threads = True
    block_on_close = False
    owner: LoopbackServer

    def handle_error(self, *where: Any) -> None:
        """Clients that hang up are what this server is for; anything else is a fault of its own."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*where)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Http

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer one request, or do what the next fault says."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        owner = self.server.owner
        owner.seen.append(
            Seen(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        )
        fault = owner.faults.popleft() if owner.faults else owner.always
        try:
            self.answer(fault or self.usual(body))
        except OSError:  # the client has gone, as clients do
            self.close_connection = True

    def answer(self, fault: Fault | None) -> None:
        """Send what a fault says; None was answered already."""
        match fault:
            case Answer(body, status, headers, content_type):
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.head(status, {"content-length": str(len(raw)), "content-type": content_type, **headers})
                self.wfile.write(raw)
            case Hang():
                self.server.owner.released.wait()
                self.close_connection = True
            case Drip():
                self.head(200, {"content-length": "1000000", "content-type": "application/json"})
                while not self.server.owner.released.wait(DRIP_S):
                    self.wfile.write(b" ")
                self.close_connection = True
            case None:
                pass

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send a status line and headers."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def usual(self, body: dict[str, Any]) -> Answer | None:
        """What OpenAI would answer."""
        if self.path.endswith("/embeddings"):
            return self.embeddings(body)
        if not self.path.endswith("/chat/completions"):
            return Answer({"error": {"message": "no such path", "code": "not_found"}}, 404)
        message = self.server.owner.message(body)
        if body.get("stream"):
            return self.stream(body, message)
        return Answer(completion(body, message, usage_of(body, message)))

    def embeddings(self, body: dict[str, Any]) -> Answer:
        """Vectors that follow from the texts alone."""
        owner = self.server.owner
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if any(not text or any(word in text for word in owner.refused_words) for text in texts):
            return Answer({"error": {"message": f"bad input {texts}", "code": "invalid_input"}}, 400)
        answer = embeddings(body, texts, body.get("dimensions", DIMENSIONS))
        return Answer(answer | {"data": owner.embedding_order(answer["data"])})

    def stream(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        """Send the message in pieces, as server-sent events; the usage last where it was asked for."""
        self.head(200, {"content-type": "text/event-stream", "connection": "close"})
        self.close_connection = True
        for chunk in chunks(body, message, usage_of(body, message)):
            self.wfile.write(event(chunk))
            self.wfile.flush()
        self.wfile.write(DONE)
