"""One recall over one partition: candidates, arms, one score.

A small partition is scored whole. In a large one the cheap arms choose a few hundred candidates first: the
best by words and the turns beside them, the nearest by vector, the newest, and those whose attribute or date
is named.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.anchors import anchor_of, side_shares
from actormem.core.recall.arms import (
    Terms,
    asked_days,
    cue_arms,
    dense_arms,
    lexical_arms,
    standing_arms,
    structured_arms,
)
from actormem.core.recall.lexical import LexicalIndex, Rows
from actormem.core.recall.lists import asks_for_list, spread_apart
from actormem.core.recall.neighbours import SIDE, Neighbours
from actormem.core.recall.query import Query
from actormem.core.recall.rank import WEIGHTS, Shares, fuse, relevance, session_prior
from actormem.core.recall.rows import NameNumbers, RowTable
from actormem.core.recall.vectors import VectorRows
from actormem.core.recall.windows import Windows
from actormem.core.recall.words import Words

__all__ = ["Nearest", "Prepared", "Ranked", "Search"]

ALL_ROWS_MAX: Final = 2_048  # below it every row is scored in full
CANDIDATES_PER_ARM: Final = 128
ANCHOR_SHARE_MIN: Final = 0.5  # of what the anchor's words tell: less speaks of something else
WHY_SHARE_MIN: Final = 0.005


class Nearest(Protocol):
    """An index of vectors under row numbers, larger scores first."""

    def search(
        self, vector: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...


class Ranked:
    """Candidates in order, best first, with their arms."""

    def __init__(self, rows: Rows, scores: Shares, arms: dict[str, Shares], terms: Terms) -> None:
        self.rows = rows
        self.scores = scores
        self.arms = arms
        self.telling = dict(zip(terms.names, terms.telling.tolist(), strict=True))

    def why(self, place: int) -> dict[str, float]:
        """What each arm gave the candidate, as a share of what all gave it; penalties are negative."""
        given = {name: WEIGHTS[name] * float(shares[place]) for name, shares in self.arms.items()}
        total = sum(abs(share) for share in given.values()) or 1.0
        shares = {name: round(share / total, 3) for name, share in given.items()}
        return {name: share for name, share in shares.items() if abs(share) >= WHY_SHARE_MIN}


class Prepared(NamedTuple):
    """What a search of a small partition knows before the query has vectors: its candidates and all other arms.

    It holds while nothing in the partition changes.
    """

    terms: Terms
    rows: Rows
    lexical: dict[str, Shares]
    others: dict[str, Shares]


class Search:
    """The parts of a partition that a search reads."""

    def __init__(
        self,
        table: RowTable,
        index: LexicalIndex,
        neighbours: Neighbours,
        vectors: VectorRows,
        windows: Windows,
        speakers: NameNumbers,
        attributes: dict[str, set[int]],
        recent: Callable[[], list[int]],
        words: Words,
    ) -> None:
        self.table = table
        self.index = index
        self.neighbours = neighbours
        self.vectors = vectors
        self.windows = windows
        self.speakers = speakers
        self.attributes = attributes
        self.recent = recent
        self.words = words

    def prepared(self, query: Query, ordered: list[str], eligible: NDArray[np.bool_]) -> Prepared | None:
        """The part of `ranked` that needs no vectors; None for a large partition, whose candidates they choose."""
        if self.table.limit > ALL_ROWS_MAX:
            return None
        return self._prepared(query, Terms.of(ordered, self.index), np.flatnonzero(eligible), partial=False)

    def ranked(
        self,
        query: Query,
        ordered: list[str],
        eligible: NDArray[np.bool_],
        nearest: Nearest | None,
        prepared: Prepared | None = None,
    ) -> Ranked:
        """Score what may be a hit.

        Args:
            ordered: The query's terms in order, with repetitions.
            eligible: (limit,), which rows may be hits.
            nearest: An index over the vectors, or None: they are scanned.
            prepared: What `prepared` gave for the same query, if nothing has changed since.
        """
        queries = query_vectors(query)
        cosines: NDArray[np.float32] | None = None
        partial = self.table.limit > ALL_ROWS_MAX
        if prepared is None:
            terms = Terms.of(ordered, self.index)
            if partial:
                rows, cosines = self._candidates(query, terms, queries, eligible, nearest)
            else:
                rows = np.flatnonzero(eligible)
            prepared = self._prepared(query, terms, rows, partial)
        rows = prepared.rows
        if not len(rows):
            return Ranked(rows, np.zeros(0), {}, prepared.terms)
        arms = dict(prepared.lexical)
        lexical = arms.get("lexical", np.zeros(len(rows)))
        close = window = np.zeros(len(rows))
        if queries is not None:
            dense, (close, window) = dense_arms(
                queries, rows, self.table, self.vectors, self.windows, cosines, partial
            )
            arms |= dense
        best = float(lexical.max())
        found = lexical / best if best > 0 else lexical
        arms["session"] = session_prior(0.5 * found + 0.5 * window, self.table.session[rows])
        arms |= prepared.others
        scores = fuse(arms, len(rows))
        if asks_for_list(query.text):
            scores = spread_apart(scores, rows, self.neighbours.near)
        return self._order(rows, scores, arms, relevance(arms, close), prepared.terms)

    def _prepared(self, query: Query, terms: Terms, rows: Rows, partial: bool) -> Prepared:
        if not len(rows):
            return Prepared(terms, rows, {}, {})
        arms = lexical_arms(terms, rows, self.table, self.index, self.neighbours, partial)
        others = cue_arms(query, rows, self.table, self.speakers, len(self.index))
        others |= self._anchored(query, rows)
        others |= structured_arms(query, terms, rows, self.index, self.attributes)
        others |= standing_arms(query, rows, self.table)
        return Prepared(terms, rows, arms, others)

    def _anchored(self, query: Query, rows: Rows) -> dict[str, Shares]:
        """Candidates on the asked side of what the query is before or after of; nothing where no memory tells when."""
        anchor = anchor_of(query.text)
        if anchor is None:
            return {}
        terms = Terms.of(self.words.terms(anchor.what), self.index)
        weights = dict(zip(terms.names, terms.telling.tolist(), strict=True))
        best = self.index.best_rows(weights, 1, self.table.limit, self.table.live[: self.table.limit])
        held = sum(
            weight for name, weight in weights.items() if len(best) and best[0] in self.index.rows_of(name)
        )
        if not held or held < ANCHOR_SHARE_MIN * sum(weights.values()):
            return {}
        return {"side": side_shares(self.table.day[rows], int(self.table.day[best[0]]), before=anchor.before)}

    def _order(self, rows: Rows, raw: Shares, arms: dict[str, Shares], sure: Shares, terms: Terms) -> Ranked:
        order = np.lexsort((self.table.sequence[rows], self.table.event_ms[rows], -raw))
        top = float(raw[order[0]])
        scores = np.clip(raw / top, 0.0, 1.0) * float(sure.max()) if top > 0 else np.zeros(len(rows))
        told = {name: shares[order] for name, shares in arms.items() if shares.any()}
        return Ranked(rows[order], scores[order], told, terms)

    def _candidates(
        self,
        query: Query,
        terms: Terms,
        queries: NDArray[np.float32] | None,
        eligible: NDArray[np.bool_],
        nearest: Nearest | None,
    ) -> tuple[Rows, NDArray[np.float32] | None]:
        limit = self.table.limit
        weights = dict(zip(terms.names, terms.telling.tolist(), strict=True))
        worded = self.index.best_rows(weights, CANDIDATES_PER_ARM, limit, eligible)
        beside = self.neighbours.near[worded][:, SIDE - 1 : SIDE + 1].ravel().astype(np.int64)
        chosen = [worded, beside, np.array(self.recent(), np.int64)]
        cosines: NDArray[np.float32] | None = None
        if queries is not None and nearest is not None:
            chosen.append(nearest.search(queries[0], CANDIDATES_PER_ARM)[0])
        elif queries is not None:
            cosines = self.vectors.cosines(queries[0], limit)
            places = np.where(eligible, -cosines, 2.0)
            chosen.append(np.argpartition(places, min(CANDIDATES_PER_ARM, limit - 1))[:CANDIDATES_PER_ARM])
        for attribute in query.attributes:
            holders = sorted(self.attributes.get(attribute, ()))
            chosen.append(np.array(holders[-CANDIDATES_PER_ARM:], np.int64))
        near = asked_days(query, self.table, np.arange(limit))
        if near is not None:
            chosen.append(np.flatnonzero((near >= 1.0) & eligible)[-CANDIDATES_PER_ARM:])
        rows = np.unique(np.concatenate(chosen))
        return rows[eligible[rows]], cosines


def query_vectors(query: Query) -> NDArray[np.float32] | None:
    if query.vector is None:
        return None
    vectors = np.atleast_2d(np.asarray(query.vector, np.float32))
    return vectors if vectors[0].any() else None
