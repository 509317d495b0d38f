"""Which messages a compaction takes.

The oldest ones, up to where a turn and a topic end; inside a long turn, its finished tool groups. The law of the
file: a span is whole groups in a row; it holds neither the newest user message nor the group that ends the session
nor an open call; and all that is out of view before the newest user message is in it.
"""

from collections.abc import Sequence

from actormem.core.session.working import Entry, Working, groups
from actormem.core.summary.topics import nearest_boundary

__all__ = ["oldest_group", "oldest_span", "turn_span"]

NEAR_PART = 2  # a boundary is near where half of a compaction's slack, in tokens, lies between
NEAR_GROUPS = 4  # and at most two turns
WORTH_PART = 2  # inside a turn a compaction that frees less than half of the slack would soon be made again


def oldest_span(state: Working, goal: int, slack: int) -> int:
    """Sequence of the last message to summarise: the oldest groups, until what stays meets the goal, or 0.

    What is out of view goes too. The newest user message, all that follows it and an open call stay. The newest
    `keep_recent` messages stay as long as they leave half of what a compaction is to free, the newer half of them
    as long as the context stays below `compact_at`. Where a turn or a topic ends near by, the span ends there.

    Args:
        goal: Tokens of messages that are to stay.
        slack: Half of the tokens between the two marks `compact_at` and `compact_to`.

    Cost:
        O(messages), and the words of some ten of them where a boundary is looked for.
    """
    newest = state.newest_user
    units = groups(state.entries)
    pinned = next(
        (place for place, unit in enumerate(units) if newest and unit[-1].sequence >= newest.sequence),
        len(units) - 1,
    )
    staying = tokens_of(units[pinned:])
    count = sum(map(len, units[pinned:]))
    for place in range(pinned - 1, -1, -1):
        unit = units[place]
        staying, count = staying + tokens_of([unit]), count + len(unit)
        if unit[0].sequence in state.out or not recent_fits(state, staying, count, goal, slack):
            staying, count = staying - tokens_of([unit]), count - len(unit)
            ahead = behind = slack // NEAR_PART
            behind = min(behind, goal + slack - staying)
            cut = _near(state, units, place + 1, pinned, count, behind, ahead)
            return units[cut - 1][-1].sequence
    return 0


def oldest_group(state: Working) -> int:
    """Sequence of the last message of the oldest group, where it may go, or 0."""
    newest = state.newest_user
    first = groups(state.entries)[:1]
    free = first and newest is not None and first[0][-1].sequence < newest.sequence
    return first[0][-1].sequence if free else 0


def turn_span(state: Working, goal: int, slack: int) -> tuple[int, int] | None:
    """First and last sequence of the groups behind the newest user message that may go, or None.

    The user's message stays before them, and the group that ends the session behind them. The same goal and the
    same care for recent messages as in `oldest_span`.
    """
    newest = state.newest_user
    if newest is None:
        return None
    units = groups(state.entries)
    before = [unit for unit in units if unit[0].sequence <= newest.sequence]
    behind = units[len(before) :]
    staying = tokens_of(before) + tokens_of(behind[-1:])
    count = sum(map(len, behind[-1:]))
    for place in range(len(behind) - 2, -1, -1):
        unit = behind[place]
        staying, count = staying + tokens_of([unit]), count + len(unit)
        if unit[0].sequence in state.out or not recent_fits(state, staying, count, goal, slack):
            if tokens_of(behind[: place + 1]) < slack // WORTH_PART:
                return None
            return behind[0][0].sequence, unit[-1].sequence
    return None


def recent_fits(state: Working, tokens: int, count: int, goal: int, slack: int) -> bool:
    """Whether the newest `count` messages, which take so many tokens, may all stay."""
    recent = slack if count <= state.settings.budget.keep_recent else 0
    recent = 2 * slack if count <= state.settings.budget.keep_recent // 2 else recent
    return tokens <= goal + recent


def tokens_of(units: Sequence[Sequence[Entry]]) -> int:
    return sum(entry.tokens for unit in units for entry in unit)


def _near(
    state: Working,
    units: Sequence[Sequence[Entry]],
    cut: int,
    pinned: int,
    count: int,
    behind: int,
    ahead: int,
) -> int:
    """The boundary near `cut` at which a turn or a topic ends; `cut` itself where none is better.

    Args:
        pinned: The cut may not move beyond it.
        count: Messages that stay with `cut`: those among the newest `keep_recent` still do afterwards.
        behind: Tokens by which more may stay.
        ahead: Tokens by which less may.
    """
    first = last = cut
    while first > max(1, cut - NEAR_GROUPS) and units[first - 1][0].sequence not in state.out:
        behind -= tokens_of([units[first - 1]])
        if behind < 0:
            break
        first -= 1
    while last < min(pinned, cut + NEAR_GROUPS):
        ahead -= tokens_of([units[last]])
        count -= len(units[last])
        if ahead < 0 or count < state.settings.budget.keep_recent:
            break
        last += 1
    if first == last:
        return cut
    messages = [[entry.message for entry in unit] for unit in units]
    return nearest_boundary(messages, first, last, cut)
