"""What the contract cannot see of the indexes: damage, growth, threads, and a machine without hnswlib."""

import threading
from typing import Any

import numpy as np
import pytest

from actormem.adapters import hnsw, indexes
from actormem.adapters.flat import FlatIndex
from actormem.adapters.hnsw import HnswIndex, build_hnsw
from actormem.adapters.indexes import build_index, make_index
from actormem.adapters.rows import best, unit_rows
from actormem.errors import UsageError
from actormem.ports import Vectors


def vectors_of(count: int, dimensions: int = 8, seed: int = 0) -> Vectors:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, dimensions)))


class Broken:
    """A graph that does what the installed one may do at its worst."""

    def __init__(self, graph: Any, *, add: bool = False, answer: Any = None) -> None:
        self.graph, self.add, self.answer = graph, add, answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    def add_items(self, *arguments: Any, **named: Any) -> None:
        if self.add:
            raise RuntimeError("The number of elements exceeds the specified limit")
        self.graph.add_items(*arguments, **named)

    def knn_query(self, *arguments: Any, **named: Any) -> Any:
        if self.answer is None:
            raise RuntimeError("Cannot return the results in a contiguous 2D array")
        return self.answer


def test_an_error_of_the_library_is_answered_by_a_scan() -> None:
    index, rows = build_hnsw(np.arange(100), vectors_of(100)), vectors_of(100)
    expected = index.search(rows[5], 10)
    index._segments[0]._graph = Broken(index._segments[0]._graph)
    found = index.search(rows[5], 10)
    assert found[0].tolist() == expected[0].tolist()
    assert found[1] == pytest.approx(expected[1])


def test_dead_points_in_an_answer_are_answered_by_a_scan() -> None:
    index, rows = build_hnsw(np.arange(100), vectors_of(100)), vectors_of(100)
    index.remove(np.arange(10))
    answer = (np.arange(3, dtype=np.uint64)[None, :], np.zeros((1, 3), np.float32))
    index._segments[0]._graph = Broken(index._segments[0]._graph, answer=answer)
    labels, _ = index.search(rows[20], 3)
    assert labels[0] == 20
    assert set(labels.tolist()).isdisjoint(range(10))


def test_rows_the_library_refused_are_found_by_a_scan() -> None:
    index, rows = build_hnsw(np.arange(100), vectors_of(200)[:100]), vectors_of(200)
    index._segments[0]._graph = Broken(index._segments[0]._graph, add=True)
    index.add(np.arange(100, 200), rows[100:])
    assert len(index) == 200
    assert [int(index.search(row, 1)[0][0]) for row in rows] == list(range(200))


def test_an_index_grows_by_further_graphs_and_never_resizes_one() -> None:
    index, rows = HnswIndex(8, capacity=10), vectors_of(200)
    index.add(np.arange(200), rows)
    sizes = [segment._graph.get_max_elements() for segment in index._segments]
    assert sizes == [segment.capacity for segment in index._segments]
    assert sum(sizes) >= 200
    assert len(sizes) <= 6


def test_equal_vectors_share_a_point() -> None:
    index, row = HnswIndex(8), vectors_of(1)
    index.add(np.arange(500), np.repeat(row, 500, axis=0))
    assert index._segments[0].live_count == 1
    index.remove(np.arange(499))
    assert index.search(row[0], 5)[0].tolist() == [499]
    index.remove(np.array([499]))
    assert index._segments[0].live_count == 0


def test_the_same_rows_build_the_same_index() -> None:
    rows, queries = vectors_of(1_500, 16, seed=2), vectors_of(20, 16, seed=3)
    answers = [
        [index.search(query, 10)[0].tolist() for query in queries]
        for index in (build_hnsw(np.arange(1_500), rows), build_hnsw(np.arange(1_500), rows))
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", [FlatIndex, HnswIndex])
def test_threads_may_search_while_another_adds_and_removes(kind: type[FlatIndex] | type[HnswIndex]) -> None:
    index, rows = kind(8), vectors_of(1_200)
    index.add(np.arange(200), rows[:200])
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                for row in rows[:200:10]:
                    labels, scores = index.search(row, 5)
                    assert len(labels) == len(scores) == 5
                    assert (np.diff(scores) <= 0).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for start in range(200, 1_200, 100):
        index.add(np.arange(start, start + 100), rows[start : start + 100])
        index.remove(np.arange(start, start + 50))
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(index) == 700


@pytest.fixture
def without_hnswlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "find_spec", lambda name: None)


@pytest.mark.usefixtures("without_hnswlib")
def test_without_hnswlib_an_exact_scan_serves_and_a_warning_says_so() -> None:
    with pytest.warns(RuntimeWarning, match="hnswlib is not installed"):
        assert isinstance(make_index(8), FlatIndex)
    with pytest.warns(RuntimeWarning, match="exact scan"):
        index = build_index(np.arange(5), vectors_of(5))
    assert index.search(vectors_of(5)[2], 1)[0].tolist() == [2]


def test_with_hnswlib_the_graph_serves() -> None:
    assert isinstance(make_index(8), HnswIndex)
    assert isinstance(build_index(np.arange(5), vectors_of(5)), HnswIndex)


@pytest.mark.parametrize(
    "numbers", [{"dimensions": 0}, {"dimensions": 8, "M": 0}, {"dimensions": 8, "capacity": 0}]
)
def test_numbers_that_make_no_index_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        HnswIndex(**numbers)
    with pytest.raises(UsageError):
        FlatIndex(0)
    with pytest.raises(UsageError):
        build_hnsw(np.arange(3), np.ones(3, np.float32))


def test_the_best_of_many_ties_are_the_smallest_labels() -> None:
    labels = np.array([9, 4, 7, 1, 8, 2], np.int64)
    scores = np.array([0.5, 0.5, 0.5, 0.5, 0.9, 0.5], np.float32)
    assert best(labels, scores, 3)[0].tolist() == [8, 1, 2]
    assert best(labels, scores, 99)[0].tolist() == [8, 1, 2, 4, 7, 9]
    assert len(best(labels, scores, -1)[0]) == 0


def test_rows_without_direction_become_zeros() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 0], [1e30, 0], [1e-9, 0]]))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, 0], [0, 0], [1, 0], [0, 0]]))
    assert hnsw.key_of(np.array([0.0, 1.0], np.float32)) == hnsw.key_of(np.array([-0.0, 1.0], np.float32))
