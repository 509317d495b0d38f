"""One process per schema: a lease with a number that each commit looks at.

The law of the file: time is the database's alone, so clocks that differ do no harm. The lease says who may try; the
number (the fence) says who may write: taking the lease raises it, in a transaction that waits for every commit which
has looked at the old one, and a commit that finds another number stores nothing. So a process that was thought dead and
comes back writes nothing, however late (Kleppmann, "How to do distributed locking", 2016).
"""

import logging
import os
import re
import socket
import threading
from collections.abc import Callable
from typing import Final, TypeVar

import psycopg

from actormem.errors import FencedError, FolderInUseError, StorageError
from actormem.storage.postgres.address import Database
from actormem.storage.postgres.connections import Connection, Cursor, connect_to_schema, execute
from actormem.storage.postgres.failures import reason_of

__all__ = ["Lease", "fenced", "is_ours", "look_at_fence", "take"]

LOCK_WAIT_MS: Final = 1_000  # a commit of the last holder's: it ends within it, or the next try comes
OURS: Final = re.compile(r"process (\d+) on (.*)", re.DOTALL)
SIZE: Final = """(SELECT sum(pg_total_relation_size(pg_class.oid))::bigint FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s AND relkind = 'r')"""

T = TypeVar("T")

logger = logging.getLogger(__name__)


def take(connection: Connection, database: Database) -> int:
    """Take the lease, if nobody has it.

    Returns:
        The fence, larger than any before.

    Raises:
        FolderInUseError: Another process has it, or this one.
        psycopg.Error: The database failed.
    """
    execute(connection, "SELECT set_config('lock_timeout', %s, false)", f"{LOCK_WAIT_MS}ms")
    try:
        row = execute(
            connection,
            """UPDATE lease SET fence = fence + 1, holder = %s, ends = clock_timestamp() + make_interval(secs => %s)
            WHERE ends <= clock_timestamp() RETURNING fence""",
            _ourselves(),
            database.lease_s,
        ).fetchone()
    except psycopg.errors.LockNotAvailable:
        row = None
    if row is not None:
        return row[0]
    raise _in_use(connection, database)


def look_at_fence(connection: Connection, fence: int) -> Cursor:
    """Ask, inside a transaction, whether the fence is still ours; nobody can take the lease until its end."""
    return execute(connection, "SELECT 1 FROM lease WHERE fence = %s FOR KEY SHARE", fence)


def is_ours(connection: Connection, fence: int) -> bool:
    """Whether nobody has taken the lease since, as far as is known now."""
    return execute(connection, "SELECT 1 FROM lease WHERE fence = %s", fence).fetchone() is not None


def fenced(connection: Connection, fence: int, database: Database) -> FencedError:
    """The error that says who has the lease now."""
    holder, _, found = _read(connection)
    return FencedError(
        f"the record was taken over by {holder or 'a process that has left it since'}"
        f" (fence {found}, ours was {fence}); nothing more is written here",
        path=database.place,
        fence=fence,
        found=found,
    )


class Lease:
    """A lease that was taken, on a connection of its own; its methods are called in threads, one at a time.

    Attributes:
        fence: Its number.
        size_bytes: Of all tables and indexes of the schema, when it was renewed last.
    """

    def __init__(self, connection: Connection, database: Database, fence: int) -> None:
        self.fence = fence
        self.size_bytes = 0
        self._connection: Connection | None = connection
        self._database = database
        self._using = threading.Lock()
        self._released = False
        self._reachable = True

    def renew(self) -> StorageError | None:
        """Have it for another `lease_s` seconds.

        Returns:
            None where it is ours; also where the database does not answer: what is tried again, and told in the log
            of the program once. A FencedError where another process has it.
        """
        with self._using:
            if self._released:
                return None
            try:
                return self._tried(self._renew)
            except psycopg.Error as error:
                self._forget_connection()
                if self._reachable:
                    told = (
                        reason_of(error, self._database) if error.sqlstate is None else type(error).__name__
                    )
                    logger.warning("the lease could not be renewed (%s): %s", told, self._database.place)
                self._reachable = False
                return None

    def measure(self) -> None:
        """Renew it at opening, so that the size is known.

        Raises:
            FencedError: Another process has it.
        """
        failure = self.renew()
        if failure is not None:
            raise failure

    def release(self) -> None:
        """Let the next process have it at once; where the database does not answer, when it ends."""

        def give_back(connection: Connection) -> None:
            query = "UPDATE lease SET ends = '-infinity', holder = '' WHERE fence = %s"
            execute(connection, query, self.fence)

        with self._using:
            try:
                if not self._released:
                    self._tried(give_back)
            except psycopg.Error as error:
                logger.warning(
                    "the lease was not given back (%s), it ends by itself: %s",
                    type(error).__name__,
                    self._database.place,
                )
            self._released = True
            self._forget_connection()

    def _renew(self, connection: Connection) -> StorageError | None:
        row = execute(
            connection,
            "UPDATE lease SET ends = clock_timestamp() + make_interval(secs => %s) WHERE fence = %s RETURNING "
            + SIZE,
            self._database.lease_s,
            self.fence,
            self._database.schema,
        ).fetchone()
        self._reachable = True
        if row is None:
            return fenced(connection, self.fence, self._database)
        self.size_bytes = row[0]
        return None

    def _tried(self, do: Callable[[Connection], T]) -> T:
        """Do it, once more on a new connection where the one there was is lost."""
        if self._connection is not None:
            try:
                return do(self._connection)
            except psycopg.OperationalError:
                if not self._connection.closed:
                    raise
                self._forget_connection()
        self._connection = connect_to_schema(self._database)
        return do(self._connection)

    def _forget_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _read(connection: Connection) -> tuple[str, float, int]:
    row = execute(
        connection,
        "SELECT holder, extract(epoch FROM ends - clock_timestamp())::float8, fence FROM lease",
    ).fetchone()
    return ("", 0.0, 0) if row is None else (row[0], row[1], row[2])


def _in_use(connection: Connection, database: Database) -> FolderInUseError:
    holder, left_s, fence = _read(connection)
    ours = OURS.fullmatch(holder)
    told = holder or "another process"
    left = f", whose lease lasts {left_s:.1f} s more" if left_s > 0 else ""
    return FolderInUseError(
        f"the record is in use by {told}{left} (fence {fence}): {database.place}",
        pid=int(ours[1]) if ours and ours[2] == _host() else 0,
    )


def _ourselves() -> str:
    return f"process {os.getpid()} on {_host()}"


def _host() -> str:
    return ascii(socket.gethostname())[1:-1]
