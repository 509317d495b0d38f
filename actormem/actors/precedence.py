"""Who embeds first: a query somebody waits for goes before the items nobody waits for."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from actormem.kernel import Clock
from actormem.limits import EMBED_QUIET_S, EMBED_WAIT_S

__all__ = ["Precedence"]


class Precedence:
    """Counts queries on their way; background work waits until there was none for a moment, but not for ever.

    The moment matters: where one turn follows on another, the next query is already coming.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queries_count = 0
        self._last_s = -EMBED_QUIET_S

    @contextmanager
    def query(self) -> Generator[None]:
        """A query is being embedded inside."""
        self._queries_count += 1
        try:
            yield
        finally:
            self._queries_count -= 1
            self._last_s = self._clock.monotonic_s()

    async def background(self, hurry: anyio.Event) -> None:
        """Return when all is quiet, when `hurry` is set, or after `EMBED_WAIT_S`: the busiest server indexes too."""
        with self._clock.deadline(EMBED_WAIT_S):
            while not hurry.is_set() and not self._quiet():
                with self._clock.deadline(EMBED_QUIET_S):
                    await hurry.wait()

    def _quiet(self) -> bool:
        return not self._queries_count and self._clock.monotonic_s() - self._last_s >= EMBED_QUIET_S
