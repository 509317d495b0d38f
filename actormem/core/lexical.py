"""An inverted index over rows, and BM25 scores from it.

Rows are small numbers that a partition gives its items. A posting list is one array of packed integers, row
and count together, in row order: adding at the end is one append, and a search reads it as a numpy array
without a copy. The law of this file: what is removed leaves no term behind.
"""

from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "LexicalIndex", "Postings", "Rows", "bm25", "query_weights"]

Rows = NDArray[np.int64]
Counts = NDArray[np.float32]

COUNT_BITS: Final = 6  # a term stands at most 63 times in a document; BM25 is flat long before
COUNT_MAX: Final = (1 << COUNT_BITS) - 1
EMPTY: Final = np.empty(0, np.int64)
K1: Final = 1.2
B: Final = 0.75


class Postings(NamedTuple):
    """Places of terms: the term's number in the query, the row, and how often it stands there."""

    terms: NDArray[np.int64]
    rows: Rows
    counts: Counts


class LexicalIndex:
    """Which rows hold which terms, and how often."""

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}
        self._row_count = 0

    def __len__(self) -> int:
        return self._row_count

    def __contains__(self, term: str) -> bool:
        return term in self._postings

    def add(self, row: int, terms: Iterable[str]) -> int:
        """Index a row which is not in the index; gives its length in terms."""
        counts = Counter(terms)
        for term, count in counts.items():
            packed = row << COUNT_BITS | min(count, COUNT_MAX)
            posting = self._postings.get(term)
            if posting is None:
                self._postings[term] = array("q", (packed,))
            elif packed > posting[-1]:
                posting.append(packed)
            else:
                insort(posting, packed)
        self._row_count += 1
        return counts.total()

    def remove(self, row: int, terms: Iterable[str]) -> None:
        """Take out a row; `terms` are those it was added with."""
        for term in set(terms):
            posting = self._postings[term]
            place = bisect_left(posting, row << COUNT_BITS)
            assert posting[place] >> COUNT_BITS == row, "a row is removed with the terms it was added with"
            del posting[place]
            if not posting:
                del self._postings[term]
        self._row_count -= 1

    def document_counts(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """In how many rows each term stands."""
        return np.array([len(self._postings.get(term, ())) for term in terms], np.float64)

    def idf(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """How telling each term is; one that stands nowhere counts full."""
        found = self.document_counts(terms)
        return np.log1p((self._row_count - found + 0.5) / (found + 0.5))

    def rows_of(self, term: str) -> Rows:
        """Rows that hold the term, ascending."""
        posting = self._postings.get(term)
        if posting is None:
            return np.empty(0, np.int64)
        return np.frombuffer(posting, np.int64) >> COUNT_BITS

    def postings(self, terms: Sequence[str], wanted: NDArray[np.bool_] | None) -> Postings:
        """All places where the terms stand.

        Args:
            terms: Distinct terms.
            wanted: (rows,), which rows matter; None for all.
        """
        places: list[NDArray[np.int64]] = []
        packed: list[NDArray[np.int64]] = []
        for place, term in enumerate(terms):
            posting = self._postings.get(term)
            if posting is None:
                continue
            entries = np.frombuffer(posting, np.int64)
            if wanted is not None:
                entries = entries[wanted[entries >> COUNT_BITS]]
            packed.append(entries)
            places.append(np.full(len(entries), place, np.int64))
        if not packed:
            return Postings(EMPTY, EMPTY, EMPTY.astype(np.float32))
        entries = np.concatenate(packed)
        counts = (entries & COUNT_MAX).astype(np.float32)
        return Postings(np.concatenate(places), entries >> COUNT_BITS, counts)

    def best_rows(
        self, weights: Mapping[str, float], limit: int, row_limit: int, eligible: NDArray[np.bool_]
    ) -> Rows:
        """The eligible rows with the largest sum of weights of the terms they hold: a cheap first choice."""
        scores = np.zeros(row_limit, np.float32)
        for term, weight in weights.items():
            scores[self.rows_of(term)] += weight
        found = np.flatnonzero((scores > 0) & eligible)
        if len(found) > limit:
            found = found[np.argpartition(-scores[found], limit)[:limit]]
        return found


def query_weights(terms: Iterable[str]) -> dict[str, float]:
    """Weight of each distinct query term: a repeated one counts a little more."""
    return {term: 1.0 + float(np.log(count)) for term, count in Counter(terms).items()}


def bm25(
    counts: Counts,
    lengths: Counts,
    mean_length: float,
    weights: NDArray[np.float64],
    *,
    k1: float = K1,
    b: float = B,
) -> NDArray[np.float64]:
    """BM25 of every column.

    Args:
        counts: (terms, rows), how often each term stands in each row.
        lengths: (rows,), terms in each row.
        mean_length: Mean of `lengths` over the whole index, at least a little over 0.
        weights: (terms,), idf times query weight.

    Returns:
        (rows,) scores from 0 up.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
    """
    saturation = k1 * (1 - b + b * lengths / max(mean_length, 1e-9))
    return weights @ (counts * (k1 + 1) / (counts + saturation))
