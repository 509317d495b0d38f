"""What goes into a partition: episodes of what was said, facts found in it, one truth for each attribute.

Every method changes the partition at once, so that the next turn reads what this one wrote, and gives back
the writes that make it last.
"""

from collections.abc import Iterable, Sequence

import anyio.lowlevel
import msgspec

from actormem.actors.block_items import BlockItems, block_name
from actormem.actors.memory_messages import Observed, RememberBlocks, RememberItem
from actormem.actors.retracting import Retraction, retraction
from actormem.actors.services import Services
from actormem.core.facts.extraction import extract
from actormem.core.facts.reconcile import reconcile, rivals
from actormem.core.facts.remember import episode, fact_item, text_hash
from actormem.core.recall.partition import Partition
from actormem.core.values import Fact, Item, Message, Owner
from actormem.errors import UsageError
from actormem.ports import PutItems, Write

__all__ = ["Intake"]

FORGOTTEN = "[forgotten]"
PUT_STEP_PASSAGES = 8  # put into a partition: 4 ms, then other tasks get their turn
SPOKEN_ROLES = ("user", "assistant")


class Intake:
    """Writes into one owner's partition.

    Attributes:
        blocks: Which items stand for which summary blocks.
    """

    def __init__(self, owner: Owner, partition: Partition, services: Services) -> None:
        self._owner = owner
        self._partition = partition
        self._services = services
        self.blocks = BlockItems(partition, services)
        self._tombstones: dict[str, int] = {}  # hash of a text, and when it was forgotten at the latest
        self._by_source: dict[tuple[str, str], set[str]] = {}
        self._by_subject: dict[tuple[str, str], set[str]] = {}
        self._places: dict[str, int] = {}
        self._answered: dict[str, str] = {}

    def loaded(self, tombstones: Iterable[str]) -> None:
        """Take in what the record had."""
        self._tombstones = dict.fromkeys(tombstones, self._services.clock.now_ms())
        for item in sorted(self._partition.items(), key=lambda one: one.sequence):
            self._link(item)

    def observe(self, session_id: str, observed: Sequence[Observed]) -> list[Write]:
        """Take in messages of a live session; those that are in already change nothing."""
        messages = [one.message for one in observed]
        return self._stored(self._taken_in(session_id, messages, imported=False))

    async def imported(self, session_id: str, messages: Sequence[Message]) -> tuple[int, list[Write]]:
        """Take in messages of an older log, other tasks having their turn between; gives how many items it made."""
        changed: dict[str, Item] = {}
        for message in messages:
            changed |= self._taken_in(session_id, [message], imported=True)
            await anyio.lowlevel.checkpoint()
        return len(changed), self._stored(changed)

    def remember(self, asked: RememberItem) -> tuple[Item, list[Write]]:
        """Take in a fact that a caller states. What was forgotten before may be stated again by him."""
        message = Message(role="user", time_ms=asked.event_ms, offset_minutes=asked.offset_minutes)
        self._tombstones.pop(text_hash(asked.fact.text), None)
        changed = self._fact("", asked.fact, message, imported=False, expires_ms=asked.expires_ms)
        kept = next((item for item in changed if item.state == "live"), changed[0])
        return kept, self._stored({item.id: item for item in changed})

    async def remember_blocks(self, news: RememberBlocks) -> list[Write]:
        """Take in the summaries of a session's durable blocks; those that are in already change nothing."""
        changed: dict[str, Item] = {}
        for block in sorted(news.blocks, key=lambda one: one.last):
            if text_hash(block_name(news.key.session_id, block.last)) in self._tombstones:
                continue
            for item in await self.blocks.made(news.key, block):
                self._put(item)
                changed[item.id] = item
        return self._stored(changed)

    def replaced(self, item: Item) -> list[tuple[str, str]]:
        """Values that the item's sources stated and that are no longer so, each with what took its place."""
        found: list[tuple[str, str]] = []
        for message_id in item.source_ids:
            for id in self._by_source.get((item.session_id, message_id), ()):
                fact = self._partition.item(id)
                if fact is not None and fact.value and fact.state == "superseded":
                    newest = self._newest(fact)
                    found.append((fact.value, newest.value if newest else ""))
        return found

    def _newest(self, item: Item) -> Item | None:
        after: Item | None = item
        while after is not None and after.superseded_by:
            after = self._partition.item(after.superseded_by)
        return after if after is not item else None

    def edit(self, item: Item, text: str) -> tuple[Item, list[Write]]:
        """Give an item another text. Its version goes up; everything else of it stays.

        Raises:
            UsageError: It is superseded: what took its place may be edited.
        """
        if item.state != "live":
            raise UsageError("only a live item can be edited", hint=f"it is {item.state}")
        value = text if item.value and item.value not in text else item.value
        edited = msgspec.structs.replace(item, text=text, value=value, version=item.version + 1)
        self._put(edited)
        return edited, self._stored({edited.id: edited})

    def seen_in(self, session_id: str, message_ids: Iterable[str]) -> set[str]:
        """Items that come from these messages of the session alone."""
        found: set[str] = set()
        if session_id:
            for message_id in message_ids:
                found |= self._by_source.get((session_id, message_id), set())
        return found

    def chain(self, item: Item) -> tuple[Item, ...]:
        """The item with every version it superseded or that superseded it."""
        found: dict[str, Item] = {}
        waiting = [item]
        while waiting:
            one = waiting.pop()
            if one.id not in found:
                found[one.id] = one
                near = (self._partition.item(id) for id in (one.supersedes, one.superseded_by) if id)
                waiting += [other for other in near if other is not None]
        return tuple(found.values())

    def of_sources(self, items: Iterable[Item]) -> list[Item]:
        """Every item that comes from a message these items come from."""
        ids: dict[str, None] = {}
        for item in items:
            for source in item.sources:
                ids |= dict.fromkeys(self._by_source.get(source, ()))
        found = (self._partition.item(id) for id in ids)
        return [item for item in found if item is not None]

    def without_words(self, item: Item, words: Iterable[str]) -> Item:
        """The item with these words cut out of its text."""
        text = item.text
        for word in sorted(filter(None, words), key=len, reverse=True):
            text = text.replace(word, FORGOTTEN)
        return msgspec.structs.replace(item, text=text, version=item.version + 1)

    def retraction(self, session_id: str, message_ids: Iterable[str]) -> Retraction:
        """What goes and what changes when these messages of the session were never said; nothing is changed yet."""
        ids = frozenset(message_ids)
        found = retraction(
            self._partition,
            {(session_id, message_id) for message_id in ids},
            lambda source: self._by_source.get(source, ()),
            lambda subject, attribute: self._by_subject.get((subject, attribute), ()),
        )
        blocks, again = self.blocks.rewound(session_id, ids)
        return Retraction((*found.gone, *blocks), (*found.changed, *again))

    def retracted(self, session_id: str, found: Retraction) -> list[Write]:
        """Put in what changed, once what goes has been removed; the session is heard on from where it is now."""
        before = {
            item.id: item for one in found.changed if (item := self._partition.item(one.id)) is not None
        }
        for item in found.changed:
            self.removed(before[item.id])
            self._put(item)
        self._places.pop(session_id, None)
        self._answered.pop(session_id, None)
        for place, item in enumerate(self._partition.session_episodes(session_id)):
            if not place:
                self._places[session_id] = item.sequence
            if item.speaker == "assistant":
                self._answered[session_id] = item.text
                break
        return self._stored({item.id: item for item in found.changed})

    def removed(self, item: Item) -> None:
        """An item has left the partition."""
        if item.source == "summary":
            self.blocks.removed(item)
            return
        for source in item.sources:
            self._by_source.get(source, set()).discard(item.id)
        self._by_subject.get((item.subject, item.attribute), set()).discard(item.id)

    def buried(self, hashes: Iterable[str]) -> None:
        """Texts that are not to be taken in again, unless the user says them anew."""
        self._tombstones.update(dict.fromkeys(hashes, self._services.clock.now_ms()))

    async def put_passages(self, changed: dict[str, Item]) -> list[Write]:
        """Put passages of documents in as they are, other tasks having their turn between."""
        for count, item in enumerate(changed.values(), 1):
            self._put(item)
            if count % PUT_STEP_PASSAGES == 0:
                await anyio.lowlevel.checkpoint()
        return self._stored(changed)

    def of_document(self, document_id: str) -> tuple[str, ...]:
        """Ids of the items that came from a document of a knowledge base."""
        return tuple(self._by_source.get(("", document_id), ()))

    def _taken_in(self, session_id: str, messages: Sequence[Message], *, imported: bool) -> dict[str, Item]:
        changed: dict[str, Item] = {}
        for message in messages:
            if message.role not in SPOKEN_ROLES or not message.text.strip():
                continue
            if not self._by_source.get((session_id, message.id)):
                for item in self._one(session_id, message, imported=imported):
                    changed[item.id] = item
            if message.role == "assistant":
                self._answered[session_id] = message.text
        return changed

    def _one(self, session_id: str, message: Message, *, imported: bool) -> list[Item]:
        if self._is_buried(message.text, message, imported):
            return []
        place = self._places.get(session_id, 0) + 1
        self._places[session_id] = place
        made = episode(
            self._owner,
            session_id,
            message,
            number=self._services.record.next_item_number(),
            place=place,
            imported=imported,
            now_ms=self._services.clock.now_ms(),
        )
        self._put(made)
        changed = [made]
        if message.role == "user":
            previous = self._answered.get(session_id, "")
            for fact in extract(
                message.text,
                previous=previous,
                time_ms=message.time_ms,
                offset_minutes=message.offset_minutes,
            ):
                if self._wanted(fact, message, imported):
                    changed += self._fact(session_id, fact, message, imported=imported)
        return changed

    def _wanted(self, fact: Fact, message: Message, imported: bool) -> bool:
        worth = fact.explicit or fact.importance >= self._services.options.write_threshold
        return worth and not any(self._is_buried(text, message, imported) for text in (fact.text, fact.quote))

    def _is_buried(self, text: str, message: Message, imported: bool) -> bool:
        """Whether the text was forgotten, and not said anew since."""
        buried_ms = self._tombstones.get(text_hash(text))
        return buried_ms is not None and (imported or message.time_ms <= buried_ms)

    def _fact(
        self, session_id: str, fact: Fact, message: Message, *, imported: bool, expires_ms: int = 0
    ) -> list[Item]:
        new = fact_item(
            self._owner,
            session_id,
            fact,
            message,
            number=self._services.record.next_item_number(),
            imported=imported,
            now_ms=self._services.clock.now_ms(),
        )
        new = msgspec.structs.replace(new, expires_ms=expires_ms) if expires_ms else new
        ids = [id for name in rivals(new.attribute) for id in self._by_subject.get((new.subject, name), ())]
        existing = [item for id in ids if (item := self._partition.item(id)) is not None]
        changed = [change.item for change in reconcile(new, existing, negated=fact.negated)]
        for item in changed:
            self._put(item)
        return changed

    def _put(self, item: Item) -> None:
        self._partition.put(item)
        self._link(item)

    def _link(self, item: Item) -> None:
        if item.source == "summary":  # its messages are taken in by themselves
            self.blocks.link(item)
            return
        for source in item.sources:
            self._by_source.setdefault(source, set()).add(item.id)
        if item.attribute:
            self._by_subject.setdefault((item.subject, item.attribute), set()).add(item.id)
        if item.kind == "episode":
            self._places[item.session_id] = max(self._places.get(item.session_id, 0), item.sequence)
            if item.speaker == "assistant":
                self._answered[item.session_id] = item.text

    def _stored(self, changed: dict[str, Item]) -> list[Write]:
        return [PutItems(tuple(changed.values()))] if changed else []
