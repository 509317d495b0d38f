"""Which vector index there is here: the graph where hnswlib is installed, else the exact scan.

Law: a missing compiler makes large owners slower, never the answer wrong; it is said once.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from actormem.adapters.flat import FlatIndex
from actormem.errors import UsageError
from actormem.ports import Labels, VectorIndex, Vectors

__all__ = ["build_index", "make_index"]


def make_index(dimensions: int) -> VectorIndex:
    """An empty index for many rows: `HnswIndex`, or `FlatIndex` with one warning where hnswlib is missing."""
    if find_spec("hnswlib") is None:
        warn_missing()
        return FlatIndex(dimensions)
    return import_module("actormem.adapters.hnsw").HnswIndex(dimensions)


def build_index(
    labels: Labels, vectors: Vectors, vectors_of: Callable[[Labels], Vectors] | None = None
) -> VectorIndex:
    """An index of all these rows; call it in a thread, it takes about 0.5 ms a row.

    Args:
        vectors_of: Where given, a graph asks it for the vectors of its labels, and keeps no others.

    Raises:
        UsageError: Labels and vectors do not fit, or a row is not finite or has no length.
    """
    if vectors.ndim != 2:
        raise UsageError(f"need (n, dimensions) vectors, got {vectors.shape}")
    if find_spec("hnswlib") is None:
        warn_missing()
        flat = FlatIndex(vectors.shape[1])
        flat.add(labels, vectors)
        return flat
    return import_module("actormem.adapters.hnsw").build_hnsw(labels, vectors, vectors_of=vectors_of)


def warn_missing() -> None:
    """Say it; Python itself shows a warning of one place once."""
    warnings.warn(
        "hnswlib is not installed: vectors are searched by an exact scan, which takes 0.1 ms a thousand rows",
        RuntimeWarning,
        stacklevel=3,
    )
