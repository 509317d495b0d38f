"""The promises of `VectorIndex`, over both indexes, against a plain dictionary."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.adapters.flat import FlatIndex
from actormem.adapters.hnsw import HnswIndex, build_hnsw
from actormem.errors import UsageError
from actormem.ports import Labels, VectorIndex, Vectors

DIMENSIONS = 8
QUIET = settings(max_examples=60, deadline=None, derandomize=True)

MAKERS: dict[str, Callable[[], VectorIndex]] = {
    "flat": lambda: FlatIndex(DIMENSIONS),
    "hnsw": lambda: HnswIndex(DIMENSIONS),
    "hnsw of many small graphs": lambda: HnswIndex(DIMENSIONS, capacity=3),
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[], VectorIndex]:
    return MAKERS[request.param]


def labels_of(*labels: int) -> Labels:
    return np.array(labels, np.int64)


def vectors_of(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Model:
    """What an index should be: a dictionary, and a scan of it."""

    def __init__(self) -> None:
        self.rows: dict[int, Vectors] = {}

    def search(self, query: Vectors, k: int) -> tuple[list[int], list[float]]:
        scores = {label: float(row @ query) for label, row in self.rows.items()}
        ordered = sorted(scores, key=lambda label: (-round(scores[label], 5), label))[:k]
        return ordered, [scores[label] for label in ordered]


# Few different vectors, so that equal ones and ties are common.
POOL = vectors_of(6, seed=3)
LABEL = st.integers(0, 12) | st.sampled_from([-5, 2**62])
STEP = st.one_of(
    st.tuples(st.just("add"), st.lists(st.tuples(LABEL, st.integers(0, 5)), max_size=6)),
    st.tuples(st.just("remove"), st.lists(LABEL, max_size=4)),
    st.tuples(st.just("search"), st.tuples(st.integers(0, 5), st.integers(0, 20))),
)


@pytest.mark.parametrize("name", MAKERS)
@QUIET
@given(steps=st.lists(STEP, max_size=20))
def test_after_any_history_the_index_answers_as_a_dictionary_would(
    name: str, steps: list[tuple[str, Any]]
) -> None:
    index, model = MAKERS[name](), Model()
    for verb, what in [*steps, ("search", (0, 50))]:
        if verb == "add":
            index.add(
                labels_of(*(label for label, _ in what)),
                POOL[[row for _, row in what]].reshape(-1, DIMENSIONS),
            )
            model.rows |= {label: POOL[row] for label, row in what}
        elif verb == "remove":
            index.remove(labels_of(*what))
            model.rows = {label: row for label, row in model.rows.items() if label not in what}
        else:
            row, k = what
            labels, scores = index.search(POOL[row], k)
            expected_labels, expected_scores = model.search(POOL[row], k)
            assert labels.tolist() == expected_labels
            assert scores.tolist() == pytest.approx(expected_scores, abs=1e-5)
        assert len(index) == len(model.rows)


def test_promise_1_the_best_come_first_and_scores_are_cosines(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(300)
    index.add(np.arange(300), rows)
    for query in vectors_of(20, seed=9):
        labels, scores = index.search(query, 10)
        assert labels.dtype == np.int64
        assert scores.dtype == np.float32
        assert sorted(scores.tolist(), reverse=True) == scores.tolist()
        assert scores == pytest.approx(rows[labels] @ query, abs=1e-5)


def test_promise_1_what_is_nearest_is_found_among_hundreds(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(400)
    index.add(np.arange(400), rows)
    found = [int(index.search(row, 1)[0][0]) for row in rows]
    assert found == list(range(400))


@pytest.mark.parametrize("k", [-1, 0])
def test_promise_1_nothing_asked_for_is_nothing_given(make: Callable[[], VectorIndex], k: int) -> None:
    index = make()
    index.add(np.arange(3), vectors_of(3))
    assert [len(part) for part in index.search(vectors_of(1)[0], k)] == [0, 0]


def test_promise_1_there_are_fewer_where_there_are_fewer(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(5)
    assert len(index.search(rows[0], 3)[0]) == 0
    index.add(np.arange(5), rows)
    assert len(index.search(rows[0], 1_000_000)[0]) == 5
    index.remove(np.arange(4))
    assert index.search(rows[0], 3)[0].tolist() == [4]
    index.remove(np.arange(5))
    assert len(index.search(rows[0], 3)[0]) == 0


def test_promise_1_ties_keep_the_smaller_label_first(make: Callable[[], VectorIndex]) -> None:
    index, row = make(), vectors_of(1)
    index.add(labels_of(9, 3, 7, 1), np.repeat(row, 4, axis=0))
    assert index.search(row[0], 3)[0].tolist() == [1, 3, 7]


def test_promise_1_a_query_without_direction_is_near_nothing(make: Callable[[], VectorIndex]) -> None:
    index = make()
    index.add(np.arange(3), vectors_of(3))
    assert len(index.search(np.zeros(DIMENSIONS, np.float32), 3)[0]) == 0


def test_promise_1_two_thousand_equal_rows_hide_no_other_row(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(201, seed=4)
    index.add(np.arange(2_000), np.repeat(rows[:1], 2_000, axis=0))
    index.add(np.arange(2_000, 2_200), rows[1:])
    assert [int(index.search(row, 1)[0][0]) for row in rows[1:]] == list(range(2_000, 2_200))
    assert index.search(rows[0], 5)[0].tolist() == [0, 1, 2, 3, 4]


def test_promise_2_a_label_added_again_has_its_new_vector_only(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(2)
    index.add(labels_of(1, 1), rows)
    index.add(labels_of(1), rows[:1])
    labels, scores = index.search(rows[0], 5)
    assert labels.tolist() == [1]
    assert scores.tolist() == pytest.approx([1.0])


def test_promise_2_a_removed_label_can_come_back(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(3)
    for _ in range(5):
        index.add(np.arange(3), rows)
        index.remove(labels_of(0, 2, 77))
        assert index.search(rows[0], 3)[0].tolist() == [1]
    index.add(labels_of(0), rows[:1])
    assert index.search(rows[0], 1)[0].tolist() == [0]


def test_promise_2_churn_keeps_every_answer_live(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(600, seed=6)
    index.add(np.arange(600), rows)
    for start in range(0, 540, 60):
        index.remove(np.arange(start, start + 60))
        live = set(range(start + 60, 600))
        for query in rows[start : start + 60 : 20]:
            labels, _ = index.search(query, 20)
            assert len(labels) == 20
            assert set(labels.tolist()) <= live


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_promise_3_a_row_that_is_not_finite_is_refused_before_any_is_added(
    make: Callable[[], VectorIndex], number: float
) -> None:
    index, rows = make(), vectors_of(3)
    rows[2, 4] = number
    with pytest.raises(UsageError, match=r"1 of 3 vectors"):
        index.add(np.arange(3), rows)
    assert len(index) == 0


def test_promise_3_a_row_without_length_is_refused(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(3)
    rows[1] = 0
    with pytest.raises(UsageError, match="no length"):
        index.add(np.arange(3), rows)
    rows[1] = 1e-9
    with pytest.raises(UsageError, match="no length"):
        index.add(np.arange(3), rows)
    assert len(index) == 0


def test_promise_3_huge_and_small_rows_count_by_their_direction(make: Callable[[], VectorIndex]) -> None:
    index, rows = make(), vectors_of(2)
    index.add(np.arange(2), rows * np.array([[1e30], [1e-4]], np.float32))
    assert index.search(rows[0], 1)[1].tolist() == pytest.approx([1.0], abs=1e-5)
    assert index.search(rows[1] * 1e30, 1)[0].tolist() == [1]


@pytest.mark.parametrize(
    ("labels", "vectors"),
    [
        (np.arange(2), vectors_of(3)),
        (np.arange(3), vectors_of(3, dimensions=7)),
        (np.arange(3), vectors_of(3)[0]),
        (np.arange(3) + 0.5, vectors_of(3)),
        (np.arange(4).reshape(2, 2), vectors_of(2)),
    ],
)
def test_promise_3_labels_and_rows_that_do_not_fit_are_refused(
    make: Callable[[], VectorIndex], labels: Labels, vectors: Vectors
) -> None:
    index = make()
    with pytest.raises(UsageError):
        index.add(labels, vectors)
    assert len(index) == 0


@pytest.mark.parametrize("query", [np.zeros(3, np.float32), np.full(DIMENSIONS, np.nan, np.float32)])
def test_a_query_that_is_no_vector_of_this_index_is_refused(
    make: Callable[[], VectorIndex], query: Vectors
) -> None:
    index = make()
    index.add(np.arange(3), vectors_of(3))
    with pytest.raises(UsageError):
        index.search(query, 1)


def test_an_empty_add_and_an_empty_remove_change_nothing(make: Callable[[], VectorIndex]) -> None:
    index = make()
    index.add(labels_of(), np.empty((0, DIMENSIONS), np.float32))
    index.remove(labels_of())
    assert len(index) == 0


def test_the_graph_finds_what_the_scan_finds() -> None:
    centres = vectors_of(40, seed=11, dimensions=64)
    near = np.repeat(centres, 50, axis=0) + 0.1 * vectors_of(2_000, seed=12, dimensions=64)
    flat = FlatIndex(64)
    flat.add(np.arange(2_000), near)
    graph = build_hnsw(np.arange(2_000), near)
    queries = near[::40] + 0.05 * vectors_of(50, seed=13, dimensions=64)
    shared = [
        len(set(flat.search(q, 10)[0].tolist()) & set(graph.search(q, 10)[0].tolist())) for q in queries
    ]
    assert sum(shared) >= 0.98 * 10 * len(queries)
