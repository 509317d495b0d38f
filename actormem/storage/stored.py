"""What every record of ours does in the same way, whatever database it writes to and reads from.

The law of the file: one connection writes, in one thread at a time; others read, each in one transaction. Nothing
blocks the event loop. A kind of database brings functions that ask (`SessionReads`, `ItemReads`) and functions that
write (`actormem.storage.rows`), and says how a question is put to a connection.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from actormem.core.ids import item_number
from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StoppedError, StorageError, UsageError
from actormem.ports import (
    BaseContents,
    BaseRow,
    OwnerItems,
    OwnerRow,
    PutItems,
    RecordStatistics,
    SessionHistory,
    SessionRow,
    StoredEvent,
    VectorPage,
    Write,
)
from actormem.storage.checks import check_write
from actormem.storage.rows import ReserveNumbers
from actormem.storage.writer import Then, Writer

__all__ = [
    "CLOSE_WAIT_S",
    "NUMBERS_RESERVED",
    "READERS",
    "ItemReads",
    "Numbers",
    "SessionReads",
    "StoredRecord",
]

READERS: Final = 2  # one long read (all items of an owner) does not keep a session from waking
NUMBERS_RESERVED: Final = 1_024  # item numbers noted as given in one commit; a crash skips at most as many
CLOSE_WAIT_S: Final = 10.0  # leaving waits this long for what is queued; a healthy disk needs milliseconds

S = TypeVar("S")
C = TypeVar("C")
C_contra = TypeVar("C_contra", contravariant=True)
T = TypeVar("T")
Opened = TypeVar("Opened", bound="StoredRecord[Any, Any]")


class SessionReads(Protocol[C_contra]):
    """Questions about owners, sessions and what is still to be done."""

    def load_session(self, connection: C_contra, key: SessionKey, /) -> SessionHistory | None: ...
    def read_events(
        self, connection: C_contra, key: SessionKey, first: int, last: int, /
    ) -> tuple[StoredEvent, ...]: ...
    def session_names(self, connection: C_contra, key: SessionKey, /) -> frozenset[str]: ...
    def sessions(self, connection: C_contra, owner: Owner, /) -> tuple[SessionRow, ...]: ...
    def owners(
        self, connection: C_contra, limit: int, tenant: str | None, prefix: str, /
    ) -> tuple[OwnerRow, ...]: ...
    def behind(self, connection: C_contra, /) -> tuple[SessionKey, ...]: ...
    def intents(self, connection: C_contra, owner: Owner, /) -> tuple[tuple[str, bytes], ...]: ...
    def owners_with_intents(self, connection: C_contra, prefix: str, /) -> tuple[Owner, ...]: ...
    def intent_counts(self, connection: C_contra, /) -> dict[str, int]: ...
    def shown_in(
        self, connection: C_contra, owner: Owner, id: str, /
    ) -> tuple[tuple[SessionKey, int], ...]: ...
    def base_contents(self, connection: C_contra, base: Owner, /) -> BaseContents: ...
    def bases(self, connection: C_contra, tenant: str, /) -> tuple[BaseRow, ...]: ...


class ItemReads(Protocol[C_contra]):
    """Questions about items, their vectors, and owners that were forgotten."""

    def load_items(
        self, connection: C_contra, owner: Owner, embedder: str, newest: int | None, /
    ) -> OwnerItems: ...
    def items_after(
        self, connection: C_contra, owner: Owner, number: int, limit: int, /
    ) -> tuple[Item, ...]: ...
    def items_of(self, connection: C_contra, owner: Owner, numbers: Sequence[int], /) -> tuple[Item, ...]: ...
    def vectors_before(
        self,
        connection: C_contra,
        owner: Owner,
        embedder: str,
        number: int | None,
        /,
        *,
        limit: int,
        size_bytes: int,
    ) -> VectorPage: ...
    def read_forgotten(self, connection: C_contra, owner: Owner, /) -> int: ...


class Numbers(Protocol):
    """What was found at opening: the last item number given, and when the newest item was stored."""

    last_number: int
    newest_ms: int


class StoredRecord(Generic[S, C]):
    """The part of `actormem.ports.Record` that asks and writes; scrubbing and scanning are each database's own.

    Args:
        reads, item_reads: The questions, each put to a connection.
        idle: What gives connections that read: S gives a C while a question is asked.
        limiter: One token for each of them.
        writer: What commits.
        found: As it was at opening.
    """

    def __init__(
        self,
        reads: SessionReads[C],
        item_reads: ItemReads[C],
        idle: Sequence[S],
        limiter: CapacityLimiter,
        writer: Writer,
        found: Numbers,
    ) -> None:
        self.writer = writer
        self._reads = reads
        self._item_reads = item_reads
        self._idle = list(idle)
        self._reading = limiter
        self._others = CapacityLimiter(max(1, len(self._idle) - 1))
        self._damaged_rows = 0
        self._newest_ms = found.newest_ms
        self._last_number = found.last_number
        self._reserved_number = found.last_number + NUMBERS_RESERVED

    # --- writing -----------------------------------------------------------------------------------

    def submit(self, writes: Sequence[Write], then: Then | None = None) -> None:
        for write in writes:
            self._check(write)
        self.writer.submit(writes, then)
        for write in writes:
            if isinstance(write, PutItems):
                numbers = (item_number(item.id) or 0 for item in write.items)
                self._last_number = max(self._last_number, *numbers, 0)

    async def sync(self, writes: Sequence[Write] = ()) -> None:
        done = anyio.Event()
        errors: list[StorageError] = []

        def then(error: StorageError | None) -> None:
            if error is not None:
                errors.append(error)
            done.set()

        if writes:
            self.submit(writes, then)
        else:
            self.writer.submit((), then, bounded=False)
        await done.wait()
        if errors:
            raise errors[0].with_traceback(None)  # one error tells many: it must not grow with each

    def next_item_number(self) -> int:
        self._last_number += 1
        # Queued before any write that can hold the number, so nothing durable ever shares one.
        if self._last_number + NUMBERS_RESERVED // 2 > self._reserved_number and self.writer.failure is None:
            self._reserved_number = self._last_number + NUMBERS_RESERVED
            self._note_number(self._reserved_number)
        return self._last_number

    def newest_ms(self) -> int:
        return self._newest_ms

    def _note_number(self, last: int) -> None:
        def then(error: StorageError | None) -> None:
            """Nobody waits for this: where it failed, whatever holds such a number fails after it."""

        self.writer.submit([ReserveNumbers(last)], then, bounded=False)

    def _check(self, write: Write) -> None:
        """Refuse what could not be read back."""
        check_write(write)

    # --- reading -----------------------------------------------------------------------------------

    async def load_session(self, key: SessionKey) -> SessionHistory | None:
        history = await self._read(lambda connection: self._reads.load_session(connection, key))
        self._damaged_rows += history.damaged_count if history is not None else 0
        return history

    async def read_events(self, key: SessionKey, first: int, last: int) -> tuple[StoredEvent, ...]:
        return await self._read_behind(
            lambda connection: self._reads.read_events(connection, key, first, last)
        )

    async def session_names(self, key: SessionKey) -> frozenset[str]:
        return await self._read(lambda connection: self._reads.session_names(connection, key))

    async def sessions(self, owner: Owner) -> tuple[SessionRow, ...]:
        return await self._read_behind(lambda connection: self._reads.sessions(connection, owner))

    async def owners(self, limit: int, tenant: str | None = None, prefix: str = "") -> tuple[OwnerRow, ...]:
        return await self._read_behind(
            lambda connection: self._reads.owners(connection, limit, tenant, prefix)
        )

    async def behind(self) -> tuple[SessionKey, ...]:
        return await self._read_behind(self._reads.behind)

    async def load_items(self, owner: Owner, embedder: str, newest: int | None = None) -> OwnerItems:
        found = await self._read(
            lambda connection: self._item_reads.load_items(connection, owner, embedder, newest)
        )
        self._damaged_rows += found.damaged_count
        return found

    async def items_after(self, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
        return await self._read(
            lambda connection: self._item_reads.items_after(connection, owner, number, limit)
        )

    async def items_of(self, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
        return await self._read(lambda connection: self._item_reads.items_of(connection, owner, numbers))

    async def vectors_before(
        self, owner: Owner, embedder: str, number: int | None, *, limit: int, size_bytes: int
    ) -> VectorPage:
        def read(connection: C) -> VectorPage:
            return self._item_reads.vectors_before(
                connection, owner, embedder, number, limit=limit, size_bytes=size_bytes
            )

        found = await self._read(read)
        self._damaged_rows += found.damaged_count
        return found

    async def shown_in(self, owner: Owner, item_id: str) -> tuple[tuple[SessionKey, int], ...]:
        return await self._read_behind(lambda connection: self._reads.shown_in(connection, owner, item_id))

    async def forgotten_ms(self, owner: Owner) -> int:
        return await self._read(lambda connection: self._item_reads.read_forgotten(connection, owner))

    async def intents(self, owner: Owner) -> tuple[tuple[str, bytes], ...]:
        return await self._read_behind(lambda connection: self._reads.intents(connection, owner))

    async def owners_with_intents(self, prefix: str = "") -> tuple[Owner, ...]:
        return await self._read_behind(lambda connection: self._reads.owners_with_intents(connection, prefix))

    async def intent_counts(self) -> dict[str, int]:
        return await self._read(self._reads.intent_counts)

    async def base_contents(self, base: Owner) -> BaseContents:
        return await self._read_behind(lambda connection: self._reads.base_contents(connection, base))

    async def bases(self, tenant: str) -> tuple[BaseRow, ...]:
        return await self._read_behind(lambda connection: self._reads.bases(connection, tenant))

    async def _read(self, question: Callable[[C], T]) -> T:
        return await to_thread.run_sync(self._answer, question, limiter=self._reading)

    async def _read_behind(self, question: Callable[[C], T]) -> T:
        """What no waking waits for: one connection is always left for those that do."""
        async with self._others:
            return await self._read(question)

    def _answer(self, question: Callable[[C], T]) -> T:
        if not self._idle:
            raise StoppedError("the record answers no more", reason="closed")
        source = self._idle.pop()
        try:
            return self._ask(source, question)
        except UnicodeEncodeError:
            raise UsageError("an id holds a lone surrogate") from None
        finally:
            self._idle.append(source)

    def _ask(self, source: S, question: Callable[[C], T]) -> T:
        """In a thread: put the question in one transaction, so that the answer is of one moment."""
        raise NotImplementedError

    # --- upkeep ------------------------------------------------------------------------------------

    def elsewhere(self) -> tuple[str, ...]:
        return ()

    def statistics(self) -> RecordStatistics:
        writer = self.writer
        return RecordStatistics(
            commit_count=writer.commit_count,
            write_count=writer.write_count,
            failed_commit_count=writer.failed_commit_count,
            waiting_count=writer.waiting_count,
            size_bytes=writer.size_bytes,
            damaged_rows=self._damaged_rows,
        )

    async def aclose(self) -> None:
        """Commit what waits and close, cancelled or not."""
        if self.writer.failure is None:
            self._note_number(self._last_number)  # so that no number is skipped
        await self.writer.close(CLOSE_WAIT_S)
        with anyio.CancelScope(shield=True):
            for _ in range(int(self._reading.total_tokens)):
                await self._reading.acquire_on_behalf_of(object())
            await to_thread.run_sync(self._close, limiter=CapacityLimiter(1))
            self._reading.total_tokens = float("inf")  # those who still wait find it closed

    def _close(self) -> None:
        """In a thread: close every connection."""
        self._idle.clear()


@asynccontextmanager
async def running(
    record: Opened, *beside: Callable[[], Coroutine[Any, Any, None]]
) -> AsyncGenerator[Opened, None]:
    """Let the record commit until the block ends, and close it then, under cancellation too.

    Args:
        beside: What else runs for as long.

    Raises:
        Exception: Of the block, as it is; of a callback; or a StorageError that nobody was told of.
    """
    failed: Exception | None = None
    beside_scope = anyio.CancelScope(shield=True)  # leaving takes a while, and is under cancellation too

    async def run_beside() -> None:
        with beside_scope:
            async with anyio.create_task_group() as inner:
                for task in beside:
                    inner.start_soon(task)

    async with anyio.create_task_group() as group:
        group.start_soon(record.writer.run)
        group.start_soon(run_beside)
        try:
            yield record
        except Exception as error:
            failed = error  # raised below: the group would wrap it
        finally:
            await record.aclose()
            beside_scope.cancel()
    if failed is not None:
        raise failed
    if record.writer.callback_error is not None:
        raise record.writer.callback_error
    if record.writer.untold and record.writer.failure is not None:
        raise record.writer.failure.with_traceback(None)
