"""What goes into a partition: episodes of what was said, facts found in it, one truth for each attribute.

Every method changes the partition at once, so that the next turn reads what this one wrote, and gives back
the writes that make it last.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import anyio.lowlevel
import msgspec

from actormem.actors.block_items import BlockItems, block_name
from actormem.actors.burials import BuriedTexts
from actormem.actors.links import Links
from actormem.actors.memory_messages import EditItem, ImportItems, Observed, RememberBlocks, RememberItem
from actormem.actors.outdated import OutdatedWords
from actormem.actors.retracting import Retraction, retraction
from actormem.actors.services import Services
from actormem.core.facts.corrections import corrects
from actormem.core.facts.edited import edited_value
from actormem.core.facts.extraction import extract
from actormem.core.facts.found import Found, is_known
from actormem.core.facts.passages import passages
from actormem.core.facts.reading import Stated
from actormem.core.facts.reconcile import Change, closes, reconcile
from actormem.core.facts.remember import episode, fact_item, source_of
from actormem.core.recall.partition import Partition
from actormem.core.values import Fact, Item, Message, Owner
from actormem.errors import UsageError
from actormem.limits import ITEM_TEXT_CHARS_MAX
from actormem.ports import PutItems, Write

__all__ = ["Intake"]

PUT_STEP_PASSAGES = 8  # put into a partition: 4 ms, then other tasks get their turn
SPOKEN_ROLES = ("user", "assistant")
STATED_BEFORE_MAX = 32  # episodes back in which the user's message before is sought: a reply may have many


class Intake:
    """Writes into one owner's partition.

    Args:
        offer: Told of each user message of a live session, what the rules read in it, and what was said before it.

    Attributes:
        links: Which items come from which messages, and which are of one subject.
        blocks: Which items stand for which summary blocks.
        outdated: What of the words of messages is no longer so.
        forgotten_ms: When the owner was forgotten as a whole: what was said before is not taken in; 0 for never.
    """

    def __init__(
        self,
        owner: Owner,
        partition: Partition,
        services: Services,
        offer: Callable[[Item, Sequence[Fact], str], list[Write]],
    ) -> None:
        self._owner = owner
        self._offer = offer
        self._offered: list[Write] = []
        self._partition = partition
        self._services = services
        self.links = Links(partition)
        self.blocks = BlockItems(partition, services)
        self.forgotten_ms = 0
        self._buried = BuriedTexts(owner, services.burials, services.moments)
        self._places: dict[str, int] = {}
        self._answered: dict[str, str] = {}
        self.outdated = OutdatedWords(
            partition, services.clock.now_ms, self.links.of_source, self.links.rivals
        )

    def stored(self, item: Item) -> None:
        """Take in an item as the record has it; items come by number, so those of a session in their order."""
        self._put(item)

    def observe(self, session_id: str, observed: Sequence[Observed], scope: str = "") -> list[Write]:
        """Take in messages of a live session; those that are in already change nothing."""
        messages = [one.message for one in observed]
        self._offered = []
        stored = self._stored(self._taken_in(session_id, messages, scope, imported=False))
        return [*stored, *self._offered]

    def extracted(self, found: Sequence[Found]) -> list[Write]:
        """Take in what an LLM found in messages; what they say by the rules already changes nothing."""
        changed: dict[str, Item] = {}
        for one in found:
            said, fact = one.said, one.fact
            message = Message(
                role="user",
                content=said.text,
                name=None if said.speaker == "user" else said.speaker,
                id=said.message_id,
                time_ms=one.event_ms,
                offset_minutes=said.offset_minutes,
            )
            known = self.links.items(self.links.of_source(said.source))
            if not known or any(is_known(fact, item) for item in known):
                continue
            heard = msgspec.structs.replace(message, time_ms=said.time_ms)
            fact = self._let_in(said.session_id, fact, heard, imported=False)
            if fact is not None:
                self._services.counters.extracted_facts += 1
                items = self._fact(
                    said.session_id,
                    fact,
                    message,
                    known[0].scope,
                    imported=False,
                    expires_ms=one.expires_ms,
                    sequence=said.number,
                )
                changed |= {item.id: item for item in items}
        return self._stored(changed)

    async def imported(self, asked: ImportItems) -> tuple[int, list[Write]]:
        """Take in messages of an older log, other tasks having their turn between; gives how many items it made."""
        changed: dict[str, Item] = {}
        for message in asked.messages:
            changed |= self._taken_in(asked.session_id, [message], asked.scope, imported=True)
            await anyio.lowlevel.checkpoint()
        return len(changed), self._stored(changed)

    def remember(self, asked: RememberItem) -> tuple[Item, list[Write]]:
        """Take in a fact that a caller states. What was forgotten before may be stated again by him.

        Raises:
            UsageError: A filter refused it.
        """
        message = Message(role="user", time_ms=asked.event_ms, offset_minutes=asked.offset_minutes)
        fact = self._services.filters.stated(asked.fact, self._owner)
        self._buried.raise_up(fact.text)
        changed = self._fact("", fact, message, asked.scope, imported=False, expires_ms=asked.expires_ms)
        kept = next((item for item in changed if item.state == "live"), changed[0])
        return kept, self._stored({item.id: item for item in changed})

    async def remember_blocks(self, news: RememberBlocks) -> list[Write]:
        """Take in the summaries of a session's durable blocks; those that are in already change nothing."""
        changed: dict[str, Item] = {}
        for block in sorted(news.blocks, key=lambda one: one.last):
            if block_name(news.key.session_id, block.last) in self._buried:
                continue
            for item in await self.blocks.made(news.key, block, news.scope):
                self._put(item)
                changed[item.id] = item
        return self._stored(changed)

    def edit(self, item: Item, asked: EditItem) -> tuple[Item, list[Write]]:
        """Give an item another text. Its version goes up; everything else of it stays that is not given.

        Raises:
            UsageError: It is superseded: what took its place may be edited. Or a filter refused the text.
        """
        if item.state != "live":
            raise UsageError("only a live item can be edited", hint=f"it is {item.state}")
        version, checked = item.version + 1, self._services.filters.edited
        text, ends_ms = checked(item, asked.text), asked.ends_ms(item)
        value = edited_value(item, text) if asked.value is None else checked(item, asked.value)
        edited = msgspec.structs.replace(item, text=text, value=value, expires_ms=ends_ms, version=version)
        self._put(edited)
        self._services.counters.corrections += 1
        return edited, self._stored({edited.id: edited})

    def archive(self, item: Item, *, archived: bool) -> tuple[Item, list[Write]]:
        """Put an item out of recall's reach, or back into it; nothing else of it changes.

        Raises:
            UsageError: It is superseded.
        """
        if item.state == "superseded":
            raise UsageError("only an item that holds can be archived", hint="it is superseded")
        after = msgspec.structs.replace(item, state="archived" if archived else "live")
        if after == item:
            return item, []
        self._put(after)
        return after, self._stored({after.id: after})

    def retraction(self, session_id: str, message_ids: Iterable[str]) -> Retraction:
        """What goes and what changes when these messages of the session were never said; nothing is changed yet."""
        ids = frozenset(message_ids)
        found = retraction(
            self._partition,
            {(session_id, message_id) for message_id in ids},
            self.links.of_source,
            self.links.of_subject,
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
        self._hear_on(session_id)
        return self._stored({item.id: item for item in found.changed})

    def rewritten(self, items: Sequence[Item]) -> None:
        """Put items in in their new state; sessions are heard on from what is left of them."""
        for item in items:
            before = self._partition.item(item.id)
            if before is not None:
                self.removed(before)
            self._put(item)
        for session_id in {item.session_id for item in items if item.kind == "episode"}:
            self._hear_on(session_id)

    def left(self, session_id: str) -> None:
        """The items of a session are gone."""
        self._hear_on(session_id)

    def _hear_on(self, session_id: str) -> None:
        """The session's last episode, and what the assistant said last in it, are those that are there."""
        self._places.pop(session_id, None)
        self._answered.pop(session_id, None)
        for place, item in enumerate(self._partition.session_episodes(session_id)):
            if not place:
                self._places[session_id] = item.sequence
            if item.speaker == "assistant":
                self._answered[session_id] = item.text
                break

    def removed(self, item: Item) -> None:
        """An item has left the partition."""
        if item.source == "summary":
            self.blocks.removed(item)
            return
        self.links.drop(item)
        self.outdated.removed(item)

    def loaded(self, hashes: Iterable[str]) -> None:
        """Take in the texts that were buried before, as the record has them."""
        self._buried.load(hashes)

    def buried(self, hashes: Iterable[str]) -> None:
        """Texts that are not to be taken in again, unless the user says them anew."""
        self._buried.bury(hashes)

    async def put_passages(self, changed: dict[str, Item]) -> list[Write]:
        """Put passages of documents in as they are, other tasks having their turn between."""
        for count, item in enumerate(changed.values(), 1):
            self._put(item)
            if count % PUT_STEP_PASSAGES == 0:
                await anyio.lowlevel.checkpoint()
        return self._stored(changed)

    def _taken_in(
        self, session_id: str, messages: Sequence[Message], scope: str, *, imported: bool
    ) -> dict[str, Item]:
        changed: dict[str, Item] = {}
        for message in messages:
            if message.role not in SPOKEN_ROLES or not message.text.strip():
                continue
            if message.time_ms < self.forgotten_ms:
                continue
            known = bool(self.links.of_source((session_id, message.id)))
            if known and message.role == "user":
                continue
            source = source_of(message, imported)
            said = self._services.filters.message(message, self._owner, session_id, source)
            # A text may have been forgotten before it was filtered.
            whole = message.text[:ITEM_TEXT_CHARS_MAX]
            if said is not None and not known and not self._buried.covers(whole, message, imported=imported):
                for item in self._one(session_id, said, scope, imported=imported):
                    changed[item.id] = item
            if message.role == "assistant":
                self._answered[session_id] = said.text if said is not None else ""
        return changed

    def _one(self, session_id: str, message: Message, scope: str, *, imported: bool) -> list[Item]:
        kept = message.text[:ITEM_TEXT_CHARS_MAX]
        if self._buried.covers(kept, message, imported=imported):
            return []
        changed: list[Item] = []
        for passage in passages(kept):
            place = self._places.get(session_id, 0) + 1
            self._places[session_id] = place
            made = episode(
                self._owner,
                session_id,
                message,
                passage,
                number=self._services.record.next_item_number(),
                place=place,
                imported=imported,
                now_ms=self._services.moments.now_ms(),
                scope=scope,
            )
            self._put(made)
            changed.append(made)
        if message.role == "user":
            previous = self._answered.get(session_id, "")
            facts = extract(
                message.text,
                previous=previous,
                stated=self._stated_before(session_id, message),
                time_ms=message.time_ms,
                offset_minutes=message.offset_minutes,
            )
            if not imported:
                whole = msgspec.structs.replace(changed[0], text=kept)
                self._offered += self._offer(whole, facts, previous)
            for read in facts:
                fact = self._let_in(session_id, read, message, imported=imported)
                if fact is not None:
                    changed += self._fact(session_id, fact, message, scope, imported=imported)
        return changed

    def _stated_before(self, session_id: str, message: Message) -> list[Stated]:
        """What the user's message before this one stated of himself, where this one may correct it."""
        if not corrects(message.text):
            return []
        episodes = islice(self._partition.session_episodes(session_id), STATED_BEFORE_MAX)
        said = (one for one in episodes if one.speaker != "assistant" and message.id not in one.source_ids)
        before = next(said, None)
        facts = [one for one in self.links.of_sources([before] if before else []) if one.attribute]
        return [
            Stated(one.attribute, one.value, one.cardinality)
            for one in sorted(facts, key=lambda one: one.sequence)
            if one.subject == "user" and one.value and not closes(one)
        ]

    def _let_in(self, session_id: str, fact: Fact, message: Message, *, imported: bool) -> Fact | None:
        """The fact as it may be kept; None where it is worth too little, was forgotten, or a filter refused it."""
        if not fact.explicit and fact.importance < self._services.options.write_threshold:
            return None
        source = source_of(message, imported)
        kept = self._services.filters.fact(fact, self._owner, session_id, source)
        texts = () if kept is None else (kept.text, kept.quote)
        return None if any(self._buried.covers(text, message, imported=imported) for text in texts) else kept

    def _fact(
        self,
        session_id: str,
        fact: Fact,
        message: Message,
        scope: str,
        *,
        imported: bool,
        expires_ms: int = 0,
        sequence: int = 0,
    ) -> list[Item]:
        """The items that change by a fact. What a log says is never newer than what is said now.

        `sequence` is its place among facts of the same time where it is found late.
        """
        now_ms = self._services.moments.now_ms()
        if imported and message.time_ms >= now_ms:
            message = msgspec.structs.replace(message, time_ms=max(0, now_ms - 1))
        fact = self._services.options.attributes.applied(fact)
        new = fact_item(
            self._owner,
            session_id,
            fact,
            message,
            number=self._services.record.next_item_number(),
            imported=imported,
            now_ms=now_ms,
            scope=scope,
        )
        new = msgspec.structs.replace(new, expires_ms=expires_ms, sequence=sequence or new.sequence)
        changes = reconcile(new, self.links.competitors(new, negated=fact.negated), negated=fact.negated)
        self._count(fact, changes)
        changed = [change.item for change in changes]
        for item in changed:
            self._put(item)
        return changed

    def _count(self, fact: Fact, changes: Sequence[Change]) -> None:
        """Count what this fact is to end or to correct."""
        counters = self._services.counters
        was_live = (self._partition.item(one.item.id) for one in changes if one.item.state == "superseded")
        counters.supersessions += sum(1 for item in was_live if item is not None and item.state == "live")
        if fact.correction and not fact.negated and changes[0].reason != "ignored":
            counters.corrections += 1

    def _put(self, item: Item) -> None:
        self._partition.put(item)
        self._link(item)

    def _link(self, item: Item) -> None:
        if item.source == "summary":  # its messages are taken in by themselves
            self.blocks.link(item)
            return
        self.links.add(item)
        if item.attribute:
            self.outdated.link(item)
        if item.kind == "episode":
            self._places[item.session_id] = max(self._places.get(item.session_id, 0), item.sequence)
            if item.speaker == "assistant":
                self._answered[item.session_id] = item.text

    def _stored(self, changed: dict[str, Item]) -> list[Write]:
        return [PutItems(tuple(changed.values()))] if changed else []
