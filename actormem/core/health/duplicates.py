"""Groups of items that say the same, found without comparing each with each.

Two texts say the same as `recall.duplicates` has it. Candidates share all their words, or one of the rarest of a
longer text: whoever has nine words in ten in common shares one of those.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.recall.duplicates import Said, same
from actormem.core.values import Item

__all__ = ["duplicate_groups"]

RARE_WORDS: Final = 3
LONG_WORDS: Final = 10  # a shorter text is the same only with every word the same
ALIKE_SHARE: Final = 0.75  # of the different words of the longer text
NEAR_MAX: Final = 32  # items compared with one another; a word that more of them share is no rare one
VAGUE: Final = frozenset(("note", ""))  # attributes that give way to one that says more


def duplicate_groups(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """Groups of two or more items of one scope and subject, the one to keep last: with an attribute, then the newest.

    Args:
        items: Oldest first.

    Cost:
        O(n) for n items, times at most `NEAR_MAX` comparisons of 2 µs each.
    """
    places = {item.id: place for place, item in enumerate(items)}
    group_of: dict[str, list[Item]] = {}
    for near in _candidates(items):
        for place, one in enumerate(near):
            for other in near[:place]:
                a, b = one.item, other.item
                known = a.id in group_of and group_of[a.id] is group_of.get(b.id)
                if not known and _alike(one, other) and same(one, other):
                    group = [*group_of.get(b.id, [b]), *group_of.get(a.id, [a])]
                    group_of |= dict.fromkeys((member.id for member in group), group)
    groups = {id(group): group for group in group_of.values()}
    return [
        tuple(sorted(group, key=lambda one: (one.attribute not in VAGUE, places[one.id])))
        for group in groups.values()
    ]


def _alike(one: Said, other: Said) -> bool:
    """What is so, and quickly seen, where two texts have nine words in ten in common and repeat few of them."""
    return len(one.words.keys() & other.words.keys()) >= ALIKE_SHARE * max(len(one.words), len(other.words))


def _candidates(items: Sequence[Item]) -> Iterable[list[Said]]:
    said = [Said.of(item) for item in items]
    counts = Counter(word for one in said for word in one.words)
    near: dict[tuple[str, ...], list[Said]] = {}
    for one in said:
        whose = (one.item.scope, one.item.subject.casefold())
        near.setdefault((*whose, "", *sorted(one.words.elements())), []).append(one)
        if one.words.total() >= LONG_WORDS:
            for word in sorted(one.words, key=lambda word: (counts[word], word))[:RARE_WORDS]:
                near.setdefault((*whose, word), []).append(one)
    return (group[-NEAR_MAX:] for group in near.values() if len(group) > 1)
