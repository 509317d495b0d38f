"""The arms of a recall: each gives every candidate a share, from one kind of evidence.

Arms see rows as arrays and change nothing. What an arm has to say of a row nobody asked about is 0.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.concepts import kinship
from actormem.core.recall.cues import asked_types, named_speaker
from actormem.core.recall.day_ranges import asked_ranges, range_nearness
from actormem.core.recall.lexical import LexicalIndex, Rows, bm25, idf_of, query_weights
from actormem.core.recall.named_dates import DAY_MS, date_nearness, named_dates
from actormem.core.recall.neighbours import Neighbours
from actormem.core.recall.query import Query
from actormem.core.recall.rank import (
    HALF_LIFE_DAYS,
    KIND_SHARES,
    Shares,
    closeness,
    importance_share,
    recency_share,
    stretch,
)
from actormem.core.recall.rows import KINDS, NameNumbers, RowTable
from actormem.core.recall.vectors import VectorRows
from actormem.core.recall.windows import Windows

__all__ = [
    "Dense",
    "Terms",
    "asked_days",
    "cue_arms",
    "dense_arms",
    "lexical_arms",
    "standing_arms",
    "structured_arms",
]

QUERY_TERMS_MAX: Final = 256  # distinct terms of a query that are looked up; the most telling ones
CHARACTER_SHARE: Final = 0.7  # a single character is part of the pairs beside it, which count too
SAMPLE_ROWS: Final = 512  # rows that show what an unrelated cosine is
ID_CHARS_MIN: Final = 4
ASKING_ASSISTANT: Final = 0.25  # to an assistant people state facts inside their questions
REPLY_SHARE: Final = 2.0  # a turn that is half a question asks as one that is whole

HALF_LIVES: Final = np.array([HALF_LIFE_DAYS[kind] for kind in KINDS])
KIND_VALUES: Final = np.array([KIND_SHARES[kind] for kind in KINDS])


class Terms(NamedTuple):
    """A query's terms: in order, the distinct ones, how telling each is, and what all could tell at most."""

    ordered: Sequence[str]
    names: Sequence[str]
    telling: NDArray[np.float64]
    idf_total: float

    @classmethod
    def of(cls, ordered: Sequence[str], index: LexicalIndex) -> "Terms":
        """Look up the terms of a query; of a long one the most telling that the index knows."""
        weights: dict[str, float] = query_weights(ordered)
        names: Sequence[str] = list(weights)
        idf = index.idf(names)
        idf *= np.array([CHARACTER_SHARE if len(name) == 1 and not name.isascii() else 1.0 for name in names])
        telling = np.array([weights[name] for name in names]) * idf
        if len(names) > QUERY_TERMS_MAX:
            known = np.where(index.document_counts(names) > 0, telling, 0.0)
            kept = np.sort(np.argpartition(-known, QUERY_TERMS_MAX)[:QUERY_TERMS_MAX])
            places: list[int] = kept.tolist()
            names, telling = [names[place] for place in places], telling[kept]
        return cls(ordered, names, telling, max(float(idf.sum()), 1e-9))


class Dense(NamedTuple):
    """How close each candidate is to the query at all, and the share of its window view."""

    close: Shares
    window: Shares


def lexical_arms(
    terms: Terms, rows: Rows, table: RowTable, index: LexicalIndex, neighbours: Neighbours, partial: bool
) -> dict[str, Shares]:
    """Words, of the candidates and their neighbours; phrases; words of the same matter; replies to a question.

    Args:
        partial: Whether `rows` are few among many.
    """
    if not terms.names or not len(rows):
        return {}
    place = np.full(table.limit, -1, np.int64)
    place[rows] = np.arange(len(rows))
    wanted: NDArray[np.bool_] | None = None
    if partial:
        wanted = np.zeros(table.limit, np.bool_)
        wanted[rows] = True
        wanted[neighbours.near[rows].ravel()] = True
    postings = index.postings(terms.names, wanted)
    alone, together = neighbours.counts(postings, len(terms.names), place, len(rows))
    spread_mean = neighbours.spread_total / max(len(index), 1)
    lexical = bm25(together, neighbours.spread[rows], spread_mean, terms.telling) / terms.idf_total
    phrase = np.zeros(len(rows))
    holding = np.flatnonzero(np.count_nonzero(alone, axis=0) > 1)  # a pair needs two terms
    phrase[holding] = index.phrases(terms.ordered, rows[holding])
    arms = {"lexical": lexical, "phrase": phrase}
    concepts = table.concepts[rows]
    arms["concept"] = kinship(terms.names, terms.telling, alone > 0, concepts, concept_rarity(table, index))
    arms["concept"] /= terms.idf_total
    previous = neighbours.previous[rows]
    before = np.where(previous >= 0, place[previous], -1)
    if (before >= 0).any():
        mean = index.term_total / max(len(index), 1)
        own = bm25(alone, neighbours.terms[rows], mean, terms.telling) / terms.idf_total
        asking = np.minimum(1.0, REPLY_SHARE * table.question[rows]) * own
        replies = np.where(before >= 0, asking[before], 0.0)
        arms["reply"] = np.where(table.assistant[rows], 0.0, replies)
    return arms


def dense_arms(
    queries: NDArray[np.float32],
    rows: Rows,
    table: RowTable,
    vectors: VectorRows,
    windows: Windows,
    scanned: NDArray[np.float32] | None,
    partial: bool,
) -> tuple[dict[str, Shares], Dense]:
    """Two views: the candidate by itself, and with its neighbours, without which a short turn says little.

    Args:
        queries: (s, d), the whole query first and then its segments.
        scanned: Cosines of the whole query to all rows, where they are known.
        partial: Whether `rows` are few among many.
    """
    known = table.has_vector[rows]
    own = vectors.cosines_at(queries, rows).astype(np.float64)
    if not partial:
        sample = own[:, known]
    elif scanned is not None:
        sample = scanned[table.has_vector[: table.limit]][None].astype(np.float64)
    else:
        held = np.flatnonzero(table.has_vector[: table.limit])
        sample = vectors.cosines_at(queries[:1], held[:: stride(len(held))]).astype(np.float64)
    low = float(sample.min()) if sample.size else 0.0
    lows = sample.min(1) if not partial and sample.size else np.full(len(queries), low)
    parts = own[1:] if len(queries) > 1 else own
    part_lows = lows[1:] if len(queries) > 1 else lows
    best = stretch(parts.max(0), min(float(part_lows.max()), float(parts.max(0)[known].min(initial=1.0))))
    last = stretch(parts[-1], float(part_lows[-1]))
    around = own[0].copy()
    in_window = table.has_window[rows]
    if in_window.any():
        around[in_window] = windows.cosines_at(queries[0], rows[in_window])
    seen = known | in_window
    window_low = float(around[seen].min(initial=1.0))
    window = np.where(seen, stretch(around, min(low, window_low) if partial else window_low), 0.0)
    arms = {"vector": np.where(known, 0.5 * best + 0.5 * last, 0.0), "window": window}
    return arms, Dense(
        closeness(np.maximum(own.max(0), around), sample[0, :: stride(sample.shape[1])]), window
    )


def cue_arms(
    query: Query, rows: Rows, table: RowTable, speakers: NameNumbers, total: int
) -> dict[str, Shares]:
    """What the form of query and candidate tells: speaker, date, kind of answer, questions, assistants."""
    arms: dict[str, Shares] = {}
    named = named_speaker(query.text, speakers)
    if named:
        arms["speaker"] = (table.speaker[rows] == speakers[named]).astype(np.float64)
    near = asked_days(query, table, rows)
    if near is not None:
        arms["date"] = near
    asked = asked_types(query.text)
    if asked.any():
        share = table.types_total / max(total, 1)
        arms["type"] = ((table.types[rows] - share) * asked).sum(1)
    assistant = table.assistant[rows]
    arms["assistant"] = assistant.astype(np.float64)
    to_assistant = np.isin(table.session[rows], table.assistant_sessions())
    arms["question"] = table.question[rows].astype(np.float64) * np.where(to_assistant, ASKING_ASSISTANT, 1.0)
    return arms


def asked_days(query: Query, table: RowTable, rows: Rows) -> Shares | None:
    """How near candidates are to the days the query asks for: said then, or telling of then. None: it asks for none."""
    dates, ranges = named_dates(query.text), asked_ranges(query.text, query.today)
    if not dates and not ranges:
        return None
    near = np.zeros(len(rows))
    for days in (table.day[rows], *table.told[rows].T):
        near = np.maximum(near, date_nearness(dates, days))
        near = np.maximum(near, range_nearness(ranges, days, query.today))
    return near


def structured_arms(
    query: Query, terms: Terms, rows: Rows, index: LexicalIndex, attributes: Mapping[str, set[int]]
) -> dict[str, Shares]:
    """Candidates whose attribute the query names, and those that hold an id or number of it.

    An attribute of many says little of each: its share is squared, or forty likes stand above what is asked of them
    (R@10 of notes in two languages .938 and .950, MRR of a Chinese set .933 and .939).
    """
    arms: dict[str, Shares] = {}
    asked = np.zeros(len(rows))
    for attribute in query.attributes:
        holders = attributes.get(attribute)
        if holders:
            held = np.isin(rows, np.fromiter(holders, np.int64, len(holders)))
            asked = np.maximum(asked, held * rarity(len(holders), len(index)) ** 2)
    if asked.any():
        arms["attribute"] = asked
    ids = [name for name in terms.names if is_id(name) and name in index]
    if ids:
        held = np.stack([np.isin(rows, index.rows_of(name)) for name in ids])
        arms["id"] = held.mean(0)
    return arms


def standing_arms(query: Query, rows: Rows, table: RowTable) -> dict[str, Shares]:
    """What an item is worth whatever was asked: new, important, a fact, not out of date."""
    kinds = table.kind[rows]
    now_ms = query.now_ms if query.at_ms is None else query.at_ms
    age_days = (now_ms - table.event_ms[rows]) / DAY_MS
    arms = {
        "recency": recency_share(age_days, HALF_LIVES[kinds]),
        "importance": importance_share(table.importance[rows].astype(np.float64)),
        "kind": KIND_VALUES[kinds],
    }
    if query.at_ms is None:
        arms["stale"] = table.stale[rows].astype(np.float64)
    return arms


def rarity(count: int, total: int) -> float:
    """How telling it is to be one of `count` among `total`: 1 for the only one, 0 where all are."""
    return 1.0 if total < 2 else 1.0 - math.log(count) / math.log(total)


def concept_rarity(table: RowTable, index: LexicalIndex) -> NDArray[np.float64]:
    """How telling it is to speak of each concept: 1 for what no row speaks of."""
    total = len(index)
    return idf_of(table.concepts_total, total) / max(float(idf_of(np.zeros(1), total)[0]), 1e-9)


def stride(count: int) -> int:
    return max(1, count // SAMPLE_ROWS)


def is_id(term: str) -> bool:
    digits = sum(map(str.isdigit, term))
    if digits < 3 or len(term) < ID_CHARS_MIN:
        return False
    return not (len(term) == 4 and term.startswith(("19", "20")))
