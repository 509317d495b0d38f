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
from actormem.actors.echoes import SoughtWords, echoes
from actormem.actors.intake import Intake
from actormem.actors.redacting import erased_words, said_since_ms, shown_words
from actormem.actors.services import Services
from actormem.core.erasure import ERASURE_INTENTS, Erasure, decode_erasure, encode_erasure, erasure_name
from actormem.core.facts.found import tells_of
from actormem.core.facts.passages import passages_of
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
    """An erasure that has begun: what is out of memory, and items whose words went with it to the last.

    What was said after `until_ms`, when it began, was said anew.
    """

    forgotten: say.Forgotten
    emptied: Mapping[str, Item]
    until_ms: int


class Cut(msgspec.Struct, frozen=True):
    """Items without the words of others: in their new state, and those of which nothing is left; what is buried."""

    left: Mapping[str, Item]
    emptied: Mapping[str, Item]
    hashes: tuple[str, ...]


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
            gone = (*gone, *(one for one in others if one not in gone and comes_with(one, gone)))
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
        emptied = before.emptied if before else NONE_EMPTIED
        hashes = tuple(text_hash(text) for text in told_texts(gone))
        writes, forgotten = await self._begun(erasure, gone, hashes, emptied)
        self._intake.left(session_id)
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
        until_ms, ids = self._services.moments.now_ms(), set(_ids(gone))
        shown_in = await self._shown_in(ids)
        rewritten = self._rewritten(erasure, gone)
        dropped = await self._remove(tuple(item for item in gone if self._partition.item(item.id)))
        self._intake.rewritten(rewritten)
        cut = await self._cut(erasure, gone, shown_in, until_ms)
        emptied = {**emptied, **cut.emptied}
        kept = {**{item.id: item for item in rewritten}, **cut.left}
        touched = dict.fromkeys([*erasure.touched_ids, *kept, *emptied])
        erasure = msgspec.structs.replace(erasure, touched_ids=tuple(touched))
        shown_in |= await self._shown_in(touched)
        hashes = (*hashes, *cut.hashes)
        self._intake.buried(hashes)
        name = erasure_name(erasure)
        forgotten = say.Forgotten(tuple(gone), shown_in, name, erasure)
        self._leaving[name] = Leaving(forgotten, emptied, until_ms)
        writes: list[Write] = [PutIntent(self._owner, name, encode_erasure(erasure)), *dropped]
        writes += [PutTombstones(self._owner, hashes)] if hashes else []
        return [*writes, *([PutItems(tuple(kept.values()))] if kept else [])], forgotten

    def _rewritten(self, erasure: Erasure, gone: Sequence[Item]) -> list[Item]:
        """Episodes that stay without the words, in their new state."""
        if erasure.cut != "words":
            return []
        facts = [one for one in gone if one.source != "summary"]
        return self._intake.links.without_words(facts)[0]

    async def _cut(
        self, erasure: Erasure, gone: Sequence[Item], shown_in: Iterable[SessionKey], until_ms: int
    ) -> Cut:
        """Cut the words out of all other items that hold them, and put what is left in their place."""
        if erasure.cut == "notes":
            return Cut({}, {}, ())
        sessions = {key.session_id for key in shown_in} | {id for item in gone for id, _ in item.sources}
        since_ms = said_since_ms(gone)
        left: dict[str, Item] = {}
        emptied: dict[str, Item] = {}
        texts: dict[str, None] = {}
        if erasure.cut == "words":
            words = SoughtWords(erased_words(gone), sessions, since_ms, until_ms)
            for echo in await echoes(self._partition, self._intake.links, words):
                texts |= dict.fromkeys(echo.texts)
                if echo.left is None:
                    emptied[echo.item.id] = echo.item
                else:
                    left[echo.item.id] = echo.left
        values = SoughtWords(_values(erasure, gone), sessions, since_ms)
        for whole, rest in self._intake.blocks.holding(values):
            if rest is None:
                emptied[whole.id] = whole
                texts[block_name(whole.session_id, whole.sequence)] = None
            else:
                left[whole.id] = rest
        await self._remove(tuple(emptied.values()))
        self._intake.rewritten(tuple(left.values()))
        return Cut(left, emptied, tuple(map(text_hash, texts)))

    # --- the last commit ------------------------------------------------------------------------------------

    async def ended(self, name: str) -> list[Write]:
        """The writes that end an erasure, once sessions show nothing of it; done again, they change nothing."""
        writes: list[Write] = []
        leaving = self._leaving.pop(name, None)
        if leaving is not None:
            gone, erasure = leaving.forgotten.items, leaving.forgotten.erasure
            # What sessions told of themselves before they were redacted is in by now.
            cut = await self._cut(erasure, gone, leaving.forgotten.shown_in, leaving.until_ms)
            self._intake.buried(cut.hashes)
            writes += [PutItems(tuple(cut.left.values()))] if cut.left else []
            writes += [PutTombstones(self._owner, cut.hashes)] if cut.hashes else []
            emptied = cut.emptied
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
    return (*(erased_words(gone) if erasure.cut == "words" else ()), *shown_words(gone))


def comes_with(item: Item, gone: Iterable[Item]) -> bool:
    """Whether a fact goes with others of its message: it tells of them, or was read in a message that goes."""
    said = [one.text for one in gone if one.kind == "episode"]
    return tells_of(item, gone) or (bool(item.quote) and any(item.quote in text for text in said))


def told_texts(items: Sequence[Item]) -> set[str]:
    """What would bring such items back: their messages, whole, what was quoted of them, and the facts."""
    messages: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        if item.kind == "episode":
            messages.setdefault(item.sources[0] if item.sources else ("", item.id), []).append(item)
    wholes = {"".join(one.text for one in passages_of(said)) for said in messages.values()}
    facts = {text for item in items if item.kind != "episode" for text in (item.text, item.quote)}
    blocks = {block_name(item.session_id, item.sequence) for item in items if item.source == "summary"}
    return (wholes | facts | blocks) - {""}
