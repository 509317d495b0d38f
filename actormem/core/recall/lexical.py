"""An inverted index over rows, and BM25 scores from it.

Rows are small numbers that a partition gives its items. A posting list is packed integers, row and count
together, in row order, which a search reads as a numpy array without a copy: bytes while it is short, for there
are hundreds in the smallest memory, and bytes are small and no work for the garbage collector; later an array,
to which adding is one append. Each row keeps its terms in order, as numbers, for phrases. The law of this file:
what is removed leaves no term behind.
"""

import struct
import sys
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "LexicalIndex", "Postings", "Rows", "bm25", "idf_of", "query_weights"]

Rows = NDArray[np.int64]
Counts = NDArray[np.float32]

COUNT_BITS: Final = 6  # a term stands at most 63 times in a document; BM25 is flat long before
COUNT_MAX: Final = (1 << COUNT_BITS) - 1
EMPTY: Final = np.empty(0, np.int64)
ENTRY: Final = struct.Struct("q")
SHORT_BYTES: Final = 32 * ENTRY.size  # copying so much costs less than the call
K1: Final = 1.2
B: Final = 0.75
PHRASE_B: Final = 0.5

Term = TypeVar("Term", bound=Hashable)


class Postings(NamedTuple):
    """Places of terms: the term's number in the query, the row, and how often it stands there."""

    terms: NDArray[np.int64]
    rows: Rows
    counts: Counts


class LexicalIndex:
    """Which rows hold which terms, how often, and in what order."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._postings: list[bytes | array[int]] = []
        self._free: list[int] = []
        self._orders: dict[int, bytes] = {}
        self.term_total = 0

    def __len__(self) -> int:
        return len(self._orders)

    def __contains__(self, term: str) -> bool:
        return term in self._numbers

    def add(self, row: int, terms: Sequence[str]) -> int:
        """Index a row which is not in the index; gives its length in terms."""
        numbers = self._numbers
        order = [
            number if (number := numbers.get(term)) is not None else self._number(term) for term in terms
        ]
        for number, count in Counter(order).items():
            packed = row << COUNT_BITS | min(count, COUNT_MAX)
            posting = self._postings[number]
            if isinstance(posting, bytes):
                self._postings[number] = longer(posting, packed)
            elif packed > posting[-1]:
                posting.append(packed)
            else:
                insort(posting, packed)
        self._orders[row] = array("i", order).tobytes()
        self.term_total += len(order)
        return len(order)

    def remove(self, row: int) -> None:
        """Take out a row that is in the index, and the terms that stood nowhere else."""
        order: list[int] = np.frombuffer(self._orders.pop(row), np.int32).tolist()
        self.term_total -= len(order)
        for number in set(order):
            posting = self._postings[number]
            entries = array("q", posting) if isinstance(posting, bytes) else posting
            place = bisect_left(entries, row << COUNT_BITS)
            assert entries[place] >> COUNT_BITS == row, "every term of a row has a posting for it"
            del entries[place]
            if len(entries) * ENTRY.size < SHORT_BYTES:
                self._postings[number] = entries.tobytes()
            if not entries:
                del self._numbers[self._names[number]]
                self._names[number] = ""
                self._free.append(number)

    def document_counts(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """In how many rows each term stands."""
        return np.array([len(self._entries(term)) for term in terms], np.float64)

    def idf(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """How telling each term is; one that stands nowhere counts full."""
        return idf_of(self.document_counts(terms), len(self))

    def rows_of(self, term: str) -> Rows:
        """Rows that hold the term, ascending."""
        return self._entries(term) >> COUNT_BITS

    def postings(self, terms: Sequence[str], wanted: NDArray[np.bool_] | None) -> Postings:
        """All places where the terms stand.

        Args:
            terms: Distinct terms.
            wanted: (rows,), which rows matter; None for all.
        """
        places: list[NDArray[np.int64]] = []
        packed: list[NDArray[np.int64]] = []
        for place, term in enumerate(terms):
            entries = self._entries(term)
            if not len(entries):
                continue
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

    def phrases(self, terms: Sequence[str], rows: Rows) -> NDArray[np.float64]:
        """How well rows hold pairs of terms that stand side by side in the query: 0 to 1, the best row 1.

        Args:
            terms: The query's terms in order, with repetitions.
            rows: Rows in the index.

        Cost:
            O(terms of the query and of the rows).
        """
        nothing = np.zeros(len(rows))
        numbers = [self._numbers.get(term, -1) for term in terms]
        pairs = [pair for pair in pairwise(numbers) if min(pair) >= 0]
        if not pairs or not len(rows):
            return nothing
        weights = query_weights(pairs)
        known = sorted({number for pair in weights for number in pair})
        look_up = np.full(len(self._names), -1, np.int64)
        look_up[known] = np.arange(len(known))
        ones, twos = np.array(list(weights)).T
        keys = look_up[ones] * len(known) + look_up[twos]
        by_key = np.argsort(keys)
        orders = [np.frombuffer(self._orders[row], np.int32) for row in rows.tolist()]
        lengths = np.array([len(order) for order in orders])
        counts = pair_counts(look_up[np.concatenate(orders)], lengths, keys[by_key], len(known))
        telling = (
            idf_of(np.count_nonzero(counts, axis=1), len(self)) * np.array(list(weights.values()))[by_key]
        )
        scores = bm25(counts, lengths.astype(np.float32), self.term_total / len(self), telling, b=PHRASE_B)
        best = float(scores.max())
        return scores / best if best > 0 else nothing

    def _number(self, term: str) -> int:
        """A number for a term that has none; its characters are shared with other memories that know it."""
        term = sys.intern(term)
        if self._free:
            number = self._free.pop()
            self._names[number] = term
        else:
            number = len(self._names)
            self._names.append(term)
            self._postings.append(b"")
        self._numbers[term] = number
        return number

    def _entries(self, term: str) -> Rows:
        """Packed integers of the rows that hold the term, ascending: a view, good until the next change."""
        number = self._numbers.get(term)
        return EMPTY if number is None else np.frombuffer(self._postings[number], np.int64)


def longer(posting: bytes, packed: int) -> "bytes | array[int]":
    """A short posting list with one more entry, in order."""
    if posting and packed < ENTRY.unpack_from(posting, len(posting) - ENTRY.size)[0]:
        entries = array("q", posting)
        insort(entries, packed)
        posting = entries.tobytes()
    else:
        posting += ENTRY.pack(packed)
    return posting if len(posting) < SHORT_BYTES else array("q", posting)


def pair_counts(
    flat: NDArray[np.int64], lengths: NDArray[np.int64], keys: NDArray[np.int64], base: int
) -> Counts:
    """How often each pair stands in each row.

    Args:
        flat: Terms of all rows, one after the other, as numbers below `base`; -1 for terms of no pair.
        lengths: (rows,), terms of each row.
        keys: (pairs,) ascending, first number times `base` plus second.
    """
    owner = np.repeat(np.arange(len(lengths)), lengths)
    places = np.flatnonzero((flat[:-1] >= 0) & (flat[1:] >= 0) & (owner[:-1] == owner[1:]))
    found = flat[places] * base + flat[places + 1]
    at = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
    real = keys[at] == found
    slots = at[real] * len(lengths) + owner[places[real]]
    counts = np.bincount(slots, minlength=len(keys) * len(lengths))
    return counts.reshape(len(keys), len(lengths)).astype(np.float32)


def idf_of(document_counts: NDArray[np.float64] | NDArray[np.int64], total: int) -> NDArray[np.float64]:
    """How telling it is to stand in so many of `total` rows, 0 up; what stands in none counts full."""
    return np.log1p((total - document_counts + 0.5) / (document_counts + 0.5))


def query_weights(terms: Iterable[Term]) -> dict[Term, float]:
    """Weight of each distinct term of a query: a repeated one counts a little more."""
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
        mean_length: Mean of `lengths` over the whole index.
        weights: (terms,), idf times query weight.

    Returns:
        (rows,) scores from 0 up.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
    """
    saturation = k1 * (1 - b + b * lengths / max(mean_length, 1e-9))
    return weights @ (counts * (k1 + 1) / (counts + np.maximum(saturation, 1e-9)))
