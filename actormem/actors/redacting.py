"""Cutting words out of what a session has stored: messages keep the rest, what memory wrote goes as a whole."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from actormem.actors.messages import Redact
from actormem.core.erased_words import MARK, Sought
from actormem.core.filters import without_redacted
from actormem.core.session.events import (
    BlockMade,
    EpochStarted,
    MessageAdded,
    NoteWritten,
    SessionEvent,
    SummaryKept,
    TaskChanged,
    decode_event,
)
from actormem.core.summary.outline import told_lines
from actormem.core.task import Task, decode_task, encode_task
from actormem.core.values import Item, JsonValue
from actormem.ports import StoredEvent

__all__ = ["Redaction", "erased_words", "redacted_texts", "said_since_ms", "shown_words", "without_lines"]


class Redaction:
    """What is asked of a session, made ready for many texts."""

    def __init__(self, asked: Redact) -> None:
        self.asked = asked
        self.words = sorted((word for word in asked.words if word), key=len, reverse=True)
        self.values = Sought((*asked.words, *asked.values))
        self.wide = Sought(asked.wide)
        self.near = Sought((*asked.wide, *asked.near))

    def texts(self, events: Sequence[StoredEvent]) -> list[tuple[int, str | None]]:
        """The texts that must change, by event, with what takes their place (None for nothing)."""
        found: list[tuple[int, str | None]] = []
        for stored in events:
            if stored.text is None:
                continue
            text = self._redacted(decode_event(stored.body, stored.text), stored.text)
            if text != stored.text:
                found.append((stored.sequence, text))
        return found

    def _redacted(self, event: SessionEvent, text: str) -> str | None:
        match event:
            case MessageAdded():
                return self._message(event, text)
            case TaskChanged():
                return _task(text, self.values)
            case NoteWritten():
                shown = {id for id, _ in event.items}
                return None if shown.intersection(self.asked.item_ids) or self._holds(text) else text
            case EpochStarted() | SummaryKept():
                return None if self._holds(text) else text
            case BlockMade():
                return _block(text, self.values)
            case _:
                return text

    def _message(self, event: MessageAdded, text: str) -> str:
        """The message it came from loses what was quoted of it as it stands, all others whole words."""
        if event.id in self.asked.source_ids:
            text = _without_quotes(text, self.words)
        near = event.time_ms >= self.asked.since_ms
        sought = self.near if near else self.wide
        return sought.cut_message(text) if sought else text

    def _holds(self, text: str) -> bool:
        """Whether what memory wrote holds one of the values, however JSON writes it."""
        return self.values.stand_in(text) or self.values.cut_whole(text) != text


def redacted_texts(events: Sequence[StoredEvent], asked: Redact) -> list[tuple[int, str | None]]:
    """The texts that must change, by event, with what takes their place (None for nothing)."""
    return Redaction(asked).texts(events)


def erased_words(items: Iterable[Item]) -> tuple[str, ...]:
    """What is to be cut out of what was said: the values of items, and what they quote; of a message, all of it."""
    words: dict[str, None] = {}
    for item in items:
        if item.source != "summary":
            quote = item.text if item.kind == "episode" else item.quote
            words |= dict.fromkeys(word for word in (quote, item.value) if word)
    return tuple(words)


def said_since_ms(items: Iterable[Item]) -> int:
    """When the first of the items was said first; 0 for none."""
    return min((item.since_ms for item in items), default=0)


def shown_words(items: Iterable[Item]) -> tuple[str, ...]:
    """What blocks, notes and other summaries may hold of items: their texts and values, and the lines of summaries."""
    words: dict[str, None] = {}
    for item in items:
        lines = told_lines(item.text) if item.source == "summary" else ()
        words |= dict.fromkeys(word for word in (item.text, item.value, *lines) if word)
    return tuple(words)


def _block(text: str, values: Sought) -> str:
    """A block without the lines that hold one of the values."""
    words = msgspec.json.decode(text, type=dict[str, str])
    fields: dict[str, JsonValue] = msgspec.json.decode(words["wire"]) if words["wire"] else {}
    content = fields.get("content")
    if isinstance(content, str):
        fields["content"] = without_lines(content, values)
        words["wire"] = msgspec.json.encode(fields).decode()
    words["summary"] = without_lines(words["summary"], values)
    return msgspec.json.encode(words).decode()


def without_lines(text: str, values: Sought) -> str:
    """What memory wrote, without the lines that hold one of the values."""
    return "\n".join(line for line in text.split("\n") if not values.stand_in(line))


def _task(text: str, values: Sought) -> str:
    """A task without the words, in the names of its values too."""
    task = decode_task(text)
    kept = {values.cut(key): values.cut(value) for key, value in task.values.items()}
    return encode_task(Task(goal=values.cut(task.goal), step=values.cut(task.step), values=kept))


def _without_quotes(wire: str, words: Sequence[str]) -> str:
    fields: JsonValue = msgspec.json.decode(wire)
    cut = _cut(fields, words)
    return wire if cut == fields else msgspec.json.encode(cut).decode()


def _cut(value: JsonValue, words: Sequence[str]) -> JsonValue:
    if isinstance(value, str):
        for word in words:
            value = without_redacted(value.replace(word, MARK), word, MARK)
        return value
    if isinstance(value, Mapping):
        return {key: part if key == "role" else _cut(part, words) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [_cut(part, words) for part in value]
    return value
