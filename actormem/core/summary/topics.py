"""Cuts a span of messages into parts a summarizer can read, where the topic changes.

The law of the file: the parts follow each other without gap or overlap, and a tool call is never parted from
its results.
"""

from collections.abc import Sequence
from typing import Final

from actormem.core.recall.words import Words
from actormem.core.text import normal
from actormem.core.values import Message

__all__ = ["groups_of", "nearest_boundary", "split_span"]

SCAN_CHARS: Final = 1_500  # of each message: enough words to tell its topic
BESIDE_GROUPS: Final = 3  # looked at on each side of a cut: about a turn
LAST_SHARE: Final = 2 / 3  # a cut falls into the last third of the window
MID_TURN_COST: Final = 0.25  # a reply belongs to its question
NEW_TOPIC_GAIN: Final = 0.3
DISTANCE_COST: Final = 0.03  # a group: of boundaries that hardly differ, the nearer one
NEAR_SCAN_CHARS: Final = 400  # of each message, where a boundary is looked for between turns
NEW_TOPIC: Final = (
    "另外", "对了", "换个话题", "还有一件事", "还有个事", "顺便", "下一个问题",
    "by the way", "btw", "another", "also", "next question", "on another note", "one more thing",
    "changing the subject", "new topic", "separately",
)  # fmt: skip


def groups_of(messages: Sequence[Message]) -> list[slice]:
    """The messages that belong together: one with tool calls and the tool messages behind it."""
    groups: list[slice] = []
    for position, message in enumerate(messages):
        if groups and message.role == "tool":
            groups[-1] = slice(groups[-1].start, position + 1)
        else:
            groups.append(slice(position, position + 1))
    return groups


def split_span(messages: Sequence[Message], tokens_each: Sequence[int], *, window_tokens: int) -> list[slice]:
    """Consecutive parts of at most `window_tokens` each, cut where both sides share the fewest content words.

    A cut falls into the last third of the window where a boundary is there, rather before a user's message
    than inside a turn, and never inside a tool group.

    Args:
        messages: Oldest first.
        tokens_each: Tokens of each message, each at least 0; as many as messages.
        window_tokens: What the summarizer reads at once, at least 1.

    Returns:
        Slices that cover the messages in order; none for none. A group larger than the window is a part of
        its own.

    Cost:
        O(characters), at most 1,500 of each message.
    """
    assert len(messages) == len(tokens_each)
    assert window_tokens >= 1
    groups = groups_of(messages)
    sizes = [sum(tokens_each[group]) for group in groups]
    parts: list[slice] = []
    words = Words()
    start = 0
    while start < len(groups):
        end = window_end(sizes, start, window_tokens)
        if end < len(groups):
            end = best_cut(messages, groups, sizes, start, end, words)
        parts.append(slice(groups[start].start, groups[end - 1].stop))
        start = end
    return parts


def nearest_boundary(units: Sequence[Sequence[Message]], first: int, last: int, wanted: int) -> int:
    """The place from `first` to `last` where a cut parts the least: rather between turns, and between topics.

    Args:
        units: Messages in groups that are never parted, oldest first. A cut at place p stands before unit p.
        first: At least 1.
        last: Less than the number of units.
        wanted: Where the cut would be; of equals the place nearest to it is taken.

    Cost:
        O(characters), at most 400 of each message of `last - first` + 6 units.
    """
    assert 1 <= first <= wanted <= last < len(units)
    words = Words()
    nearby = range(max(0, first - BESIDE_GROUPS), min(len(units), last + BESIDE_GROUPS))
    terms = {place: group_terms(units[place], words, NEAR_SCAN_CHARS) for place in nearby}

    def cost(boundary: int) -> float:
        before = terms_of(terms, range(boundary - BESIDE_GROUPS, boundary))
        after = terms_of(terms, range(boundary, boundary + BESIDE_GROUPS))
        parted = cohesion(before, after) + turn_cost(units[boundary][0])
        return parted + DISTANCE_COST * abs(boundary - wanted)

    return min(range(first, last + 1), key=lambda boundary: (cost(boundary), abs(boundary - wanted)))


def window_end(sizes: Sequence[int], start: int, window_tokens: int) -> int:
    """The first group that no longer fits; at least one group is taken."""
    total = sizes[start]
    end = start + 1
    while end < len(sizes) and total + sizes[end] <= window_tokens:
        total += sizes[end]
        end += 1
    return end


def best_cut(
    messages: Sequence[Message],
    groups: Sequence[slice],
    sizes: Sequence[int],
    start: int,
    end: int,
    words: Words,
) -> int:
    """The boundary in the last third with the least cohesion; the latest of equals."""
    total = sum(sizes[start:end])
    first = end
    behind = 0
    while first - 1 > start and behind + sizes[first - 1] <= (1 - LAST_SHARE) * total:
        first -= 1
        behind += sizes[first]
    nearby = range(max(start, first - BESIDE_GROUPS), min(len(groups), end + BESIDE_GROUPS))
    terms = {place: group_terms(messages[groups[place]], words) for place in nearby}
    best, best_cost = end, float("inf")
    for boundary in range(first, end + 1):
        before = terms_of(terms, range(max(start, boundary - BESIDE_GROUPS), boundary))
        after = terms_of(terms, range(boundary, min(len(groups), boundary + BESIDE_GROUPS)))
        cost = cohesion(before, after) + turn_cost(messages[groups[boundary]][0])
        if cost <= best_cost:
            best, best_cost = boundary, cost
    return best


def group_terms(messages: Sequence[Message], words: Words, chars: int = SCAN_CHARS) -> frozenset[str]:
    return frozenset(term for message in messages for term in words.terms(message.text[:chars]))


def terms_of(terms: dict[int, frozenset[str]], places: range) -> frozenset[str]:
    return frozenset[str]().union(*(terms[place] for place in places if place in terms))


def cohesion(before: frozenset[str], after: frozenset[str]) -> float:
    """The share of the poorer side's words that both sides have, 0 to 1."""
    if not before or not after:
        return 0.0
    return len(before & after) / min(len(before), len(after))


def turn_cost(message: Message) -> float:
    """What a cut in front of this message costs besides: more inside a turn, less before a new topic."""
    if message.role != "user":
        return MID_TURN_COST
    opening = normal(message.text[:40])
    return -NEW_TOPIC_GAIN if opening.startswith(NEW_TOPIC) else 0.0
