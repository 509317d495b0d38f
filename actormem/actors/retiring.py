"""One step of retention in a partition: what leaves it, what cools down in it, and what to write of that."""

from collections.abc import Sequence

from actormem.actors.block_items import block_name
from actormem.actors.memory_messages import Retirement
from actormem.core.facts.remember import text_hash
from actormem.core.health.retention import RETIRE_STEP_ITEMS, Retired
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import DeleteItems, PutItems, PutTombstones, Write

__all__ = ["cooled", "retirement", "retirement_writes", "told_again"]


def cooled(partition: Partition, changed: Sequence[Item]) -> list[int]:
    """Put items in in their new state; gives the labels of those that are archived now."""
    for item in changed:
        partition.put(item)
    labels = (partition.label(item.id) for item in changed if item.state == "archived")
    return [label for label in labels if label is not None]


def retirement(partition: Partition, found: Retired, shown_in: frozenset[SessionKey]) -> Retirement:
    """The answer to one step, before the partition is changed."""
    before = [(partition.item(item.id), item) for item in found.changed]
    cut_count = sum(1 for old, new in before if old is not None and old.quote != new.quote)
    more = RETIRE_STEP_ITEMS in (len(found.gone), len(found.changed))
    return Retirement(found.gone, shown_in, len(found.gone) + cut_count, more)


def told_again(found: Retired) -> tuple[str, ...]:
    """Hashes of what a session tells of again when it wakes: its blocks, whose items are not to be made anew."""
    blocks = (one for one in found.gone if one.source == "summary")
    return tuple(text_hash(block_name(one.session_id, one.sequence)) for one in blocks)


def retirement_writes(owner: Owner, found: Retired) -> list[Write]:
    """What makes one step last."""
    writes: list[Write] = [PutItems(found.changed)] if found.changed else []
    if found.gone:
        writes.append(DeleteItems(owner, tuple(item.id for item in found.gone)))
        writes.append(PutTombstones(owner, told_again(found)))
    return writes
