"""Summary blocks: what stands for messages that are no longer verbatim.

Blocks are appended, oldest first, so that a compaction leaves those before it as they are, byte for byte. Each
summary takes half of what is left of its share; a fifth block, or one that would be too short for a frame of its
own, takes the place of all. So their number is bounded and most compactions rewrite nothing. The exact values of
what is not verbatim stand in one message behind the blocks, chosen anew with each epoch; in a context that is not
small, they stand in the blocks as far as their share lasts, and stay as they are.

A block stands where its messages stood. Where a turn alone fills the context, its finished tool groups become a
block behind the user's message, which stays verbatim; the next one of the turn takes its place, and the compaction
that takes the turn itself takes it in.
"""

from collections.abc import Sequence

import msgspec

from actormem.core.context.notes import head_text, wire_of, words_of
from actormem.core.context.shorten import Counter
from actormem.core.context.spans import oldest_group, oldest_span, turn_span
from actormem.core.entities import EntityRow
from actormem.core.policy import policy_of
from actormem.core.session import events as ev
from actormem.core.session.working import Block, Entry, Working, groups
from actormem.core.wire import wire_tokens
from actormem.limits import MESSAGE_OVERHEAD_TOKENS

__all__ = [
    "Plan",
    "base_tokens",
    "before_recent",
    "mark_tokens",
    "plan_compaction",
    "values_wire",
    "wants_swap",
    "written_block",
]

BLOCKS_MAX = 4  # blocks beside each other; a fifth merges them
TURN_PART = 4  # a block inside a turn may take a quarter of the share, even where the others have used it up
OLDER_MESSAGES_MIN = 2  # fewer are not worth a block of their own
BLOCKS_SHARE_MAX = 0.6  # of the room; a larger share is left to small contexts only, whose frames add up
BLOCK_VALUES_ROOM = 1_500  # from here on blocks show exact values too, and spare writing them anew
FREE_TOKENS_MAX = 400  # of exact values above their share, where a compaction has left less than its goal
SUMMARY_TOKENS_MIN = 16  # a shorter summary is not worth a frame of its own: it merges with those before it


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction to be made.

    Attributes:
        first: Sequence of the first message it stands for; blocks inside its span are taken in.
        last: Sequence of the last message it stands for.
        merges: Whether it takes the place of all blocks before it.
        previous: The summaries of the blocks it takes in.
        tokens: Ceiling of its summary.
    """

    first: int
    last: int
    merges: bool
    previous: str
    tokens: int


def base_tokens(state: Working) -> int:
    """What every context holds: format, system prompt, tools, what the layout may need."""
    settings = state.settings
    return settings.format_tokens + settings.system_tokens + settings.tools_tokens + settings.layout_tokens


def room_tokens(state: Working) -> int:
    """What prompt and tools leave of a context."""
    return state.settings.budget.context - base_tokens(state)


def mark_tokens(state: Working, share: float) -> int:
    """Tokens of a context in which messages and what memory adds take this share of their room."""
    base = base_tokens(state)
    return base + int((state.settings.budget.context - base) * share)


def plan_compaction(state: Working) -> Plan | None:
    """The compaction that is due, or None: the context is below `compact_at`, or nothing may go.

    Blocks that are too large for a budget that has shrunk are merged into one that is not, as soon as any message
    may go.
    """
    budget = state.settings.budget
    policy = policy_of(state.settings.policy)
    older = before_recent(state) if policy.recent_only else ()
    early = len(older) >= max(budget.keep_recent, OLDER_MESSAGES_MIN)
    ceiling = budget.summary_within(room_tokens(state))
    too_large = sum(block.summary_tokens for block in made_blocks(state)) > ceiling
    too_large = too_large or len(state.dropped) > 1
    over = bool(state.out) or state.tokens >= mark_tokens(state, budget.compact_at)
    if not policy.summarises or not (over or early or too_large):
        return None
    if not state.entries:
        return None
    begin = state.entries[0].sequence
    made = made_blocks(state)
    full = _full(state, sum(block.last < begin for block in state.blocks))
    merges = too_large or bool(state.dropped) or full
    kept = () if merges else state.blocks
    last = older[-1].sequence if early and older else oldest_span(state, _staying(state, kept), _slack(state))
    if not last and too_large:
        last = oldest_group(state)
    if last:
        plan = _plan(state, made[0].first if merges else begin, last, merges)
        return _shorter(plan, older, kept, made) if early else plan
    newest = state.newest_user
    if newest is None:
        return None
    kept = tuple(block for block in state.blocks if block.last < newest.sequence)
    found = turn_span(state, _staying(state, kept, TURN_PART), _slack(state))
    if found is None:
        return None
    earlier = [block.first for block in state.blocks if block.first > newest.sequence]
    return _plan(state, min([found[0], *earlier]), found[1], False, TURN_PART)


def _plan(state: Working, first: int, last: int, merges: bool, part: int = 0) -> Plan:
    inside = [block for block in made_blocks(state) if first <= block.first and block.last <= last]
    kept = [block for block in state.blocks if block not in inside]
    previous = "\n".join(block.summary for block in inside)
    return Plan(
        first=first, last=last, merges=merges, previous=previous, tokens=_summary_tokens(state, kept, part)
    )


def _shorter(plan: Plan, older: Sequence[Entry], kept: Sequence[Block], made: Sequence[Block]) -> Plan:
    """The plan with a summary of half of what it takes the place of: fewer tokens are what it is for."""
    before = sum(block.summary_tokens for block in made if block not in kept)
    half = before + sum(entry.tokens for entry in older) // 2
    return msgspec.structs.replace(plan, tokens=min(plan.tokens, half))


def _summary_tokens(state: Working, kept: Sequence[Block], part: int = 0) -> int:
    """What other blocks leave of the share, or half of it where half is worth a frame: the rest is for blocks to come.

    At least one `part` of the share, where one is given.
    """
    share = state.settings.budget.summary_within(room_tokens(state))
    left = share - sum(block.summary_tokens for block in kept)
    tokens = left // 2 if kept or left // 4 >= SUMMARY_TOKENS_MIN else left
    return max(0, tokens, share // part if part else 0)


def _staying(state: Working, kept: Sequence[Block], part: int = 0) -> int:
    """Tokens of messages that a compaction is to leave, beside the blocks kept and the one to be made."""
    blocks = sum(block.tokens for block in kept) + 2 * _summary_tokens(state, kept, part)
    coming = max(0, _swap_mark(state) - state.tokens)  # what will be said before the block takes its place
    goal = mark_tokens(state, state.settings.budget.compact_to)
    return goal - base_tokens(state) - blocks - state.head_tokens - coming


def _slack(state: Working) -> int:
    budget = state.settings.budget
    return (mark_tokens(state, budget.compact_at) - mark_tokens(state, budget.compact_to)) // 2


def made_blocks(state: Working) -> tuple[Block, ...]:
    """All blocks, those that did not fit any more too, oldest first."""
    return (*state.dropped, *state.blocks)


def before_recent(state: Working) -> tuple[Entry, ...]:
    """The messages before the newest `keep_recent`, in whole groups; none of the newest turn's."""
    newest = state.newest_user
    units = groups(state.entries)
    count = 0
    for place in range(len(units) - 1, -1, -1):
        unit = units[place]
        count += len(unit)
        pinned = place == len(units) - 1 or (newest is not None and unit[-1].sequence >= newest.sequence)
        if count > state.settings.budget.keep_recent and not pinned:
            return tuple(entry for older in units[: place + 1] for entry in older)
    return ()


def wants_swap(state: Working) -> bool:
    """Whether a block that is ready should take its place now: the context nears its budget, or something was cut."""
    early = policy_of(state.settings.policy).recent_only
    return early or bool(state.out or state.dropped) or state.tokens >= _swap_mark(state)


def written_block(
    state: Working, last: int, merges: bool, summary: str, method: str, counter: Counter, *, first: int = 0
) -> ev.BlockMade:
    """The block that stands for the messages up to `last`: their summary, and exact values that may stand for long.

    Args:
        first: Where it begins; 0 for the first verbatim message, or with `merges` for the first block.
    """
    made = made_blocks(state)
    first = first or (made[0].first if merges and made else state.entries[0].sequence)
    kept = [block for block in state.blocks if block.first < first or block.last > last]
    stay = [entry for entry in state.view if not first <= entry.sequence <= last]
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
    if not policy_of(state.settings.policy).shows_values:
        return "", 0
    seen = state.view
    gone = state.blocks or state.dropped or state.out
    if not gone and all(one.tokens == one.whole_tokens for one in seen):
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


def _full(state: Working, count: int) -> bool:
    """Whether another block beside these `count` would be one too many: too short, or their frames add up."""
    if not count:
        return False
    budget, room = state.settings.budget, room_tokens(state)
    left = budget.summary_within(room) - sum(block.summary_tokens for block in state.blocks)
    another = min(block.tokens - block.values_tokens for block in state.blocks)
    crowded = state.block_tokens + another > room * BLOCKS_SHARE_MAX
    return count >= BLOCKS_MAX or left // 2 < SUMMARY_TOKENS_MIN or crowded


def _values(
    state: Working, seen: Sequence[Entry], blocks: Sequence[Block], tokens: int, counter: Counter
) -> tuple[str, ...]:
    whole = {entry.sequence for entry in seen if entry.tokens == entry.whole_tokens}
    short = [one.wire for one in seen if one.sequence not in whole]
    shown = "\n".join([*(block.wire for block in blocks), *short])
    verbatim = "\n".join(one.wire for one in seen if one.sequence in whole)

    def hidden(row: EntityRow) -> bool:
        if row.last_sequence in whole and row.entity.kind != "date":
            return False  # a date may stand there in words, and not as tools take it
        if row.entity.kind == "date" and row.entity.value in verbatim:
            return False
        return row.entity.value not in shown

    return state.entities.lines(hidden=hidden, tokens=tokens, count=counter.count) if tokens > 0 else ()
