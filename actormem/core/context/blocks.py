"""Summary blocks: what stands for messages that are no longer verbatim.

Blocks are appended, oldest first, so that a compaction leaves those before it as they are, byte for byte. Each
summary takes half of what is left of its share; a fifth block, or one that would be too short for a frame of its
own, takes the place of all. So their number is bounded and most compactions rewrite nothing. The exact values of
what is not verbatim stand in one message behind the blocks, chosen anew with each epoch; in a context that is not
small, they stand in the blocks as far as their share lasts, and stay as they are.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.notes import head_text, wire_of, words_of
from actormem.core.context.shorten import Counter
from actormem.core.entities import EntityRow
from actormem.core.session import events as ev
from actormem.core.session.working import Block, Entry, Working, groups
from actormem.core.wire import wire_tokens
from actormem.limits import MESSAGE_OVERHEAD_TOKENS, PRIMING_TOKENS

__all__ = [
    "Plan",
    "base_tokens",
    "mark_tokens",
    "plan_compaction",
    "values_wire",
    "wants_swap",
    "written_block",
]

BLOCKS_MAX = 4  # blocks beside each other; a fifth merges them
BLOCK_VALUES_ROOM = 1_500  # from here on blocks show exact values too, and spare writing them anew
FREE_TOKENS_MAX = 400  # of exact values above their share, where a compaction has left less than its goal
SUMMARY_TOKENS_MIN = 16  # a shorter summary is not worth a frame of its own: it merges with those before it


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction to be made.

    Attributes:
        last: Sequence of the last message it stands for.
        merges: Whether it takes the place of the blocks before it.
        previous: Their summaries, where it does.
        tokens: Ceiling of its summary.
    """

    last: int
    merges: bool
    previous: str
    tokens: int


def base_tokens(state: Working) -> int:
    """What every context holds: format, system prompt, tools."""
    return PRIMING_TOKENS + state.settings.system_tokens + state.settings.tools_tokens


def room_tokens(state: Working) -> int:
    """What prompt and tools leave of a context."""
    return state.settings.budget.context - base_tokens(state)


def mark_tokens(state: Working, share: float) -> int:
    """Tokens of a context in which messages and what memory adds take this share of their room."""
    base = base_tokens(state)
    return base + int((state.settings.budget.context - base) * share)


def plan_compaction(state: Working) -> Plan | None:
    """The compaction that is due, or None: the context is below `compact_at`, or nothing may go."""
    budget = state.settings.budget
    if state.tokens < mark_tokens(state, budget.compact_at) and not state.out:
        return None
    ceiling = budget.summary_within(room_tokens(state))
    left = ceiling - sum(block.summary_tokens for block in state.blocks)
    merges = len(state.blocks) >= BLOCKS_MAX or (bool(state.blocks) and left // 2 < SUMMARY_TOKENS_MIN)
    kept = () if merges else state.blocks
    whole = ceiling if merges else left
    tokens = whole // 2 if kept or whole // 4 >= SUMMARY_TOKENS_MIN else whole  # half is for blocks to come
    blocks = sum(block.tokens for block in kept) + 2 * tokens
    coming = max(0, _swap_mark(state) - state.tokens)  # what will be said before the block takes its place
    beside = base_tokens(state) + blocks + state.head_tokens + coming
    last = _span(state, mark_tokens(state, budget.compact_to) - beside)
    if not last:
        return None
    return Plan(
        last=last,
        merges=merges,
        previous="\n".join(block.summary for block in state.blocks) if merges else "",
        tokens=max(0, tokens),
    )


def wants_swap(state: Working) -> bool:
    """Whether a block that is ready should take its place now: the context nears its budget, or was cut."""
    return bool(state.out) or state.tokens >= _swap_mark(state)


def written_block(
    state: Working, last: int, merges: bool, summary: str, method: str, counter: Counter
) -> ev.BlockMade:
    """The block that stands for the messages up to `last`: their summary, and exact values that may stand for long."""
    first = state.blocks[0].first if merges and state.blocks else state.entries[0].sequence
    kept = () if merges else state.blocks
    stay = [entry for entry in state.view if entry.sequence > last]
    values = _values(state, stay, kept, _block_values(state, kept), counter)
    words = words_of(state.newest_user.message if state.newest_user else None)
    wire = (
        wire_of(head_text(summary, method, values, state.settings.nonce, words)) if summary or values else ""
    )
    return ev.BlockMade(
        first=first,
        last=last,
        merges=merges,
        method=method,
        tokens=wire_tokens(wire, counter.count),
        summary_tokens=counter.count(summary),
        values_tokens=counter.count("\n".join(values)),
        text=msgspec.json.encode({"summary": summary, "wire": wire}).decode(),
    )


def values_wire(state: Working, room: int, counter: Counter) -> tuple[str, int]:
    """The message that shows exact values which neither a block nor a verbatim message shows, and its tokens.

    It stands behind the blocks and is written anew with each epoch, so that those that matter most by then are
    there; empty where nothing is out of sight.
    """
    seen = state.view
    if not state.blocks and all(one.tokens == one.whole_tokens for one in seen) and not state.out:
        return "", 0
    nonce = state.settings.nonce
    words = words_of(state.newest_user.message if state.newest_user else None)
    frame = counter.count(head_text("", "", ["…"], nonce, words)) + MESSAGE_OVERHEAD_TOKENS
    budget = state.settings.budget
    taken = sum(block.values_tokens for block in state.blocks)
    unused = budget.entities_within(room_tokens(state)) - taken
    if budget.entities is None:  # what compaction has freed below its goal is free for values too
        free = mark_tokens(state, budget.compact_to) - state.tokens - frame
        unused = max(unused, min(free, FREE_TOKENS_MAX - taken))
    values = _values(state, seen, state.blocks, min(unused, room - frame), counter)
    while values:
        wire = wire_of(head_text("", "", values, nonce, words))
        tokens = wire_tokens(wire, counter.count)
        if tokens <= room:
            return wire, tokens
        values = values[:-1]
    return "", 0


def _block_values(state: Working, kept: Sequence[Block]) -> int:
    """Tokens of exact values for a block to come: what is left of their share; none in a small context."""
    room = room_tokens(state)
    if room < BLOCK_VALUES_ROOM:
        return 0
    return state.settings.budget.entities_within(room) - sum(block.values_tokens for block in kept)


def _swap_mark(state: Working) -> int:
    return mark_tokens(state, (1 + state.settings.budget.compact_at) / 2)


def _span(state: Working, goal: int) -> int:
    """Sequence of the last message to summarise: the oldest groups, until what stays meets the goal, or 0.

    What is out of view goes too. The newest user message, all that follows it and an open call stay. The newest
    `keep_recent` messages stay as long as they leave half of what a compaction is to free, the newer half of them
    as long as the context stays below `compact_at`.
    """
    budget = state.settings.budget
    newest = state.newest_user
    units = groups(state.entries)
    slack = (mark_tokens(state, budget.compact_at) - mark_tokens(state, budget.compact_to)) // 2
    tokens = count = 0
    for place in range(len(units) - 1, -1, -1):
        unit = units[place]
        tokens, count = tokens + sum(entry.tokens for entry in unit), count + len(unit)
        pinned = unit[-1].sequence >= newest.sequence if newest else place == len(units) - 1
        recent = slack if count <= budget.keep_recent else 0
        recent = 2 * slack if count <= budget.keep_recent // 2 else recent
        fits = tokens <= goal + recent
        if not pinned and (unit[0].sequence in state.out or not fits):
            return unit[-1].sequence
    return 0


def _values(
    state: Working, seen: Sequence[Entry], blocks: Sequence[Block], tokens: int, counter: Counter
) -> tuple[str, ...]:
    whole = {entry.sequence for entry in seen if entry.tokens == entry.whole_tokens}
    wires = [block.wire for block in blocks] + [one.wire for one in seen if one.sequence not in whole]
    verbatim = [one.wire for one in seen if one.sequence in whole]

    def hidden(row: EntityRow) -> bool:
        if row.last_sequence in whole and row.entity.kind != "date":
            return False  # a date may stand there in words, and not as tools take it
        if row.entity.kind == "date" and any(row.entity.value in wire for wire in verbatim):
            return False
        return not any(row.entity.value in wire for wire in wires)

    return state.entities.lines(hidden=hidden, tokens=tokens, count=counter.count) if tokens > 0 else ()
