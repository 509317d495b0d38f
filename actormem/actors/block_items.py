"""Summary blocks as memory items, so that other sessions of the owner may recall what was said.

The law of the file: an item is written for a block that is durable, once, with the block's summary as it was checked
against its sources; nothing is extracted from it, and it is never the user's word. A block that takes others in
supersedes their items: they stay readable as history, and recall finds the newest alone. Telling the same blocks
again, as a session does at each waking, changes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from actormem.actors.echoes import SoughtWords
from actormem.actors.memory_messages import BlockWords
from actormem.actors.redacting import without_lines
from actormem.actors.services import Services
from actormem.core.ids import item_id
from actormem.core.recall.partition import Partition
from actormem.core.session.events import MessageAdded, decode_event
from actormem.core.values import Item, SessionKey
from actormem.limits import ITEM_TEXT_CHARS_MAX
from actormem.ports import StoredEvent

__all__ = ["BlockItems", "block_name"]

SOURCES_MAX = 512  # messages an item names, the newest: a merged block stands for ever more of them
EVENTS_READ_MAX = 1_024  # of a span, the newest; older messages are named by the items it supersedes
IMPORTANCE = 0.4  # more than one message, less than a fact


class BlockItems:
    """The items of one owner's blocks, by session and last event; kept in step with the partition."""

    def __init__(self, partition: Partition, services: Services) -> None:
        self._partition = partition
        self._services = services
        self._by_session: dict[str, dict[int, str]] = {}

    def link(self, item: Item) -> None:
        """An item of a block is in the partition."""
        self._by_session.setdefault(item.session_id, {})[item.sequence] = item.id

    def removed(self, item: Item) -> None:
        """It has left the partition."""
        places = self._by_session.get(item.session_id, {})
        if places.get(item.sequence) == item.id:
            del places[item.sequence]
        if not places:
            self._by_session.pop(item.session_id, None)

    def shown(self, session_id: str, lasts: Iterable[int]) -> set[str]:
        """Ids of the items whose blocks a session shows, by the blocks' last events."""
        places = self._by_session.get(session_id, {})
        return {places[last] for last in lasts if last in places}

    async def made(self, key: SessionKey, block: BlockWords, scope: str = "") -> list[Item]:
        """The item of a block, and those it supersedes; nothing where it is there or the session is gone."""
        if not has_lines(block.summary) or block.last in self._by_session.get(key.session_id, {}):
            return []
        summary = self._services.filters.earlier(block.summary, key.owner, key.session_id, "summary")
        if not has_lines(summary):
            return []
        block = msgspec.structs.replace(block, summary=summary)
        first = max(block.first, block.last - EVENTS_READ_MAX + 1)
        stored = await self._services.record.read_events(key, first, block.last)
        said = [event for event in stored if event.name]
        if not said:
            return []
        inside = self._inside(key.session_id, block)
        earlier = [id for item in inside for id in item.source_ids]
        ids = tuple(dict.fromkeys([*earlier, *(event.name for event in said)]))
        item = self._item(key, block, ids[-SOURCES_MAX:], said[-1], scope)
        if inside:
            item = msgspec.structs.replace(item, supersedes=inside[-1].id)
        old = [
            msgspec.structs.replace(one, state="superseded", superseded_by=item.id)
            for one in inside
            if one.state != "superseded"
        ]
        return [item, *old]

    def earlier(self, item: Item) -> list[Item]:
        """Items of the blocks that this item's block took in, and those before them."""
        found = {item.id: item}
        for one in sorted(self._items(item.session_id), key=lambda one: -one.sequence):
            if one.superseded_by in found:
                found[one.id] = one
        return [one for one in found.values() if one.id != item.id]

    def rewound(self, session_id: str, message_ids: frozenset[str]) -> tuple[list[Item], list[Item]]:
        """Items of blocks that stand for one of these messages; and those they had superseded, live again."""
        gone = [item for item in self._items(session_id) if message_ids & set(item.source_ids)]
        ids = {item.id for item in gone}
        again = [
            msgspec.structs.replace(item, state="live", superseded_by="")
            for item in self._items(session_id)
            if item.superseded_by in ids and item.id not in ids
        ]
        return gone, again

    def holding(self, values: SoughtWords) -> list[tuple[Item, Item | None]]:
        """Items that hold one of the values, with what is left of them without its lines; None for nothing."""
        found: list[tuple[Item, Item | None]] = []
        for session_id in self._by_session:
            for item in self._items(session_id):
                text = without_lines(item.text, values.of(item))
                if text != item.text:
                    left = msgspec.structs.replace(item, text=text, version=item.version + 1)
                    found.append((item, left if has_lines(text) else None))
        return found

    def _inside(self, session_id: str, block: BlockWords) -> list[Item]:
        inside = [one for one in self._items(session_id) if block.first <= one.sequence <= block.last]
        return sorted(inside, key=lambda item: item.sequence)

    def _items(self, session_id: str) -> Iterator[Item]:
        places: Mapping[int, str] = self._by_session.get(session_id, {})
        for id in places.values():
            item = self._partition.item(id)
            if item is not None:
                yield item

    def _item(
        self, key: SessionKey, block: BlockWords, ids: tuple[str, ...], newest: StoredEvent, scope: str
    ) -> Item:
        event = decode_event(newest.body, None)
        assert isinstance(event, MessageAdded), "only messages have names"
        return Item(
            id=item_id(self._services.record.next_item_number()),
            owner=key.owner,
            kind="summary",
            text=block.summary[:ITEM_TEXT_CHARS_MAX],
            source="summary",
            source_ids=ids,
            session_id=key.session_id,
            importance=IMPORTANCE,
            event_ms=event.time_ms,
            offset_minutes=event.offset_minutes,
            stored_ms=self._services.moments.now_ms(),
            sequence=block.last,
            scope=scope,
        )


def block_name(session_id: str, last: int) -> str:
    """What a block is known by once its item is forgotten, so that it is not remembered again."""
    return f"summary block {session_id} {last}"


def has_lines(text: str) -> bool:
    """Whether a summary says anything: titles alone do not."""
    return any(line.strip() and not line.rstrip().endswith((":", "：")) for line in text.splitlines())
