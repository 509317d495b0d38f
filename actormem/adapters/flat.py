"""Nearest neighbours by looking at every row: exact, and faster than a graph below a few thousand rows.

Law: the answer is the true one. Rows stand without gaps; the last one moves into the place of one removed.
"""

import threading
from typing import cast

import numpy as np

from actormem.adapters.rows import best, checked_query, checked_rows
from actormem.core.recall.vectors import VectorRows
from actormem.errors import UsageError
from actormem.ports import Labels, Vectors

__all__ = ["FlatIndex"]


class FlatIndex:
    """An exact index. Every method may be called from any thread.

    Args:
        dimensions: Numbers in a vector; at least 1.

    Raises:
        UsageError: `dimensions` is below 1.

    Cost:
        A search of 4,000 rows of 512 numbers takes about 0.4 ms; memory is 4 bytes a number.
    """

    def __init__(self, dimensions: int) -> None:
        if dimensions < 1:
            raise UsageError(f"an index needs at least 1 dimension, not {dimensions}")
        self._dimensions = dimensions
        self._rows = VectorRows(dimensions)
        self._places: dict[int, int] = {}
        self._labels = np.empty(0, np.int64)
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"<FlatIndex {len(self)} rows of {self._dimensions}>"

    def add(self, labels: Labels, vectors: Vectors) -> None:
        labels, vectors = checked_rows(labels, vectors, self._dimensions)
        with self._lock:
            self._reserve(len(self._places) + len(labels))
            for label, vector in zip(cast("list[int]", labels.tolist()), vectors, strict=True):
                place = self._places.setdefault(label, len(self._places))
                self._labels[place] = label
                self._rows.set(place, vector)

    def remove(self, labels: Labels) -> None:
        with self._lock:
            for label in cast("list[int]", labels.tolist()):
                place = self._places.pop(label, None)
                if place is None:
                    continue
                last = len(self._places)
                if place != last:
                    moved = int(self._labels[last])
                    self._labels[place] = moved
                    self._places[moved] = place
                    self._rows.set(place, self._rows.take([last])[0])
                self._rows.clear(last)

    def search(self, vector: Vectors, k: int) -> tuple[Labels, Vectors]:
        query = checked_query(vector, self._dimensions)
        with self._lock:
            count = len(self._places)
            if query is None or count == 0 or k <= 0:
                return np.empty(0, np.int64), np.empty(0, np.float32)
            scores = self._rows.cosines(query, count)
            return best(self._labels[:count], scores, k)

    def _reserve(self, count: int) -> None:
        self._rows.reserve(count)
        if count > len(self._labels):
            self._labels = np.resize(self._labels, max(count, 2 * len(self._labels), 64))
