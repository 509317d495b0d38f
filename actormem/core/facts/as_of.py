"""What held at an earlier time, told from the facts as they are stored now.

An item keeps when it was said first and when last, so a value that was left and taken up again has a gap in which
another held: the facts of that time are put in a chain of their own, by the law of `reconcile`.
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from actormem.core.facts.reconcile import chain, rivals, said
from actormem.core.facts.retract import freed
from actormem.core.values import Item

__all__ = ["held_at"]


def held_at(facts: Iterable[Item], at_ms: int) -> frozenset[str]:
    """Ids of the facts that held at a moment.

    Args:
        facts: One owner's facts, in every state. Those without an attribute are passed over.
        at_ms: The moment, UTC milliseconds. Where a time ran out is not looked at.

    Returns:
        What had been said by then and was not ended by anything said by then. What something that has since been
        forgotten had ended stays ended.

    Cost:
        O(n log n) for n facts.
    """
    every = [item for item in facts if item.attribute]
    known = {item.id for item in every}
    single = {matter(item) for item in every if item.cardinality == "one"}
    groups: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in every:
        then = as_said_by(freed(item, known), at_ms)
        if then is not None:
            one_value = matter(item) in single
            groups[matter(item) if one_value else (matter(item)[0], family(item), said(item))].append(then)
    held: set[str] = set()
    for key, rows in groups.items():
        linked = chain(rows, "", one_value=key in single)
        held.update(item.id for item in linked if item.state == "live")
    return frozenset(held)


def matter(item: Item) -> tuple[str, ...]:
    """Of whom and of what it speaks."""
    return item.subject.casefold(), item.attribute


def family(item: Item) -> str:
    """One name for the attributes whose values end one another."""
    return min(rivals(item.attribute))


def as_said_by(item: Item, at_ms: int) -> Item | None:
    """The item with the time of a statement of it that was made by then; None where there was none."""
    if item.event_ms <= at_ms:
        return item
    return msgspec.structs.replace(item, event_ms=item.since_ms) if item.since_ms <= at_ms else None
