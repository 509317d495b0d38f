"""What leaves one owner's memory: out of reach at once, its rows kept until no session shows it any more.

The law of the file: an erasure is noted, by ids, in the commit of its first effect, and its rows are deleted with
that note in the last one. Who wakes in between hides again what was hidden, and gives the same answers.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.block_items import block_name
from actormem.actors.intake import Intake
from actormem.actors.redacting import shown_words
from actormem.actors.services import Services
from actormem.core.erasure import ERASURE_INTENTS, Erasure, decode_erasure, encode_erasure, erasure_name
from actormem.core.facts.found import tells_of
from actormem.core.facts.remember import text_hash
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import NotFoundError, StorageError
from actormem.ports import DeleteIntent, DeleteItems, PutIntent, PutItems, PutTombstones, Write

__all__ = ["ErasureOrder", "Forgetting"]

Done: TypeAlias = tuple[list[Write], object]
Begun: TypeAlias = tuple[list[Write], say.Forgotten]
ErasureOrder: TypeAlias = say.DropItems | say.EndErasure | say.ForgetItem | say.KeepPassages | say.ReadErasure
CHANGED_KNOWLEDGE = "changed knowledge"  # why an epoch ends that showed a passage its document has no more
NONE_EMPTIED: Mapping[str, Item] = MappingProxyType({})


class Leaving(msgspec.Struct, frozen=True):
    """An erasure that has begun: what is out of memory, and summaries whose words went with it to the last."""

    forgotten: say.Forgotten
    emptied: Mapping[str, Item]


class Forgetting:
    """Takes items out of one owner's partition.

    Args:
        remove: Takes items out of the partition; gives the writes that belong to it.
    """

    def __init__(
        self,
        owner: Owner,
        partition: Partition,
        intake: Intake,
        services: Services,
        *,
        remove: Callable[[tuple[Item, ...]], Awaitable[list[Write]]],
    ) -> None:
        self._owner = owner
        self._partition = partition
        self._intake = intake
        self._services = services
        self._remove = remove
        self._leaving: dict[str, Leaving] = {}

    async def started(self) -> None:
        """Hide what was being erased when the owner was last in memory."""
        for name, body in await self._services.record.intents(self._owner):
            if name.startswith(ERASURE_INTENTS):
                erasure = decode_erasure(body)
                if erasure.whole:
                    await self._remove(tuple(self._partition.items()))
                    continue
                # What sessions told after the first commit is cut now, and its rows with it.
                writes, _ = await self._begun(erasure, self._of(erasure))
                with suppress(StorageError):  # of a disk that has failed, as every acknowledgement says
                    self._services.record.submit(writes)

    async def done(self, asked: ErasureOrder, others: Callable[[say.KeepPassages], tuple[Item, ...]]) -> Done:
        """Do it; gives what to write, and the answer for then.

        Args:
            others: The passages of a document that it has no more.
        """
        match asked:
            case say.ForgetItem():
                return await self.forget(asked)
            case say.DropItems():
                return await self.drop(asked.session_id)
            case say.KeepPassages():
                return await self.erase(others(asked), CHANGED_KNOWLEDGE)
            case say.EndErasure():
                return await self.ended(asked.name), None
            case say.ReadErasure():
                return [], self.leaving(asked.name)

    def leaving(self, name: str) -> say.Forgotten | None:
        """The erasure of that name, if it has begun and not ended."""
        found = self._leaving.get(name)
        return None if found is None else found.forgotten

    # --- the first commit ---------------------------------------------------------------------------------

    async def forget(self, asked: say.ForgetItem) -> Begun:
        """An item goes, with its versions and what came from the same words.

        Raises:
            NotFoundError: It is not there, nor on its way out.
        """
        item = self._partition.item(asked.id)
        if item is None:
            return [], self._on_its_way(asked.id)
        blocks, links = self._intake.blocks, self._intake.links
        gone = (item, *blocks.earlier(item)) if item.source == "summary" else links.chain(item)
        wholes: set[str] = set()
        if asked.cut == "words":
            others = links.of_sources(one for one in gone if one.source != "summary")
            gone = (*gone, *(one for one in others if one not in gone and tells_of(one, gone)))
            _, wholes = links.without_words([one for one in gone if one.source != "summary"])
        words = {one.quote for one in gone if one.quote} | {one.text for one in gone} | wholes
        words |= {block_name(one.session_id, one.sequence) for one in gone if one.source == "summary"}
        erasure = Erasure(item_ids=_ids(gone), cut=asked.cut, reason=asked.reason)
        return await self._begun(erasure, gone, tuple(text_hash(word) for word in words))

    async def drop(self, session_id: str) -> Begun:
        """All items of a session go; of the owner, where it is empty: their rows go with his."""
        if not session_id:
            gone = tuple(self._partition.items())
            held = [item for one in self._leaving.values() for item in one.forgotten.items]
            await self._remove(gone)
            return [], say.Forgotten((*gone, *held), frozenset())
        noted = erasure_name(Erasure(session_id=session_id))
        before = self._leaving.pop(noted, None)
        gone = (
            *(before.forgotten.items if before else ()),
            *(one for one in self._partition.items() if one.session_id == session_id),
        )
        erasure = Erasure(
            item_ids=_ids(gone),
            touched_ids=before.forgotten.erasure.touched_ids if before else (),
            cut="values",
        )
        writes, forgotten = await self._begun(erasure, gone, emptied=before.emptied if before else {})
        # By ids from here on: the session is erased, and what is said in it now is another one's.
        return [*writes, DeleteIntent(self._owner, noted)], forgotten

    async def erase(self, gone: tuple[Item, ...], reason: str, hashes: tuple[str, ...] = ()) -> Begun:
        """These items go, and no words that others said."""
        return await self._begun(Erasure(item_ids=_ids(gone), reason=reason), gone, hashes)

    async def _begun(
        self,
        erasure: Erasure,
        gone: Sequence[Item],
        hashes: tuple[str, ...] = (),
        emptied: Mapping[str, Item] = NONE_EMPTIED,
    ) -> Begun:
        """Take them out of reach; gives what to write of that, and what is to be done in sessions."""
        if not gone:
            return [], say.Forgotten((), frozenset())
        rewritten = self._rewritten(erasure, gone)
        values, ids = _values(erasure, gone), set(_ids(gone))
        cut = [pair for pair in self._intake.blocks.holding(values) if pair[0].id not in ids]
        touched = dict.fromkeys([*erasure.touched_ids, *_ids(rewritten), *_ids(whole for whole, _ in cut)])
        erasure = msgspec.structs.replace(erasure, touched_ids=tuple(touched))
        shown_in = await self._shown_in((*_ids(gone), *touched))
        dropped = await self._remove(tuple(item for item in gone if self._partition.item(item.id)))
        for item in rewritten:
            self._partition.put(item)
        changed, more = await self._cut(cut)
        emptied = {**emptied, **more}
        hashes = (*hashes, *_block_hashes(emptied.values()))
        self._intake.buried(hashes)
        name = erasure_name(erasure)
        forgotten = say.Forgotten(tuple(gone), shown_in, name, erasure)
        self._leaving[name] = Leaving(forgotten, emptied)
        writes: list[Write] = [PutIntent(self._owner, name, encode_erasure(erasure)), *dropped]
        writes += [PutTombstones(self._owner, hashes)] if hashes else []
        kept = (*rewritten, *changed)
        return [*writes, *([PutItems(kept)] if kept else [])], forgotten

    def _rewritten(self, erasure: Erasure, gone: Sequence[Item]) -> list[Item]:
        """Episodes that stay without the words, in their new state."""
        if erasure.cut != "words":
            return []
        facts = [one for one in gone if one.source != "summary"]
        return self._intake.links.without_words(facts)[0]

    async def _cut(self, cut: Sequence[tuple[Item, Item | None]]) -> tuple[tuple[Item, ...], dict[str, Item]]:
        """Put what is left of summaries in their place; gives that, and those of which nothing is."""
        left = tuple(rest for _, rest in cut if rest is not None)
        emptied = tuple(whole for whole, rest in cut if rest is None)
        for item in left:
            self._partition.put(item)
        await self._remove(emptied)
        return left, {item.id: item for item in emptied}

    # --- the last commit ------------------------------------------------------------------------------------

    async def ended(self, name: str) -> list[Write]:
        """The writes that end an erasure, once sessions show nothing of it; done again, they change nothing."""
        writes: list[Write] = []
        leaving = self._leaving.pop(name, None)
        if leaving is not None:
            gone, erasure = leaving.forgotten.items, leaving.forgotten.erasure
            # What sessions told of themselves before they were redacted is in by now.
            changed, emptied = await self._cut(self._intake.blocks.holding(_values(erasure, gone)))
            hashes = _block_hashes(emptied.values())
            self._intake.buried(hashes)
            writes += [PutItems(changed)] if changed else []
            writes += [PutTombstones(self._owner, hashes)] if hashes else []
            ids = dict.fromkeys([*_ids(gone), *leaving.emptied, *emptied])
            writes.append(DeleteItems(self._owner, tuple(ids)))
        return [*writes, DeleteIntent(self._owner, name)]

    # --- what it stands on ----------------------------------------------------------------------------------

    def _of(self, erasure: Erasure) -> tuple[Item, ...]:
        """The items of an erasure that are in the partition."""
        if erasure.session_id:
            return tuple(one for one in self._partition.items() if one.session_id == erasure.session_id)
        return tuple(self._intake.links.items(erasure.item_ids))

    def _on_its_way(self, id: str) -> say.Forgotten:
        for one in self._leaving.values():
            if any(item.id == id for item in one.forgotten.items):
                return one.forgotten
        raise NotFoundError("this user has no item of that id", id=id)

    async def _shown_in(self, ids: Iterable[str]) -> frozenset[SessionKey]:
        record = self._services.record
        await record.sync()
        found = [await record.shown_in(self._owner, id) for id in ids]
        return frozenset(key for places in found for key, _ in places)


def _ids(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(item.id for item in items)


def _values(erasure: Erasure, gone: Sequence[Item]) -> tuple[str, ...]:
    """What summaries must not hold."""
    if erasure.cut == "notes":
        return ()
    quotes = (item.quote for item in gone if item.quote) if erasure.cut == "words" else ()
    return (*quotes, *shown_words(gone))


def _block_hashes(emptied: Iterable[Item]) -> tuple[str, ...]:
    """A block of them has other words left, which are not to come back as an item when the session wakes."""
    return tuple(text_hash(block_name(item.session_id, item.sequence)) for item in emptied)
