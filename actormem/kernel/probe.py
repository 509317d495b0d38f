"""Measures how long the event loop is held.

Law of this file: it costs one wake-up in `interval_s` and a bounded number of floats.
"""

from __future__ import annotations

from collections import deque

import msgspec

from actormem.kernel.clock import Clock, SystemClock

__all__ = ["LoopGaps", "LoopProbe"]

INTERVAL_S = 0.01
"""Half of the gap that design P12 allows at p99, so that such a gap is seen."""
SAMPLE_LIMIT = 100_000
"""Gaps kept for the percentiles, newest first to stay: 16 minutes at the default interval."""


class LoopGaps(msgspec.Struct, frozen=True, kw_only=True):
    """How much later than asked for the loop woke the probe."""

    count: int
    """Gaps measured."""
    p50_ms: float
    """Median of the newest 100,000 gaps."""
    p99_ms: float
    """99 of 100 of the newest 100,000 gaps are at most this long."""
    max_ms: float
    """The longest of all."""


class LoopProbe:
    """Start `run` as a task beside what is measured, cancel it, and read `statistics`.

    A gap is how much later than `interval_s` a sleep returned: what any other task would have waited.
    """

    def __init__(self, *, interval_s: float = INTERVAL_S, clock: Clock | None = None) -> None:
        self._interval_s = interval_s
        self._clock: Clock = clock or SystemClock()
        self._gaps_ms: deque[float] = deque(maxlen=SAMPLE_LIMIT)
        self._count = 0
        self._max_ms = 0.0

    async def run(self) -> None:
        """Measure until cancelled."""
        clock = self._clock
        while True:
            began_s = clock.monotonic_s()
            await clock.sleep(self._interval_s)
            gap_ms = max(0.0, (clock.monotonic_s() - began_s - self._interval_s) * 1000)
            self._gaps_ms.append(gap_ms)
            self._count += 1
            self._max_ms = max(self._max_ms, gap_ms)

    def statistics(self) -> LoopGaps:
        """What was measured so far; zeros if nothing was."""
        gaps_ms = sorted(self._gaps_ms)
        return LoopGaps(
            count=self._count,
            p50_ms=nearest_rank(gaps_ms, 50),
            p99_ms=nearest_rank(gaps_ms, 99),
            max_ms=self._max_ms,
        )


def nearest_rank(ordered: list[float], percent: int) -> float:
    """The smallest value that at least `percent` of 100 do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0.0
