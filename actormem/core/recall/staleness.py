"""Which episodes only state what a newer fact has taken the place of.

A superseded fact is no hit, but the message that stated it still is one, with the old value in it. Such a
message is not hidden, since more may be in it; it is ranked down, so that the newer one stands above it.
"""

from collections.abc import Callable

from actormem.core.values import Item

__all__ = ["StaleEpisodes"]


class StaleEpisodes:
    """Counts, for each source message, the live and the superseded facts that came from it."""

    def __init__(self, mark: Callable[[int, bool], None]) -> None:
        """`mark(row, stale)` is told of each change of an episode's row."""
        self._mark = mark
        # Dicts and not sets: the garbage collector visits every set, but no dict of numbers alone.
        self._rows: dict[str, dict[int, None]] = {}
        self._facts: dict[str, tuple[int, int]] = {}

    def add(self, row: int, item: Item) -> None:
        """An item is there now."""
        if item.kind == "episode":
            for source in item.source_ids:
                self._rows.setdefault(source, {})[row] = None
                self._tell(source)
        elif item.attribute:
            self._count(item, 1)

    def drop(self, row: int, item: Item) -> None:
        """An item is there no more, in this state; it was added before."""
        if item.kind == "episode":
            for source in item.source_ids:
                rows = self._rows.get(source, {})
                rows.pop(row, None)
                if not rows:
                    self._rows.pop(source, None)
        elif item.attribute:
            self._count(item, -1)

    def _count(self, item: Item, change: int) -> None:
        for source in item.source_ids:
            live, superseded = self._facts.get(source, (0, 0))
            if item.state == "superseded":
                superseded += change
            else:
                live += change
            if live or superseded:
                self._facts[source] = live, superseded
            else:
                del self._facts[source]
            self._tell(source)

    def _tell(self, source: str) -> None:
        live, superseded = self._facts.get(source, (0, 0))
        for row in self._rows.get(source, ()):
            self._mark(row, superseded > 0 and not live)
