"""Nearest neighbours through hnswlib's graph, for owners with many rows.

Law: the graph only proposes. It holds one point for each distinct vector, which is never changed, moved or
resized; rows of our own, or of whoever has them anyway, give the scores, and answer alone wherever the graph cannot.
"""

import bisect
import hashlib
import threading
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import hnswlib
import numpy as np

from actormem.adapters.rows import best, checked_query, checked_rows
from actormem.core.recall.vectors import VectorRows
from actormem.errors import UsageError
from actormem.ports import Labels, Vectors

__all__ = ["HnswIndex", "VectorsOf", "build_hnsw"]

VectorsOf: TypeAlias = Callable[[Labels], Vectors]
STEP_ROWS = 16  # added under one hold of the lock: about 10 ms, so that a search never waits longer
SEGMENT_POINTS_MIN = 4_096  # a graph costs 2.6 MB of locks whatever it holds
# Recall at 10 of jittered embeddings of talk, 512 numbers each: among 20,000 rows .996 at 128 and 1.00 at 256,
# among 100,000 rows .960 at 128, .987 at 256 and .998 at 384 (`benchmarks.scale`); in pure noise far less.
EF_MIN = 320
SCAN_SHARE = 0.5  # asked for more than this share of the rows, a scan is the quicker answer
SEED = 100


class HnswIndex:
    """An approximate index with exact scores. Every method may be called from any thread.

    It grows by further graphs, each as large as all before it, because hnswlib's own resizing moves memory
    that a search may be reading. Equal vectors share a point: many equal ones would cut the graph apart.

    Args:
        dimensions: Numbers in a vector; at least 1.
        M: Links of a point; 16 suits 512 dimensions.
        ef_construction: Candidates looked at when a point is linked.
        capacity: Rows the first graph is made for.
        vectors_of: Gives the vectors of labels, (n, dimensions), as long as they are in here; called in threads. None:
            they are kept here once more.

    Raises:
        UsageError: A number is below 1.

    Cost:
        Adding takes about 0.4 ms a row of 512 numbers, a search about 1 ms among 100,000. Memory is
        8 bytes a number, 4 with `vectors_of`, and 300 bytes a row. Removed rows keep theirs until the index is rebuilt.
    """

    def __init__(
        self,
        dimensions: int,
        M: int = 16,  # noqa: N803 - hnswlib's and the paper's own word
        ef_construction: int = 200,
        *,
        capacity: int = SEGMENT_POINTS_MIN,
        vectors_of: VectorsOf | None = None,
    ) -> None:
        if min(dimensions, M, ef_construction, capacity) < 1:
            raise UsageError("dimensions, M, ef_construction and capacity must be at least 1")
        self._dimensions = dimensions
        self._links = M
        self._ef_construction = ef_construction
        self._rows = VectorRows(dimensions) if vectors_of is None else None
        self._vectors_of = vectors_of
        self._segments: list[Segment] = []
        self._capacity = capacity  # of the next segment
        self._points: dict[int, int] = {}  # label -> point
        self._labels: list[list[int]] = []  # point -> its labels, sorted; empty where it is dead
        self._keys: dict[bytes, int] = {}  # hash of a vector -> its point
        self._point_keys: list[bytes] = []
        self._dead_count = 0
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def __len__(self) -> int:
        return len(self._points)

    def __repr__(self) -> str:
        return (
            f"<HnswIndex {len(self)} rows of {self._dimensions}, "
            f"{len(self._segments)} graphs, {self._dead_count} removed>"
        )

    def add(self, labels: Labels, vectors: Vectors) -> None:
        labels, vectors = checked_rows(labels, vectors, self._dimensions)
        for start in range(0, len(labels), STEP_ROWS):
            with self._lock:
                self._add_step(labels[start : start + STEP_ROWS], vectors[start : start + STEP_ROWS])

    def remove(self, labels: Labels) -> None:
        with self._lock:
            for label in cast("list[int]", labels.tolist()):
                self._remove_label(label)

    def search(self, vector: Vectors, k: int) -> tuple[Labels, Vectors]:
        query = checked_query(vector, self._dimensions)
        with self._lock:
            if query is None or not self._points or k <= 0:
                return np.empty(0, np.int64), np.empty(0, np.float32)
            points = self._candidates(query, k)
            if points is None:
                points = np.flatnonzero([bool(labels) for labels in self._labels])
            scores = self._scores(query, points)
            # Each point found has a label at least, so the best k points hold the best k labels.
            owned = [self._labels[point] for point in cast("list[int]", points.tolist())]
            found = np.array([label for labels in owned for label in labels], np.int64)
            return best(found, np.repeat(scores, [len(labels) for labels in owned]), k)

    def _add_step(self, labels: Labels, vectors: Vectors) -> None:
        fresh: list[tuple[int, Vectors]] = []
        if self._rows is not None:
            self._rows.reserve(len(self._labels) + len(labels))
        for label, vector in zip(cast("list[int]", labels.tolist()), vectors, strict=True):
            key = key_of(vector)
            point = self._keys.get(key)
            if point is not None and self._points.get(label) == point:
                continue
            self._remove_label(label)
            point = self._keys.get(key)  # removing may have taken it away
            if point is None:
                point = len(self._labels)
                self._labels.append([])
                self._keys[key] = point
                self._point_keys.append(key)
                if self._rows is not None:
                    self._rows.set(point, vector)
                fresh.append((point, vector))
            bisect.insort(self._labels[point], label)
            self._points[label] = point
        # A label given its vector and moved on within one step leaves a dead point, which needs no link.
        self._link([one for one in fresh if self._labels[one[0]]])

    def _scores(self, query: Vectors, points: Labels) -> Vectors:
        if self._rows is not None:
            return self._rows.cosines_at(query[None, :], points)[0]
        assert self._vectors_of is not None
        labels = np.array([self._labels[point][0] for point in cast("list[int]", points.tolist())], np.int64)
        return np.einsum("ij,j->i", self._vectors_of(labels), query)

    def _link(self, fresh: list[tuple[int, Vectors]]) -> None:
        while fresh:
            if not self._segments or self._segments[-1].room == 0:
                self._segments.append(self._new_segment())
            segment = self._segments[-1]
            step, fresh = fresh[: segment.room], fresh[segment.room :]
            try:
                segment.add(np.stack([vector for _, vector in step]), [point for point, _ in step])
            except RuntimeError:
                return  # these points are in no graph; `_candidates` sees it and lets a scan answer

    def _new_segment(self) -> "Segment":
        segment = Segment(self._dimensions, self._capacity, self._links, self._ef_construction)
        self._capacity += segment.capacity
        return segment

    def _remove_label(self, label: int) -> None:
        point = self._points.pop(label, None)
        if point is None:
            return
        self._labels[point].remove(label)
        if self._labels[point]:
            return
        self._dead_count += 1
        del self._keys[self._point_keys[point]]
        if self._rows is not None:
            self._rows.clear(point)
        for segment in self._segments:
            segment.remove(point)

    def _candidates(self, query: Vectors, k: int) -> Labels | None:
        """Points that hold the best k labels, as far as the graphs know; None where a scan has to answer."""
        live = len(self._labels) - self._dead_count
        if k > SCAN_SHARE * live or sum(segment.live_count for segment in self._segments) != live:
            return None
        found = [segment.search(query, k) for segment in self._segments if segment.live_count]
        if any(points is None for points in found):
            return None
        points = np.concatenate([points for points in found if points is not None])
        # A damaged graph may give anything; what is dead or fewer than asked for is not an answer.
        points = np.array(
            [point for point in cast("list[int]", points.tolist()) if self._labels[point]], np.int64
        )
        return points if len(points) >= k else None


class Segment:
    """One hnswlib graph of fixed capacity. Points are added and removed, never moved."""

    def __init__(self, dimensions: int, capacity: int, links: int, ef_construction: int) -> None:
        self.capacity = capacity
        self.room = capacity
        self.live_count = 0
        self._held: set[int] = set()
        self._ef = 0
        self._graph: Any = hnswlib.Index(space="ip", dim=dimensions)
        self._graph.init_index(
            max_elements=capacity, M=links, ef_construction=ef_construction, random_seed=SEED
        )
        self._graph.set_num_threads(1)

    def add(self, vectors: Vectors, points: list[int]) -> None:
        """Link points into the graph; hnswlib lets go of the interpreter meanwhile."""
        self._graph.add_items(vectors, np.array(points, np.int64), num_threads=1)
        self._held.update(points)
        self.room -= len(points)
        self.live_count += len(points)

    def remove(self, point: int) -> None:
        """Mark a point dead; it stays in the graph as a way to others."""
        if point in self._held:
            self._held.discard(point)
            self._graph.mark_deleted(point)
            self.live_count -= 1

    def search(self, query: Vectors, k: int) -> Labels | None:
        """At most k live points near the query, or None where the graph cannot tell."""
        wanted = min(k, self.live_count)
        ef = max(EF_MIN, 2 * wanted)
        if ef != self._ef:
            self._graph.set_ef(ef)
            self._ef = ef
        try:
            points, _ = self._graph.knn_query(query[None, :], k=wanted, num_threads=1)
        except RuntimeError:  # "Cannot return the results in a contiguous 2D array": fewer than k were found
            return None
        return points[0].astype(np.int64)


def build_hnsw(
    labels: Labels,
    vectors: Vectors,
    M: int = 16,  # noqa: N803
    ef_construction: int = 200,
    vectors_of: VectorsOf | None = None,
) -> HnswIndex:
    """A new index of all the rows, for calling in a thread: it works in steps that let others run.

    Args:
        labels: n integers; of a label that stands twice the last row counts.
        vectors: (n, dimensions), each finite and with a length.
        vectors_of: As of `HnswIndex`.

    Raises:
        UsageError: As `HnswIndex.add`.

    Cost:
        About 0.5 ms a row of 512 numbers; the same rows in the same order give the same index.
    """
    if vectors.ndim != 2:
        raise UsageError(f"need (n, dimensions) vectors, got {vectors.shape}")
    # A quarter to spare, so that what comes in later needs no second graph soon.
    capacity = max(SEGMENT_POINTS_MIN, len(labels) + len(labels) // 4)
    index = HnswIndex(vectors.shape[1], M, ef_construction, capacity=capacity, vectors_of=vectors_of)
    index.add(labels, vectors)
    return index


def key_of(vector: Vectors) -> bytes:
    """A hash under which equal vectors are the same one."""
    return hashlib.blake2b((vector + np.float32(0)).tobytes(), digest_size=16).digest()
