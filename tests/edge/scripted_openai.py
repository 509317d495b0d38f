"""A provider in this process: the real `openai` package over a transport that answers by a script.

It is as strict as OpenAI is: a request whose messages or items no provider would take fails the test that made it.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import anyio.lowlevel
import httpx2
import openai

from benchmarks.openai_wire import DONE, chunks, completion, event, usage_of

__all__ = ["Provider", "call", "result"]

MESSAGE_KEYS = {
    "user": {"role", "content", "name"},
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "annotations", "audio"},
    "tool": {"role", "content", "tool_call_id"},
}


def call(id: str, name: str = "track", arguments: str = '{"order": "KX-1"}') -> dict[str, Any]:
    """An assistant message that makes one call."""
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


def result(id: str, content: str = "sent") -> dict[str, Any]:
    """The tool message that answers it."""
    return {"role": "tool", "tool_call_id": id, "content": content}


class Pieces(httpx2.AsyncByteStream):
    """A body in pieces; knows how many were read, and whether it was given back."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces
        self.read_count = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read_count += 1
            yield piece
            await anyio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.closed = True


class Provider(httpx2.AsyncBaseTransport):
    """Answers chat and response requests in the order of its script.

    Args:
        script: Texts or assistant messages (for responses: lists of output items), or functions of the request's
            body that give one; an exception is raised, an `httpx2.Response` sent as it is.

    Attributes:
        bodies: Of the requests, in order.
        streams: The streamed answers, in order.
        break_after: Streams end after so many pieces, as a broken connection does.
        prompt_tokens: What each request is said to have had; None for a count of its characters.
    """

    def __init__(self, *script: object) -> None:
        self.script = deque(script)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.streams: list[Pieces] = []
        self.break_after: int | None = None
        self.prompt_tokens: int | None = None

    def client(self, **options: Any) -> openai.AsyncOpenAI:
        """The real client, which reaches nobody else."""
        http = httpx2.AsyncClient(transport=self)
        return openai.AsyncOpenAI(
            api_key="none", base_url="http://provider/v1", http_client=http, max_retries=0, **options
        )

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages of the newest request."""
        return self.bodies[-1]["messages"]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        self.bodies.append(body)
        self.headers.append(request.headers)
        answer = self.script.popleft()
        if callable(answer) and not isinstance(answer, type):
            answer = answer(body)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, httpx2.Response):
            return answer
        if request.url.path.endswith("/responses"):
            check_items(body["input"])
            response = response_of(body, answer)
            response["usage"]["input_tokens"] = self.prompt_tokens or response["usage"]["input_tokens"]
            return self._sent(body, response, response_events)
        check_messages(body["messages"])
        message = {"content": answer} if isinstance(answer, str) else answer
        assert isinstance(message, dict)
        message = {"role": "assistant", **message}
        usage = usage_of(body, message)
        usage["prompt_tokens"] = self.prompt_tokens or usage["prompt_tokens"]
        whole = completion(body, message, usage)
        return self._sent(body, whole, lambda _: chunks(body, message, usage))

    def _sent(
        self, body: Mapping[str, Any], whole: dict[str, Any], events: Callable[[Any], Iterator[Any]]
    ) -> httpx2.Response:
        if not body.get("stream"):
            return httpx2.Response(200, json=whole)
        pieces = [event(one) for one in events(whole)]
        pieces = [*pieces, DONE] if self.break_after is None else pieces[: self.break_after]
        self.streams.append(Pieces(pieces))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=self.streams[-1])


def check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """As the provider does: known keys, and every call answered before anything else is said."""
    waiting: set[str] = set()
    for message in messages:
        assert set(message) <= MESSAGE_KEYS[message["role"]], f"unknown keys: {set(message)}"
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, "a call without its result"
            waiting = {one["id"] for one in message.get("tool_calls") or ()}
    assert not waiting, "a call without its result"


def check_items(items: Sequence[Mapping[str, Any]]) -> None:
    """As the provider does: every function call has its output, every output its call."""
    calls = [one["call_id"] for one in items if str(one.get("type")).endswith("_call") and "call_id" in one]
    outputs = [one["call_id"] for one in items if str(one.get("type")).endswith("_call_output")]
    assert sorted(calls) == sorted(outputs), "calls and outputs do not match"
    assert all("type" in one or "role" in one for one in items)


def response_of(body: Mapping[str, Any], answer: object) -> dict[str, Any]:
    """A whole answer of the Responses API."""
    items = [text_item(answer)] if isinstance(answer, str) else answer
    return {
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "model": body["model"],
        "status": "completed", "output": items, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": len(json.dumps(body["input"])) // 4, "output_tokens": 1, "total_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def text_item(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def response_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same as a stream."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    sequence = iter(range(1_000))
    yield {"type": "response.created", "sequence_number": next(sequence), "response": begun}
    for index, item in enumerate(response["output"]):
        for part in item.get("content", []) if item["type"] == "message" else []:
            for start in range(0, len(part["text"]), 4):
                yield {
                    "type": "response.output_text.delta", "sequence_number": next(sequence), "item_id": item["id"],
                    "output_index": index, "content_index": 0, "delta": part["text"][start : start + 4], "logprobs": [],
                }  # fmt: skip
        yield {
            "type": "response.output_item.done", "sequence_number": next(sequence), "output_index": index, "item": item
        }  # fmt: skip
    yield {"type": "response.completed", "sequence_number": next(sequence), "response": response}
