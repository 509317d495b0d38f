"""Hits that say the same: only the better one stays.

Two texts say the same where almost all their words are the same. Differing numbers, ids, dates or negations
veto it, and so do the words of two different speakers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from actormem.core.values import Hit, Item
from actormem.core.words import normal_text

__all__ = ["distinct", "says_the_same"]

SAME_SHARE: Final = 0.9  # of the words of both texts
PIECE: Final = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
NEGATION_LIST: Final = """
    not no never none without cannot t don didn doesn isn wasn aren won nor stop stopped quit
    不 没 無 无 非 别 未 勿
"""
NEGATIONS: Final = frozenset(NEGATION_LIST.split())
HAN_NUMERALS: Final = frozenset("〇零一二两三四五六七八九十百千万亿")


def says_the_same(one: Item, other: Item) -> bool:
    """Whether two items are near-duplicates."""
    if one.kind == other.kind == "episode" and one.speaker != other.speaker:
        return False
    return same_words(pieces(one.text), pieces(other.text))


def distinct(hits: Iterable[Hit], limit: int) -> tuple[Hit, ...]:
    """The first `limit` hits of a ranking, without those that say what a better one says.

    Where a fact and an episode say the same the fact stands, at the better of the two places.
    """
    kept: list[Hit] = []
    words: list[Counter[str]] = []
    for hit in hits:
        mine = pieces(hit.item.text)
        twin = next(
            (place for place, theirs in enumerate(words) if same(kept[place], theirs, hit, mine)), None
        )
        if twin is None:
            if len(kept) == limit:
                break
            kept.append(hit)
            words.append(mine)
        elif kept[twin].item.kind == "episode" and hit.item.kind != "episode":
            kept[twin] = Hit(item=hit.item, score=kept[twin].score, why=kept[twin].why)
            words[twin] = mine
    return tuple(kept)


def same(kept: Hit, theirs: Counter[str], hit: Hit, mine: Counter[str]) -> bool:
    if kept.item.kind == hit.item.kind == "episode" and kept.item.speaker != hit.item.speaker:
        return False
    return same_words(theirs, mine)


def pieces(text: str) -> Counter[str]:
    return Counter(PIECE.findall(normal_text(text)))


def same_words(one: Counter[str], other: Counter[str]) -> bool:
    total = one.total() + other.total()
    if not total or 2 * min(one.total(), other.total()) < SAME_SHARE * total:
        return False
    if 2 * (one & other).total() < SAME_SHARE * total:
        return False
    return not any(vetoes(piece) for piece in (one - other) + (other - one))


def vetoes(piece: str) -> bool:
    return piece in NEGATIONS or piece in HAN_NUMERALS or any(map(str.isdigit, piece))
