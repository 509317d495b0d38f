"""A group of submissions as one transaction of PostgreSQL, in one pipeline.

The law of the file: the fence is looked at in the transaction, before its end is sent. Where the connection was lost
before that, nothing can have been committed, and the group is tried once more on a new connection; where it was lost
after that, the outcome is unknown, and nothing is ever tried again: the writer fails until the record is opened anew.
"""

from collections.abc import Sequence
from typing import Final

import psycopg

from actormem.errors import StorageError
from actormem.storage.postgres import item_rows, session_rows
from actormem.storage.postgres.address import Database
from actormem.storage.postgres.connections import (
    Connection,
    Cursor,
    connect_to_schema,
    execute,
    pipelined,
    roll_back,
)
from actormem.storage.postgres.failures import postgres_error
from actormem.storage.postgres.lease import Lease, fenced, is_ours, look_at_fence
from actormem.storage.postgres.places import look_as
from actormem.storage.postgres.writing import Writing
from actormem.storage.rows import apply
from actormem.storage.schema import Durability
from actormem.storage.writer import Writes

__all__ = ["Committing", "connect_writer"]

IDLE_S_MIN: Final = 2.0  # a busy process may pause this long between two statements


def connect_writer(database: Database, durability: Durability) -> Connection:
    """The connection that writes.

    A process that stops in the midst of a transaction holds the lease against its taker: the server ends such a
    transaction when the lease may have ended, after two seconds at least.
    """
    connection = connect_to_schema(database)
    try:
        limit = f"{int(max(IDLE_S_MIN, database.lease_s) * 1000)}ms"
        execute(connection, "SELECT set_config('idle_in_transaction_session_timeout', %s, false)", limit)
        if durability == "process":
            execute(connection, "SET synchronous_commit = off")
        else:  # a server may have any other level that waits for its disk or for standbys: it stays
            execute(
                connection,
                """SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit') = 'off'""",
            )
    except BaseException:
        connection.close()
        raise
    return connection


class Committing:
    """Commits groups, for the writer's thread; see `actormem.storage.writer.Commit`."""

    def __init__(
        self,
        connection: Connection,
        database: Database,
        lease: Lease,
        durability: Durability,
        *,
        last_item: int,
        number_mark: int,
    ) -> None:
        self._writing = Writing(connection, last_item, number_mark)
        self._stored = (last_item, number_mark)
        self._database = database
        self._lease = lease
        self._durability: Durability = durability

    def __call__(self, group: Sequence[Writes]) -> int:
        """Store the group; gives the size of the schema when the lease was renewed last."""
        try:
            try:
                self._send(group)
            except LostBeforeCommitError:
                self._reconnect()
                self._send(group)
        except LostInCommitError as error:
            raise StorageError(
                "the connection to the database was lost while a commit was on its way: it may be stored, or not;"
                " open the memory again, and send the same ids again",
                path=self._database.place,
            ) from error.__cause__
        except Exception as error:
            cause = error.__cause__ if isinstance(error, LostBeforeCommitError) else error
            assert isinstance(cause, Exception)
            raise postgres_error(cause, self._database.place) from cause
        self._stored = (self._writing.last_item, self._writing.number_mark)
        return self._lease.size_bytes

    def close(self) -> None:
        """Close the connection."""
        self._writing.connection.close()

    def _send(self, group: Sequence[Writes]) -> None:
        connection = self._writing.connection
        committing = False
        try:
            with pipelined(connection) as pipeline:
                execute(
                    connection, "BEGIN ISOLATION LEVEL READ COMMITTED"
                )  # whatever the server's default is
                held = look_at_fence(connection, self._lease.fence)
                look_as(connection, None)
                for writes in group:
                    for write in writes:
                        apply(session_rows, item_rows, self._writing, write)
                pipeline.sync()
                _check_fence(held)
                committing = True
                done = execute(connection, "COMMIT")
            _check_end(done)
        except Exception as error:
            if connection.closed and not committing:
                raise LostBeforeCommitError from error
            self._abort(connection)
            if connection.closed and committing:
                raise LostInCommitError from error
            if not connection.closed and not is_ours(connection, self._lease.fence):
                # Whatever it was that failed: what is known here by heart is not true any more.
                raise fenced(connection, self._lease.fence, self._database) from error
            raise

    def _abort(self, connection: Connection) -> None:
        """End the transaction that failed; if that fails too, the connection's end will."""
        try:
            roll_back(connection)
        except psycopg.Error:
            connection.close()

    def _reconnect(self) -> None:
        """A new connection, that knows nothing yet: what was learnt in the transaction that is lost is not true."""
        self._writing.connection.close()
        connection = connect_writer(self._database, self._durability)
        self._writing = Writing(connection, *self._stored)


def _check_fence(held: Cursor) -> None:
    if held.fetchone() is None:
        raise AssertionError("another process has the lease")


def _check_end(done: Cursor) -> None:
    """A transaction that failed ends without an error, too."""
    if done.statusmessage != "COMMIT":
        raise AssertionError("the transaction was rolled back")


class LostInCommitError(Exception):
    """The connection was lost after the end of the transaction was sent, before its answer came."""


class LostBeforeCommitError(Exception):
    """The connection was lost before the end of the transaction was sent."""
