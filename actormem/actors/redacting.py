"""Cutting words out of what a session has stored: messages keep the rest, what memory wrote goes as a whole."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from actormem.actors.messages import Redact
from actormem.core.filters import MARK as SECRET
from actormem.core.filters import redacted, without_redacted
from actormem.core.hidden import unhidden
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

__all__ = ["redacted_texts", "shown_words", "without_lines"]

MARK = "[forgotten]"


def redacted_texts(events: Sequence[StoredEvent], asked: Redact) -> list[tuple[int, str | None]]:
    """The texts that must change, by event, with what takes their place (None for nothing)."""
    words = sorted((word for word in asked.words if word), key=len, reverse=True)
    whole = (*words, *(value for value in asked.values if value))
    values = tuple(dict.fromkeys((*whole, *map(unhidden, whole))))  # what memory writes hides nothing
    found: list[tuple[int, str | None]] = []
    for stored in events:
        if stored.text is None:
            continue
        text = _redacted(decode_event(stored.body, stored.text), stored.text, words, values, asked.item_ids)
        if text != stored.text:
            found.append((stored.sequence, text))
    return found


def shown_words(items: Iterable[Item]) -> tuple[str, ...]:
    """What blocks, notes and other summaries may hold of items: their texts and values, and the lines of summaries."""
    words: dict[str, None] = {}
    for item in items:
        lines = told_lines(item.text) if item.source == "summary" else ()
        words |= dict.fromkeys(word for word in (item.text, item.value, *lines) if word)
    return tuple(words)


def _redacted(
    event: SessionEvent, text: str, words: Sequence[str], values: Sequence[str], item_ids: Collection[str]
) -> str | None:
    match event:
        case MessageAdded():
            return _message(text, words)
        case TaskChanged():
            return _task(text, values)
        case NoteWritten():
            shown = {id for id, _ in event.items}
            return None if shown.intersection(item_ids) or _holds(text, values) else text
        case EpochStarted() | SummaryKept():
            return None if _holds(text, values) else text
        case BlockMade():
            return _block(text, values)
        case _:
            return text


def _holds(wire: str, values: Sequence[str]) -> bool:
    """Whether a wire message holds one of the values, however JSON writes it."""
    forms = _forms(wire, values)
    return any(value in form or _json_inside(value) in form for value in values for form in forms)


def _forms(text: str, values: Sequence[str]) -> tuple[str, ...]:
    """The text, and as memory keeps it where one of the values was kept without its secrets."""
    return (text, redacted(text)) if any(SECRET in value for value in values) else (text,)


def _block(text: str, values: Sequence[str]) -> str:
    """A block without the lines that hold one of the values."""
    words = msgspec.json.decode(text, type=dict[str, str])
    fields: dict[str, JsonValue] = msgspec.json.decode(words["wire"]) if words["wire"] else {}
    content = fields.get("content")
    if isinstance(content, str):
        fields["content"] = without_lines(content, values)
        words["wire"] = msgspec.json.encode(fields).decode()
    words["summary"] = without_lines(words["summary"], values)
    return msgspec.json.encode(words).decode()


def without_lines(text: str, values: Sequence[str]) -> str:
    """What memory wrote, without the lines that hold one of the values."""
    lines = ((line, _forms(line, values)) for line in text.split("\n"))
    return "\n".join(
        line for line, forms in lines if not any(value in form for value in values for form in forms)
    )


def _json_inside(value: str) -> str:
    return msgspec.json.encode(value).decode()[1:-1]


def _task(text: str, values: Sequence[str]) -> str:
    """A task without the words, in the names of its values too."""
    task = decode_task(text)
    longest = sorted(values, key=len, reverse=True)
    kept = {str(_cut(key, longest)): str(_cut(value, longest)) for key, value in task.values.items()}
    goal, step = str(_cut(task.goal, longest)), str(_cut(task.step, longest))
    return encode_task(Task(goal=goal, step=step, values=kept))


def _message(wire: str, words: Sequence[str]) -> str:
    fields: JsonValue = msgspec.json.decode(wire)
    cut = _cut(fields, words)
    return wire if cut == fields else msgspec.json.encode(cut).decode()


def _cut(value: JsonValue, words: Sequence[str]) -> JsonValue:
    if isinstance(value, str):
        for word in words:
            value = without_redacted(value.replace(word, MARK), word, MARK)
        return value
    if isinstance(value, Mapping):
        return {key: _cut(part, words) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [_cut(part, words) for part in value]
    return value
