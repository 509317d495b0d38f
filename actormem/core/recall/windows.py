"""What a turn means among its neighbours: the mean of its vector and theirs, longer ones a little heavier.

A turn of three words says little by itself. Embedding it again together with its neighbours finds what it answers
no better than the mean of the vectors there are (R@10 .847 and .847 on LoCoMo, .710 and .705 on a Chinese set), and
costs two embeddings a message more.

The law of the file: a window follows from vectors and texts alone, so it is never stored.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

import numpy as np

from actormem.core.recall.neighbours import Neighbours
from actormem.core.recall.rows import RowTable
from actormem.core.recall.vectors import VectorRows
from actormem.core.recall.words import token_count

__all__ = ["Windows"]

OWN_CHARS: Final = 600
SIDE_CHARS: Final = 240  # of a neighbour, those that are nearest
TOKENS_MIN: Final = 60  # a window grows until it says this much
ALONE_TOKENS: Final = 200  # a turn this long needs no neighbours to be understood
SIDE: Final = 3  # turns at most on either side


class Windows:
    """One vector for each turn that has neighbours; mutable, for one thread at a time.

    Args:
        vectors: Of the turns by themselves.
        text_of: The text of a row.

    Attributes:
        vectors: Of the windows, by row.
    """

    def __init__(
        self, table: RowTable, neighbours: Neighbours, vectors: VectorRows, text_of: Callable[[int], str]
    ) -> None:
        self.vectors = VectorRows(vectors.dimensions)
        self._table = table
        self._neighbours = neighbours
        self._own = vectors
        self._text_of = text_of
        self._stale: dict[int, None] = {}

    def __len__(self) -> int:
        """How many windows are out of date."""
        return len(self._stale)

    def touch(self, rows: Iterable[int]) -> None:
        """These turns have other neighbours."""
        self._stale.update(dict.fromkeys(rows))

    def embedded(self, row: int) -> None:
        """A turn has its vector: its window changes, and those of its neighbours."""
        before, after = self._neighbours.around(row, SIDE)
        if before or after:
            self.touch((*before, row, *after))

    def clear(self, row: int) -> None:
        """A turn is no more."""
        self._stale.pop(row, None)
        self.vectors.clear(row)

    def refresh(self, limit: int) -> None:
        """Make windows that are out of date anew, oldest change first, at most so many.

        Cost: about 0.1 ms each.
        """
        counted: dict[str, int] = {}  # each text is in up to seven windows
        for row in tuple(islice(self._stale, limit)):
            del self._stale[row]
            self._make(row, counted)

    def _make(self, row: int, counted: dict[str, int]) -> None:
        weights = self._weights(row, counted)
        known = [(other, weight) for other, weight in weights.items() if self._table.has_vector[other]]
        total = np.zeros(self._own.dimensions, np.float32)
        if len(known) > 1 and self._table.has_vector[row]:
            vectors = self._own.take([other for other, _ in known])
            # The root of the length is measured better than the length (R@10 on LoCoMo .847 and .843).
            total = np.sqrt(np.array([weight for _, weight in known], np.float32)) @ vectors
        length = float(np.linalg.norm(total))
        self.vectors.set(row, total / length if length else total)
        self._table.has_window[row] = length > 0

    def _weights(self, row: int, counted: dict[str, int]) -> dict[int, int]:
        """The turns of a window, by their words as far as they count; the turn alone where it needs no others."""

        def tokens(text: str) -> int:
            if text not in counted:
                counted[text] = token_count(text)
            return counted[text]

        own = tokens(self._text_of(row)[:OWN_CHARS])
        weights = {row: own}
        if own >= ALONE_TOKENS:
            return weights
        before, after = self._neighbours.around(row, SIDE)
        total = own
        for side in range(SIDE):
            if side and total >= TOKENS_MIN:
                break
            if side < len(before):
                other = before[-1 - side]
                weights[other] = tokens(self._text_of(other)[-SIDE_CHARS:])
                total += weights[other]
            if side < len(after):
                other = after[side]
                weights[other] = tokens(self._text_of(other)[:SIDE_CHARS])
                total += weights[other]
        return weights
