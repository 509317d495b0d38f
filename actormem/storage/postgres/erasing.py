"""What is left of erased words in the database, and looking for them.

The law of the file: what this program can clear it clears; what it cannot even see it names (`ELSEWHERE`).
"""

from collections.abc import Sequence
from typing import Final, LiteralString

from actormem.core.values import Owner
from actormem.ports import Scan
from actormem.storage.places import SCRUB_MARK
from actormem.storage.postgres.address import Database
from actormem.storage.postgres.connections import Connection, connect, execute, use_schema
from actormem.storage.postgres.lease import fenced, look_at_fence
from actormem.storage.postgres.places import look_as, owner_number, read_mark
from actormem.storage.scanning import forms

__all__ = ["ELSEWHERE", "held_by", "scrub"]

ELSEWHERE: Final = (
    "free space of the database's tables, until it is written over (VACUUM FULL clears it at once)",
    "the database's write-ahead log, until it is recycled, and its archive",
    "backups, snapshots and replicas of the database",
)
"""Where words may stand that were erased from the record: nothing here can reach them."""

TABLES: Final[tuple[LiteralString, ...]] = (
    "VACUUM (INDEX_CLEANUP ON) events",
    "VACUUM (INDEX_CLEANUP ON) snapshots",
    "VACUUM (INDEX_CLEANUP ON) items",
    "VACUUM (INDEX_CLEANUP ON) vectors",
    "VACUUM (INDEX_CLEANUP ON) sessions",
    "VACUUM (INDEX_CLEANUP ON) shown",
    "VACUUM (INDEX_CLEANUP ON) intents",
    "VACUUM (INDEX_CLEANUP ON) tombstones",
    "VACUUM (INDEX_CLEANUP ON) owners",
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

    Raises:
        FencedError: Another process has the record.
        psycopg.Error: The database failed; the next call does it again.

    Cost:
        Reads the tables' pages that changed; reads and commits go on meanwhile.
    """
    connection = connect(database)
    try:
        use_schema(connection, database)
        due = read_mark(connection, SCRUB_MARK)
        if not due:
            return
        for statement in TABLES:
            execute(connection, statement)
        with connection.transaction():
            if look_at_fence(connection, fence).fetchone() is None:
                raise fenced(connection, fence, database)
            # What was erased meanwhile has raised it: that is for the next call.
            execute(connection, "UPDATE meta SET value = 0 WHERE key = %s AND value = %s", SCRUB_MARK, due)
    finally:
        connection.close()


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
