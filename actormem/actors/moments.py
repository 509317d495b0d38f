"""When things are said and stored, where nobody says when: by the wall clock, which others may set back.

The law of the file: no time that is given here lies before one that was given earlier, in this process or in what the
record holds of the ones before; so what is said later is never older. Times that callers give stay as they are.
A clock that ran ahead and was set right is waited for: until then everything is said at the same moment, in order.
"""

from actormem.kernel import Clock

__all__ = ["Moments"]


class Moments:
    """Times that never go back.

    Args:
        newest_ms: The time that the record's newest item was stored at, UTC milliseconds; 0 where there is none.
    """

    def __init__(self, clock: Clock, newest_ms: int) -> None:
        self._clock = clock
        self._newest_ms = newest_ms

    def now_ms(self) -> int:
        """Now, or the newest time before where the clock is behind it; UTC, milliseconds since 1970."""
        self._newest_ms = max(self._newest_ms, self._clock.now_ms())
        return self._newest_ms
