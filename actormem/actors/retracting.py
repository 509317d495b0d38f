"""What leaves a partition, and what changes in it, when messages of a session were rewound."""

from collections.abc import Callable, Iterable

import msgspec

from actormem.core.facts.passages import passages_of
from actormem.core.facts.reconcile import competes, rivals, said
from actormem.core.facts.retract import Sources, relinked, without_sources
from actormem.core.recall.partition import Partition
from actormem.core.values import Item

__all__ = ["Retraction", "retraction"]


class Retraction(msgspec.Struct, frozen=True):
    """Items that go, and the others that change, in their new state."""

    gone: tuple[Item, ...]
    changed: tuple[Item, ...]


def retraction(
    partition: Partition,
    gone: Sources,
    from_source: Callable[[tuple[str, str]], Iterable[str]],
    of_subject: Callable[[str, str], Iterable[str]],
) -> Retraction:
    """What follows for the partition, which is not changed, when these messages were never said.

    Args:
        from_source: Ids of the items that come from a message.
        of_subject: Ids of the items with a subject and an attribute.

    Returns:
        Nothing, where no item comes from them: so it may be done again.

    Cost:
        Grows with the items of those messages and their rivals, not with the partition.
    """

    def items(ids: Iterable[str]) -> list[Item]:
        return [item for id in ids if (item := partition.item(id)) is not None]

    def episode(source: tuple[str, str]) -> Item | None:
        said = passages_of(items(from_source(source)))
        return msgspec.structs.replace(said[0], text="".join(one.text for one in said)) if said else None

    touched = items(dict.fromkeys(id for source in sorted(gone) for id in sorted(from_source(source))))
    leaving: dict[str, Item] = {}
    changed: dict[str, Item] = {}
    for item in touched:
        stays = [source for source in item.sources if source not in gone]
        episodes = {source: one for source in stays if (one := episode(source)) is not None}
        after = without_sources(item, gone, episodes)
        if after is None:
            leaving[item.id] = item
        elif after != item:
            changed[item.id] = after
    for item in _of_each_chain(touched):
        ids = [id for name in rivals(item.attribute) for id in of_subject(item.subject, name)]
        near = [changed.get(one.id, one) for one in items(ids) if one.id not in leaving]
        rows = [one for one in near if one.id == item.id or (one.scope == item.scope and competes(item, one))]
        changed |= {one.id: one for one in relinked(item, rows, leaving.keys())}
    return Retraction(tuple(leaving.values()), tuple(changed.values()))


def _of_each_chain(items: Iterable[Item]) -> Iterable[Item]:
    """One item of each chain: of an attribute, or of one value of it where it has many."""
    facts = (item for item in items if item.attribute)
    return {
        (one.scope, one.subject, one.attribute, "" if one.cardinality == "one" else said(one)): one
        for one in facts
    }.values()
