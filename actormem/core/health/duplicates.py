"""Groups of items that say the same, found without comparing each with each.

Two texts say the same as `recall.duplicates` has it. Candidates share all their words, or one of the rarest of a
longer text: whoever has nine words in ten in common shares one of those.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.recall.duplicates import PIECE, says_the_same
from actormem.core.recall.words import normal_text
from actormem.core.values import Item

__all__ = ["duplicate_groups"]

RARE_WORDS: Final = 3
LONG_WORDS: Final = 10  # a shorter text is the same only with every word the same
NEAR_MAX: Final = 64  # items compared with one another; a word that more of them share is no rare one
VAGUE: Final = frozenset(("note", ""))  # attributes that give way to one that says more


def duplicate_groups(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """Groups of two or more items of one scope and subject, the one to keep last: with an attribute, then the newest.

    Args:
        items: Oldest first.

    Cost:
        O(n) for n items, times at most `NEAR_MAX` comparisons of 20 µs each.
    """
    places = {item.id: place for place, item in enumerate(items)}
    group_of: dict[str, list[Item]] = {}
    for near in _candidates(items):
        for place, one in enumerate(near):
            for other in near[:place]:
                if group_of.get(one.id) is not group_of.get(other.id, ()) and says_the_same(one, other):
                    group = [*group_of.get(other.id, [other]), *group_of.get(one.id, [one])]
                    group_of |= dict.fromkeys((member.id for member in group), group)
    groups = {id(group): group for group in group_of.values()}
    return [
        tuple(sorted(group, key=lambda one: (one.attribute not in VAGUE, places[one.id])))
        for group in groups.values()
    ]


def _candidates(items: Sequence[Item]) -> Iterable[list[Item]]:
    said = [(item, PIECE.findall(normal_text(item.text))) for item in items]
    counts = Counter(word for _, words in said for word in set(words))
    near: dict[tuple[str, ...], list[Item]] = {}
    for item, words in said:
        whose = (item.scope, item.subject.casefold())
        near.setdefault((*whose, "", *sorted(words)), []).append(item)
        if len(words) >= LONG_WORDS:
            rare = sorted(set(words), key=lambda word: (counts[word], word))[:RARE_WORDS]
            for word in rare:
                near.setdefault((*whose, word), []).append(item)
    return (group[-NEAR_MAX:] for group in near.values() if len(group) > 1)
