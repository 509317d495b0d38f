"""A chat completion as a client asks for it, taken apart: which of its messages are new, and which are its past.

A client of OpenAI's sends its whole history each time, or only what is new; both are understood. The newest user
message and what follows it (tool calls and their results) are the turn; what stands before it is history, which a
session that is not new has already.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, cast
from urllib.parse import unquote

import msgspec
from starlette.datastructures import Headers

from actormem import UsageError
from actormem.remote.failures import RefusedError
from actormem.server.grants import Grant
from actormem.server.loose import entries, loose_json
from actormem.server.loose import fields as fields_of

__all__ = ["ChatRequest", "Whose", "same_words", "whose", "words_mark"]

SESSION, USER, TENANT, MESSAGE = (
    "x-actormem-session",
    "x-actormem-user",
    "x-actormem-tenant",
    "x-actormem-message",
)
Wire = Mapping[str, Any]


class Whose(msgspec.Struct, frozen=True):
    """Whose turn it is, by the request's headers; `message_id` is empty where the client gives none."""

    session_id: str
    user: str
    tenant: str
    message_id: str


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked.

    Attributes:
        fields: The body as it came.
        system: Words of its system messages; None where it has none.
        tools: Tool schemas; None where it has none.
        model: As the client names it; None where it does not.
        history: What stands before the turn.
        beside: User messages right before the newest one: documents, for instance, that go with the question.
        said: The user's newest message.
        after: What follows it: tool calls and results.
        stream: Whether the reply is to be streamed.
    """

    fields: dict[str, Any]
    system: str | None
    tools: list[dict[str, Any]] | None
    model: str | None
    history: tuple[Wire, ...]
    beside: tuple[Wire, ...]
    said: Wire
    after: tuple[Wire, ...]
    stream: bool

    @classmethod
    def read(cls, raw: bytes) -> "ChatRequest":
        """The request of this body.

        Raises:
            UsageError: It is none.
        """
        found = fields_of(loose_json(raw))
        if not found:
            raise UsageError("the body is no JSON object", hint="see OpenAI's chat completions")
        return _read(found)

    def sent_on(self, messages: Sequence[Wire]) -> bytes:
        """The request with other messages; every other field stays as it came."""
        return msgspec.json.encode({**self.fields, "messages": messages})


def whose(headers: Headers, grant: Grant) -> Whose:
    """Whose turn it is. Ids may be percent-encoded UTF-8, since headers hold no other characters.

    Raises:
        UsageError: A header is missing.
        RefusedError: The key is for another one's memory.
    """
    session_id, user = _header(headers, SESSION), _header(headers, USER)
    try:
        found_user, tenant = grant.owner(user, _header(headers, TENANT))
    except PermissionError as error:
        raise RefusedError(str(error), status=403) from None
    missing = [name for name, value in ((SESSION, session_id), (USER, found_user)) if not value]
    if missing:
        raise UsageError(
            f"the request has no header {' and no '.join(missing)}",
            hint="they say whose memory it is; their values may be percent-encoded",
        )
    return Whose(session_id, found_user, tenant, _header(headers, MESSAGE))


def same_words(one: object, other: object) -> bool:
    """Whether two contents say the same: a text, and a list of that one text, do."""
    return _comparable(one) == _comparable(other)


def words_mark(content: object) -> str:
    """The same for contents that say the same, and no word of them: it may be kept of what is to be forgotten."""
    words = json.dumps(_comparable(content), sort_keys=True, default=repr)
    return blake2b(words.encode(errors="replace"), digest_size=16).hexdigest()


def _header(headers: Headers, name: str) -> str:
    """The header's value: percent-encoded UTF-8, or its bytes as they are, which a framework reads as Latin-1."""
    try:
        return unquote(headers.get(name, "").encode("latin-1").decode(), errors="strict")
    except UnicodeError:
        raise UsageError(f"the header {name} is not UTF-8, percent-encoded or plain") from None


def _read(fields: dict[str, Any]) -> ChatRequest:
    given: object = fields.get("messages")
    if not isinstance(given, list) or not given:
        raise UsageError("messages must be a list that is not empty")
    messages = cast("list[object]", given)
    if not all(isinstance(one, dict) and isinstance(cast("Wire", one).get("role"), str) for one in messages):
        raise UsageError("each of messages must be an object with a role")
    wire = cast("list[Wire]", messages)
    tools, model = fields.get("tools"), fields.get("model")
    if tools is not None and not isinstance(tools, list):
        raise UsageError("tools must be a list of tool schemas")
    rules = [one for one in wire if one["role"] in ("system", "developer")]
    talk = [one for one in wire if one["role"] not in ("system", "developer")]
    place = max((place for place, one in enumerate(talk) if one["role"] == "user"), default=-1)
    if place < 0 or talk[-1]["role"] == "assistant":
        raise UsageError("messages must end with a user's message, or with the results of tools after one")
    first = place
    while first and talk[first - 1]["role"] == "user":
        first -= 1
    return ChatRequest(
        fields=fields,
        system="\n\n".join(_text(one.get("content")) for one in rules) if rules else None,
        tools=cast("list[dict[str, Any]] | None", tools),
        model=model if isinstance(model, str) else None,
        history=tuple(talk[:first]),
        beside=tuple(talk[first:place]),
        said=talk[place],
        after=tuple(talk[place + 1 :]),
        stream=fields.get("stream") is True,
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (fields_of(part).get("text") for part in entries(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def _comparable(content: object) -> object:
    parts = entries(content)
    only = fields_of(parts[0]) if len(parts) == 1 else {}
    return only["text"] if set(only) == {"type", "text"} else content
