"""Vectors of one owner as the record has them, searchable before their items are anywhere.

The law of the file: pages come newest first and stay as they came; nothing is copied but what is asked for.
Scans use `einsum`, as in `vectors`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoredVectors", "vector_rows"]


class StoredVectors:
    """Vectors by item number, in pages; mutable, for one thread at a time, but a scan may run beside `add`."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._pages: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []

    def __len__(self) -> int:
        return sum(len(numbers) for numbers, _ in self._pages)

    def add(self, numbers: Sequence[int], vectors: bytes) -> None:
        """Take in a page.

        Args:
            numbers: Of items, ascending, all below those of the pages before.
            vectors: Theirs, one after the other, as float32 bytes.
        """
        if not numbers:
            return
        rows = np.frombuffer(vectors, np.float32).reshape(len(numbers), self._dimensions)
        self._pages.append((np.array(numbers, np.int64), rows))

    def nearest(self, query: NDArray[np.float32], count: int) -> list[int]:
        """Numbers of the items nearest to a unit query, best first, at most `count`.

        Cost:
            0.2 ms a thousand rows.
        """
        pages = tuple(self._pages)
        if not pages or count < 1:
            return []
        scores = np.concatenate([np.einsum("ij,j->i", rows, query) for _, rows in pages])
        numbers = np.concatenate([numbers for numbers, _ in pages])
        if count < len(scores):
            kept = np.argpartition(-scores, count)[:count]
            scores, numbers = scores[kept], numbers[kept]
        found: list[int] = numbers[np.lexsort((numbers, -scores))].tolist()
        return found

    def of(self, numbers: Sequence[int]) -> tuple[list[int], NDArray[np.float32]]:
        """Places in `numbers` of the items that have a vector, and their vectors: (n,), (n, dimensions)."""
        asked = np.array(numbers, np.int64)
        places: list[NDArray[np.intp]] = [np.zeros(0, np.intp)]
        taken: list[NDArray[np.float32]] = [np.zeros((0, self._dimensions), np.float32)]
        for held, rows in self._pages:
            at = np.minimum(np.searchsorted(held, asked), len(held) - 1)
            here = np.flatnonzero(held[at] == asked)
            if len(here):
                places.append(here)
                taken.append(rows[at[here]])
        found: list[int] = np.concatenate(places).tolist()
        return found, np.concatenate(taken)


def vector_rows(vectors: Mapping[str, bytes], dimensions: int) -> tuple[list[str], NDArray[np.float32]]:
    """Ids and vectors, (n, dimensions), of those that have so many dimensions: the others are made anew."""
    size_bytes = dimensions * np.dtype(np.float32).itemsize
    sized = {id: vector for id, vector in vectors.items() if len(vector) == size_bytes}
    rows = np.frombuffer(b"".join(sized.values()), np.float32)
    return list(sized), rows.reshape(len(sized), dimensions)
