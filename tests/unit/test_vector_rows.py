"""Vectors of rows: the first block begins small and grows, and nothing in it is lost."""

import tracemalloc

import numpy as np
import pytest

from actormem.core.recall.vectors import VectorRows

DIMENSIONS = 8


@pytest.mark.parametrize("row_count", [1, 16, 17, 1_000, 1_024, 1_025, 2_100])
def test_rows_keep_their_vectors_however_the_store_grew(row_count: int) -> None:
    made = np.random.default_rng(1).standard_normal((row_count, DIMENSIONS)).astype(np.float32)
    rows = VectorRows(DIMENSIONS)
    for row, vector in enumerate(made):
        rows.reserve(row + 1)
        rows.set(row, vector)
    np.testing.assert_array_equal(rows.take(np.arange(row_count)), made)
    np.testing.assert_allclose(rows.cosines(made[0], row_count), made @ made[0], rtol=1e-4, atol=1e-5)
    at_once = VectorRows(DIMENSIONS)
    at_once.reserve(row_count)
    assert not at_once.take(np.arange(row_count)).any()


def test_an_owner_with_one_memory_takes_no_room_for_a_thousand() -> None:
    tracemalloc.start()
    try:
        rows = VectorRows(512)
        rows.reserve(1)
        taken_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    rows.clear(0)
    assert taken_bytes < 64 * 1024
