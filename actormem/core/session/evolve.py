"""How events change a session's state.

`evolve` is the only way it changes. It is pure: replaying a session's events from the first one, or from a
snapshot, gives the same state. Where the words of an event have been erased it goes on without them.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.shorten import shortened
from actormem.core.entities.exact import MessageEntities, message_entities
from actormem.core.session import events as ev
from actormem.core.session.recount import recount
from actormem.core.session.working import Block, Entry, Note, Ready, Settings, Working
from actormem.core.task import next_task, with_message

__all__ = ["evolve"]


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
        scope=event.scope,
        knowledge=event.knowledge,
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
