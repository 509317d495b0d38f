"""Working memory: what a session holds verbatim, and how events change it.

`evolve` is the only way the state changes. It is pure: replaying a session's events from the first one, or
from a snapshot, gives the same state. Where the words of an event have been erased it goes on without them.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.context.shorten import shortened
from actormem.core.entities import EntityTable
from actormem.core.entities.exact import MessageEntities, message_entities
from actormem.core.policy import PolicyName
from actormem.core.prices import DEFAULT_PRICES, Prices
from actormem.core.session import events as ev
from actormem.core.session.recount import recount
from actormem.core.task import Task, next_task, with_message
from actormem.core.values import Message
from actormem.limits import BUDGET_TOKENS_MIN, DEFAULT_CONTEXT_TOKENS, PRIMING_TOKENS

__all__ = [
    "Block",
    "Entry",
    "Note",
    "Ready",
    "Settings",
    "Working",
    "evolve",
    "groups",
]

DEFAULT_BUDGET = Budget(context=DEFAULT_CONTEXT_TOKENS)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What spawn said last, and how the model is counted: prices of parts, and what usage has shown of it."""

    model: str = ""
    budget: Budget = DEFAULT_BUDGET
    timezone: str = ""
    policy: PolicyName = "auto"
    nonce: str = ""
    system: str = ""
    tools: str = ""  # JSON, empty for none
    system_tokens: int = 0
    tools_tokens: int = 0
    layout: Layout = Layout()
    layout_tokens: int = 0  # of a message the layout may need at the beginning
    prices: Prices = DEFAULT_PRICES
    factor: float = 0.0
    wide: bool = False
    extra_tokens: int = 0

    @property
    def format_tokens(self) -> int:
        """What every request takes beside its messages and tools: a constant that leaves messages their least room."""
        left = (
            self.budget.context - PRIMING_TOKENS - self.layout_tokens - self.system_tokens - self.tools_tokens
        )
        most = min(left // 2, left - BUDGET_TOKENS_MIN // 2)
        return PRIMING_TOKENS + min(self.extra_tokens, max(0, most))


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
    told: ev.Told = ev.Told()


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What stands for the messages from `first` to `last`, where they stood: a summary, and exact values.

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


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that waits to take the place of the messages from `first` to `last`, and of blocks between them.

    `merges`: the span begins with the first block.
    """

    first: int
    last: int
    merges: bool
    summary: str
    method: str


class Working(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one session.

    Attributes:
        sequence: Of the last event.
        entries: Messages no block stands for, oldest first.
        out: Sequences of entries that are not shown, because the budget was met.
        open_calls: Ids of tool calls that have no result yet.
        dropped: Blocks that are not shown, because they did not fit; older than `blocks`.
        ready: The summary that waits for its time, if one does.
        notes: By sequence of the user message they belong to; they end with the epoch, or as the layout says.
        noted: Sequence of the last user message whose note is decided.
        shown: Memory items this epoch shows: id to version.
        shown_at: And how much had been said (`history_tokens`) when each was shown last.
        profiled: Whether this epoch's profile is decided.
        head: Wire message with exact values of messages out of view, and the task; or an empty string.
        task: What the session is at, or None; `task_sequence` is the event that said so last, `task_shown`
            the one that this epoch shows, 0 for none.
        turn_id: Of the open turn, or an empty string.
        outcomes: Outcome of the turns that still have messages in `entries`, by turn id.
        history_tokens: Of every message there ever was, as counted when it came in.
        rewound: Sequence of the last rewind, or 0.
    """

    settings: Settings = Settings()
    sequence: int = 0
    entries: tuple[Entry, ...] = ()
    out: frozenset[int] = frozenset()
    open_calls: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    dropped: tuple[Block, ...] = ()
    ready: Ready | None = None
    head: str = ""
    head_tokens: int = 0
    head_task_tokens: int = 0
    task: Task | None = None
    task_sequence: int = 0
    task_shown: int = 0
    notes: dict[int, Note] = {}
    noted: int = 0
    shown: dict[str, int] = {}
    shown_at: dict[str, int] = {}
    profiled: bool = False
    entities: EntityTable = EntityTable()
    turn_id: str = ""
    outcomes: dict[str, str] = {}
    epoch_count: int = 0
    epoch_reason: str = ""
    message_count: int = 0
    history_tokens: int = 0
    compaction_count: int = 0
    rewound: int = 0

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
        """What stands in a context beside verbatim messages and their notes."""
        settings = self.settings
        asked = settings.system_tokens + settings.tools_tokens + settings.layout_tokens
        return settings.format_tokens + asked + self.block_tokens + self.head_tokens

    @property
    def block_tokens(self) -> int:
        """What the summary blocks take."""
        return sum(block.tokens for block in self.blocks)

    @property
    def tokens(self) -> int:
        """Tokens of a context that shows all of the view with its notes."""
        return self.fixed_tokens + self.note_tokens + sum(entry.tokens for entry in self.view)

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
        case ev.Calibrated():
            return recount(state, event)
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
        case ev.Released():
            return _released(state, frozenset(event.sequences))
        case ev.TaskChanged():
            task = next_task(state.task, event.text, fresh=event.fresh)
            return change(state, task=task, task_sequence=state.sequence)
        case ev.BlockMade():
            return _block_made(state, event)
        case ev.BlocksDropped():
            return change(state, blocks=(), dropped=(*state.dropped, *state.blocks))
        case ev.BlocksReturned():
            return change(state, blocks=(*state.dropped, *state.blocks), dropped=())
        case ev.SummaryKept():
            return change(state, ready=_ready(event))
        case ev.EpochStarted():
            return _epoch_started(state, event)
        case ev.Rewound():
            return _rewound(state, event)


def _rewound(state: Working, event: ev.Rewound) -> Working:
    """The state of what stayed goes on from here. A turn whose end is gone is unanswered."""
    ended = {state.turn_id: "unanswered"} if state.turn_id else {}
    return msgspec.structs.replace(
        state,
        sequence=event.sequence,
        rewound=event.sequence,
        turn_id="",
        outcomes={**state.outcomes, **ended},
        epoch_count=event.epoch_count,
    )


def _epoch_started(state: Working, event: ev.EpochStarted) -> Working:
    kept = state.notes.get(state.noted) if event.keeps_note else None
    return msgspec.structs.replace(
        state,
        head=event.text or "",
        head_tokens=event.tokens if event.text else 0,
        head_task_tokens=event.task_tokens if event.text else 0,
        task_shown=event.task if event.text and event.task else kept.told.task if kept else 0,
        notes={state.noted: kept} if kept else {},
        noted=state.noted if kept else 0,
        shown=dict(kept.items) if kept else {},
        shown_at={id: state.shown_at.get(id, 0) for id, _ in kept.items} if kept else {},
        profiled=bool(kept and kept.told.profiled),
        epoch_count=state.epoch_count + 1,
        epoch_reason=event.reason,
    )


def _ready(event: ev.SummaryKept) -> Ready | None:
    if event.text is None:
        return None
    return Ready(
        first=event.first, last=event.last, merges=event.merges, summary=event.text, method=event.method
    )


def _settings(event: ev.Configured) -> Settings:
    words = msgspec.json.decode(event.text, type=dict[str, str]) if event.text else {}
    return Settings(
        model=event.model,
        budget=event.budget,
        timezone=event.timezone,
        policy=event.policy,
        nonce=event.nonce,
        system=words.get("system", ""),
        tools=words.get("tools", ""),
        system_tokens=event.system_tokens,
        tools_tokens=event.tools_tokens,
        prices=event.prices,
        factor=event.factor,
        wide=event.wide,
        extra_tokens=event.extra_tokens,
        layout=event.layout,
        layout_tokens=event.layout_tokens,
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
    every = (*state.dropped, *state.blocks)
    blocks = tuple(
        msgspec.structs.replace(block, tokens=taken if block.wire else 0)
        for block, taken in zip(every, of_blocks or [one.tokens for one in every], strict=True)
    )
    shown = len(state.dropped)
    return msgspec.structs.replace(state, entries=entries, dropped=blocks[:shown], blocks=blocks[shown:])


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
    if state.task is not None:
        state = change(state, task=with_message(state.task, message, state.sequence, found))
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
    if message.role == "user" and not state.settings.layout.keeps_notes:  # a note of the message before goes
        state = change(state, notes={}, shown={})
    return change(state, entities=entities, entries=entries, out=out, open_calls=open_calls)


def _without(calls: tuple[str, ...], id: str) -> tuple[str, ...]:
    if id not in calls:
        return calls
    place = calls.index(id)
    return calls[:place] + calls[place + 1 :]


def _note_written(state: Working, event: ev.NoteWritten) -> Working:
    change = msgspec.structs.replace
    state = change(state, noted=event.message_sequence, profiled=state.profiled or event.told.profiled)
    keeps = state.settings.layout.keeps_notes
    earlier, shown, shown_at = (state.notes, state.shown, state.shown_at) if keeps else ({}, {}, {})
    if not event.text:
        return change(state, notes=earlier, shown=shown, shown_at=shown_at)
    note = msgspec.json.decode(event.text, type=dict[str, str])
    written = Note(
        merged=note["merged"],
        apart=note["apart"],
        tokens=event.tokens,
        apart_tokens=event.apart_tokens,
        items=event.items,
        told=event.told,
    )
    return change(
        state,
        notes={**earlier, event.message_sequence: written},
        shown={**shown, **dict(event.items)},
        shown_at={**shown_at, **{id: state.history_tokens for id, _ in event.items}},
        task_shown=event.told.task or state.task_shown,
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


def _released(state: Working, sequences: frozenset[int]) -> Working:
    entries = tuple(entry for entry in state.entries if entry.sequence not in sequences)
    return msgspec.structs.replace(
        state,
        entries=entries,
        out=state.out - sequences,
        notes={sequence: note for sequence, note in state.notes.items() if sequence not in sequences},
        outcomes=_outcomes_of(entries, state.outcomes),
    )


def _outcomes_of(entries: Sequence[Entry], outcomes: dict[str, str]) -> dict[str, str]:
    ids = (entry.message.id for entry in entries)
    return {id: outcomes[id] for id in ids if id in outcomes}


def _block_made(state: Working, event: ev.BlockMade) -> Working:
    """The block takes the place of the messages and of the blocks from its first to its last."""
    entries = tuple(one for one in state.entries if not event.first <= one.sequence <= event.last)
    others = [one for one in state.blocks if one.first < event.first or one.last > event.last]
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
        out=frozenset(one for one in state.out if not event.first <= one <= event.last),
        blocks=tuple(sorted((*others, block), key=lambda one: one.first)),
        dropped=() if event.merges else state.dropped,
        ready=None,
        outcomes=_outcomes_of(entries, state.outcomes),
        compaction_count=state.compaction_count + 1,
    )
