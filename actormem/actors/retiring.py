"""One step of retention in a partition: what leaves it, what cools down in it, and what to write of that."""

from collections.abc import Sequence

from actormem.actors.block_items import block_name
from actormem.actors.memory_messages import Forgotten, Retirement
from actormem.core.erasure import Erasure, encode_erasure, erasure_name
from actormem.core.facts.remember import text_hash
from actormem.core.health.retention import RETIRE_STEP_ITEMS, Retired
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner
from actormem.ports import PutIntent, PutItems, Write

__all__ = [
    "CLEARING",
    "RETENTION",
    "cooled",
    "files_due",
    "quotes_cut",
    "retirement",
    "retirement_writes",
    "told_again",
]

RETENTION = "retention"  # why an epoch ends that showed what is too old
CLEARING = Erasure()  # nothing but caches and files


def cooled(partition: Partition, changed: Sequence[Item]) -> list[int]:
    """Put items in in their new state; gives the labels of those that are archived now."""
    for item in changed:
        partition.put(item)
    labels = (partition.label(item.id) for item in changed if item.state == "archived")
    return [label for label in labels if label is not None]


def quotes_cut(partition: Partition, found: Retired) -> int:
    """How many items lose the words of a message; before the partition is changed."""
    before = [(partition.item(item.id), item) for item in found.changed]
    return sum(1 for old, new in before if old is not None and old.quote != new.quote)


def retirement(found: Retired, forgotten: Forgotten, cut_count: int) -> Retirement:
    """The answer to one step."""
    more = RETIRE_STEP_ITEMS in (len(found.gone), len(found.changed))
    return Retirement(forgotten, len(found.gone) + cut_count, more)


def told_again(found: Retired) -> tuple[str, ...]:
    """Hashes of what a session tells of again when it wakes: its blocks, whose items are not to be made anew."""
    blocks = (one for one in found.gone if one.source == "summary")
    return tuple(text_hash(block_name(one.session_id, one.sequence)) for one in blocks)


def retirement_writes(owner: Owner, found: Retired, step: Retirement) -> list[Write]:
    """What makes one step last, beside the erasure it begins; where words go, caches and files are to be cleared."""
    writes: list[Write] = [PutItems(found.changed)] if found.changed else []
    if step.erased_count:
        writes.append(files_due(owner))
    return writes


def files_due(owner: Owner) -> PutIntent:
    """Note that caches and files are to be cleared of an owner's words."""
    return PutIntent(owner, erasure_name(CLEARING), encode_erasure(CLEARING))
