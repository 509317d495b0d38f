"""Keeping a context within its budget: what leaves the view, what is shortened, and what tells of it.

Everything here is decided in tokens that were counted before, so a context that fits costs additions only.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.blocks import mark_tokens, room_tokens, values_wire
from actormem.core.context.shorten import Counter, fit_message
from actormem.core.context.tasks import joined, task_estimate, task_head
from actormem.core.policy import policy_of
from actormem.core.prices import Prices
from actormem.core.session import events as ev
from actormem.core.session.evolve import evolve
from actormem.core.session.working import Entry, Note, Working, groups
from actormem.core.wire import wire_tokens
from actormem.limits import MESSAGE_OVERHEAD_TOKENS

__all__ = ["over_budget", "restart"]

BLOCKS_PART = 4  # blocks that leave less than a quarter of the room were made for a larger budget
VALUES_SHARE_MIN = 2  # half of the room may be for what was cut, even where one message wants all of it


def over_budget(state: Working, reserve: int = 0) -> bool:
    """Whether a context of all that is in view would exceed the budget.

    Args:
        reserve: Tokens that are to be added, as far as there is room beside the newest user message.
    """
    context = state.settings.budget.context
    if reserve and state.newest_user is not None:
        reserve = min(reserve, context - state.fixed_tokens - state.newest_user.tokens)
    return state.tokens + max(0, reserve) > context


def restart(
    state: Working, reason: str, counter: Counter, now_ms: int, *, reserve: int = 0, keep_note: bool = False
) -> list[ev.SessionEvent]:
    """The events that start a new epoch whose contexts fit: cuts where they are needed, then exact values.

    Args:
        reserve: Tokens to leave free, as far as what must stay allows it.
        keep_note: Whether the newest user message keeps its note, where there is room for it.

    Returns:
        Events in order; after them a context is within the budget, whatever the messages are.
    """
    found: list[ev.SessionEvent] = []
    keep_note = keep_note and state.newest_user is not None and state.noted == state.newest_user.sequence
    kept = _kept_note(state) if keep_note else {}
    bare = msgspec.structs.replace(state, notes=kept, head="", head_tokens=0)
    summarises = policy_of(bare.settings.policy).summarises
    if bare.blocks and not summarises:
        found.append(ev.BlocksDropped())  # the policy has changed to one that adds nothing
        bare = evolve(bare, found[-1])
    elif bare.dropped and summarises:
        found.append(ev.BlocksReturned())  # the budget may have grown since
        bare = evolve(bare, found[-1])
    if bare.block_tokens + (bare.newest_user.tokens if bare.newest_user else 0) > room_tokens(bare) and (
        bare.block_tokens * BLOCKS_PART > room_tokens(bare) * (BLOCKS_PART - 1)
    ):
        found.append(ev.BlocksDropped())  # the budget shrank: the messages they stand for are in the record
        bare = evolve(bare, found[-1])
    beside = reserve + task_estimate(bare, counter)
    wanted = values_wire(bare, bare.settings.budget.context, counter)[1]
    cut = _cut(bare, counter, beside, wanted)
    newest = bare.newest_user.sequence if bare.newest_user else 0
    if cut is not None and kept and _touches(cut, newest):
        bare = msgspec.structs.replace(bare, notes={})  # the message comes before what memory adds to it
        cut = _cut(bare, counter, beside, wanted)
    if cut is not None and bare.blocks and newest in cut.out:
        found.append(ev.BlocksDropped())  # and before what stands for older ones
        bare = evolve(bare, found[-1])
        cut = _cut(bare, counter, beside, wanted)
    if cut is not None:
        found.append(cut)
        bare = evolve(bare, cut)
    found.append(
        _started(bare, reason, bare.settings.budget.context - bare.tokens - reserve, counter, now_ms)
    )
    return found


def _kept_note(state: Working) -> dict[int, Note]:
    """The newest user message's note, unless it tells of a task that is another by now."""
    note = state.notes.get(state.noted)
    return {state.noted: note} if note is not None and note.told.task in (0, state.task_sequence) else {}


def _started(bare: Working, reason: str, room: int, counter: Counter, now_ms: int) -> ev.EpochStarted:
    """The epoch's beginning, with the exact values and the task that fit the room."""
    task, task_tokens = task_head(bare, room, counter)
    values, values_tokens = values_wire(bare, room - task_tokens, counter)
    head, tokens = values or task, values_tokens or task_tokens
    if values and task:
        head = joined(values, task, bare.settings.nonce)
        tokens = wire_tokens(head, counter.count)
        task_tokens = tokens - values_tokens
        if tokens > room or task_tokens < 0:
            head, tokens, task_tokens = values, values_tokens, 0
    return ev.EpochStarted(
        reason=reason,
        keeps_note=bool(bare.notes),
        tokens=tokens,
        task=bare.task_sequence if task_tokens and bare.task_sequence != _told(bare) else 0,
        task_tokens=task_tokens,
        time_ms=now_ms,
        text=head,
    )


def _told(bare: Working) -> int:
    return max((note.told.task for note in bare.notes.values()), default=0)


def _touches(cut: ev.Cut, sequence: int) -> bool:
    return sequence in cut.out or any(one.sequence == sequence for one in cut.shortened)


def _cut(state: Working, counter: Counter, reserve: int, wanted: int) -> ev.Cut | None:
    """What must leave the view or be shortened, so that exact values of it fit beside what stays.

    Args:
        wanted: Tokens of the exact values that are out of sight already: messages make room for them.
    """
    room = state.settings.budget.context - state.fixed_tokens - state.note_tokens
    must = _must(state)
    must_tokens = sum(entry.tokens for entry in must)
    whole = room
    room -= min(reserve, max(0, room - must_tokens))
    if sum(entry.tokens for entry in state.view) <= room - wanted:
        return None
    shows = policy_of(state.settings.policy).shows_values
    ceiling = state.settings.budget.entities_within(room_tokens(state)) if shows else 0
    values = min(ceiling, max(room - must_tokens, room // VALUES_SHARE_MIN))
    cut = _first_that_fits(state, must, room, values, whole, counter)
    taken = values_wire(evolve(state, cut), state.settings.budget.context, counter)[1]
    if taken >= values:
        return cut
    return _first_that_fits(state, must, room, taken, whole, counter)  # what values leave goes to messages


def _first_that_fits(
    state: Working, must: Sequence[Entry], room: int, values: int, whole: int, counter: Counter
) -> ev.Cut:
    """Keep what must stay, shortened if need be; else the newest user message alone; else nothing.

    Args:
        room: Room beside a note to come.
        values: Of it, what exact values take.
        whole: All of the room: the newest user message comes before both.
    """
    newest = [state.newest_user] if state.newest_user is not None else []
    summarises = policy_of(state.settings.policy).summarises
    mark = mark_tokens(state, state.settings.budget.compact_at) - state.fixed_tokens - values
    growth = mark if summarises else whole
    for kept, most in ((must, room - values), (newest, room - values), (newest, whole)):
        tokens = {entry.sequence: entry.tokens for entry in kept}
        short = _shortened(kept, most, counter, state.settings.prices) if sum(tokens.values()) > most else ()
        tokens |= {one.sequence: one.tokens for one in short}
        if sum(tokens.values()) <= most:
            return ev.Cut(out=_out(state, kept, sum(tokens.values()), min(most, growth)), shortened=short)
    return ev.Cut(out=tuple(entry.sequence for entry in state.view))


def _must(state: Working) -> list[Entry]:
    """What may never leave: the newest user message, and the group that ends the view."""
    units = groups(state.view)
    newest = state.newest_user
    last = list(units[-1]) if units else []
    if newest is None or newest in last:
        return last
    return [newest, *last]


def _out(state: Working, kept: Sequence[Entry], tokens: int, room: int) -> tuple[int, ...]:
    """Sequences that leave the view: the oldest groups, until the goal of `compact_to` is met.

    Without summaries a group that leaves is lost to contexts: then only as many leave as must.

    Args:
        room: For messages, so that the context can grow before it is cut again.
    """
    budget = state.settings.budget
    goal = min(room, mark_tokens(state, budget.compact_to) - state.fixed_tokens)
    slack = min(
        room, goal + (mark_tokens(state, budget.compact_at) - mark_tokens(state, budget.compact_to)) // 2
    )
    if not policy_of(state.settings.policy).summarises:
        goal = slack = room
    stay = {entry.sequence for entry in kept}
    count = len(kept)
    out: list[int] = []
    for unit in reversed(groups(state.view)):
        rest = [entry for entry in unit if entry.sequence not in stay]
        taken = sum(entry.tokens for entry in rest)
        if out or tokens + taken > (goal if count >= budget.keep_recent else slack):
            out += [entry.sequence for entry in rest]
        else:
            tokens, count = tokens + taken, count + len(rest)
    return tuple(sorted(out))


def _shortened(
    entries: Sequence[Entry], room: int, counter: Counter, prices: Prices
) -> tuple[ev.Shortened, ...]:
    """The largest of the entries shortened to one level, so that together they fit the room."""
    level = room // max(1, len(entries))
    small = sum(entry.tokens for entry in entries if entry.tokens <= level)
    large = [entry for entry in entries if entry.tokens > level]
    level = max(MESSAGE_OVERHEAD_TOKENS, (room - small) // max(1, len(large)))
    return tuple(fit_message(entry.message, entry.sequence, level, counter, prices) for entry in large)
