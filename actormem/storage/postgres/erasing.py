"""What is left of erased words in the database, and looking for them.

The law of the file: what this program can clear it clears; what it cannot even see it names (`ELSEWHERE`).
"""

from collections.abc import Sequence
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from actormem.core.values import Owner
from actormem.errors import StorageError
from actormem.ports import Scan
from actormem.storage.places import SCRUB_MARK
from actormem.storage.postgres.address import Database
from actormem.storage.postgres.connections import Connection, connect_to_schema, execute
from actormem.storage.postgres.lease import fenced, look_at_fence
from actormem.storage.postgres.places import look_as, owner_number, read_mark
from actormem.storage.scanning import forms

__all__ = ["ELSEWHERE", "held_by", "scrub"]

REWRITTEN_BYTES_MAX: Final = (
    64 * 1024 * 1024
)  # of a table and its indexes: about a second, in which it is locked
LOCK_WAIT_MS: Final = 2_500  # for whoever else reads a table; autovacuum gives way after one second
ELSEWHERE: Final = (
    "free space of tables of the database larger than 64 MB, until it is written over (VACUUM FULL clears it)",
    "the write-ahead log of the database, until it is recycled, and its archive",
    "backups, snapshots and replicas of the database",
)
"""Where words may stand that were erased from the record: nothing here can reach them."""

TABLES: Final = (
    "events",
    "snapshots",
    "items",
    "vectors",
    "sessions",
    "shown",
    "intents",
    "tombstones",
    "owners",
)
COLUMNS: Final[tuple[LiteralString, ...]] = (
    "SELECT 1 FROM events WHERE owner_no = %s AND position(%s IN words) > 0 LIMIT 1",
    "SELECT 1 FROM events WHERE owner_no = %s AND position(%s IN body) > 0 LIMIT 1",
    "SELECT 1 FROM items WHERE owner_no = %s AND position(%s IN body) > 0 LIMIT 1",
    "SELECT 1 FROM snapshots WHERE owner_no = %s AND position(%s IN body) > 0 LIMIT 1",
    "SELECT 1 FROM intents WHERE owner_no = %s AND position(%s IN body) > 0 LIMIT 1",
    "SELECT 1 FROM sessions WHERE owner_no = %s AND position(%s IN session_id) > 0 LIMIT 1",
    "SELECT 1 FROM owners WHERE owner_no = %s AND position(%s IN user_id) > 0 LIMIT 1",
)
SIZES: Final[tuple[LiteralString, ...]] = (
    "SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(words), 0)), 0)::bigint FROM events"
    " WHERE owner_no = %s",
    "SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM items WHERE owner_no = %s",
    "SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM snapshots WHERE owner_no = %s",
    "SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM intents WHERE owner_no = %s",
    "SELECT coalesce(sum(octet_length(session_id)), 0)::bigint FROM sessions WHERE owner_no = %s",
    "SELECT coalesce(sum(octet_length(user_id)), 0)::bigint FROM owners WHERE owner_no = %s",
)


def scrub(database: Database, fence: int) -> None:
    """Let dead rows go, if words were erased since the last time; on a connection of its own.

    `VACUUM` alone makes their space free and leaves their bytes there (measured: 292 of 300 erased texts were still
    found in the table's file); so tables are written anew, but large ones, which would be locked for too long.

    Raises:
        FencedError: Another process has the record.
        StorageError: Somebody else reads a table for longer than 2.5 s, a backup perhaps.
        psycopg.Error: The database failed. In all cases the next call does it again.

    Cost:
        Up to about a second for each table of up to 64 MB, in which what needs it waits. Of larger ones the pages that
        changed are read; reads and commits go on.
    """
    connection = connect_to_schema(database)
    try:
        due = read_mark(connection, SCRUB_MARK)
        if not due:
            return
        execute(connection, "SELECT set_config('lock_timeout', %s, false)", f"{LOCK_WAIT_MS}ms")
        for table in TABLES:
            _vacuum(connection, table)
        with connection.transaction():
            if look_at_fence(connection, fence).fetchone() is None:
                raise fenced(connection, fence, database)
            # What was erased meanwhile has raised it: that is for the next call.
            execute(connection, "UPDATE meta SET value = 0 WHERE key = %s AND value = %s", SCRUB_MARK, due)
    except psycopg.errors.LockNotAvailable as error:
        raise StorageError(
            "a table is in use by another program, a backup perhaps", path=database.place
        ) from error
    finally:
        connection.close()


def _vacuum(connection: Connection, table: LiteralString) -> None:
    row = execute(connection, "SELECT pg_total_relation_size(%s::regclass)", table).fetchone()
    small = row is not None and row[0] <= REWRITTEN_BYTES_MAX
    how = sql.SQL("VACUUM (FULL) {}") if small else sql.SQL("VACUUM (INDEX_CLEANUP ON) {}")
    connection.execute(how.format(sql.Identifier(table)))


def held_by(connection: Connection, texts: Sequence[str], owner: Owner) -> Scan:
    """Look for texts in the rows of an owner; nothing where nothing is stored of him.

    Cost:
        Reads all his rows for each text.
    """
    look_as(connection, owner)
    number = owner_number(connection, owner)
    if number is None:
        return Scan()
    sizes = [execute(connection, query, number).fetchone() for query in SIZES]
    found_count = sum(_stands(connection, text, number) for text in texts)
    return Scan(sum(row[0] for row in sizes if row is not None), found_count)


def _stands(connection: Connection, text: str, owner_no: int) -> bool:
    return any(
        execute(connection, query, owner_no, form).fetchone() is not None
        for form in forms(text)
        for query in COLUMNS
    )
