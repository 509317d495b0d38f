"""What a server that speaks OpenAI's protocol answers: pure, so that a test's server and a benchmark's may share it."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "DONE",
    "chunks",
    "completion",
    "embeddings",
    "event",
    "fault",
    "json_reply",
    "usage_of",
    "vector_of",
]

DONE = b"data: [DONE]\n\n"
PIECE_CHARS = 4  # about a token
CREATED_S = 1_700_000_000


def completion(
    body: Mapping[str, Any], message: Mapping[str, Any], usage: Mapping[str, Any]
) -> dict[str, Any]:
    """The whole answer to a chat request."""
    ending = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": CREATED_S,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": ending}],
        "usage": usage,
    }


def chunks(
    body: Mapping[str, Any], message: Mapping[str, Any], usage: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The same in pieces, as they are streamed; the usage last where the request asks for it."""
    text = message.get("content") or ""
    yield _chunk(body, {"role": "assistant", "content": ""})
    for start in range(0, len(text), PIECE_CHARS):
        yield _chunk(body, {"content": text[start : start + PIECE_CHARS]})
    for index, call in enumerate(message.get("tool_calls") or []):
        yield _chunk(body, {"tool_calls": [{"index": index, **call}]})
    yield _chunk(body, {}, "tool_calls" if message.get("tool_calls") else "stop")
    asked: Mapping[str, Any] = body.get("stream_options") or {}
    if asked.get("include_usage"):
        yield _chunk(body, None, usage=usage)


def _chunk(
    body: Mapping[str, Any],
    delta: dict[str, Any] | None,
    finish_reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One piece; a delta of None is the one without choices that carries the usage."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": CREATED_S,
        "model": body["model"],
        "choices": choices,
        "usage": usage,
    }


def event(chunk: Mapping[str, Any]) -> bytes:
    """A piece as a server-sent event."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def embeddings(body: Mapping[str, Any], texts: Sequence[str], dimensions: int) -> dict[str, Any]:
    """The answer to a request for vectors; they follow from the texts alone."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text, dimensions)}
        for index, text in enumerate(texts)
    ]
    return {"object": "list", "model": body["model"], "data": data}


def fault(message: str, code: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": message, "code": code}}


def json_reply(number: int) -> str:
    """The words of a reply where JSON is asked for: no fact, and one memory, another in each reply."""
    return json.dumps({"facts": [], "memory": [{"id": "0", "text": f"They spoke of matter {number}."}]})


def usage_of(body: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, int]:
    """Made-up token counts that follow from the request alone: one for each 4 characters."""
    prompt = len(json.dumps(body["messages"], ensure_ascii=False)) // 4
    reply = len(json.dumps(message, ensure_ascii=False)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}


def vector_of(text: str, dimensions: int) -> list[float]:
    """Numbers from -1 to 1 that follow from the text."""
    raw = hashlib.shake_128(text.encode()).digest(dimensions)
    return [byte / 127.5 - 1 for byte in raw]
