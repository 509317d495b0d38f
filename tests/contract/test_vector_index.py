"""The promises of `VectorIndex`, over both indexes; any history of them; and what only ours do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.adapters.flat import FlatIndex
from actormem.adapters.hnsw import HnswIndex, build_hnsw
from actormem.adapters.rows import unit_rows
from actormem.errors import UsageError
from actormem.ports import Labels, VectorIndex, Vectors
from actormem.testing import contracts
from actormem.testing.contracts.vector_index import (
    IndexStep,
    MakeVectorIndex,
    lives_as_a_dictionary,
    unit_vectors,
)

DIMENSIONS = 8
QUIET = settings(max_examples=60, deadline=None, derandomize=True)


def small_graphs(dimensions: int) -> VectorIndex:
    """Many small graphs instead of a large one."""
    return HnswIndex(dimensions, capacity=3)


class Shared(HnswIndex):
    """A graph that keeps no vectors: whoever adds them has them."""

    def __init__(self, dimensions: int) -> None:
        self._kept: dict[int, Vectors] = {}
        super().__init__(
            dimensions,
            capacity=3,
            vectors_of=lambda labels: np.stack([self._kept[int(label)] for label in labels]),
        )

    def add(self, labels: Labels, vectors: Vectors) -> None:
        super().add(labels, vectors)
        self._kept |= dict(zip(labels.tolist(), unit_rows(vectors), strict=True))


MAKERS: dict[str, MakeVectorIndex] = {
    "flat": FlatIndex,
    "hnsw": HnswIndex,
    "hnsw of small graphs": small_graphs,
    "hnsw of shared vectors": Shared,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("check", contracts.VECTOR_INDEX, ids=str)
def test_an_index_keeps(check: contracts.Check[[MakeVectorIndex]], name: str) -> None:
    check(MAKERS[name])


LABEL = st.integers(0, 12) | st.sampled_from([-5, 2**62])
ADDED = st.lists(st.tuples(LABEL, st.integers(0, 5)), max_size=6)
STEP: st.SearchStrategy[IndexStep] = st.one_of(
    ADDED.map(lambda pairs: ("add", [label for label, _ in pairs], [row for _, row in pairs])),
    st.tuples(st.just("remove"), st.lists(LABEL, max_size=4), st.just(())),
    st.tuples(
        st.just("search"), st.integers(0, 5).map(lambda row: (row,)), st.integers(0, 20).map(lambda k: (k,))
    ),
)


@pytest.mark.parametrize("name", MAKERS)
@QUIET
@given(steps=st.lists(STEP, max_size=20))
def test_after_any_history_the_index_answers_as_a_dictionary_would(name: str, steps: list[IndexStep]) -> None:
    lives_as_a_dictionary(MAKERS[name](DIMENSIONS), steps)


@pytest.mark.parametrize("name", MAKERS)
def test_a_refusal_says_how_many_rows_are_wrong_and_why(name: str) -> None:
    index, rows = MAKERS[name](DIMENSIONS), unit_vectors(3)
    rows[2, 4] = np.nan
    with pytest.raises(UsageError, match=r"1 of 3 vectors"):
        index.add(np.arange(3), rows)
    rows = unit_vectors(3)
    rows[1] = 0
    with pytest.raises(UsageError, match="no length"):
        index.add(np.arange(3), rows)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("query", [np.zeros(3, np.float32), np.full(DIMENSIONS, np.nan, np.float32)])
def test_a_query_that_is_no_vector_of_this_index_is_refused(name: str, query: Vectors) -> None:
    index = MAKERS[name](DIMENSIONS)
    index.add(np.arange(3), unit_vectors(3))
    with pytest.raises(UsageError):
        index.search(query, 1)


def test_the_graph_finds_what_the_scan_finds() -> None:
    centres = unit_vectors(40, seed=11, dimensions=64)
    near = np.repeat(centres, 50, axis=0) + 0.1 * unit_vectors(2_000, seed=12, dimensions=64)
    flat = FlatIndex(64)
    flat.add(np.arange(2_000), near)
    graph = build_hnsw(np.arange(2_000), near)
    queries = near[::40] + 0.05 * unit_vectors(50, seed=13, dimensions=64)
    shared = [
        len(set(flat.search(q, 10)[0].tolist()) & set(graph.search(q, 10)[0].tolist())) for q in queries
    ]
    assert sum(shared) >= 0.98 * 10 * len(queries)
