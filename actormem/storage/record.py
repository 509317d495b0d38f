"""The system of record: SQLite in a folder, or in memory with the same behaviour.

The law of the file, beside that of `stored`: erased words are cleared from the free parts of the file by
rebuilding it (`VACUUM`): SQLite's `secure_delete` alone leaves copies of rows that once moved between pages
(measured: 17 of 2,700 erased texts were still found in the file).
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

from actormem.core.values import Owner
from actormem.errors import StorageError
from actormem.ports import Record, Scan
from actormem.storage import item_reads, reads
from actormem.storage.commits import commit
from actormem.storage.failures import DamagedRowError, storage_error
from actormem.storage.lock import folder_lock
from actormem.storage.places import NUMBER_MARK, SCRUB_MARK, mark, read_mark
from actormem.storage.scanning import found_in_files, stands
from actormem.storage.schema import Durability, connect_reader, connect_writer, files_bytes
from actormem.storage.stored import NUMBERS_RESERVED, READERS, StoredRecord, running
from actormem.storage.writer import Writer

__all__ = ["open_record"]

DATABASE_NAME: Final = "record.db"

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
        async with running(SqliteRecord(connections, file)) as record:
            yield record


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


class SqliteRecord(StoredRecord[sqlite3.Connection, sqlite3.Connection]):
    """See `actormem.ports.Record`; made by `open_record`.

    Raises of `submit`, beyond the port's: `UsageError` for a write that could not be read back (nothing is
    queued), `StoppedError` after leaving. Where `submit` raises, `then` is not called.
    """

    def __init__(self, connections: Connections, file: Path | None) -> None:
        self._connections = connections
        self._file = file
        self._writing = CapacityLimiter(1)
        # In memory there is one connection for all: the writer's token keeps reads out of its transactions.
        limiter = self._writing if file is None else CapacityLimiter(len(connections.reading))
        place = "in memory" if file is None else str(file)
        writer = Writer(partial(commit, connections.writing, file), self._writing, place)
        writer.size_bytes = connections.size_bytes
        super().__init__(reads, item_reads, connections.reading, limiter, writer, connections)
        self._scrubbing = anyio.Lock()
        self._scanning = CapacityLimiter(1)

    def _ask(self, source: sqlite3.Connection, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            source.execute("BEGIN")
            try:
                return question(source)
            finally:
                source.execute("ROLLBACK")
        except (sqlite3.Error, DamagedRowError, UnicodeDecodeError) as error:
            raise storage_error(error, self._file) from error

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

    def _close(self) -> None:
        super()._close()
        self._connections.close()
