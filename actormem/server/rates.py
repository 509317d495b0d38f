"""How often a key may be used: a bucket for each, refilled by time. The table is bounded."""

from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Rates"]

BUCKETS_MAX = 10_000  # the longest unused goes first, and it is full by then


class Rates:
    """Buckets by name.

    Args:
        per_s: Requests a second that a bucket allows for long; 0 for no limit. Twice as many may come at once.
        monotonic_s: The time.
    """

    def __init__(self, per_s: float, monotonic_s: Callable[[], float]) -> None:
        self._per_s = per_s
        self._monotonic_s = monotonic_s
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """Take one from the bucket; 0.0, or where it is empty the seconds after which to try again."""
        if not self._per_s:
            return 0.0
        now_s, full = self._monotonic_s(), max(1.0, 2 * self._per_s)
        left, seen_s = self._buckets.pop(name, (full, now_s))
        left = min(full, left + (now_s - seen_s) * self._per_s)
        self._buckets[name] = (left - 1 if left >= 1 else left, now_s)
        if len(self._buckets) > BUCKETS_MAX:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1 else (1 - left) / self._per_s
