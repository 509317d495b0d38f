"""Whether a reply used a memory: a plain comparison of words, which asks no model.

The law of the file: it only counts. What it says decides nothing, so that a reply in other words costs nobody a
memory.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.recall.words import Words, normal_text
from actormem.core.text import HAN
from actormem.core.values import Item

__all__ = ["used_count"]

USED_SHARE: Final = 0.5  # of an item's telling words that must stand in the reply
REPLY_CHARS_MAX: Final = 16_000  # about 2 ms; a longer reply is a document
VALUE_CHARS_MIN: Final = 2  # a shorter value stands in any reply by chance
PAIR_WEIGHT: Final = 0.5  # of two Han characters in a row: every second pair is no word
FRAME_WORDS: Final = frozenset(("user", "用户"))  # of our own sentences about the speaker


def used_count(items: Sequence[Item], reply: str, words: Words) -> int:
    """How many of the items the reply used: it holds the value, or at least half of the telling words.

    Cost:
        About 0.1 ms for 1,000 characters of the reply and the items.
    """
    if not items or not reply:
        return 0
    said = normal_text(reply[:REPLY_CHARS_MAX])
    terms = frozenset(words.terms(said))
    return sum(_used(item, said, terms, words) for item in items)


def _used(item: Item, said: str, terms: frozenset[str], words: Words) -> bool:
    value = normal_text(item.value).strip()
    if len(value) >= VALUE_CHARS_MIN and value in said:
        return True
    telling = {term for term in words.terms(item.text) if len(term) > 1} - FRAME_WORDS
    return bool(telling) and _weight(telling & terms) >= USED_SHARE * _weight(telling, PAIR_WEIGHT)


def _weight(terms: Iterable[str], of_pair: float = 1.0) -> float:
    return sum(of_pair if HAN.match(term) else 1.0 for term in terms)
