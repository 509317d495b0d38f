"""Recall of a large owner while most of the items are still on their way from the record.

The newest items are held whole. A query brings those whose stored vectors are nearest to it, with the facts that
came from the same messages and what took their place, so that nothing is shown as true that has ended. The law of
the file: an answer never says that something is gone or all there is; each says that the memory is being loaded.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.finding import Finding
from actormem.actors.intake import Intake
from actormem.actors.services import Services
from actormem.core.ids import item_id, item_number
from actormem.core.ownership import check_owner
from actormem.core.recall.partition import Partition
from actormem.core.recall.stored_vectors import StoredVectors, vector_rows
from actormem.core.values import Item, Owner
from actormem.limits import LOAD_STEP_ITEMS
from actormem.ports import OwnerItems, Vectors

__all__ = ["EarlyRecall", "number_of", "put_stored"]

NEAREST_MIN: Final = 32  # items brought in for one query, or as many as it wants: 5 ms
AFTER_MAX: Final = 8  # items that took each other's place, one after the other
BESIDE: Final = 2  # numbers after an item's that its facts have, mostly
HELD_MAX: Final = 1_536  # items: more are not brought in, so that a search here stays short
VECTORS_WAIT_S: Final = 0.1  # for stored vectors to be read: of 100,000 some are better than none


class EarlyRecall:
    """A small partition beside the one that is being filled.

    Attributes:
        vectors: What has been read of the owner's vectors; filled by the loader, newest first.
        read: Set when they are read whole.
        free: Set while no query is being answered.
    """

    def __init__(self, owner: Owner, services: Services) -> None:
        dimensions = services.embedder.dimensions
        self._owner = owner
        self._services = services
        self._partition = Partition(dimensions)
        self._intake = Intake(owner, self._partition, services, lambda _episode, _facts, _previous: [])
        self._finding = Finding(owner, self._partition, self._intake, services)
        self.vectors = StoredVectors(dimensions)
        self.read = anyio.Event()
        self.free = anyio.Event()
        self.free.set()

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks in the episodes that are held."""
        return self._partition.speakers

    async def hold(self, stored: OwnerItems) -> None:
        """Take in the newest items."""
        await self._put(stored.items)
        ids, rows = vector_rows(stored.vectors, self._services.embedder.dimensions)
        self._partition.set_vectors(ids, rows)

    async def recalled(self, asked: say.RecallItems) -> say.Recalled:
        """What answers a query as far as it can be found: words, ids and attributes are sought among what is held."""
        self.free = anyio.Event()
        try:
            if asked.query:
                with self._services.clock.deadline(VECTORS_WAIT_S):
                    await self.read.wait()
                query = None if asked.vectors is None else asked.vectors[0]
                if query is not None and bool(query.any()):
                    await self._bring(query, asked.limit)
            found = await self._finding.recalled(asked, None)
        finally:
            self.free.set()
        return msgspec.structs.replace(found, changed=(), gone=(), profile=None, degraded=("loading",))

    async def _bring(self, query: Vectors, limit: int) -> None:
        """Take in the items nearest to a query."""
        numbers = await anyio.to_thread.run_sync(
            self.vectors.nearest, query, max(limit, NEAREST_MIN), limiter=self._services.pools.searching
        )
        if len(self._partition) + len(numbers) > HELD_MAX:
            return
        near = self._missing(numbers)
        if near:
            beside = self._missing(number + step for number in near for step in range(1, BESIDE + 1))
            read = await self._services.record.items_of(self._owner, [*near, *beside])
            wanted = {number_of(item) for item in read if item.attribute} | set(near)
            items = [item for item in read if number_of(item) in wanted]
            await self._put(items)
            await self._put_after(items)

    def _missing(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in dict.fromkeys(numbers) if self._partition.item(item_id(number)) is None]

    async def _put_after(self, items: Sequence[Item]) -> None:
        """Take in what took the place of the items, too."""
        for _ in range(AFTER_MAX):
            after = (number for item in items if (number := item_number(item.superseded_by)) is not None)
            missing = self._missing(after)
            if not missing:
                return
            items = await self._services.record.items_of(self._owner, missing)
            await self._put(items)

    async def _put(self, items: Sequence[Item]) -> None:
        """Take in items, with the vectors that are read."""
        await put_stored(self._intake, self._owner, items)
        places, rows = self.vectors.of([number_of(item) for item in items])
        self._partition.set_vectors([items[place].id for place in places], rows)


async def put_stored(intake: Intake, owner: Owner, items: Sequence[Item]) -> None:
    """Take in items of the owner as the record has them, other tasks having their turn between.

    Raises:
        CorruptError: One is another owner's; none is taken in.
    """
    check_owner(items, owner)
    for count, item in enumerate(items, 1):
        intake.stored(item)
        if count % LOAD_STEP_ITEMS == 0:
            await anyio.lowlevel.checkpoint()


def number_of(item: Item) -> int:
    """The number of a stored item, which its id is made of."""
    number = item_number(item.id)
    assert number is not None, "an item of the record has a number"
    return number
