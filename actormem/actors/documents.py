"""The documents of one knowledge base: what a document that is imported again adds, keeps and takes away.

The law of the file: a passage is known by its document and its text, and stays with its id while both stay.
"""

from collections.abc import Callable, Iterable

import msgspec

from actormem.actors.memory_messages import ImportPassages, KeepPassages
from actormem.actors.services import Services
from actormem.core.knowledge.items import passage_item
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner
from actormem.errors import UsageError

__all__ = ["Documents"]

PASSAGES_MAX = 100_000  # of one knowledge base: 0.5 GB in memory; beyond it, use several


class Documents:
    """Passages of one base, by document.

    Args:
        of_document: The ids of the items that came from a document.
    """

    def __init__(
        self,
        base: Owner,
        partition: Partition,
        services: Services,
        of_document: Callable[[str], Iterable[str]],
    ) -> None:
        self._base = base
        self._partition = partition
        self._services = services
        self._of_document = of_document

    def changes(self, asked: ImportPassages) -> tuple[int, dict[str, Item]]:
        """How many of these passages are new, and every item that is to be put in, by id.

        Raises:
            UsageError: The base would hold too many; nothing changed.
        """
        known = {item.text: item for item in self._items(asked.document_id)}
        new = [passage for passage in dict.fromkeys(asked.passages) if passage.text not in known]
        if len(self._partition) + len(new) > PASSAGES_MAX:
            raise UsageError(
                f"a knowledge base holds at most {PASSAGES_MAX} passages, this one has {len(self._partition)}",
                hint="make several",
            )
        changed: dict[str, Item] = {}
        for passage in asked.passages:
            item = known.get(passage.text)
            if item is not None and item.event_ms != asked.time_ms:
                dated = msgspec.structs.replace(
                    item, event_ms=asked.time_ms, offset_minutes=asked.offset_minutes
                )
                changed[item.id] = dated
        for passage in new:
            made = passage_item(
                self._base,
                asked.document_id,
                passage,
                number=self._services.record.next_item_number(),
                time_ms=asked.time_ms,
                offset=asked.offset_minutes,
                now_ms=self._services.moments.now_ms(),
            )
            changed[made.id] = made
        return len(new), changed

    def others(self, asked: KeepPassages) -> tuple[Item, ...]:
        """The passages of a document that are not among those it has now."""
        return tuple(item for item in self._items(asked.document_id) if item.text not in asked.texts)

    def _items(self, document_id: str) -> list[Item]:
        found = (self._partition.item(id) for id in self._of_document(document_id))
        return [item for item in found if item is not None]
