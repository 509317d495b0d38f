"""What long-term memory does to keep its items in order: archive, retire, check, repair.

The law of the file: it changes the partition and gives back the writes that make it last, as `intake` does.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from actormem.actors import memory_messages as say
from actormem.actors.checking import health, superseded
from actormem.actors.forgetting import Begun
from actormem.actors.intake import Intake
from actormem.actors.retiring import RETENTION, cooled, quotes_cut, retirement, retirement_writes, told_again
from actormem.actors.services import Services
from actormem.actors.vectors import PartitionVectors
from actormem.core.health.retention import retired
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner
from actormem.ports import PutItems, Write

__all__ = ["Housekeeping", "Order"]

Order: TypeAlias = say.ArchiveItem | say.EmbedItems | say.ReadHealth | say.RetireItems | say.SupersedeItems
Done: TypeAlias = tuple[list[Write], object]


class Housekeeping:
    """Keeps one owner's partition in order.

    Args:
        item_of: The item of an id, or a NotFoundError.
        erase: Begins the erasure of items, for a reason, and buries hashes with them.
    """

    def __init__(
        self,
        owner: Owner,
        partition: Partition,
        intake: Intake,
        services: Services,
        *,
        item_of: Callable[[str], Item],
        erase: Callable[[tuple[Item, ...], str, tuple[str, ...]], Awaitable[Begun]],
    ) -> None:
        self._owner = owner
        self._partition = partition
        self._intake = intake
        self._services = services
        self._item_of = item_of
        self._erase = erase

    async def done(self, asked: Order, vectors: PartitionVectors) -> Done:
        """Do it; gives what to write and the answer for then."""
        match asked:
            case say.ArchiveItem():
                item, writes = self._intake.archive(self._item_of(asked.id), archived=asked.archived)
                if writes:
                    vectors.remove(cooled(self._partition, [item]))
                return writes, item
            case say.RetireItems():
                return await self._retire(vectors)
            case say.SupersedeItems():
                items = superseded(self._item_of(asked.id), [self._item_of(id) for id in asked.others])
                cooled(self._partition, items)
                return [PutItems(items)], None
            case say.EmbedItems():
                vectors.again()
                return [], None
            case say.ReadHealth():
                return [], health(self._partition, vectors)

    async def _retire(self, vectors: PartitionVectors) -> Done:
        now_ms, retention = self._services.clock.now_ms(), self._services.options.retention
        found = retired(self._partition.items(), retention, now_ms)
        cut_count = quotes_cut(self._partition, found)
        writes, forgotten = await self._erase(found.gone, RETENTION, told_again(found))
        vectors.remove(cooled(self._partition, found.changed))
        answer = retirement(found, forgotten, cut_count)
        return [*writes, *retirement_writes(self._owner, found, answer)], answer
