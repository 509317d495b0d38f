"""Keeping a context within its budget: what leaves the view, what is shortened, what stands for it.

Everything here is decided in tokens that were counted before, so a context that fits costs additions only.
An epoch's head (summary and exact values) is written when the epoch starts and stays as it is until it ends.
"""

from collections.abc import Sequence

import msgspec

from actormem.core import events as ev
from actormem.core.entities import EntityRow
from actormem.core.notes import head_text, wire_of, words_of
from actormem.core.shorten import Counter, fit_message
from actormem.core.wire import from_wire, message_tokens
from actormem.core.working import Entry, Working, evolve, groups
from actormem.limits import MESSAGE_OVERHEAD_TOKENS, PRIMING_TOKENS

__all__ = ["compaction_span", "over_budget", "restart", "wants_compaction"]

HEAD_SHARE_MIN = 4  # a quarter of the room may hold exact values, even where one message wants all of it


def over_budget(state: Working) -> bool:
    """Whether a context of all that is in view would exceed the budget."""
    return state.tokens > state.settings.budget.context


def wants_compaction(state: Working) -> bool:
    """Whether the oldest messages should be replaced by a summary now."""
    budget = state.settings.budget
    full = state.tokens >= _mark(state, budget.compact_at)
    return (full or bool(state.out)) and compaction_span(state) > 0


def compaction_span(state: Working) -> int:
    """Sequence of the last message to summarise, or 0 where there is none.

    What is out of view is in the span, then the oldest groups until what stays meets the goal of
    `compact_to`; never the newest `keep_recent` messages that fit, the newest user message or an open call.
    """
    budget = state.settings.budget
    goal = _mark(state, budget.compact_to) - _base(state) - max(state.head_tokens, budget.summary_tokens)
    newest = state.newest_user
    units = groups(state.entries)
    tokens = count = 0
    for place in range(len(units) - 1, -1, -1):
        unit = units[place]
        tokens, count = tokens + sum(entry.tokens for entry in unit), count + len(unit)
        pinned = unit[-1].sequence >= newest.sequence if newest else place == len(units) - 1
        recent = count <= budget.keep_recent and not over_budget(state)
        if not pinned and (unit[0].sequence in state.out or not (recent or tokens <= goal)):
            return unit[-1].sequence
    return 0


def restart(state: Working, reason: str, counter: Counter, now_ms: int) -> list[ev.SessionEvent]:
    """The events that start a new epoch whose contexts fit: cuts where they are needed, then the new head.

    Returns:
        Events in order; after them a context is within the budget, whatever the messages are.
    """
    found: list[ev.SessionEvent] = []
    bare = msgspec.structs.replace(state, notes={}, head="", head_tokens=0)
    cut = _cut(bare, counter)
    if cut is not None:
        found.append(cut)
        bare = evolve(bare, cut)
    head = _head(bare, counter)
    tokens = message_tokens(from_wire(head, id="", time_ms=0, offset_minutes=0), counter.count) if head else 0
    found.append(ev.EpochStarted(reason=reason, tokens=tokens, time_ms=now_ms, text=head))
    return found


def _mark(state: Working, share: float) -> int:
    """The tokens of a context in which messages and what memory adds take this share of their room."""
    base = _base(state)
    return base + int((state.settings.budget.context - base) * share)


def _base(state: Working) -> int:
    return PRIMING_TOKENS + state.settings.system_tokens + state.settings.tools_tokens


def _cut(state: Working, counter: Counter) -> ev.Cut | None:
    """What must leave the view or be shortened, so that a head fits beside what stays."""
    budget = state.settings.budget
    room = budget.context - state.fixed_tokens
    units = groups(state.view)
    must = _must(state, units)
    must_tokens = sum(entry.tokens for entry in must)
    hidden = state.block is not None or bool(state.out) or len(must) < len(state.view)
    shares = budget.summary_tokens + budget.entities_tokens
    head_room = min(shares, max(room - must_tokens, room // HEAD_SHARE_MIN)) if hidden else 0
    if sum(entry.tokens for entry in state.view) <= room - head_room:
        return None
    return _first_that_fits(state, must, room - head_room, counter)


def _first_that_fits(state: Working, must: Sequence[Entry], room: int, counter: Counter) -> ev.Cut:
    """Keep what must stay, shortened if need be; else the newest user message alone; else nothing."""
    newest = [state.newest_user] if state.newest_user is not None else []
    for kept in (must, newest):
        tokens = {entry.sequence: entry.tokens for entry in kept}
        short = _shortened(kept, room, counter) if sum(tokens.values()) > room else ()
        tokens |= {one.sequence: one.tokens for one in short}
        if sum(tokens.values()) <= room:
            return ev.Cut(out=_out(state, kept, sum(tokens.values()), room), shortened=short)
    return ev.Cut(out=tuple(entry.sequence for entry in state.view))


def _must(state: Working, units: Sequence[Sequence[Entry]]) -> list[Entry]:
    """What may never leave: the newest user message, and the group that ends the view."""
    newest = state.newest_user
    last = list(units[-1]) if units else []
    if newest is None or newest in last:
        return last
    return [newest, *last]


def _out(state: Working, kept: Sequence[Entry], tokens: int, room: int) -> tuple[int, ...]:
    """Sequences that leave the view: the oldest groups, until the goal of `compact_to` is met."""
    budget = state.settings.budget
    goal = min(room, _mark(state, budget.compact_to) - state.fixed_tokens)
    stay = {entry.sequence for entry in kept}
    count = len(kept)
    out: list[int] = []
    for unit in reversed(groups(state.view)):
        rest = [entry for entry in unit if entry.sequence not in stay]
        taken = sum(entry.tokens for entry in rest)
        within = goal if count >= budget.keep_recent else room
        if out or tokens + taken > within:
            out += [entry.sequence for entry in rest]
        else:
            tokens, count = tokens + taken, count + len(rest)
    return tuple(sorted(out))


def _shortened(entries: Sequence[Entry], room: int, counter: Counter) -> tuple[ev.Shortened, ...]:
    """The largest of the entries shortened to one level, so that together they fit the room."""
    level = room // max(1, len(entries))
    small = sum(entry.tokens for entry in entries if entry.tokens <= level)
    large = [entry for entry in entries if entry.tokens > level]
    level = max(MESSAGE_OVERHEAD_TOKENS, (room - small) // max(1, len(large)))
    return tuple(fit_message(entry.message, entry.sequence, level, counter) for entry in large)


def _head(state: Working, counter: Counter) -> str:
    """The wire message that stands for everything that is not in view, within its shares and the room left."""
    budget = state.settings.budget
    left = budget.context - state.tokens
    words = words_of(state.newest_user.message if state.newest_user else None)
    visible = {entry.sequence for entry in state.view if entry.tokens == entry.whole_tokens}
    if state.block is None and len(visible) == len(state.entries):
        return ""
    nonce = state.settings.nonce
    frame = counter.count(head_text("…", state.block.method if state.block else "", ["…"], nonce, words))
    left -= frame + MESSAGE_OVERHEAD_TOKENS + 2
    if left <= 0:
        return ""

    def hidden(row: EntityRow) -> bool:
        return row.last_sequence not in visible

    wanted = min(left, budget.entities_tokens)
    summary, method = "", ""
    if state.block is not None:
        summary = counter.truncate(state.block.text, min(budget.summary_tokens, left))
        method = state.block.method
        wanted = min(wanted, left - counter.count(summary))
    unused = max(0, budget.summary_tokens - counter.count(summary))
    wanted = min(max(0, left - counter.count(summary)), wanted + unused)
    values = state.entities.lines(hidden=hidden, tokens=wanted, count=counter.count) if wanted > 0 else ()
    while True:
        text = head_text(summary, method, values, nonce, words)
        if not text or counter.count(text) + MESSAGE_OVERHEAD_TOKENS <= left + frame:
            return wire_of(text) if text else ""
        if values:
            values = values[:-1]
        else:
            summary = counter.truncate(summary, max(0, counter.count(summary) - 16))
