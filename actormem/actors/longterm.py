"""The long-term actor of one owner: a partition of items, what goes in, what is found, what is forgotten.

There is one for each owner, made when first asked and passivated when idle. So an owner's memory is in one
place alone: nothing of another owner can be found here, since it is not here; and one owner's trouble is not
another's. Everything here follows from the record; the partition is a cache of it.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

import anyio.lowlevel
import anyio.to_thread

from actormem.actors import memory_messages as say
from actormem.actors.answers import RecentAnswers
from actormem.actors.daily import Daily
from actormem.actors.documents import Documents
from actormem.actors.early import EarlyRecall
from actormem.actors.extracting import Extracting
from actormem.actors.finding import Finding, Ready
from actormem.actors.forgetting import ErasureOrder, Forgetting
from actormem.actors.history import decoded
from actormem.actors.housekeeping import Housekeeping, Order
from actormem.actors.intake import Intake
from actormem.actors.loading import Loaded, Loading
from actormem.actors.messages import Settle, Wake
from actormem.actors.reading import said_in
from actormem.actors.services import Services
from actormem.actors.usage import ShownCounts
from actormem.actors.vectors import PartitionVectors
from actormem.core.recall.partition import Partition
from actormem.core.session.events import MessageAdded
from actormem.core.session.replay import reach, removed, survivors
from actormem.core.values import Item, Owner
from actormem.errors import ActorMemError, NotFoundError, StorageError
from actormem.kernel import Reply, Scope
from actormem.limits import SEARCH_INLINE_ROWS
from actormem.ports import DeleteItems, SetProgress, Write

__all__ = ["LongTermActor"]

REMOVE_STEP_ITEMS = 16  # taken out of a partition: 8 ms, then other tasks get their turn


class LongTermActor:
    """One owner's items."""

    def __init__(self, owner: Owner, services: Services) -> None:
        self._owner = owner
        self._services = services
        self._partition = Partition(services.embedder.dimensions)
        self._extracting = Extracting(owner, services, self._settled)
        self._intake = Intake(owner, self._partition, services, self._extracting.offer)
        self._shown_counts = ShownCounts(self._partition, services)
        self._daily = Daily(owner, services)
        self._forgetting = Forgetting(owner, self._partition, self._intake, services, remove=self._remove)
        self._housekeeping = Housekeeping(
            owner,
            self._partition,
            self._intake,
            services,
            item_of=self._item,
            erase=self._forgetting.erase,
        )
        self._answers = RecentAnswers(self._partition, services.clock)
        self._finding = Finding(owner, self._partition, self._intake, services)
        self._documents = Documents(owner, self._partition, services, self._intake.links.of_document)
        self._loading = Loading(owner, self._partition, self._intake, services)
        self._ready_recall: Ready | None = None  # for the recall whose vectors are on their way
        self._vectors: PartitionVectors | None = None
        self._scope: Scope | None = None
        self._waiting_count = 0
        self._settling: list[Reply] = []
        self._unreadable: StorageError | None = None

    async def started(self, scope: Scope) -> None:
        """Read the owner's items and vectors from the record: all, or of a large owner the newest.

        A memory that cannot be read answers with that error, until it is woken again; others go on.
        """
        self._scope = scope
        try:
            await self._loading.started(scope)
            if self._loading.early is None:
                await self._ready(erasing=True)
        except StorageError as error:
            self._unreadable = error

    async def _ready(self, *, erasing: bool) -> None:
        """All items are there, but for those that may be being erased."""
        assert self._scope is not None
        self._vectors = PartitionVectors(
            self._owner, self._partition, self._services, self._scope, self._settled
        )
        if erasing:
            await self._forgetting.started()
        self._vectors.want()
        await self._extracting.started(self._scope, partial(said_in, self._partition))

    async def stopped(self, reason: str) -> None:
        """Keep the counts; all else is in the record."""
        writes = self._shown_counts.rest()
        if writes:
            # A disk that has failed says so with every acknowledgement.
            with suppress(StorageError):
                self._services.record.submit(writes)

    def idle(self) -> bool:
        """Nothing on its way to the record, no vector in the making, no message being read."""
        working = self._extracting.pending or (self._vectors is not None and self._vectors.pending)
        return self._waiting_count == 0 and not working and self._loading.early is None

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Handle one message; see `actors.memory_messages` for what each is answered by."""
        if isinstance(message, Loaded):
            await self._loaded()
        elif self._loading.early is not None:
            self._daily.look()
            await self._receive_early(message, reply, self._loading.early)
        else:
            await self._receive_whole(message, reply)

    async def _receive_whole(self, message: object, reply: Reply | None) -> None:
        if self._unreadable is not None:
            self._receive_unread(message, reply, self._unreadable)
        else:
            self._daily.look()
            await self._receive(message, reply)

    async def _receive_early(self, message: object, reply: Reply | None, early: EarlyRecall) -> None:
        """Answer queries from what is there already; all else waits until everything is."""
        match message:
            case say.BeginRecall():
                assert reply is not None
                reply.answer(say.Begun(early.speakers))
            case say.RecallItems():
                assert reply is not None
                found = await early.recalled(message)
                if message.counts and not message.session_id:
                    self._loading.keep_hint(say.CountShown(tuple(hit.item.id for hit in found.hits)))
                reply.answer(found)
            case say.CountShown():
                self._loading.keep_hint(message)
            case say.PrepareRecall():
                pass
            case _ if not self._loading.keep(message, reply):
                await self._loading.done.wait()
                await self._loaded()
                await self._receive_whole(message, reply)
            case _:
                pass

    async def _loaded(self) -> None:
        """Do what waited for the last of the items, in the order in which it came."""
        if self._loading.early is None:
            return
        self._loading.early = None
        self._unreadable = self._loading.failure
        if self._unreadable is None:
            await self._ready(erasing=False)  # or all would have been loaded at once
        unheard: ActorMemError | None = None
        while kept := self._loading.kept():
            message, reply = kept
            try:
                await self._receive_whole(message, reply)
            except ActorMemError as error:
                if reply is None or reply.answered:
                    unheard = error
                else:
                    reply.fail(error)
        if unheard is not None:
            raise unheard

    async def _receive(self, message: object, reply: Reply | None) -> None:
        match message:
            case say.RecallItems():
                assert reply is not None
                self._extracting.asked(message.session_id)
                reply.answer(await self._recall(message))
            case say.PrepareRecall():
                if len(self._partition) <= SEARCH_INLINE_ROWS:
                    self._ready_recall = self._finding.prepared(message.asked)
            case say.BeginRecall():
                assert reply is not None
                reply.answer(self._begun(message.asked))
            case say.Observe():
                await self._observe(message)
            case say.Extracted():
                found, writes = self._extracting.taken(message)
                self._record([*self._intake.extracted(found), *writes], None, None)
            case Wake():  # it is awake, with all it holds
                self._extracting.want()
            case say.RememberBlocks():
                self._record(await self._intake.remember_blocks(message), None, None)
            case say.RememberItem():
                item, writes = self._intake.remember(message)
                self._record(writes, reply, item)
            case say.ImportItems():
                count, writes = await self._intake.imported(message)
                self._record(writes, reply, count)
            case say.ImportPassages():
                count, changed = self._documents.changes(message)
                self._record(await self._intake.put_passages(changed), reply, count)
            case say.ListItems():
                assert reply is not None
                reply.answer(self._finding.listed(message))
            case say.GetItem():
                assert reply is not None
                reply.answer(self._item(message.id))
            case say.EditItem():
                item, writes = self._intake.edit(self._item(message.id), message)
                self._record(writes, reply, item)
            case _ if isinstance(message, Order):
                await self._keep_house(message, reply)
            case say.CountShown():
                self._count_shown(message.ids)
            case _ if isinstance(message, ErasureOrder):
                writes, answer = await self._forgetting.done(message, self._documents.others)
                self._record(writes, reply, answer)
            case Settle():
                assert reply is not None
                self._settling.append(reply)
                assert self._vectors is not None
                self._vectors.hurry()
                self._extracting.hurry()
                self._settled()
            case _:
                raise AssertionError(f"long-term memory was sent a {type(message).__name__}")

    def _receive_unread(self, message: object, reply: Reply | None, error: StorageError) -> None:
        """Nothing is on its way, and all of it may be erased; for all else it would have to be read."""
        if reply is not None and isinstance(message, Settle):
            reply.answer(None)
        elif reply is not None and isinstance(message, say.DropItems) and not message.session_id:
            reply.answer(say.Forgotten((), frozenset()))
        else:
            raise error.with_traceback(None)

    # --- what goes in -----------------------------------------------------------------------------------

    async def _observe(self, news: say.Observe) -> None:
        session_id, writes = news.key.session_id, list[Write]()
        observed = news.messages
        if not observed:
            taken_back, observed = await self._read_again(news)
            if taken_back:
                writes = await self._retract(session_id, taken_back)
        writes += self._intake.observe(session_id, observed, news.scope)
        self._record([*writes, SetProgress(news.key, news.upto)], None, None)

    async def _read_again(self, news: say.Observe) -> tuple[tuple[str, ...], tuple[say.Observed, ...]]:
        """What was rewound and what was said, from the record: after a rewind or a crash, or where news got lost."""
        first, record = news.first, self._services.record
        while True:
            stored = await record.read_events(news.key, first, news.upto)
            events = await anyio.to_thread.run_sync(decoded, stored, limiter=self._services.pools.background)
            if reach(events, first) == first:
                break
            first = reach(events, first)
        taken_back = tuple(event.id for event in removed(events) if isinstance(event, MessageAdded))
        return taken_back, say.observed(survivors(events))

    async def _retract(self, session_id: str, message_ids: tuple[str, ...]) -> list[Write]:
        """Undo what was taken in from messages that were rewound. Done again, it changes nothing."""
        found = self._intake.retraction(session_id, message_ids)
        writes = await self._remove(found.gone)
        writes += self._intake.retracted(session_id, found)
        if found.gone:
            writes.append(DeleteItems(self._owner, tuple(item.id for item in found.gone)))
        return writes

    def _record(self, writes: list[Write], reply: Reply | None, answer: object) -> None:
        """Store, and answer when it is durable; vectors follow by themselves."""
        self._waiting_count += 1
        writes = [*self._shown_counts.due(), *writes]

        def then(error: StorageError | None) -> None:
            self._waiting_count -= 1
            if reply is not None and error is not None:
                reply.fail(error)
            elif reply is not None:
                reply.answer(answer)
            self._settled()

        try:
            self._services.record.submit(writes, then)
        except StorageError as error:
            then(error)
        except BaseException:
            self._waiting_count -= 1
            raise
        assert self._vectors is not None
        self._vectors.want()
        self._extracting.want()

    # --- what is found -----------------------------------------------------------------------------------

    async def _recall(self, asked: say.RecallItems) -> say.Recalled:
        assert self._vectors is not None
        version = self._partition.version
        ready, self._ready_recall = self._ready_recall, None
        found = await self._finding.recalled(asked, self._vectors, ready)
        self._answers.keep(asked, found, version)
        if asked.counts and not asked.session_id:  # what a turn shows of them it tells by itself
            self._count_shown(hit.item.id for hit in found.hits)
        return found

    def _begun(self, asked: say.RecallItems) -> say.Begun:
        answer = self._answers.find(asked)
        if answer is not None and asked.counts:
            self._count_shown(hit.item.id for hit in answer.hits)
        return say.Begun(self._partition.speakers, answer)

    def _count_shown(self, ids: Iterable[str]) -> None:
        if self._shown_counts.count(ids):
            self._record([], None, None)

    def _item(self, id: str) -> Item:
        item = self._partition.item(id)
        if item is None:
            raise NotFoundError("this user has no item of that id", id=id)
        return item

    async def _keep_house(self, asked: Order, reply: Reply | None) -> None:
        assert self._vectors is not None
        writes, answer = await self._housekeeping.done(asked, self._vectors)
        self._record(writes, reply, answer)

    # --- what is forgotten ---------------------------------------------------------------------------------

    async def _remove(self, items: tuple[Item, ...]) -> list[Write]:
        """Take items out of memory; gives the writes that keep their messages from being read."""
        assert self._vectors is not None
        writes = self._extracting.dropped(items)
        self._answers.clear()
        labels = [label for item in items if (label := self._partition.label(item.id)) is not None]
        for count, item in enumerate(items, 1):
            self._partition.remove(item.id)
            self._intake.removed(item)
            if count % REMOVE_STEP_ITEMS == 0:
                await anyio.lowlevel.checkpoint()
        self._vectors.remove(labels)  # last: an index that was begun meanwhile is not used
        return writes

    # --- rest ------------------------------------------------------------------------------------------------

    def _settled(self) -> None:
        """Answer those who wait, once everything is durable and every vector made."""
        if self.idle():
            for reply in self._settling:
                reply.answer(None)
            self._settling.clear()
        elif self._settling and self._vectors is not None:
            self._vectors.hurry()  # what came since they asked is waited for too
            self._extracting.hurry()
