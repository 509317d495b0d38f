"""Contexts for chat templates that demand user and assistant in turn: neighbours of one role become one message.

What is joined stands in the order it had, a blank line between. Three gaps no joining can close are closed by
marked words of our own: a beginning without a user, a tool's result that nobody answered, a system message
among the others. What is joined is counted as it stands, since no vocabulary promises what joining costs.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from actormem.core.context.assembly import Part, shares_of
from actormem.core.context.notes import enclosed, wire_of
from actormem.core.context.shorten import Counter
from actormem.core.session.working import Settings
from actormem.core.text import language
from actormem.core.values import JsonValue
from actormem.core.wire import content_text, wire_tokens
from actormem.limits import MESSAGE_OVERHEAD_TOKENS

__all__ = ["joined", "opening_tokens"]

SYSTEM_ROLES = ("system", "developer")
NO_REPLY = "[no reply was recorded]"
OPENING = {"en": "[the conversation began earlier]", "zh": "[此前已有对话]"}
FROM_APPLICATION = {"en": "From the application, not said by the user:", "zh": "来自应用，并非用户所说："}

Fields: TypeAlias = Mapping[str, JsonValue]
Run: TypeAlias = list[tuple[Part, Fields]]


def joined(
    parts: Sequence[Part], settings: Settings, counter: Counter, known: Mapping[str, int]
) -> tuple[Part, ...]:
    """The parts as the layout wants them joined; their tokens are those of the bytes they have.

    Args:
        known: Tokens of messages that were joined before, by their bytes.

    Cost:
        Nothing but for `join="all"`; there the parts are read, and what is joined and not known is counted:
        0.1 ms at 6,000 tokens, 3 ms at 200,000, besides the counting.
    """
    if settings.layout.join != "all":
        return tuple(parts)
    joiner = Joiner(settings, counter, known)
    for part in parts:
        joiner.take(part)
    return tuple(joiner.one(run) for run in joiner.runs)


def opening_tokens(counter: Counter) -> int:
    """Tokens of the message that stands where a context would begin with the assistant."""
    return max(wire_tokens(wire_of(words), counter.count) for words in OPENING.values())


class Joiner:
    """Puts parts in runs, each to be one message, and what closes a gap between them."""

    def __init__(self, settings: Settings, counter: Counter, known: Mapping[str, int]) -> None:
        self.runs: list[Run] = []
        self._nonce = settings.nonce
        self._prices = settings.prices
        self._counter = counter
        self._known = known

    def take(self, part: Part) -> None:
        """The next part."""
        fields: Fields = msgspec.json.decode(part.wire)
        if self.runs and fields["role"] in SYSTEM_ROLES:
            fields = _as_user(fields, self._nonce)
            part = self._part(fields, part.section)
        role = fields["role"]
        self._close_gap(fields)
        before: Fields = self.runs[-1][-1][1] if self.runs else {}
        if role == before.get("role") and role in ("user", "assistant") and not before.get("tool_calls"):
            self.runs[-1].append((part, fields))
        else:
            self.runs.append([(part, fields)])

    def one(self, run: Run) -> Part:
        """The one message of a run."""
        first, _ = run[0]
        if len(run) == 1:
            return first
        whole = self._part(_joined_fields([fields for _, fields in run]), first.section)
        return msgspec.structs.replace(whole, shares=_shares([part for part, _ in run], whole.tokens))

    def _close_gap(self, fields: Fields) -> None:
        before = self.runs[-1][-1][1]["role"] if self.runs else ""
        if fields["role"] == "assistant" and before in ("", *SYSTEM_ROLES):
            opening: Fields = {"role": "user", "content": OPENING[language(_text(fields))]}
            self.runs.append([(self._part(opening, "format"), opening)])
        elif fields["role"] == "user" and before == "tool":
            no_reply: Fields = {"role": "assistant", "content": NO_REPLY}
            self.runs.append([(self._part(no_reply, "format"), no_reply)])

    def _part(self, fields: Fields, section: str) -> Part:
        wire = msgspec.json.encode(fields).decode()
        tokens = self._known.get(wire)
        return Part(
            wire, wire_tokens(wire, self._counter.count, self._prices) if tokens is None else tokens, section
        )


def _text(fields: Fields) -> str:
    return content_text(fields.get("content"))


def _as_user(fields: Fields, nonce: str) -> Fields:
    """A system message of the caller's, below a mark the user cannot write."""
    text, content = _text(fields), fields.get("content")
    marked = enclosed(FROM_APPLICATION[language(text)], [text] if text else [], nonce)
    others = [part for part in _parts(content) if not _is_text(part)]
    return {**fields, "role": "user", "content": [_text_part(marked), *others] if others else marked}


def _joined_fields(run: Sequence[Fields]) -> Fields:
    """One message of all; a name stands there where all have the same."""
    fields: dict[str, JsonValue] = {}
    for one in run:
        fields |= one
    fields["content"] = _joined_content([one.get("content") for one in run])
    if any(one.get("name") != run[0].get("name") for one in run):
        del fields["name"]
    return fields


def _joined_content(contents: Sequence[JsonValue]) -> JsonValue:
    """One text where all are texts, else parts; texts in a row are one text in both, so what was shown stays."""
    said = [content for content in contents if content]
    runs: list[JsonValue] = []
    for _, run in groupby(said, key=lambda content: isinstance(content, str)):
        alike = list(run)
        texts = [content for content in alike if isinstance(content, str)]
        runs += ["\n\n".join(texts)] if texts else alike
    if len(runs) <= 1:
        return runs[0] if runs else contents[0]
    return [part for content in runs for part in _parts(content)]


def _parts(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, str):
        return [_text_part(content)]
    return list(content) if isinstance(content, Sequence) else []


def _text_part(text: str) -> JsonValue:
    return {"type": "text", "text": text}


def _is_text(part: JsonValue) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _shares(run: Sequence[Part], tokens: int) -> tuple[tuple[str, int], ...]:
    """Tokens by section: those of each part but for the overhead it no longer has; the rest is the last one's."""
    found: dict[str, int] = {}
    for place, part in enumerate(run):
        found[part.section] = found.get(part.section, 0) - (MESSAGE_OVERHEAD_TOKENS if place else 0)
        for name, taken in shares_of(part):
            found[name] = found.get(name, 0) + taken
    found[run[-1].section] += tokens - sum(found.values())
    return tuple(found.items())
