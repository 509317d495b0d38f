"""The context: what the model sees at this turn, in the one order that keeps its beginning stable.

System prompt · summary blocks · exact values of what was cut since · verbatim messages with their notes · the
newest user message with its note, and behind it a block for the tool groups of a long turn. Within an epoch each
context is, byte for byte, an extension of the one before. A `Layout` may put the note elsewhere; `joining` then
joins what it asks to be joined.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.layout import Layout
from actormem.core.context.notes import (
    GONE_VERSION,
    Line,
    enclosed,
    lines_within,
    merged_wire,
    note_title,
    wire_of,
    words_of,
)
from actormem.core.context.shorten import Counter
from actormem.core.context.tasks import task_change
from actormem.core.context.trace import Section, Trace
from actormem.core.prices import Prices
from actormem.core.session import events as ev
from actormem.core.session.working import Block, Entry, Note, Settings, Working
from actormem.core.text import language
from actormem.core.values import JsonValue, Message
from actormem.core.wire import from_wire, wire_tokens

__all__ = [
    "Context",
    "Part",
    "assemble",
    "assemble_noted",
    "common_tokens",
    "note",
    "note_alone",
    "recall_ceiling",
    "rendered",
    "sections",
    "shares_of",
    "system_wire",
    "total_tokens",
]


class Part(msgspec.Struct, frozen=True, gc=False):
    """One message of a context: its bytes, its tokens, the section it belongs to, and the note's part of them.

    `told` are tokens of the note, or of the part itself, that belong to sections of their own: (name, tokens);
    `shares` all its tokens by section, where it was joined of messages of several.
    """

    wire: str
    tokens: int
    section: str
    note_tokens: int = 0
    told: tuple[tuple[str, int], ...] = ()
    shares: tuple[tuple[str, int], ...] = ()


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, and why it is what it is.

    Attributes:
        messages: Wire messages, ready for `chat.completions.create(messages=…)`. Yours to change.
        trace: What went in, what was left out and why, tokens by section, milliseconds by step.
        cache_breakpoints: At most 4 places in `messages`, ascending, for providers whose prompt cache is told
            where a prefix ends (Anthropic's `cache_control`): the end of the system prompt, of what stands for
            the whole epoch, of what the context before held already, and of the context.
    """

    messages: list[dict[str, JsonValue]]
    trace: Trace
    cache_breakpoints: tuple[int, ...] = ()


def assemble(state: Working) -> tuple[Part, ...]:
    """The parts of a context of all that is in view, in wire order."""
    settings = state.settings
    parts: list[Part] = []
    if settings.system:
        parts.append(Part(system_wire(settings.system), settings.system_tokens, "system"))
    at_head = settings.layout.notes == "head"
    if at_head and state.notes:
        newest_note = state.notes[max(state.notes)]
        tokens = newest_note.tokens
        parts.append(Part(newest_note.apart, tokens, "notes", tokens, _told(newest_note)))
    begin = state.entries[0].sequence if state.entries else state.sequence + 1
    parts += [_block_part(block) for block in state.blocks if block.wire and block.last < begin]
    if state.head:
        told = (("task", state.head_task_tokens),)
        parts.append(Part(state.head, state.head_tokens, "values", told=told))
    between = [block for block in state.blocks if block.wire and block.last >= begin]
    newest = state.newest_user
    for entry in state.view:
        while between and between[0].last < entry.sequence:
            parts.append(_block_part(between.pop(0)))
        section = "newest" if newest is not None and entry.sequence >= newest.sequence else "verbatim"
        note = state.notes.get(entry.sequence)
        if note is None or at_head:
            parts.append(Part(entry.wire, entry.tokens, section))
            continue
        if note.apart:
            parts.append(Part(note.apart, note.apart_tokens, section, note.apart_tokens))
        inside = note.tokens - note.apart_tokens
        parts.append(Part(note.merged, entry.tokens + inside, section, inside, _told(note)))
    return (*parts, *map(_block_part, between))


def _told(note: Note) -> tuple[tuple[str, int], ...]:
    return ("task", note.told.task_tokens), ("profile", note.told.profile_tokens)


def _block_part(block: Block) -> Part:
    return Part(block.wire, block.tokens, "summary")


def assemble_noted(state: Working) -> tuple[Part, ...]:
    """The parts that an earlier context of this epoch is known to have held: those up to the last note."""
    if not state.noted:
        return ()
    entries = tuple(entry for entry in state.entries if entry.sequence <= state.noted)
    return assemble(msgspec.structs.replace(state, entries=entries))


def shares_of(part: Part) -> tuple[tuple[str, int], ...]:
    """The tokens of a message that was not joined, by section; they may be negative, and add up to its tokens."""
    found = [(part.section, part.tokens - part.note_tokens), ("notes", part.note_tokens)]
    for name, told in part.told:
        found += [(name, told), ("values" if part.section == "values" else "notes", -told)]
    return tuple(found)


def sections(parts: Sequence[Part], state: Working) -> tuple[Section, ...]:
    """Tokens by section, in wire order; they add up to the tokens of the context."""
    tokens = {"format": state.settings.format_tokens, "tools": state.settings.tools_tokens}
    for part in parts:
        for name, taken in part.shares or shares_of(part):
            tokens[name] = tokens.get(name, 0) + taken
    order = (
        "format", "tools", "system", "summary", "values", "task", "verbatim", "profile", "notes", "newest"
    )  # fmt: skip
    return tuple(Section(name, tokens[name]) for name in order if tokens.get(name))


def total_tokens(parts: Sequence[Part], settings: Settings) -> int:
    """Tokens of a request with these messages."""
    return settings.format_tokens + settings.tools_tokens + sum(part.tokens for part in parts)


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


def note(
    state: Working, lines: Sequence[Line], counter: Counter, *, profile: Sequence[Line] | None = None
) -> ev.NoteWritten:
    """The note of the newest user message: the lines that fit, best first, each said once.

    First what is new of the task, within its share, then the profile within its own, then `lines` within the
    recall share; all of it within the room that is left in the context. Where nothing fits or nothing is to be
    said the note is empty. The frame counts for whatever stands first in it.

    Args:
        profile: Lines of the profile; None where it was not asked for, or did not come.
    """
    entry = state.newest_user
    assert entry is not None
    budget = state.settings.budget
    room = budget.context - state.tokens
    words = words_of(entry.message)
    settings = state.settings

    def made(taken: Sequence[Line]) -> tuple[str, str, int, int]:
        inside, beside = _note_texts(taken, settings.nonce, words, settings.layout)
        return _note_wires(entry, inside, beside, counter, settings.prices)

    told = [
        (line, "task", cost)
        for line, cost in _costs(_task_lines(state, counter), budget.task_tokens, counter)
    ]
    told += [(line, "profile", cost) for line, cost in _costs(profile or (), budget.profile_tokens, counter)]
    while told and made([line for line, _, _ in told])[-1] > room:
        told.pop()
    first = [line for line, _, _ in told]
    base = made(first)[-1] if first else 0
    once = {mark for line in first for mark in line.marks}
    rest = [line for line in lines if not line.marks or not once.issuperset(line.marks)]
    ceiling = min(recall_ceiling(state), room - base)
    more = lines_within(rest, lambda some: made([*first, *some])[-1] - base <= ceiling) if ceiling > 0 else []
    taken = [*first, *more]
    profiled = profile is not None
    if not taken:
        return ev.NoteWritten(
            message_sequence=entry.sequence, tokens=0, told=ev.Told(profiled=profiled), text=None
        )
    merged, apart, apart_tokens, tokens = made(taken)
    profile_tokens = sum(cost for _, name, cost in told if name == "profile")
    task_tokens = sum(cost for _, name, cost in told if name == "task")
    return ev.NoteWritten(
        message_sequence=entry.sequence,
        tokens=tokens,
        apart_tokens=apart_tokens,
        items=tuple(mark for line in taken for mark in line.marks),
        told=ev.Told(state.task_sequence if task_tokens else 0, task_tokens, profile_tokens, profiled),
        text=msgspec.json.encode({"merged": merged, "apart": apart}).decode(),
    )


def recall_ceiling(state: Working) -> int:
    """Ceiling of the memories in one note, in tokens: a share of what prompt and tools leave."""
    settings = state.settings
    prompt = settings.format_tokens + settings.system_tokens + settings.tools_tokens
    return settings.budget.recall_within(settings.budget.context - prompt)


def note_alone(
    state: Working, lines: Sequence[Line], query: str, counter: Counter
) -> tuple[Part | None, frozenset[str]]:
    """A note for a context without a user message, as its last part (None for nothing), and ids of what it shows.

    Args:
        query: What was asked, for the language memory answers in.
    """
    ceiling = min(recall_ceiling(state), state.settings.budget.context - state.tokens)
    title = note_title(True, language(query))

    def made(taken: Sequence[Line]) -> str:
        return wire_of(enclosed(title, [line.text for line in taken], state.settings.nonce))

    taken = lines_within(lines, lambda some: wire_tokens(made(some), counter.count) <= ceiling)
    if not taken:
        return None, frozenset()
    wire = made(taken)
    tokens = wire_tokens(wire, counter.count)
    shown = frozenset(id for line in taken for id, version in line.marks if version != GONE_VERSION)
    return Part(wire, tokens, "newest", tokens), shown


def _task_lines(state: Working, counter: Counter) -> list[Line]:
    return [Line(text=text, by_user=False) for text in task_change(state, counter)]


def _costs(lines: Sequence[Line], share: int, counter: Counter) -> list[tuple[Line, int]]:
    """The lines that fit a share of the note, in order, and what each takes."""
    taken: list[tuple[Line, int]] = []
    left = share
    for line in lines:
        cost = counter.count(line.text) + 1
        if cost <= left:
            taken.append((line, cost))
            left -= cost
    return taken


def _note_texts(lines: Sequence[Line], nonce: str, words: str, layout: Layout) -> tuple[str, str]:
    """What of the note stands inside of the user's message, and what stands beside it."""
    own = [line.text for line in lines if line.by_user]
    others = [line.text for line in lines if not line.by_user]
    inside = enclosed(note_title(False, words), own, nonce) if own else ""
    beside = enclosed(note_title(True, words), others, nonce) if others else ""
    if layout.join == "own" and not layout.note_apart:
        return inside, beside
    both = "\n\n".join(text for text in (inside, beside) if text)
    return ("", both) if layout.note_apart else (both, "")


def _note_wires(
    entry: Entry, inside: str, beside: str, counter: Counter, prices: Prices
) -> tuple[str, str, int, int]:
    merged = merged_wire(_shown(entry), inside) if inside else entry.wire
    inside_tokens = wire_tokens(merged, counter.count, prices) - entry.tokens if inside else 0
    apart = wire_of(beside) if beside else ""
    apart_tokens = wire_tokens(apart, counter.count)
    return merged, apart, apart_tokens, inside_tokens + apart_tokens


def _shown(entry: Entry) -> Message:
    return entry.message if entry.wire == entry.message.wire else from_wire(entry.wire)
