"""Which items come from which messages, and which speak of the same subject: the threads between one owner's items.

The law of the file: it holds ids, and of facts the form in which they are compared; it follows the partition, and
changes nothing in it.
"""

from collections.abc import Iterable, Sequence

import msgspec

from actormem.core.erased_words import MARK
from actormem.core.facts.passages import passages_of, without_words
from actormem.core.facts.reconcile import closing, rivals, said
from actormem.core.recall.partition import Partition
from actormem.core.values import Item

__all__ = ["Links"]


class Links:
    """The links between the items of one partition."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        # Dicts and not sets: the garbage collector visits every set, but no dict of texts alone.
        self._by_source: dict[tuple[str, str], dict[str, None]] = {}
        # With what each says in the form that is compared: an owner may have thousands of one attribute.
        self._by_subject: dict[tuple[str, str], dict[str, str]] = {}

    def add(self, item: Item) -> None:
        """An item is in the partition, in this state."""
        for source in item.sources:
            self._by_source.setdefault(source, {})[item.id] = None
        if item.attribute:
            self._by_subject.setdefault((item.subject, item.attribute), {})[item.id] = said(item)

    def drop(self, item: Item) -> None:
        """An item has left the partition."""
        for source in item.sources:
            self._by_source.get(source, {}).pop(item.id, None)
        self._by_subject.get((item.subject, item.attribute), {}).pop(item.id, None)

    def of_source(self, source: tuple[str, str]) -> Iterable[str]:
        """Ids of the items that come from a message: its session and its id."""
        return self._by_source.get(source, ())

    def of_subject(self, subject: str, attribute: str) -> Iterable[str]:
        """Ids of the items that say this of a subject."""
        return self._by_subject.get((subject, attribute), ())

    def items(self, ids: Iterable[str]) -> list[Item]:
        """Those of the items that are in the partition."""
        return [item for id in ids if (item := self._partition.item(id)) is not None]

    def of_document(self, document_id: str) -> tuple[str, ...]:
        """Ids of the items that came from a document of a knowledge base."""
        return tuple(self.of_source(("", document_id)))

    def seen_in(self, session_id: str, message_ids: Iterable[str]) -> set[str]:
        """Items that come from these messages of the session alone."""
        found: set[str] = set()
        if session_id:
            for message_id in message_ids:
                found.update(self.of_source((session_id, message_id)))
        return found

    def chain(self, item: Item) -> tuple[Item, ...]:
        """The item with every version it superseded or that superseded it."""
        found: dict[str, Item] = {}
        waiting = [item]
        while waiting:
            one = waiting.pop()
            if one.id not in found:
                found[one.id] = one
                waiting += self.items((one.supersedes, one.superseded_by))
                waiting += [other for other in self.rivals(one) if other.superseded_by == one.id]
        return tuple(found.values())

    def of_sources(self, items: Iterable[Item]) -> list[Item]:
        """Every item that comes from a message these items come from."""
        ids: dict[str, None] = {}
        for item in items:
            for source in item.sources:
                ids |= dict.fromkeys(self.of_source(source))
        return self.items(ids)

    def rivals(self, item: Item) -> list[Item]:
        """Items of its subject and scope that may change it or be changed by it, itself among them."""
        ids = [id for name in rivals(item.attribute) for id in self.of_subject(item.subject, name)]
        return [one for one in self.items(ids) if one.scope == item.scope]

    def competitors(self, new: Item, *, negated: bool = False) -> list[Item]:
        """Of its rivals those that `reconcile` wants to see for it: of a `many` attribute, the ones that say the same.

        Cost:
            Compares each fact's form with that of `new`; a form was made when its fact was added, in 30 us.
        """
        if new.cardinality == "one":
            return self.rivals(new)
        form = said(closing(new) if negated else new)
        ids = [id for name in rivals(new.attribute) for id in self._saying(new.subject, name, form)]
        return [one for one in self.items(ids) if one.scope == new.scope]

    def _saying(self, subject: str, attribute: str, form: str) -> list[str]:
        return [id for id, known in self._by_subject.get((subject, attribute), {}).items() if known == form]

    def without_words(self, gone: Sequence[Item]) -> tuple[list[Item], set[str]]:
        """What these items quote, cut out of the episodes they came from; and what the messages were before.

        Returns:
            The episodes that stay and changed, in their new state, and the whole texts of all those messages.
        """
        quotes = [item.text if item.kind == "episode" else item.quote for item in gone]
        ids = {item.id for item in gone}
        rewritten: list[Item] = []
        wholes: set[str] = set()
        for source in dict.fromkeys(source for item in gone for source in item.sources):
            said = passages_of(self.items(self.of_source(source)))
            texts = [one.text for one in said]
            wholes.add("".join(texts))
            for one, text in zip(said, without_words(texts, quotes, MARK), strict=True):
                if text != one.text and one.id not in ids:
                    rewritten.append(msgspec.structs.replace(one, text=text, version=one.version + 1))
        return rewritten, wholes - {""}
