"""Hits that say what a better one says already: only the better one stays.

Two texts say the same where almost all their words are the same. Differing numbers, ids, dates or negations
veto it, and so do the words of two different speakers. A fact and the message it came from share a source:
the later of the two stays only if it has something new.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from actormem.core.recall.words import normal_text
from actormem.core.values import Hit, Item

__all__ = ["distinct", "says_the_same"]

SAME_SHARE: Final = 0.9  # of the words of both texts
NOTHING_NEW_SHARE: Final = 0.6  # of an episode's words: the rest is how people talk
PIECE: Final = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
NEGATION_LIST: Final = """
    not no never none without cannot t don didn doesn isn wasn aren won nor stop stopped quit
    不 没 無 无 非 别 未 勿
"""
NEGATIONS: Final = frozenset(NEGATION_LIST.split())
HAN_NUMERALS: Final = frozenset("〇零一二两三四五六七八九十百千万亿")


class Said(msgspec.Struct, frozen=True):
    """An item and the words of its text, with their counts."""

    item: Item
    text: str
    words: Counter[str]
    total: int

    @classmethod
    def of(cls, item: Item) -> "Said":
        text = normal_text(item.text)
        words = PIECE.findall(text)
        return cls(item, text, Counter(words), len(words))


def says_the_same(one: Item, other: Item) -> bool:
    """Whether two items are near-duplicates."""
    return same(Said.of(one), Said.of(other))


def distinct(hits: Iterable[Hit], limit: int, source_max: int = 0) -> tuple[Hit, ...]:
    """The first `limit` hits of a ranking, without those that say what a better one says.

    Where a fact and an episode say the same the fact stands, at the better of the two places.

    Args:
        source_max: Hits that stand of one message or document, at most: its best; 0 for any number.
    """
    taken: Counter[tuple[str, str]] = Counter()
    kept: list[Hit] = []
    said: list[Said] = []
    messages: set[tuple[str, tuple[str, ...]]] = set()
    for hit in hits:
        message = (hit.item.session_id, hit.item.source_ids)
        if hit.item.kind == "episode" and message[1]:
            if message in messages:
                continue
            messages.add(message)
        mine = Said.of(hit.item)
        twin = next((place for place, theirs in enumerate(said) if same(theirs, mine)), None)
        if twin is None and any(nothing_new(theirs, mine) for theirs in said):
            continue
        if twin is None:
            source = source_of(hit.item)
            if source_max and source is not None and taken[source] == source_max:
                continue
            if len(kept) == limit:
                break
            taken.update((source,) if source is not None else ())
            kept.append(hit)
            said.append(mine)
        elif kept[twin].item.kind == "episode" and hit.item.kind != "episode":
            kept[twin] = msgspec.structs.replace(hit, score=kept[twin].score, why=kept[twin].why)
            said[twin] = mine
    return tuple(kept)


def source_of(item: Item) -> tuple[str, str] | None:
    """The message or the document that an item says one thing of; None for a summary, and for what has no source."""
    if item.source == "summary" or not item.source_ids:
        return None
    return item.session_id, item.source_ids[0]


def same(one: Said, other: Said) -> bool:
    if one.item.kind == other.item.kind == "episode" and one.item.speaker != other.item.speaker:
        return False
    one_total, other_total = one.total, other.total
    total = one_total + other_total
    if not total or 2 * min(one_total, other_total) < SAME_SHARE * total:
        return False
    # Each word that the other text lacks is one less in common at least: most pairs end here, at the cost of two sets.
    common_most = min(
        one_total - len(one.words.keys() - other.words.keys()),
        other_total - len(other.words.keys() - one.words.keys()),
    )
    if 2 * common_most < SAME_SHARE * total:
        return False
    if 2 * (one.words & other.words).total() < SAME_SHARE * total:
        return False
    return not any(vetoes(word) for word in (one.words - other.words) + (other.words - one.words))


def nothing_new(better: Said, later: Said) -> bool:
    """Whether a fact repeats its message, or a message its fact."""
    if not set(better.item.source_ids) & set(later.item.source_ids):
        return False
    kinds = better.item.kind == "episode", later.item.kind == "episode"
    if kinds == (True, False):
        value = normal_text(later.item.value).strip()
        return bool(value) and value in better.text
    if kinds == (False, True):
        new = later.words - better.words
        return new.total() <= (1 - NOTHING_NEW_SHARE) * later.words.total() and not any(map(vetoes, new))
    return False


def vetoes(word: str) -> bool:
    return word in NEGATIONS or word in HAN_NUMERALS or any(map(str.isdigit, word))
