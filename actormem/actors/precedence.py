"""Who embeds first: a query somebody waits for goes before the items nobody waits for."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from actormem.kernel import Clock
from actormem.limits import EMBED_WAIT_S

__all__ = ["Precedence"]


class Precedence:
    """Counts queries on their way; background work waits until there is none, but not for ever."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queries_count = 0
        self._free = anyio.Event()
        self._free.set()

    @contextmanager
    def query(self) -> Generator[None]:
        """A query is being embedded inside."""
        if self._queries_count == 0:
            self._free = anyio.Event()
        self._queries_count += 1
        try:
            yield
        finally:
            self._queries_count -= 1
            if self._queries_count == 0:
                self._free.set()

    async def background(self) -> None:
        """Return when no query is on its way, or after `EMBED_WAIT_S`, so that the busiest server indexes too."""
        if self._queries_count:
            with self._clock.deadline(EMBED_WAIT_S):
                await self._free.wait()
