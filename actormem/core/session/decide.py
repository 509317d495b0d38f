"""What a session decides when something comes in: pure functions from state to events.

A `Draft` gathers the events of one decision and evolves the state along, so that each rule sees what the
one before it decided.
"""

from collections.abc import Mapping

import msgspec

from actormem.core.context.assembly import Part, assemble, system_wire, total_tokens
from actormem.core.context.blocks import Plan, written_block
from actormem.core.context.fitting import over_budget, restart
from actormem.core.context.joining import joined, opening_tokens
from actormem.core.context.leaving import leaving, overflowing, spent
from actormem.core.context.shorten import Counter, fit_message
from actormem.core.context.trace import Trace, pack_trace
from actormem.core.entities.exact import MessageEntities
from actormem.core.ids import message_id
from actormem.core.session import events as ev
from actormem.core.session.evolve import evolve
from actormem.core.session.working import Ready, Settings, Working
from actormem.core.task import Task, encode_task
from actormem.core.text import clean
from actormem.core.values import Message
from actormem.core.wire import from_wire, has_parts, message_tokens, tools_tokens, wire_tokens
from actormem.errors import BudgetError
from actormem.limits import BUDGET_TOKENS_MIN, PRIMING_TOKENS

__all__ = [
    "Draft",
    "add_message",
    "after_redaction",
    "change_task",
    "check_room",
    "clear_task",
    "close_turn",
    "configure",
    "fit",
    "fit_joined",
    "keep_summary",
    "make_room",
    "open_turn",
    "renew",
    "rewind",
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
    before = draft.state.settings
    event = msgspec.structs.replace(wanted, system_tokens=system, tools_tokens=tools, layout_tokens=opening)
    after = evolve(draft.state, event).settings
    check_room(after)
    if before == after:
        return
    draft.emit(event)
    if msgspec.structs.replace(before, knowledge=after.knowledge) == after:
        return  # what is shown stays: later recalls alone look elsewhere
    if before.model != after.model or before.prices != after.prices:
        draft.emit(*_recounted(draft.state, counter))
    if draft.state.epoch_count:
        if left := leaving(draft.state, inside=True):
            draft.emit(ev.Released(sequences=left))
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


def close_turn(draft: Draft, outcome: str, now_ms: int, trace: Trace | None = None) -> None:
    """End the open turn, and keep the trace of its last context."""
    turn_id = draft.state.turn_id
    packed = pack_trace(trace) if trace is not None and trace.turn_id == turn_id else b""
    draft.emit(ev.TurnClosed(turn_id=turn_id, outcome=outcome, time_ms=now_ms, trace=packed))


def rewind(draft: Draft, event: ev.Rewound, counter: Counter, *, recount: bool) -> None:
    """Go on from the draft's state, which is that of what stays, and begin a new epoch.

    Args:
        recount: Whether a counting anew is among the events that left: what it counted may have changed for good.
    """
    draft.emit(event)
    if recount:
        draft.emit(*_recounted(draft.state, counter))
    draft.emit(*restart(draft.state, "rewind", counter, event.time_ms))


def fit(draft: Draft, counter: Counter, now_ms: int, *, reserve: int = 0) -> None:
    """Make sure that a context of the view is what the policy allows and within the budget.

    A new epoch begins where it was not. What no context will show again leaves working memory.

    Args:
        reserve: Tokens of a note to come, for which there should be room where there can be.
    """
    left = leaving(draft.state)
    if left:
        draft.emit(ev.Released(sequences=left))
    if not draft.state.epoch_count:
        draft.emit(*restart(draft.state, "the session's beginning", counter, now_ms))
    elif left:
        draft.emit(*restart(draft.state, "the window", counter, now_ms, reserve=reserve))
    if over_budget(draft.state, reserve):
        keep = bool(draft.state.turn_id)
        draft.emit(*restart(draft.state, "the budget", counter, now_ms, reserve=reserve, keep_note=keep))
    if out := spent(draft.state):
        draft.emit(ev.Released(sequences=out))
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
    while (over := total_tokens(parts, settings) - settings.budget.context) > 0:
        spare, tries = spare * (1 if tries < PATIENT_TRIES else 2) + over, tries + 1
        narrow = msgspec.structs.replace(settings, tools_tokens=settings.tools_tokens + spare)
        tight = msgspec.structs.replace(draft.state, settings=narrow)
        events = restart(tight, "the budget", counter, now_ms, keep_note=True)
        trial = Draft(draft.state)
        trial.emit(*events)
        parts = joined(assemble(trial.state), settings, counter, known)
    draft.emit(*events)
    return parts


def make_room(draft: Draft, counter: Counter, now_ms: int) -> None:
    """Between contexts: let go of what the policy will never show, before it piles up."""
    if overflowing(draft.state):
        fit(draft, counter, now_ms)


def change_task(draft: Draft, task: Task, *, fresh: bool) -> None:
    """Let this be the task; nothing happens where it is already.

    Args:
        fresh: It is a new one, for which no calls were made yet.
    """
    before = draft.state.task
    if fresh or before is None or encode_task(before) != encode_task(task):
        draft.emit(ev.TaskChanged(fresh=fresh, text=encode_task(task)))


def clear_task(draft: Draft) -> None:
    """Let there be no task."""
    if draft.state.task is not None:
        draft.emit(ev.TaskChanged(ended=True, text=None))


def renew(draft: Draft, reason: str, counter: Counter, now_ms: int, *, reserve: int = 0) -> None:
    """Begin a new epoch, without the notes of the one before."""
    draft.emit(*restart(draft.state, reason, counter, now_ms, reserve=reserve))


def keep_summary(draft: Draft, plan: Plan, summary: str, method: str) -> None:
    """Keep a summary that was planned for, until it is time for it; a plan whose messages are gone is past."""
    if any(entry.sequence == plan.last for entry in draft.state.entries):
        draft.emit(
            ev.SummaryKept(
                first=plan.first, last=plan.last, merges=plan.merges, method=method, text=clean(summary)
            )
        )


def swap_block(
    draft: Draft, plan: Plan | Ready, summary: str, method: str, counter: Counter, now_ms: int
) -> None:
    """Put a summary in the place of the messages it was planned for, and begin a new epoch."""
    summary = clean(summary)
    made = written_block(draft.state, plan.last, plan.merges, summary, method, counter, first=plan.first)
    draft.emit(made)
    keep = bool(draft.state.turn_id)
    draft.emit(*restart(draft.state, "compaction", counter, now_ms, keep_note=keep))


def after_redaction(draft: Draft, counter: Counter, now_ms: int, reason: str = "forgetting") -> None:
    """Count what was rewritten anew, and begin a new epoch: what was shown may not stand there any more.

    A summary that is ready is made of the old words, and goes.
    """
    if draft.state.ready is not None:
        draft.emit(ev.SummaryKept(first=0, last=0, merges=False, method="", text=None))
    draft.emit(*_recounted(draft.state, counter))
    draft.emit(*restart(draft.state, reason, counter, now_ms))


def _recounted(state: Working, counter: Counter) -> list[ev.Recounted]:
    """The event that counts everything but the prompt anew; nothing where there is nothing to count."""
    blocks = (*state.dropped, *state.blocks)
    if not state.entries and not blocks:
        return []
    prices = state.settings.prices
    entries = ((one.sequence, message_tokens(one.message, counter.count, prices)) for one in state.entries)
    of_blocks = (wire_tokens(one.wire, counter.count) for one in blocks)
    return [ev.Recounted(tokens=tuple(entries), blocks=tuple(of_blocks))]


def check_room(settings: Settings) -> None:
    """At least half of the smallest budget must be left beside what is always there.

    Raises:
        BudgetError: The system prompt and tools leave less; with both numbers.
    """
    system, tools = settings.system_tokens, settings.tools_tokens
    needed = PRIMING_TOKENS + system + tools + settings.layout_tokens + BUDGET_TOKENS_MIN // 2
    if needed > settings.budget.context:
        raise BudgetError(
            f"the system prompt ({system}) and tools ({tools}) leave no room for messages",
            needed_tokens=needed,
            budget_tokens=settings.budget.context,
        )


def _changed(before: object, after: object) -> str:
    names = ("model", "system", "tools", "budget", "timezone", "policy", "layout", "scope")
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    return "a changed " + (" and ".join(changed) or "price list")


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
