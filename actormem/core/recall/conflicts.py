"""Two hits that give one thing two values: the newer stands above the older.

Nothing is hidden and nothing comes in: only the order of the best hits changes, and only where the question
does not ask for history. Facts have their own law (a newer value supersedes); this is for messages, from
which nobody may have extracted anything.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.recall.words import Words
from actormem.core.values import Hit

__all__ = ["newest_first"]

HITS_LOOKED_AT: Final = 10
TEXT_CHARS_MAX: Final = 800
SCORE_SHARE_MIN: Final = 0.5  # of the older one's score: what is further off has another thing's value
QUERY_SHARE_MIN: Final = 0.25  # of what the query's words can tell, in each of the two sentences
QUERY_SHARE_ENOUGH: Final = 0.4  # in common: the two speak of what was asked, in whatever words besides
ALIKE_MIN: Final = 0.35  # of the words of both sentences, values aside, where they have less in common
SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]|\.(?=\d))+[.!?。！？]*")
HISTORY: Final = re.compile(
    r"\b(?:at first|first time|initial(?:ly)?|original(?:ly)?|before|previous(?:ly)?|earlier|used to|chang\w*"
    r"|histor\w*|in (?:what|which) order|order in which|over time|evolve\w*|progress\w*|compar\w*)\b"
    r"|最初|起初|第一次|原来|之前|以前|从前|变化|改变|历史|顺序|先后|对比|比较|过程"
)
MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "percent": re.compile(r"\d+(?:\.\d+)?\s?(?:%|percent)|百分之[\d一二三四五六七八九十]+"),
    "money": re.compile(r"[$€£¥]\s?\d[\d,.]*|\d[\d,.]*\s?(?:dollars|euros|yuan|usd|eur|元|块)"),
    "date": re.compile(
        rf"\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? {MONTH}\b"
        r"|\d{4}-\d{2}-\d{2}|\d{1,2}月\d{1,2}[日号]"
    ),
    "time": re.compile(r"\b\d{1,2}:\d{2}\b|\b\d{1,2} ?[ap]m\b|\d{1,2}点"),
    "number": re.compile(r"(?<![\w.])(?!(?:19|20)\d\d\b)\d+(?:[.,]\d+)*(?![\w.]*\d)"),
}


class Statement(msgspec.Struct, frozen=True):
    """A sentence with values: its other words, and its values by kind."""

    words: frozenset[str]
    values: Mapping[str, frozenset[str]]


def newest_first(
    hits: Sequence[Hit], query: str, telling: Mapping[str, float], words: Words
) -> tuple[Hit, ...]:
    """The hits, with the newer of two conflicting statements of one speaker just above the older.

    Args:
        hits: Best first.
        telling: How telling each term of the query is.

    Returns:
        The same hits; scores stay at their places, so that they still fall.
    """
    if HISTORY.search(query.lower()):
        return tuple(hits)
    order = list(hits[:HITS_LOOKED_AT])
    said = {hit.item.id: statements(hit, words) for hit in order}
    weights = shares_of(telling, [one for each in said.values() for one in each])
    said = {
        id: [one for one in each if mass(one.words, weights) >= QUERY_SHARE_MIN] for id, each in said.items()
    }
    for newer in sorted(order, key=moment):
        place = order.index(newer)
        for above, older in enumerate(order[:place]):
            one, other = said[older.item.id], said[newer.item.id]
            if newer.score < SCORE_SHARE_MIN * older.score:
                continue
            if moment(older) < moment(newer) and same_speaker(older, newer) and clash(one, other, weights):
                order.insert(above, order.pop(place))
                break
    return (*with_scores(order, hits), *hits[HITS_LOOKED_AT:])


def shares_of(telling: Mapping[str, float], said: Sequence[Statement]) -> Mapping[str, float]:
    """Each term's share of what the query's words tell; words that stand in no statement tell none from another."""
    held = {term for one in said for term in one.words}
    known = {term: weight for term, weight in telling.items() if term in held}
    total = sum(known.values())
    return {term: weight / total for term, weight in known.items()} if total else {}


def statements(hit: Hit, words: Words) -> tuple[Statement, ...]:
    """The sentences of a person that have values."""
    if hit.item.kind != "episode" or "assistant" in (hit.item.source, hit.item.speaker):
        return ()
    found: list[Statement] = []
    for sentence in SENTENCE.findall(hit.item.text[:TEXT_CHARS_MAX].lower()):
        if not any(map(str.isdigit, sentence)) and "百分之" not in sentence:
            continue
        values: dict[str, frozenset[str]] = {}
        rest = sentence
        for kind, pattern in KINDS.items():
            values[kind] = frozenset(pattern.findall(rest))
            rest = pattern.sub(" ", rest)
        terms = frozenset(words.terms(rest))
        if any(values.values()):
            found.append(Statement(terms, values))
    return tuple(found)


def clash(one: Sequence[Statement], other: Sequence[Statement], weights: Mapping[str, float]) -> bool:
    return any(disagree(older, newer, weights) for older in one for newer in other)


def disagree(one: Statement, other: Statement, weights: Mapping[str, float]) -> bool:
    """Whether two sentences are about one thing and have other values of one kind."""
    common = one.words & other.words
    alike = 2 * len(common) >= ALIKE_MIN * (len(one.words) + len(other.words))
    if not alike and mass(common, weights) < QUERY_SHARE_ENOUGH:
        return False
    return any(
        one.values[kind] and other.values[kind] and not one.values[kind] & other.values[kind]
        for kind in KINDS
    )


def mass(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in terms)


def moment(hit: Hit) -> tuple[int, int]:
    return hit.item.event_ms, hit.item.sequence


def same_speaker(one: Hit, other: Hit) -> bool:
    return one.item.speaker == other.item.speaker


def with_scores(order: Sequence[Hit], hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits of `order` with the scores of `hits`, place by place."""
    return tuple(
        one if one.score == there.score else msgspec.structs.replace(one, score=there.score)
        for one, there in zip(order, hits, strict=False)
    )
