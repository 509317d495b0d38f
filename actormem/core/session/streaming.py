"""A streamed reply, put together from its chunks as OpenAI-compatible servers send them.

Tool calls come in pieces: a piece belongs to the call of its id, else of its index, else to the one before
(servers leave out the index, or number every piece 0).
"""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from actormem.errors import UsageError

__all__ = ["ReplyDraft", "whole_reply"]


CUT_OFF = ("length", "content_filter")  # finish reasons after which a tool call may lack its end


class CallDraft:
    """One tool call in the making."""

    def __init__(self, id: str, index: int | None) -> None:
        self.id = id
        self.index = index
        self.name = ""
        self.arguments = ""


class ReplyDraft:
    """What was streamed so far.

    Attributes:
        said: Whether any word or call has come.
        whole: Whether the stream said that it ended, by itself or at a limit of tokens.
        prompt_tokens: What the provider counted for the request, or 0.
    """

    def __init__(self) -> None:
        self.said = False
        self.whole = False
        self.prompt_tokens = 0
        self._finished = False  # the model was done; not so where a limit cut it off
        self._words: list[str] = []
        self._calls: list[CallDraft] = []

    def feed(self, chunk: object) -> None:
        """Take in one chunk.

        Raises:
            UsageError: It has neither choices nor usage.
        """
        usage = _field(chunk, "usage")
        choices = _field(chunk, "choices")
        if choices is None and usage is None:
            raise UsageError("a chunk must have choices or usage, as chat completions stream them")
        self.prompt_tokens = _prompt_tokens(usage) or self.prompt_tokens
        for choice in _items(choices):
            self._choice(choice)

    def message(self, *, whole: bool) -> dict[str, object] | None:
        """The reply as a wire message, or None where nothing was said.

        Args:
            whole: False where the stream was broken off: its tool calls are then left out, since the last
                may lack its end. Where nobody said how it ended, those are kept whose arguments are JSON.
        """
        words = "".join(self._words)
        calls = [call for call in self._calls if call.id and call.name] if whole or self.whole else []
        if not self._finished:
            calls = [call for call in calls if _is_json(call.arguments)]
        if not words and not calls:
            return None
        fields: dict[str, object] = {"role": "assistant", "content": words or None}
        if calls:
            fields["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in calls
            ]
        return fields

    def _choice(self, choice: object) -> None:
        if _field(choice, "index"):
            return  # another answer to the same request: the first one is the reply
        reason = _field(choice, "finish_reason")
        if reason:
            self.whole = True
            self._finished = reason not in CUT_OFF
        delta = _field(choice, "delta") or _field(choice, "message")
        words = _field(delta, "content")
        if isinstance(words, str) and words:
            self._words.append(words)
            self.said = True
        for piece in _items(_field(delta, "tool_calls")):
            self._piece(piece)
            self.said = True

    def _piece(self, piece: object) -> None:
        id, index = _field(piece, "id"), _field(piece, "index")
        call = self._call(id if isinstance(id, str) else "", index if isinstance(index, int) else None)
        function = _field(piece, "function")
        name, arguments = _field(function, "name"), _field(function, "arguments")
        if isinstance(name, str) and not call.name:
            call.name = name
        if isinstance(arguments, str):
            call.arguments += arguments

    def _call(self, id: str, index: int | None) -> CallDraft:
        if id:
            same = [call for call in self._calls if call.id == id]
        elif index is not None:
            same = [call for call in self._calls if call.index == index]
        else:
            same = self._calls[-1:]
        if same:
            return same[-1]
        call = CallDraft(id, index)
        self._calls.append(call)
        return call


def whole_reply(given: object) -> tuple[object, int]:
    """The message of a whole completion, and what the provider counted for its request, or 0.

    What is no completion is taken for the message itself. Tool calls that a limit of tokens cut off are dropped.

    Raises:
        UsageError: It has choices, but none with a message.
    """
    if isinstance(given, str) or _field(given, "choices") is None:
        return given, 0
    first = next((one for one in _items(_field(given, "choices")) if not _field(one, "index")), None)
    message = _field(first, "message")
    if message is None:
        raise UsageError("a completion must have a choice with a message")
    prompt_tokens = _prompt_tokens(_field(given, "usage"))
    if _field(first, "finish_reason") in CUT_OFF and _field(message, "tool_calls"):
        draft = ReplyDraft()
        draft.feed(given)
        message = draft.message(whole=True) or {"role": "assistant", "content": ""}
    return message, prompt_tokens


def _prompt_tokens(usage: object) -> int:
    tokens = _field(usage, "prompt_tokens")
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else 0


def _field(holder: object, name: str) -> object:
    if isinstance(holder, Mapping):
        return cast("Mapping[str, object]", holder).get(name)
    return getattr(holder, name, None)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()
