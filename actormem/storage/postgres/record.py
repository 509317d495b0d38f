"""The system of record in a schema of PostgreSQL; see `actormem.storage.stored` for what it shares with a folder's.

The law of the file: one process has the schema, by a lease (`lease`); one connection writes, two read, one keeps the
lease. What `durability` means here:

    power    a commit is acknowledged when the server has it on its disk, or wherever else the server's own
             `synchronous_commit` says (`on`, `remote_apply` …); a server that says `off` is told `on`
    process  the server does not wait for its disk: kill -9 of this process loses nothing; if the server itself or its
             machine dies, what was acknowledged in the last three `wal_writer_delay` (0.6 s) may be gone, the newest
             first, and nothing else

PgBouncer in transaction mode is not supported: connections keep a search path and prepared statements.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio
import psycopg
from anyio import CapacityLimiter, to_thread

from actormem.core.values import Owner
from actormem.errors import FolderInUseError, StorageError
from actormem.ports import PutVectors, Record, Scan, Write
from actormem.storage.failures import DamagedRowError
from actormem.storage.places import NUMBER_MARK
from actormem.storage.postgres import item_reads, reads
from actormem.storage.postgres.address import Database, parse_url
from actormem.storage.postgres.commits import Committing, connect_writer
from actormem.storage.postgres.connections import (
    Connection,
    connect,
    connect_to_schema,
    execute,
    pipelined,
    roll_back,
    use_schema,
)
from actormem.storage.postgres.erasing import ELSEWHERE, held_by, scrub
from actormem.storage.postgres.failures import opening_error, postgres_error
from actormem.storage.postgres.item_rows import check_vectors
from actormem.storage.postgres.lease import Lease, fenced, look_at_fence, take
from actormem.storage.postgres.places import mark, read_mark
from actormem.storage.postgres.schema import (
    check_server,
    find_or_make,
    is_made,
    migrate,
    warn_of_missing_wall,
)
from actormem.storage.schema import Durability
from actormem.storage.stored import NUMBERS_RESERVED, READERS, StoredRecord, running
from actormem.storage.writer import Writer

__all__ = ["PostgresRecord", "holds_schema", "open_postgres"]

POLL_S: Final = 0.1  # waiting for another process to leave; it is told nothing, so it is asked
T = TypeVar("T")


@asynccontextmanager
async def open_postgres(
    url: str, *, durability: Durability = "power", lock_wait_s: float = 0.0
) -> AsyncGenerator[Record, None]:
    """Open the record in a schema until the block ends. Entered and left in one task.

    Leaving commits all that waits, gives the lease back and closes, under cancellation too.

    Args:
        url: See `actormem.storage.postgres.address.parse_url`. The schema is made where it is missing.
        durability: See above.
        lock_wait_s: Seconds to wait for another process to leave the schema, or for its lease to end.

    Raises:
        FolderInUseError: Another process has the schema, or this one.
        VersionError: A newer version wrote it.
        UsageError: The URL is wrong; the database cannot be reached, refuses the user, is too old, has no pgvector.
        CorruptError: The schema holds something else. In all these cases nothing was changed.
        StorageError: The database failed. On leaving: something failed that nobody was told of.
    """
    database = parse_url(url)
    limiter = CapacityLimiter(1)
    connection = await to_thread.run_sync(
        _guarded, database, lambda: first_connection(database), limiter=limiter
    )
    lease: Lease | None = None
    try:
        fence = await _taken(connection, database, lock_wait_s, limiter)
        lease = Lease(connection, database, fence)
        opened = await to_thread.run_sync(
            _guarded, database, lambda: Opened(database, connection, lease, durability), limiter=limiter
        )
    except BaseException:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(connection.close if lease is None else lease.release, limiter=limiter)
        raise
    record = PostgresRecord(opened)
    async with running(record, record.keep_lease):
        yield record


def first_connection(database: Database) -> Connection:
    """A connection to a schema that is ours and of a version we read, made where it was missing."""
    connection = connect(database)
    try:
        check_server(connection)
        find_or_make(connection, database)
        use_schema(connection, database)
    except BaseException:
        connection.close()
        raise
    return connection


async def _taken(
    connection: Connection, database: Database, lock_wait_s: float, limiter: CapacityLimiter
) -> int:
    deadline = anyio.current_time() + lock_wait_s
    while True:
        try:
            return await to_thread.run_sync(
                _guarded, database, lambda: take(connection, database), limiter=limiter
            )
        except FolderInUseError:
            if anyio.current_time() >= deadline:
                raise
        await anyio.sleep(min(POLL_S, max(0.0, deadline - anyio.current_time())))


def _guarded(database: Database, opening: Callable[[], T]) -> T:
    """In a thread: a part of the opening, with errors of ours."""
    try:
        return opening()
    except psycopg.Error as error:
        raise opening_error(error, database) from error


def holds_schema(url: str) -> bool:
    """Whether a record is in the schema that a URL names; nothing is made. Blocks.

    Raises:
        UsageError: As `open_postgres`.
        CorruptError: The schema holds something else.
    """
    database = parse_url(url)

    def look() -> bool:
        connection = connect(database)
        try:
            check_server(connection)
            return is_made(connection, database)
        finally:
            connection.close()

    return _guarded(database, look)


class Reader:
    """A connection that reads, renewed where it was lost; for one thread at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self.connected()

    def connected(self) -> Connection:
        """The connection, a new one where there is none that works."""
        if self.lost or self._connection is None:
            self._connection = connect_to_schema(self._database)
        return self._connection

    @property
    def lost(self) -> bool:
        """Whether the next question needs another connection."""
        return self._connection is None or bool(self._connection.closed)

    def ask(self, question: Callable[[Connection], T]) -> T:
        """Put a question, in one transaction that reads and sees one moment."""
        connection = self.connected()
        try:
            with pipelined(connection):
                execute(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                answer = question(connection)
                execute(connection, "ROLLBACK")
            return answer
        finally:
            roll_back(connection)

    def close(self) -> None:
        """Close it."""
        if self._connection is not None:
            self._connection.close()


class Opened:
    """What a record works with, and what was found at opening. The lease is held."""

    def __init__(
        self, database: Database, connection: Connection, lease: Lease, durability: Durability
    ) -> None:
        self.database = database
        self.lease = lease
        self.readers: list[Reader] = []
        self.last_number, self.newest_ms = 0, 0
        migrate(connection)
        warn_of_missing_wall(connection, database)
        with connection.transaction():
            if look_at_fence(connection, lease.fence).fetchone() is None:
                raise fenced(connection, lease.fence, database)
            self.last_number = read_mark(connection, NUMBER_MARK)
            mark(connection, NUMBER_MARK, self.last_number + NUMBERS_RESERVED)
            self.newest_ms = item_reads.newest_stored_ms(connection)
            last_item = item_reads.last_item_number(connection)
        writing = connect_writer(database, durability)
        self.committing = Committing(
            writing,
            database,
            lease,
            durability,
            last_item=last_item,
            number_mark=self.last_number + NUMBERS_RESERVED,
        )
        try:
            for _ in range(READERS):
                self.readers.append(Reader(database))  # each is closed where the next fails
            lease.measure()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections and give the lease back."""
        for reader in self.readers:
            reader.close()
        self.committing.close()
        self.lease.release()


class PostgresRecord(StoredRecord[Reader, Connection]):
    """See `actormem.ports.Record`; made by `open_postgres`. Raises of `submit` what the record in a folder does."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._database = opened.database
        self._scrubbing = CapacityLimiter(1)
        self._renewing = CapacityLimiter(1)
        writer = Writer(opened.committing, CapacityLimiter(1), opened.database.place)
        writer.size_bytes = opened.lease.size_bytes
        super().__init__(
            reads, item_reads, opened.readers, CapacityLimiter(len(opened.readers)), writer, opened
        )

    async def keep_lease(self) -> None:
        """Renew the lease until cancelled, or until another process has it: then nothing more is written."""
        lease = self._opened.lease
        while True:
            await anyio.sleep(self._database.lease_s / 3)
            failure = await to_thread.run_sync(lease.renew, limiter=self._renewing)
            if failure is not None:
                self.writer.fail(failure)
                return
            self.writer.size_bytes = lease.size_bytes

    async def scrub(self) -> None:
        """Let dead rows go; see promise 7, `elsewhere` for what that does not reach, and `erasing.scrub` for its cost.

        Raises:
            StorageError: It could not be done. What was erased stays erased, and the next `scrub` tries again.
        """
        await self.sync()
        await to_thread.run_sync(self._scrub, limiter=self._scrubbing)

    async def scan(self, texts: Sequence[str], besides: Owner | None = None) -> Scan:
        """Look for texts in the rows of an owner. Of the server's files nothing can be seen from here."""
        if besides is None:
            return Scan()
        owner = besides
        return await self._read_behind(lambda connection: held_by(connection, texts, owner))

    def elsewhere(self) -> tuple[str, ...]:
        return ELSEWHERE

    def _scrub(self) -> None:
        try:
            scrub(self._database, self._opened.lease.fence)
        except (psycopg.Error, StorageError) as error:
            raise postgres_error(error, self._database.place) from error

    def _ask(self, source: Reader, question: Callable[[Connection], T]) -> T:
        try:
            try:
                return source.ask(question)
            except psycopg.OperationalError:
                if not source.lost:
                    raise
                return source.ask(question)  # a question may be asked twice
        except (psycopg.Error, DamagedRowError, UnicodeDecodeError) as error:
            raise postgres_error(error, self._database.place) from error

    def _check(self, write: Write) -> None:
        super()._check(write)
        if isinstance(write, PutVectors):
            check_vectors(write)

    def _close(self) -> None:
        super()._close()
        self._opened.close()
