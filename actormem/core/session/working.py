"""Working memory: what a session holds verbatim, and how events change it.

`evolve` is the only way the state changes. It is pure: replaying a session's events from the first one, or
from a snapshot, gives the same state. Where the words of an event have been erased it goes on without them.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.shorten import shortened
from actormem.core.entities import EntityTable
from actormem.core.entities.exact import MessageEntities, message_entities
from actormem.core.session import events as ev
from actormem.core.values import Message
from actormem.limits import DEFAULT_CONTEXT_TOKENS, PRIMING_TOKENS

__all__ = [
    "Block",
    "Entry",
    "Note",
    "Settings",
    "Working",
    "evolve",
    "groups",
]

DEFAULT_BUDGET = Budget(context=DEFAULT_CONTEXT_TOKENS)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What spawn said last."""

    model: str = ""
    budget: Budget = DEFAULT_BUDGET
    timezone: str = ""
    nonce: str = ""
    system: str = ""
    tools: str = ""  # JSON, empty for none
    system_tokens: int = 0
    tools_tokens: int = 0


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A message as contexts show it.

    Attributes:
        sequence: Its event.
        group: Sequence of the first message of its group: a tool call and its results share one.
        message: As it came in.
        wire: As it is shown: the same, or shortened.
        tokens: Of what is shown.
        whole_tokens: Of the message as it came in.
    """

    sequence: int
    group: int
    message: Message
    wire: str
    tokens: int
    whole_tokens: int


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What memory added at one user message: `merged` takes the message's place, `apart` stands before it.

    `items` are id and version of what it shows.
    """

    merged: str
    apart: str
    tokens: int
    apart_tokens: int
    items: tuple[tuple[str, int], ...] = ()


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What stands for the messages from `first` to `last`: a summary, and their exact values.

    `wire` is its message, with the exact values; empty where its words are gone.
    """

    first: int
    last: int
    summary: str
    wire: str
    tokens: int
    summary_tokens: int
    values_tokens: int
    method: str


class Working(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one session.

    Attributes:
        sequence: Of the last event.
        entries: Messages no block stands for, oldest first.
        out: Sequences of entries that are not shown, because the budget was met.
        open_calls: Ids of tool calls that have no result yet.
        notes: By sequence of the user message they belong to; they end with the epoch.
        noted: Sequence of the last user message whose note is decided.
        shown: Memory items this epoch shows: id to version.
        head: Wire message with exact values of messages out of view, or an empty string.
        turn_id: Of the open turn, or an empty string.
        outcomes: Outcome of the turns that still have messages in `entries`, by turn id.
        history_tokens: Of every message there ever was, as counted when it came in.
    """

    settings: Settings = Settings()
    sequence: int = 0
    entries: tuple[Entry, ...] = ()
    out: frozenset[int] = frozenset()
    open_calls: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    head: str = ""
    head_tokens: int = 0
    notes: dict[int, Note] = {}
    noted: int = 0
    shown: dict[str, int] = {}
    entities: EntityTable = EntityTable()
    turn_id: str = ""
    outcomes: dict[str, str] = {}
    epoch_count: int = 0
    epoch_reason: str = ""
    message_count: int = 0
    history_tokens: int = 0
    compaction_count: int = 0

    @property
    def view(self) -> tuple[Entry, ...]:
        """The entries that contexts show, oldest first."""
        return (
            tuple(entry for entry in self.entries if entry.sequence not in self.out)
            if self.out
            else self.entries
        )

    @property
    def fixed_tokens(self) -> int:
        """What stands before the first verbatim message."""
        asked = self.settings.system_tokens + self.settings.tools_tokens
        return PRIMING_TOKENS + asked + self.block_tokens + self.head_tokens

    @property
    def block_tokens(self) -> int:
        """What the summary blocks take."""
        return sum(block.tokens for block in self.blocks)

    @property
    def tokens(self) -> int:
        """Tokens of a context that shows all of the view with its notes."""
        notes = sum(note.tokens for note in self.notes.values())
        return self.fixed_tokens + notes + sum(entry.tokens for entry in self.view)

    @property
    def note_tokens(self) -> int:
        """What this epoch's notes take."""
        return sum(note.tokens for note in self.notes.values())

    @property
    def newest_user(self) -> Entry | None:
        """The newest user message, where it is not summarised away."""
        return next((entry for entry in reversed(self.entries) if entry.message.role == "user"), None)


def groups(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """The entries in units that are shown or left out together, oldest first."""
    found: list[list[Entry]] = []
    for entry in entries:
        if found and found[-1][0].group == entry.group:
            found[-1].append(entry)
        else:
            found.append([entry])
    return [tuple(group) for group in found]


def evolve(state: Working, event: ev.SessionEvent, *, entities: MessageEntities | None = None) -> Working:
    """The state after the event. It never fails for an event of ours, whatever words were erased since.

    `entities` is what `message_entities` gives for the message added, where the caller has it already.
    """
    change = msgspec.structs.replace
    state = change(state, sequence=state.sequence + 1)
    match event:
        case ev.Configured():
            return change(state, settings=_settings(event))
        case ev.Recounted():
            return _recounted(state, dict(event.tokens), event.blocks)
        case ev.MessageAdded():
            return _message_added(state, event, entities)
        case ev.TurnOpened():
            return change(state, turn_id=event.turn_id)
        case ev.TurnClosed():
            return change(state, turn_id="", outcomes={**state.outcomes, event.turn_id: event.outcome})
        case ev.NoteWritten():
            return _note_written(state, event)
        case ev.Cut():
            return _cut(state, event)
        case ev.BlockMade():
            return _block_made(state, event)
        case ev.BlocksDropped():
            return change(state, blocks=())
        case ev.EpochStarted():
            return _epoch_started(state, event)


def _epoch_started(state: Working, event: ev.EpochStarted) -> Working:
    kept = state.notes.get(state.noted) if event.keeps_note else None
    return msgspec.structs.replace(
        state,
        head=event.text or "",
        head_tokens=event.tokens if event.text else 0,
        notes={state.noted: kept} if kept else {},
        noted=state.noted if kept else 0,
        shown=dict(kept.items) if kept else {},
        epoch_count=state.epoch_count + 1,
        epoch_reason=event.reason,
    )


def _settings(event: ev.Configured) -> Settings:
    words = msgspec.json.decode(event.text, type=dict[str, str]) if event.text else {}
    return Settings(
        model=event.model,
        budget=event.budget,
        timezone=event.timezone,
        nonce=event.nonce,
        system=words.get("system", ""),
        tools=words.get("tools", ""),
        system_tokens=event.system_tokens,
        tools_tokens=event.tools_tokens,
    )


def _recounted(state: Working, tokens: dict[int, int], of_blocks: tuple[int, ...]) -> Working:
    entries = tuple(
        msgspec.structs.replace(
            entry,
            tokens=tokens.get(entry.sequence, entry.tokens),
            whole_tokens=tokens.get(entry.sequence, entry.whole_tokens),
            wire=entry.message.wire if entry.sequence in tokens else entry.wire,
        )
        for entry in state.entries
    )
    blocks = tuple(
        msgspec.structs.replace(block, tokens=taken if block.wire else 0)
        for block, taken in zip(state.blocks, of_blocks or [one.tokens for one in state.blocks], strict=True)
    )
    return msgspec.structs.replace(state, entries=entries, blocks=blocks)


def _message_added(state: Working, event: ev.MessageAdded, found: MessageEntities | None) -> Working:
    change = msgspec.structs.replace
    state = change(
        state, message_count=state.message_count + 1, history_tokens=state.history_tokens + event.tokens
    )
    message = ev.message_of(event)
    if message is None:
        return state
    found = message_entities(message) if found is None else found
    entities = state.entities
    if found.said:
        entities = entities.seen(found.said, sequence=state.sequence, role=message.role, text=message.text)
    if message.role in ("user", "assistant") and message.content:
        entities = entities.named(message.text, role=message.role)
    if found.called:
        entities = entities.seen(found.called, sequence=state.sequence, role="call")
    if event.late or (message.role == "tool" and message.tool_call_id not in state.open_calls):
        return change(state, entities=entities)  # late, or the words of its call are erased
    of_group = message.role == "tool" and bool(state.entries)
    entry = Entry(
        sequence=state.sequence,
        group=state.entries[-1].group if of_group else state.sequence,
        message=message,
        wire=shortened(message, event.shortened) if event.shortened else message.wire,
        tokens=event.shortened.tokens if event.shortened else event.tokens,
        whole_tokens=event.tokens,
    )
    if message.role == "tool":
        open_calls = _without(state.open_calls, message.tool_call_id or "")
    else:
        open_calls = tuple(call.id for call in message.tool_calls)
    out = state.out
    if of_group and state.entries[-1].sequence in out:  # a group is shown or left out as a whole
        out |= {entry.sequence}
    elif not of_group and state.open_calls:  # a result whose words are erased: its group cannot be shown
        out |= {one.sequence for one in state.entries if one.group == state.entries[-1].group}
    entries = (*state.entries, entry)
    return change(state, entities=entities, entries=entries, out=out, open_calls=open_calls)


def _without(calls: tuple[str, ...], id: str) -> tuple[str, ...]:
    if id not in calls:
        return calls
    place = calls.index(id)
    return calls[:place] + calls[place + 1 :]


def _note_written(state: Working, event: ev.NoteWritten) -> Working:
    change = msgspec.structs.replace
    state = change(state, noted=event.message_sequence)
    if not event.text:
        return state
    note = msgspec.json.decode(event.text, type=dict[str, str])
    written = Note(
        merged=note["merged"],
        apart=note["apart"],
        tokens=event.tokens,
        apart_tokens=event.apart_tokens,
        items=event.items,
    )
    return change(
        state,
        notes={**state.notes, event.message_sequence: written},
        shown={**state.shown, **dict(event.items)},
    )


def _cut(state: Working, event: ev.Cut) -> Working:
    short = {one.sequence: one for one in event.shortened}
    entries = tuple(
        msgspec.structs.replace(
            entry,
            wire=shortened(entry.message, short[entry.sequence]),
            tokens=short[entry.sequence].tokens,
        )
        if entry.sequence in short
        else entry
        for entry in state.entries
    )
    return msgspec.structs.replace(state, entries=entries, out=state.out | frozenset(event.out))


def _block_made(state: Working, event: ev.BlockMade) -> Working:
    entries = tuple(entry for entry in state.entries if entry.sequence > event.last)
    words = (
        msgspec.json.decode(event.text, type=dict[str, str]) if event.text else {"summary": "", "wire": ""}
    )
    block = Block(
        first=event.first,
        last=event.last,
        summary=words["summary"],
        wire=words["wire"],
        tokens=event.tokens if words["wire"] else 0,
        summary_tokens=event.summary_tokens,
        values_tokens=event.values_tokens,
        method=event.method,
    )
    return msgspec.structs.replace(
        state,
        entries=entries,
        out=frozenset(sequence for sequence in state.out if sequence > event.last),
        blocks=(block,) if event.merges else (*state.blocks, block),
        outcomes={
            entry.message.id: state.outcomes[entry.message.id]
            for entry in entries
            if entry.message.id in state.outcomes
        },
        compaction_count=state.compaction_count + 1,
    )
