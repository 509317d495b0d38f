"""Checking and repairing an owner's items: what a checkup is told, and one item put in the place of others."""

from collections.abc import Sequence

import msgspec

from actormem.actors.memory_messages import Health
from actormem.actors.vectors import PartitionVectors
from actormem.core.recall.partition import Partition
from actormem.core.values import Item
from actormem.errors import UsageError

__all__ = ["health", "superseded"]


def health(partition: Partition, vectors: PartitionVectors) -> Health:
    """What a checkup looks at; what is being embedded at the moment is not missing."""
    works = partition.vector_count > 0 and not vectors.pending
    return Health(tuple(partition.items()), frozenset(partition.without_vectors()) if works else frozenset())


def superseded(item: Item, others: Sequence[Item]) -> tuple[Item, ...]:
    """The others, in whose place the item stands, and the item, which names the last of them.

    Raises:
        UsageError: One of them is not live, or stands twice.
    """
    every = (item, *others)
    if not others or len({one.id for one in every}) < len(every) or any(one.state != "live" for one in every):
        raise UsageError("an item takes the place of other live items only")
    change = msgspec.structs.replace
    after = [change(one, state="superseded", superseded_by=item.id) for one in others]
    return (*after, item if item.supersedes else change(item, supersedes=others[0].id))
