"""The system of record: SQLite in a folder, or in memory with the same behaviour.

The law of the file: one connection writes, in one thread at a time; others read, each in one transaction.
Nothing blocks the event loop. Erased words are cleared from the free parts of the file by rebuilding it
(`VACUUM`): SQLite's `secure_delete` alone leaves copies of rows that once moved between pages (measured: 17
of 2,700 erased texts were still found in the file).
"""

import os
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

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
    Record,
    RecordStatistics,
    Scan,
    SessionHistory,
    SessionRow,
    StoredEvent,
    VectorPage,
    Write,
)
from actormem.storage import item_reads, reads
from actormem.storage.checks import check_write
from actormem.storage.failures import DamagedRowError, storage_error
from actormem.storage.forgotten import read_forgotten
from actormem.storage.lock import folder_lock
from actormem.storage.places import NUMBER_MARK, SCRUB_MARK, mark, read_mark
from actormem.storage.rows import ReserveNumbers
from actormem.storage.scanning import found_in_files, stands
from actormem.storage.schema import Durability, connect_reader, connect_writer, files_bytes
from actormem.storage.writer import Then, Writer

__all__ = ["open_record"]

DATABASE_NAME: Final = "record.db"
READERS: Final = 2  # one long read (all items of an owner) does not keep a session from waking
NUMBERS_RESERVED: Final = 1_024  # item numbers noted as given in one commit; a crash skips at most as many
CLOSE_WAIT_S: Final = 10.0  # leaving waits this long for what is queued; a healthy disk needs milliseconds

T = TypeVar("T")


@asynccontextmanager
async def open_record(
    path: Path | None, *, durability: Durability = "power", lock_wait_s: float = 0.0
) -> AsyncGenerator[Record, None]:
    """Open the record in a folder until the block ends. Entered and left in one task.

    Leaving commits all that waits (for at most `CLOSE_WAIT_S` seconds; the rest is told that it failed) and
    closes, under cancellation too.

    Args:
        path: The folder, made where it is missing; None keeps everything in memory.
        durability: `power` survives power loss; `process` survives kill -9 and commits faster.
        lock_wait_s: Seconds to wait for another process to leave the folder.

    Raises:
        FolderInUseError: The folder is open already, in another process or this one.
        VersionError: A newer version wrote it.
        UsageError: The path cannot be a folder of ours.
        CorruptError: The file is damaged or not ours. In all these cases nothing was changed.
        StorageError: The disk failed. On leaving: something failed that nobody was told of.
    """
    async with AsyncExitStack() as stack:
        if path is not None:
            await stack.enter_async_context(folder_lock(path, lock_wait_s))
        file = None if path is None else path / DATABASE_NAME
        connections = await to_thread.run_sync(connect_all, file, durability, limiter=CapacityLimiter(1))
        record = SqliteRecord(connections, file)
        failed: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(record.writer.run)
            try:
                yield record
            except Exception as error:
                failed = error  # raised below: the group would wrap it
            finally:
                await record.aclose()
        if failed is not None:
            raise failed
        if record.writer.callback_error is not None:
            raise record.writer.callback_error
        if record.writer.untold and record.writer.failure is not None:
            raise record.writer.failure.with_traceback(None)


class Connections:
    """The open connections of a record, and what they found: the last item number, its time and the size."""

    def __init__(self, file: Path | None, durability: Durability) -> None:
        self.writing = connect_writer(file, durability)
        self.reading: list[sqlite3.Connection] = []
        self.raw: int | None = None  # the file as bytes; see `scanning`
        try:
            self.raw = None if file is None else os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            self.last_number = read_mark(self.writing, NUMBER_MARK)
            mark(self.writing, NUMBER_MARK, self.last_number + NUMBERS_RESERVED)
            self.reading = [self.writing] if file is None else [connect_reader(file) for _ in range(READERS)]
            self.newest_ms = item_reads.newest_stored_ms(self.writing)
            self.size_bytes = files_bytes(self.writing, file)
        except (sqlite3.Error, OSError, DamagedRowError) as error:
            self.close()
            raise storage_error(error, file) from error

    def close(self) -> None:
        """Readers first, so that the last connection to leave is the one that may checkpoint."""
        for connection in self.reading:
            connection.close()
        self.writing.close()
        if self.raw is not None:
            os.close(self.raw)
            self.raw = None


def connect_all(file: Path | None, durability: Durability) -> Connections:
    return Connections(file, durability)


class SqliteRecord:
    """See `actormem.ports.Record`; made by `open_record`.

    Raises of `submit`, beyond the port's: `UsageError` for a write that could not be read back (nothing is
    queued), `StoppedError` after leaving. Where `submit` raises, `then` is not called.
    """

    def __init__(self, connections: Connections, file: Path | None) -> None:
        in_memory = file is None
        self._connections = connections
        self._file = file
        self._idle = list(connections.reading)
        self._writing = CapacityLimiter(1)
        # In memory there is one connection for all: the writer's token keeps reads out of its transactions.
        self._reading = self._writing if in_memory else CapacityLimiter(len(self._idle))
        self._others = CapacityLimiter(max(1, len(self._idle) - 1))
        self._scrubbing = anyio.Lock()
        self._scanning = CapacityLimiter(1)
        self._damaged_rows = 0
        self._last_number = connections.last_number
        self._reserved_number = connections.last_number + NUMBERS_RESERVED
        self.writer = Writer(connections.writing, self._writing, file)
        self.writer.size_bytes = connections.size_bytes

    # --- writing -----------------------------------------------------------------------------------

    def submit(self, writes: Sequence[Write], then: Then | None = None) -> None:
        for write in writes:
            check_write(write)
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
        return self._connections.newest_ms

    def _note_number(self, last: int) -> None:
        def then(error: StorageError | None) -> None:
            """Nobody waits for this: where it failed, whatever holds such a number fails after it."""

        self.writer.submit([ReserveNumbers(last)], then, bounded=False)

    # --- reading -----------------------------------------------------------------------------------

    async def load_session(self, key: SessionKey) -> SessionHistory | None:
        history = await self._read(lambda connection: reads.load_session(connection, key))
        self._damaged_rows += history.damaged_count if history is not None else 0
        return history

    async def read_events(self, key: SessionKey, first: int, last: int) -> tuple[StoredEvent, ...]:
        return await self._read_behind(lambda connection: reads.read_events(connection, key, first, last))

    async def session_names(self, key: SessionKey) -> frozenset[str]:
        return await self._read(lambda connection: reads.session_names(connection, key))

    async def sessions(self, owner: Owner) -> tuple[SessionRow, ...]:
        return await self._read_behind(lambda connection: reads.sessions(connection, owner))

    async def owners(self, limit: int, tenant: str | None = None, prefix: str = "") -> tuple[OwnerRow, ...]:
        return await self._read_behind(lambda connection: reads.owners(connection, limit, tenant, prefix))

    async def behind(self) -> tuple[SessionKey, ...]:
        return await self._read_behind(reads.behind)

    async def load_items(self, owner: Owner, embedder: str, newest: int | None = None) -> OwnerItems:
        found = await self._read(
            lambda connection: item_reads.load_items(connection, owner, embedder, newest)
        )
        self._damaged_rows += found.damaged_count
        return found

    async def items_after(self, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
        return await self._read(lambda connection: item_reads.items_after(connection, owner, number, limit))

    async def items_of(self, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
        return await self._read(lambda connection: item_reads.items_of(connection, owner, numbers))

    async def vectors_before(
        self, owner: Owner, embedder: str, number: int | None, *, limit: int, size_bytes: int
    ) -> VectorPage:
        def read(connection: sqlite3.Connection) -> VectorPage:
            return item_reads.vectors_before(
                connection, owner, embedder, number, limit=limit, size_bytes=size_bytes
            )

        found = await self._read(read)
        self._damaged_rows += found.damaged_count
        return found

    async def shown_in(self, owner: Owner, item_id: str) -> tuple[tuple[SessionKey, int], ...]:
        return await self._read_behind(lambda connection: reads.shown_in(connection, owner, item_id))

    async def forgotten_ms(self, owner: Owner) -> int:
        return await self._read(lambda connection: read_forgotten(connection, owner))

    async def intents(self, owner: Owner) -> tuple[tuple[str, bytes], ...]:
        return await self._read_behind(lambda connection: reads.intents(connection, owner))

    async def owners_with_intents(self, prefix: str = "") -> tuple[Owner, ...]:
        return await self._read_behind(lambda connection: reads.owners_with_intents(connection, prefix))

    async def intent_counts(self) -> dict[str, int]:
        return await self._read(reads.intent_counts)

    async def base_contents(self, base: Owner) -> BaseContents:
        return await self._read_behind(lambda connection: reads.base_contents(connection, base))

    async def bases(self, tenant: str) -> tuple[BaseRow, ...]:
        return await self._read_behind(lambda connection: reads.bases(connection, tenant))

    async def _read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        return await to_thread.run_sync(self._answer, question, limiter=self._reading)

    async def _read_behind(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """What no waking waits for: one connection is always left for those that do."""
        async with self._others:
            return await self._read(question)

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """In a thread: ask in one transaction, so that the answer is of one moment."""
        if not self._idle:
            raise StoppedError("the record answers no more", reason="closed")
        connection = self._idle.pop()
        try:
            connection.execute("BEGIN")
            try:
                return question(connection)
            finally:
                connection.execute("ROLLBACK")
        except UnicodeEncodeError:
            raise UsageError("an id holds a lone surrogate") from None
        except (sqlite3.Error, DamagedRowError, UnicodeDecodeError) as error:
            raise storage_error(error, self._file) from error
        finally:
            self._idle.append(connection)

    # --- upkeep ------------------------------------------------------------------------------------

    async def scrub(self) -> None:
        """Clear erased words from the files; see promise 7.

        Raises:
            StorageError: It could not be done (a rebuild needs as much free space as the file takes). What
                was erased stays erased, and the next `scrub` tries again.

        Cost:
            Where something was erased since the last: the time to write the file anew, in which commits
            and reads wait.
        """
        await self.sync()
        if self._file is None:
            return
        async with self._scrubbing, AsyncExitStack() as stack:
            for _ in range(READERS):
                reader = object()
                await self._reading.acquire_on_behalf_of(reader)
                stack.callback(self._reading.release_on_behalf_of, reader)
            await to_thread.run_sync(self._scrub, limiter=self._writing)

    def _scrub(self) -> None:
        """In the writer's thread, with no reader about: a reader would hold back the checkpoint."""
        connection = self._connections.writing
        try:
            if read_mark(connection, SCRUB_MARK):
                connection.execute("VACUUM")
                mark(connection, SCRUB_MARK, 0)
            busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            self.writer.size_bytes = files_bytes(connection, self._file)
        except (sqlite3.Error, OSError) as error:
            raise storage_error(error, self._file) from error
        if busy:
            raise StorageError("the write-ahead log is held by another program", path=str(self._file))

    async def scan(self, texts: Sequence[str], besides: Owner | None = None) -> Scan:
        file, raw = self._file, self._connections.raw
        if file is None or raw is None:
            return Scan()
        scanned_bytes, found = await to_thread.run_sync(
            found_in_files, file.parent, texts, {file: raw}, limiter=self._scanning
        )
        count = 0
        for text in found:
            count += not await self._read(partial(stands, text=text, besides=besides))
        return Scan(scanned_bytes, count)

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
        self._idle.clear()
        self._connections.close()
