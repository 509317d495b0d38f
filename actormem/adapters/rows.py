"""Checks and arithmetic that every vector index and embedder here shares.

Law: what is not a finite vector with a length never gets in; equal scores keep the smaller label first.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from actormem.errors import UsageError
from actormem.ports import Labels, Vectors

__all__ = ["best", "checked_query", "checked_rows", "unit_rows"]

LENGTH_MIN = 1e-6  # a shorter vector is rounding noise: its direction means nothing


def unit_rows(vectors: NDArray[np.floating]) -> Vectors:
    """The rows at length 1, as float32; rows that are not finite or have no length become all zeros."""
    wide = vectors.astype(np.float64)  # the square of 1e30 is beyond float32
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    usable = np.isfinite(lengths) & (lengths > LENGTH_MIN)
    rows = np.zeros(vectors.shape, np.float32)
    rows[usable] = wide[usable] / lengths[usable, None]
    return rows


def checked_rows(labels: Labels, vectors: Vectors, dimensions: int) -> tuple[Labels, Vectors]:
    """Labels and unit rows that may be added; where a label stands twice its last row.

    Raises:
        UsageError: A shape does not fit, labels are not integers, or a row is not finite or has no length.
    """
    if labels.ndim != 1 or vectors.ndim != 2 or len(labels) != len(vectors) or vectors.shape[1] != dimensions:
        raise UsageError(
            f"need n labels and (n, {dimensions}) vectors, got {labels.shape} labels, {vectors.shape} vectors"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise UsageError(f"labels must be integers, not {labels.dtype}")  # floats would be cut silently
    rows = unit_rows(vectors)
    refused = int(np.count_nonzero(~rows.any(axis=1)))
    if refused:
        raise UsageError(f"{refused} of {len(rows)} vectors are not finite or have no length; none was added")
    last = {label: place for place, label in enumerate(cast("list[int]", labels.tolist()))}
    places = list(last.values())
    return labels[places].astype(np.int64), rows[places]


def checked_query(vector: Vectors, dimensions: int) -> Vectors | None:
    """The query at length 1, or None where it has no direction (all zeros: the text could not be embedded).

    Raises:
        UsageError: It has not `dimensions` numbers, or one of them is not finite.
    """
    if vector.size != dimensions:
        raise UsageError(f"need a query of {dimensions} numbers, got {vector.size}")
    flat = vector.reshape(1, dimensions)
    if not np.isfinite(flat).all():
        raise UsageError("the query vector has numbers that are not finite")
    row = unit_rows(flat)[0]
    return row if row.any() else None


def best(labels: Labels, scores: Vectors, k: int) -> tuple[Labels, Vectors]:
    """The k best of some scored labels, best first, equal scores by smaller label.

    Cost:
        O(n + k log k).
    """
    if 0 < k < len(scores):
        # Everything that ties with the k-th best stays in, so that its labels decide, not its place.
        floor = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= floor
        labels, scores = labels[kept], scores[kept]
    order = np.lexsort((labels, -scores))[: max(k, 0)]
    return labels[order], scores[order]
