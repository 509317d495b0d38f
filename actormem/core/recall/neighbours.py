"""Who stands next to whom in a session, and how much of a neighbour's words count as one's own.

A question and its reply are two turns, and the words of a later query are often split over both. So a turn
is searched with the words of its neighbours, weighed down by the distance in tokens and by the neighbour's
length.
Only talk has neighbours: facts stand alone (storage order says nothing of them), and so does what was said
long before or after the message next to it, as in a log of single notes.
"""

import math
from bisect import bisect_left
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.lexical import Postings

__all__ = ["SIDE", "WIDTH", "Neighbours"]

SIDE: Final = 4  # turns looked at on either side
WIDTH: Final = 2 * SIDE
DISTANCE_TOKENS: Final = 100.0  # at this distance a neighbour's words count 1/e
LONG_TOKENS: Final = 40.0  # a neighbour this long gives half
WEIGHT_MIN: Final = 0.005  # less is noise
PAUSE_MS: Final = 6 * 3_600_000  # longer than a meal or a meeting, shorter than a night: another talk begins
APART_TOKENS: Final = 1e9  # between two talks: more than any message has


class Neighbours:
    """The rows of each session in order, and the weights between them.

    `near` is (capacity, 8) int32, rows next to each row (itself where there is none); `give` (capacity, 8)
    float32, how much of its words each of them gets, 0 where there is none; `length` the tokens of each row;
    `terms` its terms, and `spread` those with what it gets from its neighbours; `previous` the row before it,
    -1 where there is none.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, list[tuple[int, int]]] = {}
        self._places: dict[int, tuple[str, int]] = {}
        self._said_ms: NDArray[np.int64] = np.zeros(0, np.int64)
        self.near: NDArray[np.int32] = np.zeros((0, WIDTH), np.int32)
        self.give: NDArray[np.float32] = np.zeros((0, WIDTH), np.float32)
        self.length: NDArray[np.float32] = np.zeros(0, np.float32)
        self.terms: NDArray[np.float32] = np.zeros(0, np.float32)
        self.spread: NDArray[np.float32] = np.zeros(0, np.float32)
        self.previous: NDArray[np.int32] = np.zeros(0, np.int32)
        self.spread_total = 0.0

    def reserve(self, capacity: int) -> None:
        """Make room for rows below `capacity`."""
        more = capacity - len(self.length)
        if more <= 0:
            return
        self._said_ms = np.concatenate([self._said_ms, np.zeros(more, np.int64)])
        self.near = np.concatenate([self.near, np.zeros((more, WIDTH), np.int32)])
        self.give = np.concatenate([self.give, np.zeros((more, WIDTH), np.float32)])
        nothing = np.zeros(more, np.float32)
        self.length = np.concatenate([self.length, nothing])
        self.terms = np.concatenate([self.terms, nothing])
        self.spread = np.concatenate([self.spread, nothing])
        self.previous = np.concatenate([self.previous, np.full(more, -1, np.int32)])

    def place(
        self, row: int, session: str, order: int, said_ms: int, token_count: int, term_count: int
    ) -> tuple[int, ...]:
        """Put a new row into its session (or alone, where `session` is empty); gives the rows it touched."""
        self._said_ms[row] = said_ms
        self.length[row] = token_count
        self.terms[row] = term_count
        if not session:
            self._alone(row)
            return (row,)
        rows = self._sessions.setdefault(session, [])
        place = bisect_left(rows, (order, row))
        rows.insert(place, (order, row))
        self._places[row] = (session, order)
        if place == len(rows) - 1:
            return self._join_last([*self._before(rows, place, SIDE), row])
        return self._weigh_around(rows, place - SIDE, place + SIDE + 1)

    def take_out(self, row: int) -> tuple[int, ...]:
        """Remove a row; gives the rows that were its neighbours."""
        self._add_spread(row, 0.0)
        self.length[row] = self.terms[row] = 0
        self.give[row] = 0
        session, order = self._places.pop(row, ("", 0))
        if not session:
            return ()
        rows = self._sessions[session]
        place = bisect_left(rows, (order, row))
        del rows[place]
        if not rows:
            del self._sessions[session]
            return ()
        return self._weigh_around(rows, place - SIDE, place + SIDE)

    def newest_first(self, session: str) -> tuple[int, ...]:
        """The rows of a session, the last one first."""
        return tuple(row for _, row in reversed(self._sessions.get(session, ())))

    def around(self, row: int, side: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rows before and after a row in its session, at most `side` each, nearest last and first."""
        session, order = self._places.get(row, ("", 0))
        if not session:
            return (), ()
        rows = self._sessions[session]
        place = bisect_left(rows, (order, row))
        return tuple(self._before(rows, place, side)), tuple(self._after(rows, place, side))

    def _before(self, rows: list[tuple[int, int]], place: int, side: int) -> list[int]:
        """The rows before a place that belong to the same talk, in order, at most `side`."""
        first = place
        while first > max(0, place - side) and self._same_talk(rows[first - 1][1], rows[first][1]):
            first -= 1
        return [row for _, row in rows[first:place]]

    def _after(self, rows: list[tuple[int, int]], place: int, side: int) -> list[int]:
        last = place
        while last < min(len(rows) - 1, place + side) and self._same_talk(rows[last][1], rows[last + 1][1]):
            last += 1
        return [row for _, row in rows[place + 1 : last + 1]]

    def _same_talk(self, one: int, other: int) -> bool:
        return abs(int(self._said_ms[one]) - int(self._said_ms[other])) <= PAUSE_MS

    def _alone(self, row: int) -> None:
        self.near[row] = row
        self.give[row] = 0
        self.previous[row] = -1
        self._add_spread(row, float(self.terms[row]))

    def _add_spread(self, row: int, spread: float) -> None:
        self.spread_total += spread - float(self.spread[row])
        self.spread[row] = spread

    def _join_last(self, window: list[int]) -> tuple[int, ...]:
        """Weigh the last row of a session against those before it: what an append costs."""
        row = window[-1]
        length = float(self.length[row])
        spread = float(self.terms[row])
        self.near[row] = row
        self.give[row] = 0
        self.previous[row] = window[-2] if len(window) > 1 else -1
        between = length / 2
        for steps, other in enumerate(reversed(window[:-1]), start=1):
            other_length = float(self.length[other])
            decay = math.exp(-(between + other_length / 2) / DISTANCE_TOKENS)
            between += other_length
            gain, gift = share(decay, other_length), share(decay, length)
            spread += gain * float(self.terms[other])
            self._add_spread(other, float(self.spread[other]) + gift * float(self.terms[row]))
            self.near[row, SIDE - steps], self.give[row, SIDE - steps] = other, gift
            self.near[other, SIDE - 1 + steps], self.give[other, SIDE - 1 + steps] = row, gain
        self._add_spread(row, spread)
        return tuple(window)

    def _weigh_around(self, rows: list[tuple[int, int]], first: int, last: int) -> tuple[int, ...]:
        first, last = max(0, first), min(len(rows), last)
        low = max(0, first - SIDE)
        window = [row for _, row in rows[low : last + SIDE]]
        lengths = self.length[window].tolist()
        terms = self.terms[window].tolist()
        middles: list[float] = []
        end = 0.0
        for at, length in enumerate(lengths):
            if at and not self._same_talk(window[at - 1], window[at]):
                end += APART_TOKENS
            middles.append(end + length / 2)
            end += length
        touched = window[first - low : last - low]
        for at, row in enumerate(touched, first - low):
            self._weigh(row, at, window, lengths, terms, middles)
        return tuple(touched)

    def _weigh(
        self,
        row: int,
        at: int,
        window: list[int],
        lengths: list[float],
        terms: list[float],
        middles: list[float],
    ) -> None:
        near = [row] * WIDTH
        give = [0.0] * WIDTH
        spread = terms[at]
        for filled, other in enumerate(place for place in range(at - SIDE, at + SIDE + 1) if place != at):
            if not 0 <= other < len(window) or abs(middles[other] - middles[at]) >= APART_TOKENS:
                continue
            decay = math.exp(-abs(middles[other] - middles[at]) / DISTANCE_TOKENS)
            spread += share(decay, lengths[other]) * terms[other]
            near[filled], give[filled] = window[other], share(decay, lengths[at])
        self.near[row] = near
        self.give[row] = give
        alone = not at or middles[at] - middles[at - 1] >= APART_TOKENS
        self.previous[row] = -1 if alone else window[at - 1]
        self._add_spread(row, spread)

    def counts(
        self, postings: Postings, term_count: int, place: NDArray[np.int64], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """How often each term stands in each candidate: by itself, and with its neighbours' share.

        Args:
            postings: Places of the terms in all rows that matter.
            term_count: Number of terms.
            place: (capacity,), each row's place among the candidates, -1 for others.
            width: Number of candidates.

        Returns:
            Two arrays (term_count, width) float32.
        """
        size = term_count * width
        first = postings.terms * width
        own = place[postings.rows]
        here = own >= 0
        alone = np.bincount((first + own)[here], postings.counts[here], minlength=size)
        near = place[self.near[postings.rows]]
        gifts = self.give[postings.rows] * postings.counts[:, None]
        wanted = (near >= 0) & (gifts > 0)
        together = alone + np.bincount((first[:, None] + near)[wanted], gifts[wanted], minlength=size)
        shape = (term_count, width)
        return alone.reshape(shape).astype(np.float32), together.reshape(shape).astype(np.float32)


def share(decay: float, length: float) -> float:
    """How much of its words a turn of a length in tokens gives to one at a distance."""
    given = decay / (1 + length / LONG_TOKENS)
    return given if given >= WEIGHT_MIN else 0.0
