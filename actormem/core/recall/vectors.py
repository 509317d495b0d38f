"""Vectors of rows, kept in blocks: growing copies at most the first, which begins small, so no put is slow.

A row without a vector is all zeros, and its cosine to anything is 0. Scans use `einsum`, not BLAS: a BLAS
with threads of its own stalls for tens of milliseconds in a container with few cores.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCAN_BELOW", "VectorRows"]

BLOCK_ROWS: Final = 1_024
FIRST_ROWS: Final = 16  # most owners have few memories, and there are thousands of owners
SCAN_BELOW: Final = 4  # a scan of four rows costs about as much as gathering one


class VectorRows:
    """One unit vector, or none, for each row."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._blocks: list[NDArray[np.float32]] = []

    def reserve(self, capacity: int) -> None:
        """Make room for rows below `capacity`."""
        rows = min(BLOCK_ROWS, max(FIRST_ROWS, 1 << (capacity - 1).bit_length()))
        if not self._blocks:
            self._blocks.append(np.zeros((rows, self.dimensions), np.float32))
        elif len(self._blocks[0]) < rows:
            grown = np.zeros((rows, self.dimensions), np.float32)
            grown[: len(self._blocks[0])] = self._blocks[0]
            self._blocks[0] = grown
        while len(self._blocks) * BLOCK_ROWS < capacity:
            self._blocks.append(np.zeros((BLOCK_ROWS, self.dimensions), np.float32))

    def set(self, row: int, vector: NDArray[np.float32]) -> None:
        """Give a row its vector; all zeros take it away."""
        self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS] = vector

    def clear(self, row: int) -> None:
        """Take a row's vector away."""
        self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS] = 0

    def take(self, rows: NDArray[np.int64] | Sequence[int]) -> NDArray[np.float32]:
        """The vectors of some rows: (len(rows), dimensions)."""
        places = np.asarray(rows, np.int64)
        ascending = bool((places[1:] >= places[:-1]).all())
        order = None if ascending else np.argsort(places, kind="stable")
        ordered = places if order is None else places[order]
        taken = np.empty((len(places), self.dimensions), np.float32)
        blocks, offsets = np.divmod(ordered, BLOCK_ROWS)
        starts: list[int] = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for first, last in pairwise([*starts, len(places)]):
            taken[first:last] = self._blocks[blocks[first]][offsets[first:last]]
        if order is None:
            return taken
        given = np.empty_like(taken)
        given[order] = taken
        return given

    def cosines(self, query: NDArray[np.float32], row_limit: int) -> NDArray[np.float32]:
        """Cosines of every row below `row_limit` to a query: (row_limit,)."""
        found = np.empty(row_limit, np.float32)
        for block, vectors in enumerate(self._blocks):
            first = block * BLOCK_ROWS
            last = min(first + BLOCK_ROWS, row_limit)
            if first >= last:
                break
            np.einsum("ij,j->i", vectors[: last - first], query, out=found[first:last])
        return found

    def cosines_at(self, queries: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Cosines of some rows to each query: (queries, len(rows))."""
        if not len(rows):
            return np.empty((len(queries), 0), np.float32)
        limit = int(rows.max()) + 1
        if SCAN_BELOW * len(rows) > limit:
            return np.stack([self.cosines(query, limit)[rows] for query in queries])
        vectors = self.take(rows)
        return np.stack([np.einsum("ij,j->i", vectors, query) for query in queries])
