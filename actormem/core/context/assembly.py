"""The context: what the model sees at this turn, in the one order that keeps its beginning stable.

System prompt · summary blocks · exact values of what was cut since · verbatim messages with their notes · the
newest user message with its note. Within an epoch each context is, byte for byte, an extension of the one before.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.notes import (
    Line,
    enclosed,
    lines_within,
    merged_wire,
    note_title,
    wire_of,
    words_of,
)
from actormem.core.context.shorten import Counter
from actormem.core.context.trace import Section, Trace
from actormem.core.session import events as ev
from actormem.core.session.working import Entry, Working
from actormem.core.values import JsonValue, Message
from actormem.core.wire import from_wire, wire_tokens
from actormem.limits import PRIMING_TOKENS

__all__ = [
    "Context",
    "Part",
    "assemble",
    "common_tokens",
    "note",
    "recall_ceiling",
    "rendered",
    "sections",
    "system_wire",
]


class Part(msgspec.Struct, frozen=True):
    """One message of a context: its bytes, its tokens, the section it belongs to, and the note's part of them."""

    wire: str
    tokens: int
    section: str
    note_tokens: int = 0


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, and why it is what it is.

    Attributes:
        messages: Wire messages, ready for `chat.completions.create(messages=…)`. Yours to change.
        trace: What went in, what was left out and why, tokens by section, milliseconds by step.
    """

    messages: list[dict[str, JsonValue]]
    trace: Trace


def assemble(state: Working) -> tuple[Part, ...]:
    """The parts of a context of all that is in view, in wire order."""
    settings = state.settings
    parts: list[Part] = []
    if settings.system:
        parts.append(Part(system_wire(settings.system), settings.system_tokens, "system"))
    parts += [Part(block.wire, block.tokens, "summary") for block in state.blocks if block.wire]
    if state.head:
        parts.append(Part(state.head, state.head_tokens, "values"))
    newest = state.newest_user
    for entry in state.view:
        section = "newest" if newest is not None and entry.sequence >= newest.sequence else "verbatim"
        note = state.notes.get(entry.sequence)
        if note is None:
            parts.append(Part(entry.wire, entry.tokens, section))
            continue
        if note.apart:
            parts.append(Part(note.apart, note.apart_tokens, section, note.apart_tokens))
        inside = note.tokens - note.apart_tokens
        parts.append(Part(note.merged, entry.tokens + inside, section, inside))
    return tuple(parts)


def sections(parts: Sequence[Part], state: Working) -> tuple[Section, ...]:
    """Tokens by section, in wire order; they add up to the tokens of the context."""
    tokens = {"format": PRIMING_TOKENS, "tools": state.settings.tools_tokens}
    for part in parts:
        tokens[part.section] = tokens.get(part.section, 0) + part.tokens - part.note_tokens
        tokens["notes"] = tokens.get("notes", 0) + part.note_tokens
    order = ("format", "tools", "system", "summary", "values", "verbatim", "notes", "newest")
    return tuple(Section(name, tokens[name]) for name in order if tokens.get(name))


def rendered(parts: Sequence[Part]) -> list[dict[str, JsonValue]]:
    """The messages of the parts, made anew from their bytes, so that no one else sees what a caller changes."""
    return [msgspec.json.decode(part.wire) for part in parts]


def common_tokens(before: Sequence[Part], after: Sequence[Part]) -> int:
    """Tokens of the longest run of messages with which both begin."""
    tokens = 0
    for old, new in zip(before, after, strict=False):
        if old.wire != new.wire:
            break
        tokens += new.tokens
    return tokens


def system_wire(system: str) -> str:
    """The wire of the system prompt."""
    return msgspec.json.encode({"role": "system", "content": system}).decode()


def note(state: Working, lines: Sequence[Line], counter: Counter) -> ev.NoteWritten:
    """The note of the newest user message: the lines that fit, best first, each said once.

    Its ceiling is the recall share and the room that is left in the context; where nothing fits or nothing is to
    be said the note is empty.
    """
    entry = state.newest_user
    assert entry is not None
    budget = state.settings.budget
    ceiling = min(recall_ceiling(state), budget.context - state.tokens)
    words = words_of(entry.message)
    nonce = state.settings.nonce

    def made(taken: Sequence[Line]) -> tuple[str, str, int, int]:
        return _note_wires(entry, taken, nonce, words, counter)

    taken = lines_within(lines, lambda some: made(some)[-1] <= ceiling) if ceiling > 0 else []
    if not taken:
        return ev.NoteWritten(message_sequence=entry.sequence, tokens=0, text=None)
    merged, apart, apart_tokens, tokens = made(taken)
    return ev.NoteWritten(
        message_sequence=entry.sequence,
        tokens=tokens,
        apart_tokens=apart_tokens,
        items=tuple(mark for line in taken for mark in line.marks),
        text=msgspec.json.encode({"merged": merged, "apart": apart}).decode(),
    )


def recall_ceiling(state: Working) -> int:
    """Ceiling of one note, in tokens: a share of what prompt and tools leave."""
    prompt = PRIMING_TOKENS + state.settings.system_tokens + state.settings.tools_tokens
    return state.settings.budget.recall_within(state.settings.budget.context - prompt)


def _note_wires(
    entry: Entry, lines: Sequence[Line], nonce: str, words: str, counter: Counter
) -> tuple[str, str, int, int]:
    shown = _shown(entry)
    own = [line.text for line in lines if line.by_user]
    others = [line.text for line in lines if not line.by_user]
    merged = merged_wire(shown, enclosed(note_title(False, words), own, nonce)) if own else entry.wire
    inside = wire_tokens(merged, counter.count) - entry.tokens if own else 0
    apart = wire_of(enclosed(note_title(True, words), others, nonce)) if others else ""
    apart_tokens = wire_tokens(apart, counter.count)
    return merged, apart, apart_tokens, inside + apart_tokens


def _shown(entry: Entry) -> Message:
    return entry.message if entry.wire == entry.message.wire else from_wire(entry.wire)
