"""One recall over one partition: candidates, arms, fusion, floor.

A small partition is scored whole. In a large one the cheap arms choose a few hundred candidates first: the
best by words, the nearest by vector, the newest, and those whose attribute or date is named.
"""

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from actormem.core.cues import asked_types, named_speaker
from actormem.core.lexical import LexicalIndex, bm25, query_weights
from actormem.core.named_dates import DAY_MS, date_nearness, named_dates
from actormem.core.neighbours import Neighbours
from actormem.core.query import Query
from actormem.core.rank import (
    HALF_LIFE_DAYS,
    KIND_SHARES,
    WEIGHTS,
    Shares,
    fuse,
    importance_share,
    recency_share,
    relevance,
    session_prior,
    stretch,
)
from actormem.core.rows import KINDS, NameNumbers, RowTable
from actormem.core.vectors import VectorRows

__all__ = ["Nearest", "Ranked", "Search"]

ALL_ROWS_MAX: Final = 4_096  # below it every row is scored in full
CANDIDATES_PER_ARM: Final = 256
QUERY_TERMS_MAX: Final = 256  # distinct terms of a query that are looked up; the most telling ones
SAMPLE_ROWS: Final = 512  # rows that show what an unrelated cosine is
ID_CHARS_MIN: Final = 4

HALF_LIVES: Final = np.array([HALF_LIFE_DAYS[kind] for kind in KINDS])
KIND_VALUES: Final = np.array([KIND_SHARES[kind] for kind in KINDS])


class Nearest(Protocol):
    """An index of vectors under row numbers, larger scores first."""

    def search(
        self, vector: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...


class Ranked:
    """Candidates in order, best first, with their arms."""

    def __init__(self, rows: NDArray[np.int64], scores: Shares, arms: dict[str, Shares]) -> None:
        self.rows = rows
        self.scores = scores
        self.arms = arms

    def why(self, place: int) -> dict[str, float]:
        """What each arm gave the candidate, as shares of what all gave it."""
        given = {name: WEIGHTS[name] * float(shares[place]) for name, shares in self.arms.items()}
        total = sum(abs(share) for share in given.values()) or 1.0
        return {name: round(share / total, 3) for name, share in given.items() if abs(share) / total >= 0.005}


class Search:
    """The parts of a partition that a search reads."""

    def __init__(
        self,
        table: RowTable,
        index: LexicalIndex,
        neighbours: Neighbours,
        vectors: VectorRows,
        windows: VectorRows,
        speakers: NameNumbers,
        attributes: dict[str, set[int]],
        recent: Callable[[], list[int]],
    ) -> None:
        self.table = table
        self.index = index
        self.neighbours = neighbours
        self.vectors = vectors
        self.windows = windows
        self.speakers = speakers
        self.attributes = attributes
        self.recent = recent

    def ranked(
        self, query: Query, terms: list[str], eligible: NDArray[np.bool_], nearest: Nearest | None
    ) -> Ranked:
        """Score what may be a hit.

        Args:
            terms: The query's terms, with repetitions.
            eligible: (limit,), which rows may be hits.
            nearest: An index over the vectors, or None: they are scanned.
        """
        weights = query_weights(terms)
        names = list(weights)
        idf = self.index.idf(names)
        telling = np.array([weights[name] for name in names]) * idf
        queries = query_vectors(query)
        cosines: NDArray[np.float32] | None = None
        if self.table.limit <= ALL_ROWS_MAX:
            rows = np.flatnonzero(eligible)
        else:
            rows, cosines = self._candidates(query, names, telling, queries, eligible, nearest)
        arms: dict[str, Shares] = {}
        lexical = self._lexical(names, telling, float(idf.sum()), rows)
        arms["lexical"] = lexical
        cosine, window = self._dense(arms, queries, rows, cosines)
        best = float(lexical.max()) if len(lexical) else 0.0
        found = lexical / best if best > 0 else lexical
        arms["session"] = session_prior(0.5 * found + 0.5 * window, self.table.session[rows])
        self._cues(arms, query, rows)
        self._structured(arms, query, names, rows)
        self._standing(arms, query, rows)
        raw = fuse(arms, len(rows))
        order = np.lexsort((self.table.sequence[rows], self.table.event_ms[rows], -raw))
        sure = relevance(lexical, cosine)
        top = float(raw[order[0]]) if len(order) else 0.0
        scores = np.clip(raw / top, 0.0, 1.0) * float(sure.max()) if top > 0 else np.zeros(len(rows))
        arms = {name: shares[order] for name, shares in arms.items() if shares.any()}
        return Ranked(rows[order], scores[order], arms)

    def _candidates(
        self,
        query: Query,
        names: list[str],
        telling: NDArray[np.float64],
        queries: NDArray[np.float32] | None,
        eligible: NDArray[np.bool_],
        nearest: Nearest | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
        limit = self.table.limit
        weights = dict(zip(names, telling.tolist(), strict=True))
        chosen = [self.index.best_rows(weights, CANDIDATES_PER_ARM, limit, eligible)]
        cosines: NDArray[np.float32] | None = None
        if queries is not None:
            if nearest is not None:
                chosen.append(nearest.search(queries[0], CANDIDATES_PER_ARM)[0])
            else:
                cosines = self.vectors.cosines(queries[:1], limit)
                places = np.where(eligible, cosines[0], -2.0)
                chosen.append(np.argpartition(-places, CANDIDATES_PER_ARM)[:CANDIDATES_PER_ARM])
        chosen.append(np.array(self.recent(), np.int64))
        for attribute in query.attributes:
            holders = sorted(self.attributes.get(attribute, ()))
            chosen.append(np.array(holders[-CANDIDATES_PER_ARM:], np.int64))
        dates = named_dates(query.text)
        if dates:
            near = date_nearness(dates, self.table.day[:limit])
            chosen.append(np.flatnonzero((near >= 1.0) & eligible)[-CANDIDATES_PER_ARM:])
        rows = np.unique(np.concatenate(chosen))
        return rows[eligible[rows]], cosines

    def _lexical(
        self, names: list[str], telling: NDArray[np.float64], idf_total: float, rows: NDArray[np.int64]
    ) -> Shares:
        if not names or not len(rows):
            return np.zeros(len(rows))
        if len(names) > QUERY_TERMS_MAX:
            known = np.where(self.index.document_counts(names) > 0, telling, 0.0)
            kept = np.sort(np.argpartition(-known, QUERY_TERMS_MAX)[:QUERY_TERMS_MAX])
            names, telling = [names[place] for place in kept.tolist()], telling[kept]
        limit = self.table.limit
        place = np.full(limit, -1, np.int64)
        place[rows] = np.arange(len(rows))
        wanted: NDArray[np.bool_] | None = None
        if limit > ALL_ROWS_MAX:
            wanted = np.zeros(limit, np.bool_)
            wanted[rows] = True
            wanted[self.neighbours.near[rows].ravel()] = True
        postings = self.index.postings(names, wanted)
        counts = self.neighbours.spread_counts(postings, len(names), place, len(rows))
        mean = self.neighbours.spread_total / max(len(self.index), 1)
        return bm25(counts, self.neighbours.spread[rows], mean, telling) / max(idf_total, 1e-9)

    def _dense(
        self,
        arms: dict[str, Shares],
        queries: NDArray[np.float32] | None,
        rows: NDArray[np.int64],
        scanned: NDArray[np.float32] | None,
    ) -> tuple[Shares, Shares]:
        nothing = np.zeros(len(rows))
        if queries is None or not len(rows):
            return nothing, nothing
        limit = self.table.limit
        if limit <= ALL_ROWS_MAX:
            own = self.vectors.cosines(queries, limit)[:, rows].astype(np.float64)
            sample = own
        else:
            own = self.vectors.cosines_at(queries, rows).astype(np.float64)
            if scanned is not None:
                sample = np.repeat(scanned[:, self.table.has_vector[:limit]], len(queries), 0).astype(
                    np.float64
                )
            else:
                some = np.flatnonzero(self.table.has_vector[:limit])[:: max(1, limit // SAMPLE_ROWS)]
                sample = self.vectors.cosines_at(queries, some).astype(np.float64)
        known = self.table.has_vector[rows]
        low = sample.min(1) if sample.shape[1] else np.zeros(len(queries))
        views = np.stack([stretch(own[k], float(low[k])) for k in range(len(queries))])
        parts = own[1:] if len(queries) > 1 else own
        last = views[-1]
        arms["vector"] = np.where(known, 0.5 * stretch(parts.max(0), float(low.min())) + 0.5 * last, 0.0)
        in_window = self.table.has_window[rows]
        if in_window.any():
            around = own[0].copy()
            around[in_window] = self.windows.cosines_at(queries[:1], rows[in_window])[0]
        else:
            around = own[0]
        window = np.where(known | in_window, stretch(around, min(float(low[0]), float(around.min()))), 0.0)
        arms["window"] = window
        return np.maximum(own.max(0), around), window

    def _cues(self, arms: dict[str, Shares], query: Query, rows: NDArray[np.int64]) -> None:
        table = self.table
        named = named_speaker(query.text, self.speakers)
        if named:
            arms["speaker"] = (table.speaker[rows] == self.speakers[named]).astype(np.float64)
        dates = named_dates(query.text)
        if dates:
            arms["date"] = date_nearness(dates, table.day[rows])
        asked = asked_types(query.text)
        if asked.any():
            share = table.types_total / max(len(self.index), 1)
            arms["type"] = ((table.types[rows] - share) * asked).sum(1)
        arms["question"] = table.question[rows].astype(np.float64)
        arms["assistant"] = table.assistant[rows].astype(np.float64)

    def _structured(
        self, arms: dict[str, Shares], query: Query, names: list[str], rows: NDArray[np.int64]
    ) -> None:
        holders: set[int] = set()
        for attribute in query.attributes:
            holders |= self.attributes.get(attribute, set())
        if holders:
            arms["attribute"] = np.isin(rows, np.array(sorted(holders))).astype(np.float64)
        ids = [name for name in names if len(name) >= ID_CHARS_MIN and is_id(name) and name in self.index]
        if ids:
            held = sum(np.isin(rows, self.index.rows_of(name)).astype(np.float64) for name in ids)
            arms["id"] = np.asarray(held) / len(ids)

    def _standing(self, arms: dict[str, Shares], query: Query, rows: NDArray[np.int64]) -> None:
        table = self.table
        kinds = table.kind[rows]
        now_ms = query.now_ms if query.at_ms is None else query.at_ms
        age_days = (now_ms - table.event_ms[rows]) / DAY_MS
        arms["recency"] = recency_share(age_days, HALF_LIVES[kinds])
        arms["importance"] = importance_share(table.importance[rows].astype(np.float64))
        arms["kind"] = KIND_VALUES[kinds]


def query_vectors(query: Query) -> NDArray[np.float32] | None:
    if query.vector is None:
        return None
    vectors = np.atleast_2d(np.asarray(query.vector, np.float32))
    return vectors if vectors[0].any() else None


def is_id(term: str) -> bool:
    digits = sum(map(str.isdigit, term))
    return digits >= 3 and (len(term) > ID_CHARS_MIN or digits == len(term)) and not is_year(term)


def is_year(term: str) -> bool:
    return len(term) == 4 and term.startswith(("19", "20"))
