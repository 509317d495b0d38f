"""A provider that has failed some times in a row is left alone for a while by those whom it would fail again.

The law of the file: who waits longer than those whom it failed may ask; a call that served them ends the rest.
"""

import math
from collections import deque

from actormem.kernel import Clock

__all__ = ["Resting"]


class Resting:
    """How the calls of one provider went.

    Args:
        tries: Failures in a row after which it rests, and then each one more.
        rest_s: For so many seconds.
    """

    def __init__(self, clock: Clock, *, tries: int, rest_s: float) -> None:
        self._clock = clock
        self._tries = tries
        self._rest_s = rest_s
        self._failed_s: deque[float] = deque(maxlen=tries)
        self._until_s = 0.0

    def rests(self, within_s: float) -> bool:
        """Whether it is not to be asked by one who waits so many seconds."""
        resting = self._clock.monotonic_s() < self._until_s
        return resting and len(self._failed_s) == self._tries and within_s <= max(self._failed_s)

    def failed(self, within_s: float = math.inf) -> None:
        """A call came to nothing; `within_s` where it was not back by then, and might be for one who waits longer."""
        self._failed_s.append(within_s)
        if len(self._failed_s) == self._tries:
            self._until_s = self._clock.monotonic_s() + self._rest_s

    def succeeded(self, took_s: float) -> None:
        """A call came back in so many seconds: that does not help those who waited less."""
        short = [within_s for within_s in self._failed_s if within_s < took_s]
        self._failed_s.clear()
        self._failed_s.extend(short)
