"""A server on the loopback that speaks OpenAI's protocol and takes as long as a real one would.

Chat requests wait for the tokens that were not read before (`benchmarks.prefill`), then for each token of the reply;
requests for embeddings wait a set time. Where JSON is asked for, the reply is an object that names no fact, and one
matter for those who keep what they call memories. A share of requests fails, or is told to come again later: which
ones follows from the seed and the number of the request alone. `GET /counts` tells what was asked of it so far.

    python -m benchmarks.server '{"embedding_s": 0.02}'       prints where it is, and serves until its input ends
"""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from random import Random
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

from benchmarks.openai_wire import DONE, chunks, completion, embeddings, event, fault, json_reply, usage_of
from benchmarks.prefill import PrefixCache

__all__ = ["Counts", "Plan", "Server", "beside", "counts_at", "serving"]

HEAD_BYTES_MAX = 65_536
BODY_BYTES_MAX = 64 * 2**20
START_S_MAX = 60.0
CHARS_A_TOKEN = 4


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How it behaves. Times in seconds.

    Attributes:
        first_token_s: Wait for the first token beside the reading of the prompt.
        read_tokens_per_s: Tokens of a prompt it reads in a second; 0 for no wait.
        cache_tokens: Room for what it has read; 0 for a server without a prefix cache.
        token_s: Wait before each further token of a reply.
        reply_tokens: How long a reply is.
        embedding_s: Wait of a request for embeddings, whatever it holds.
        dimensions: Of the vectors, where a request does not say.
        failing_share: Share of requests that end with 500.
        limited_share: Share of requests that are refused with 429.
        retry_after_s: What these are told to wait.
        seed: Which they are.
    """

    first_token_s: float = 0.15
    read_tokens_per_s: float = 4_000.0
    cache_tokens: int = 1_000_000
    token_s: float = 0.0
    reply_tokens: int = 40
    embedding_s: float = 0.02
    dimensions: int = 384
    failing_share: float = 0.0
    limited_share: float = 0.0
    retry_after_s: float = 1.0
    seed: int = 0

    def status(self, number: int) -> int:
        """What becomes of the request of this number: 200, 429 or 500."""
        drawn = Random(f"{self.seed}/{number}").random()
        if drawn < self.limited_share:
            return 429
        return 500 if drawn < self.limited_share + self.failing_share else 200


class Counts(msgspec.Struct):
    """What was asked of it; of chats also how many it has answered."""

    chats: int = 0
    chats_ended: int = 0
    embeddings: int = 0
    texts: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    reply_tokens: int = 0
    failed: int = 0
    limited: int = 0


class Request(msgspec.Struct, frozen=True):
    """One request as it arrived."""

    method: str
    path: str
    body: bytes


class Server:
    """Answers on any number of connections; `base_url` is what a client is given."""

    def __init__(self, plan: Plan, port: int) -> None:
        self.plan = plan
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.counts = Counts()
        self._cache = PrefixCache(plan.cache_tokens, lambda text: len(text) // CHARS_A_TOKEN + 1)
        self._number = 0

    async def talk(self, stream: anyio.abc.SocketStream) -> None:
        """Answer what comes on one connection until its client leaves."""
        received = BufferedByteReceiveStream(stream)
        try:
            async with stream:
                while True:
                    await self._answer(stream, await _request(received))
        except (
            anyio.BrokenResourceError,
            anyio.EndOfStream,
            anyio.IncompleteRead,
            anyio.ClosedResourceError,
        ):
            return

    async def _answer(self, stream: anyio.abc.SocketStream, request: Request) -> None:
        if request.method == "GET" and request.path.endswith("/counts"):
            await _send(stream, 200, msgspec.to_builtins(self.counts))
            return
        status = self.plan.status(self._number)
        self._number += 1
        if status == 429:
            self.counts.limited += 1
            await _send(
                stream, status, fault("come again later", "rate_limit_exceeded"), self.plan.retry_after_s
            )
        elif status != 200:
            self.counts.failed += 1
            await _send(stream, status, fault("as planned", "server_error"))
        elif request.path.endswith("/embeddings"):
            await self._embed(stream, json.loads(request.body))
        elif request.path.endswith("/chat/completions"):
            await self._chat(stream, json.loads(request.body))
        else:
            await _send(stream, 404, fault("no such path", "not_found"))

    async def _embed(self, stream: anyio.abc.SocketStream, body: dict[str, Any]) -> None:
        texts: list[str] = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.counts.embeddings += 1
        self.counts.texts += len(texts)
        await anyio.sleep(self.plan.embedding_s)
        dimensions = body.get("dimensions", self.plan.dimensions)
        answer = embeddings(body, texts, dimensions)
        tokens = sum(len(text) // CHARS_A_TOKEN for text in texts)
        await _send(stream, 200, answer | {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}})

    async def _chat(self, stream: anyio.abc.SocketStream, body: dict[str, Any]) -> None:
        plan, read = self.plan, self._cache.read(body["messages"])
        self.counts.chats += 1
        asked_json = body.get("response_format", {}).get("type", "text") != "text"
        content = json_reply(self.counts.chats) if asked_json else "word" * plan.reply_tokens
        message = {"role": "assistant", "content": content}
        usage = usage_of(body, message) | {
            "prompt_tokens": read.tokens,
            "completion_tokens": plan.reply_tokens,
            "total_tokens": read.tokens + plan.reply_tokens,
            "prompt_tokens_details": {"cached_tokens": read.cached_tokens},
        }
        self.counts.prompt_tokens += read.tokens
        self.counts.cached_tokens += read.cached_tokens
        self.counts.reply_tokens += plan.reply_tokens
        reading_s = read.new_tokens / plan.read_tokens_per_s if plan.read_tokens_per_s else 0.0
        await anyio.sleep(plan.first_token_s + reading_s)
        if not body.get("stream"):
            await anyio.sleep(plan.token_s * plan.reply_tokens)
            self.counts.chats_ended += 1
            await _send(stream, 200, completion(body, message, usage))
            return
        await stream.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for place, chunk in enumerate(chunks(body, message, usage)):
            if place > 1 and plan.token_s:
                await anyio.sleep(plan.token_s)
            await stream.send(_piece(event(chunk)))
        self.counts.chats_ended += 1
        await stream.send(_piece(DONE) + _piece(b""))


async def _request(received: BufferedByteReceiveStream) -> Request:
    head = await received.receive_until(b"\r\n\r\n", HEAD_BYTES_MAX)
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    length = int(headers.get("content-length", 0))
    if length > BODY_BYTES_MAX:
        raise anyio.EndOfStream
    return Request(method, path, await received.receive_exactly(length) if length else b"")


async def _send(
    stream: anyio.abc.SocketStream, status: int, body: object, retry_after_s: float | None = None
) -> None:
    raw = json.dumps(body).encode()
    later = "" if retry_after_s is None else f"retry-after: {retry_after_s:g}\r\n"
    head = (
        f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n{later}content-length: {len(raw)}\r\n\r\n"
    )
    await stream.send(head.encode() + raw)


def _piece(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@asynccontextmanager
async def serving(plan: Plan) -> AsyncGenerator[Server, None]:
    """A server on this event loop, until the block ends: for tests, where its time need not be kept apart."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    server = Server(plan, listener.extra(anyio.abc.SocketAttribute.local_port))
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.talk)
        yield server
        group.cancel_scope.cancel()


@asynccontextmanager
async def beside(plan: Plan) -> AsyncGenerator[str, None]:
    """The address of a server in a process of its own, until the block ends: what it does costs this one nothing."""
    command = [sys.executable, "-m", "benchmarks.server", msgspec.json.encode(plan).decode()]
    async with await anyio.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with anyio.fail_after(START_S_MAX):
            said = await BufferedByteReceiveStream(child.stdout).receive_until(b"\n", HEAD_BYTES_MAX)
        yield said.decode()
        await child.stdin.aclose()


async def counts_at(base_url: str) -> Counts:
    """What was asked of the server so far."""
    parts = urlsplit(base_url)

    def read() -> bytes:
        connection = HTTPConnection(parts.netloc, timeout=START_S_MAX)
        try:
            connection.request("GET", "/counts")
            return connection.getresponse().read()
        finally:
            connection.close()

    return msgspec.json.decode(await anyio.to_thread.run_sync(read), type=Counts)


async def main(plan: Plan) -> None:
    """Serve until the standard input ends, which it does with whoever started this."""
    async with serving(plan) as server:
        print(server.base_url, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.buffer.read, abandon_on_cancel=True)


if __name__ == "__main__":
    anyio.run(main, msgspec.json.decode(sys.argv[1] if len(sys.argv) > 1 else "{}", type=Plan))
