"""How often memories are shown and used: counted beside the reply path, kept in batches.

The law of the file: counts are hints. They are written with what is written anyway, so a crash may lose those of
the last seconds, and nothing but archiving by age is decided by them.
"""

from collections.abc import Iterable, Sequence

from actormem.actors.memory_messages import CountShown
from actormem.actors.services import Services
from actormem.core.health.usage import used_count
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, SessionKey
from actormem.errors import OverloadedError, StoppedError
from actormem.ports import PutItems, Write

__all__ = ["ShownCounts", "TurnUsage"]

WRITE_EVERY_S = 10.0  # counts ride along with another write, no more often than this
WAITING_MAX = 256  # items whose counts wait; then they are written by themselves


class TurnUsage:
    """What the notes of a session's turn showed, until its reply is there to be compared."""

    def __init__(self, key: SessionKey, services: Services) -> None:
        self._key = key
        self._services = services
        self._hits: tuple[Item, ...] = ()
        self._shown: dict[str, None] = {}

    def noted(self, shown: Iterable[str], hits: Sequence[Item]) -> None:
        """A note was written that shows these items, of which these are hits."""
        self._hits = tuple(hits)
        self._shown |= dict.fromkeys(shown)
        self._services.counters.hits_shown += len(self._hits)

    def redacted(self) -> None:
        """Some of them may be gone: whether the reply uses one is not told of this turn."""
        self._hits = ()

    def replied(self, reply: str) -> None:
        """The turn has ended with this reply, an empty one too: tell long-term memory what was shown in it."""
        self._services.counters.hits_used += used_count(self._hits, reply, self._services.words)
        self._hits = ()
        if not self._shown:
            return
        try:
            self._services.ref("longterm", self._key.owner).tell(CountShown(tuple(self._shown)))
        except (OverloadedError, StoppedError):
            if len(self._shown) < WAITING_MAX:
                return  # told with those of the next turn
        self._shown.clear()


class ShownCounts:
    """Counts of one owner's items that are in the partition and not yet in the record."""

    def __init__(self, partition: Partition, services: Services) -> None:
        self._partition = partition
        self._services = services
        self._waiting: dict[str, None] = {}
        self._written_s = services.clock.monotonic_s()

    def count(self, ids: Iterable[str]) -> bool:
        """These items were shown once more; says whether so many wait that they should be written now."""
        now_ms = self._services.clock.now_ms()
        self._waiting |= dict.fromkeys(id for id in ids if self._partition.count_shown(id, now_ms))
        return len(self._waiting) >= WAITING_MAX

    def due(self) -> list[Write]:
        """What may go with another write now."""
        rested = self._services.clock.monotonic_s() - self._written_s >= WRITE_EVERY_S
        return self.rest() if rested or len(self._waiting) >= WAITING_MAX else []

    def rest(self) -> list[Write]:
        """All that waits; of items that are gone meanwhile nothing."""
        found = (self._partition.item(id) for id in self._waiting)
        items = tuple(item for item in found if item is not None)
        self._waiting.clear()
        self._written_s = self._services.clock.monotonic_s()
        return [PutItems(items)] if items else []
