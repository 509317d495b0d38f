"""What a session decides when something comes in: pure functions from state to events.

A `Draft` gathers the events of one decision and evolves the state along, so that each rule sees what the
one before it decided.
"""

from collections.abc import Mapping

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.assembly import Part, assemble, system_wire, total_tokens
from actormem.core.context.blocks import Plan, written_block
from actormem.core.context.fitting import over_budget, restart
from actormem.core.context.joining import joined, opening_tokens
from actormem.core.context.shorten import Counter, fit_message
from actormem.core.entities.exact import MessageEntities
from actormem.core.ids import message_id
from actormem.core.session import events as ev
from actormem.core.session.working import Working, evolve
from actormem.core.text import clean
from actormem.core.values import Message
from actormem.core.wire import from_wire, has_parts, message_tokens, tools_tokens, wire_tokens
from actormem.errors import BudgetError
from actormem.limits import BUDGET_TOKENS_MIN, PRIMING_TOKENS

__all__ = [
    "Draft",
    "add_message",
    "after_redaction",
    "close_turn",
    "configure",
    "fit",
    "fit_joined",
    "open_turn",
    "swap_block",
]

PATIENT_TRIES = 8  # to find the room that joined messages need, before what must stay is risked
NO_RESULT = "[no result was recorded for this call]"


class Draft:
    """Events decided so far, and the state they lead to."""

    def __init__(self, state: Working) -> None:
        self.state = state
        self.events: list[ev.SessionEvent] = []

    def emit(self, *events: ev.SessionEvent, entities: MessageEntities | None = None) -> None:
        """Decide these events, in order."""
        for event in events:
            self.state = evolve(self.state, event, entities=entities)
            self.events.append(event)


def configure(draft: Draft, wanted: ev.Configured, counter: Counter) -> None:
    """Take new settings: count what the change concerns anew, and begin a new epoch where contexts change.

    Args:
        wanted: The settings to be, without token counts; `text` has system prompt and tools as JSON texts.

    Raises:
        BudgetError: The system prompt and tools leave no room for messages; with both numbers.
    """
    words = msgspec.json.decode(wanted.text or "{}", type=dict[str, str])
    system = wire_tokens(system_wire(words["system"]), counter.count) if words.get("system") else 0
    tools = tools_tokens(words.get("tools", ""), counter.count)
    opening = opening_tokens(counter) if wanted.layout.join == "all" else 0
    _check_room(wanted.budget, system, tools, opening)
    before = draft.state.settings
    event = msgspec.structs.replace(wanted, system_tokens=system, tools_tokens=tools, layout_tokens=opening)
    after = evolve(draft.state, event).settings
    if before == after:
        return
    draft.emit(event)
    if before.model != after.model:
        draft.emit(*_recounted(draft.state, counter))
    if draft.state.epoch_count:
        draft.emit(*restart(draft.state, _changed(before, after), counter, wanted.time_ms))


def add_message(
    draft: Draft,
    message: Message,
    tokens: int,
    counter: Counter,
    *,
    entities: MessageEntities | None = None,
) -> Message:
    """Take in one message; returns it with its id.

    A message that begins while tool calls are open closes them, each with a marked "no result". A result for
    a call that is not open is kept and listed but never shown.

    Args:
        tokens: `message_tokens` of it.
        entities: `message_entities` of it, where the caller has them.
    """
    if message.role != "tool":
        for call_id in draft.state.open_calls:
            _close_call(draft, call_id, message, counter)
    late = message.role == "tool" and message.tool_call_id not in draft.state.open_calls
    sequence = draft.state.sequence + 1
    message = msgspec.structs.replace(message, id=message.id or _drawn_id(draft.state, sequence))
    ceiling = draft.state.settings.budget.message_tokens
    too_long = tokens > ceiling and not has_parts(
        message
    )  # a picture is whole or nothing: only the budget cuts it
    draft.emit(
        ev.MessageAdded(
            id=message.id,
            tokens=tokens,
            time_ms=message.time_ms,
            offset_minutes=message.offset_minutes,
            shortened=fit_message(message, sequence, ceiling, counter) if too_long else None,
            late=late,
            text=message.wire,
        ),
        entities=entities,
    )
    return message


def open_turn(draft: Draft, turn_id: str, now_ms: int) -> None:
    """Begin the turn of the user message with that id."""
    draft.emit(ev.TurnOpened(turn_id=turn_id, time_ms=now_ms))


def close_turn(draft: Draft, outcome: str, now_ms: int) -> None:
    """End the open turn."""
    draft.emit(ev.TurnClosed(turn_id=draft.state.turn_id, outcome=outcome, time_ms=now_ms))


def fit(draft: Draft, counter: Counter, now_ms: int, *, reserve: int = 0) -> None:
    """Make sure that a context of the view is within the budget; begins a new epoch where it was not.

    Args:
        reserve: Tokens of a note to come, for which there should be room where there can be.
    """
    if not draft.state.epoch_count:
        draft.emit(*restart(draft.state, "the session's beginning", counter, now_ms))
    if over_budget(draft.state, reserve):
        keep = bool(draft.state.turn_id)
        draft.emit(*restart(draft.state, "the budget", counter, now_ms, reserve=reserve, keep_note=keep))
    assert not over_budget(draft.state), "a context is over its budget"


def fit_joined(draft: Draft, counter: Counter, now_ms: int, known: Mapping[str, int]) -> tuple[Part, ...]:
    """The parts of a context, joined as the layout asks; begins a new epoch where so they exceed the budget.

    Joined messages take less than they took apart, as a rule of thumb: only a count of them can promise it. The
    room that is left free grows by what was missing until it is enough, after some tries twice as fast.

    Args:
        known: As for `joined`.
    """
    settings, events = draft.state.settings, list[ev.SessionEvent]()
    parts = joined(assemble(draft.state), settings, counter, known)
    spare = tries = 0
    while (over := total_tokens(parts, settings.tools_tokens) - settings.budget.context) > 0:
        spare, tries = spare * (1 if tries < PATIENT_TRIES else 2) + over, tries + 1
        narrow = msgspec.structs.replace(settings, tools_tokens=settings.tools_tokens + spare)
        tight = msgspec.structs.replace(draft.state, settings=narrow)
        events = restart(tight, "the budget", counter, now_ms, keep_note=True)
        trial = Draft(draft.state)
        trial.emit(*events)
        parts = joined(assemble(trial.state), settings, counter, known)
    draft.emit(*events)
    return parts


def swap_block(draft: Draft, plan: Plan, summary: str, method: str, counter: Counter, now_ms: int) -> None:
    """Put a summary in the place of the messages it was planned for, and begin a new epoch."""
    summary = clean(summary)
    draft.emit(written_block(draft.state, plan.last, plan.merges, summary, method, counter))
    keep = bool(draft.state.turn_id)
    draft.emit(*restart(draft.state, "compaction", counter, now_ms, keep_note=keep))


def after_redaction(draft: Draft, counter: Counter, now_ms: int, reason: str = "forgetting") -> None:
    """Count what was rewritten anew, and begin a new epoch: what was shown may not stand there any more."""
    draft.emit(*_recounted(draft.state, counter))
    draft.emit(*restart(draft.state, reason, counter, now_ms))


def _recounted(state: Working, counter: Counter) -> list[ev.Recounted]:
    """The event that counts everything but the prompt anew; nothing where there is nothing to count."""
    if not state.entries and not state.blocks:
        return []
    entries = ((one.sequence, message_tokens(one.message, counter.count)) for one in state.entries)
    blocks = (wire_tokens(one.wire, counter.count) for one in state.blocks)
    return [ev.Recounted(tokens=tuple(entries), blocks=tuple(blocks))]


def _check_room(budget: Budget, system_tokens: int, tools_tokens: int, layout_tokens: int) -> None:
    """At least half of the smallest budget must be left beside what is always there."""
    needed = PRIMING_TOKENS + system_tokens + tools_tokens + layout_tokens + BUDGET_TOKENS_MIN // 2
    if needed > budget.context:
        raise BudgetError(
            f"the system prompt ({system_tokens}) and tools ({tools_tokens}) leave no room for messages",
            needed_tokens=needed,
            budget_tokens=budget.context,
        )


def _changed(before: object, after: object) -> str:
    names = ("model", "system", "tools", "budget", "timezone", "layout")
    return "a changed " + " and ".join(
        name for name in names if getattr(before, name) != getattr(after, name)
    )


def _drawn_id(state: Working, sequence: int) -> str:
    """An id that no caller's is, not even one that another session drew and whose message was copied to here."""
    return f"{message_id(sequence)}-{state.settings.nonce}"


def _close_call(draft: Draft, call_id: str, beside: Message, counter: Counter) -> None:
    wire = msgspec.json.encode({"role": "tool", "tool_call_id": call_id, "content": NO_RESULT}).decode()
    result = from_wire(wire, id="", time_ms=beside.time_ms, offset_minutes=beside.offset_minutes)
    draft.emit(
        ev.MessageAdded(
            id=_drawn_id(draft.state, draft.state.sequence + 1),
            tokens=message_tokens(result, counter.count),
            time_ms=beside.time_ms,
            offset_minutes=beside.offset_minutes,
            marked=True,
            text=wire,
        ),
        entities=MessageEntities(),
    )
