"""The tables of the record in PostgreSQL, made where they are missing.

The law of the file: nothing is written to a schema before it is known to be empty or ours, of a version we read. Every
row about anybody has its owner's number, and row-level security, forced upon the tables' owner too, lets a transaction
see what belongs to the owner it has named (`actormem.owner`, a hash) and nothing else; `*` names all. Where none is
named nothing is seen. It is a second wall: each statement names the owner as well.

No vector index is kept here, in spite of pgvector's: the runtime searches in an index of its own in memory, as with a
folder, for a query to the database would put a round trip on the reply path, and an index here would be one more copy
that every erasure has to rebuild. Words are found by postings in memory for the same reason. pgvector keeps the
vectors, bit for bit, where SQL can compare them.
"""

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from actormem.errors import CorruptError, UsageError, VersionError
from actormem.storage.postgres.address import Database
from actormem.storage.postgres.connections import Connection, execute

__all__ = [
    "FORMAT_VERSION",
    "OWNED",
    "check_server",
    "find_or_make",
    "is_made",
    "migrate",
    "warn_of_missing_wall",
]

APPLICATION_ID: Final = 0x616D656D  # "amem", among the marks
SERVER_MIN: Final = 140_000
ORDINARY_RELATIONS: Final = ["r", "p", "v", "m", "f"]  # tables and views, of any kind

logger = logging.getLogger(__name__)

OWNED: Final[tuple[LiteralString, ...]] = (
    "sessions",
    "events",
    "snapshots",
    "items",
    "vectors",
    "shown",
    "tombstones",
    "intents",
)
"""Tables whose rows each belong to somebody; `owners` names those."""

TABLES: Final[tuple[LiteralString, ...]] = (
    "CREATE TABLE meta (key text PRIMARY KEY, value bigint NOT NULL)",
    # The fence is a key: taking the lease waits for commits that have looked at it, renewing it does not.
    "CREATE TABLE lease (fence bigint PRIMARY KEY, holder text NOT NULL, ends timestamptz NOT NULL)",
    "INSERT INTO lease VALUES (0, '', '-infinity')",
    """CREATE TABLE owners (
        owner_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL UNIQUE,
        tenant bytea NOT NULL, user_id bytea NOT NULL)""",
    "CREATE INDEX owners_names ON owners (tenant, user_id)",
    """CREATE TABLE sessions (
        session_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner_no bigint NOT NULL,
        session_id bytea NOT NULL, created_ms bigint NOT NULL, changed_ms bigint NOT NULL,
        message_count bigint NOT NULL, progress bigint NOT NULL, last_sequence bigint NOT NULL,
        released bigint NOT NULL DEFAULT -1, UNIQUE (owner_no, session_id)) WITH (fillfactor = 80)""",
    """CREATE TABLE events (
        session_no bigint NOT NULL, sequence bigint NOT NULL, owner_no bigint NOT NULL, checksum bigint NOT NULL,
        name bytea NOT NULL, body bytea NOT NULL, words bytea, PRIMARY KEY (session_no, sequence))""",
    "CREATE UNIQUE INDEX events_name ON events (session_no, name) WHERE name <> ''::bytea",
    """CREATE TABLE snapshots (
        session_no bigint PRIMARY KEY, owner_no bigint NOT NULL, sequence bigint NOT NULL,
        checksum bigint NOT NULL, body bytea NOT NULL)""",
    """CREATE TABLE items (
        item_no bigint PRIMARY KEY, owner_no bigint NOT NULL, checksum bigint NOT NULL, body bytea NOT NULL)""",
    "CREATE INDEX items_owner ON items (owner_no, item_no)",
    """CREATE TABLE vectors (
        owner_no bigint NOT NULL, item_no bigint NOT NULL, checksum bigint NOT NULL, embedder bytea NOT NULL,
        vector vector NOT NULL, PRIMARY KEY (owner_no, item_no, embedder))""",
    """CREATE TABLE shown (
        item_no bigint NOT NULL, session_no bigint NOT NULL, sequence bigint NOT NULL, owner_no bigint NOT NULL,
        PRIMARY KEY (item_no, session_no, sequence))""",
    "CREATE INDEX shown_session ON shown (session_no)",
    "CREATE INDEX shown_owner ON shown (owner_no)",
    "CREATE TABLE tombstones (owner_no bigint NOT NULL, hash bytea NOT NULL, PRIMARY KEY (owner_no, hash))",
    """CREATE TABLE intents (
        owner_no bigint NOT NULL, name bytea NOT NULL, checksum bigint NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (owner_no, name))""",
    # Owners that were forgotten as a whole: a keyed hash of each, which is nobody's any more.
    "CREATE TABLE forgotten (hash text PRIMARY KEY, forgotten_ms bigint NOT NULL)",
)
WALL: Final[tuple[LiteralString, ...]] = (
    "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
)
OWNERS_POLICY: Final = """CREATE POLICY its_own ON owners USING (
    (SELECT current_setting('actormem.owner', true)) IN ('*', key))"""
OWNED_POLICY: Final = """CREATE POLICY its_owners ON {table} USING (
    (SELECT current_setting('actormem.owner', true)) = '*'
    OR owner_no = (SELECT owners.owner_no FROM owners WHERE key = current_setting('actormem.owner', true)))"""

STEPS: Final[Mapping[int, Callable[[Connection], None]]] = MappingProxyType({})
"""What takes a schema of a format to the next one; each is one transaction, and never changed once it is out."""
FORMAT_VERSION: Final = max(STEPS, default=0) + 1  # of schemas that are written now


def check_server(connection: Connection) -> None:
    """Refuse a server that is too old.

    Raises:
        UsageError: It is.
    """
    found = connection.info.server_version
    if found < SERVER_MIN:
        raise UsageError(f"PostgreSQL {SERVER_MIN // 10_000} or newer is needed, this is {found // 10_000}")


def find_or_make(connection: Connection, database: Database) -> None:
    """Look at the schema, and make it with its tables where it is missing or empty, in one transaction.

    Raises:
        VersionError: A newer version wrote it.
        UsageError: The extension is missing, or the user may not make what is needed.
        CorruptError: The schema holds something else. In all these cases nothing was changed.
    """
    with connection.transaction():
        # Two processes that come at once: the second finds what the first has made.
        execute(
            connection,
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))",
            database.schema,
            APPLICATION_ID,
        )
        tables = relations(connection, database.schema)
        if tables:
            check_marks(connection, database, tables)
        _find_extension(connection)
        if not tables:
            _make(connection, database)


def is_made(connection: Connection, database: Database) -> bool:
    """Whether the schema has our tables.

    Raises:
        VersionError, CorruptError: As `find_or_make`.
    """
    tables = relations(connection, database.schema)
    if tables:
        check_marks(connection, database, tables)
    return bool(tables)


def relations(connection: Connection, schema: str) -> frozenset[str]:
    rows = execute(
        connection,
        """SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = %s AND relkind = ANY(%s::text[])""",
        schema,
        ORDINARY_RELATIONS,
    )
    return frozenset(row[0] for row in rows)


def check_marks(connection: Connection, database: Database, tables: frozenset[str]) -> None:
    """Refuse a schema that is not ours, or newer than we are."""
    marks: dict[str, int] = {}
    if "meta" in tables:
        query = sql.SQL("SELECT key, value FROM {} WHERE key IN ('application', 'format')")
        try:
            rows = connection.execute(query.format(sql.Identifier(database.schema, "meta")))
            marks = {str(key): int(value) for key, value in rows}
        except (psycopg.errors.UndefinedColumn, psycopg.errors.UndefinedFunction, ValueError):
            marks = {}
    version = marks.get("format", 0)
    if marks.get("application") != APPLICATION_ID or version < 1:
        raise CorruptError(
            f"the schema {database.schema} is not a record of actormem",
            path=database.place,
            expected="our tables or none",
            found=f"{len(tables)} tables and views",
        )
    if version > FORMAT_VERSION:
        raise VersionError(
            f"the schema has format {version}, this version of actormem reads {FORMAT_VERSION}: {database.place}",
            found=version,
            supported=FORMAT_VERSION,
        )


def migrate(connection: Connection) -> None:
    """Bring the tables to `FORMAT_VERSION`, with the lease held; nothing where they are."""
    row = execute(connection, "SELECT value FROM meta WHERE key = 'format'").fetchone()
    assert row is not None
    for before in range(row[0], FORMAT_VERSION):
        with connection.transaction():
            STEPS[before](connection)
            execute(connection, "UPDATE meta SET value = %s WHERE key = 'format'", before + 1)


def warn_of_missing_wall(connection: Connection, database: Database) -> None:
    """Say in the program's log that row-level security does not bind this user."""
    row = execute(
        connection, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is not None and row[0]:
        logger.warning(
            "the database user passes by row-level security (a superuser, or BYPASSRLS): the second wall between"
            " owners does not stand: %s",
            database.place,
        )


def _find_extension(connection: Connection) -> None:
    if execute(connection, "SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() is not None:
        return
    try:
        with connection.transaction():
            execute(connection, "CREATE EXTENSION vector SCHEMA public")
    except psycopg.Error as error:
        raise UsageError(
            f"the database has no extension vector ({type(error).__name__})",
            hint="install pgvector, and as an administrator of the database: CREATE EXTENSION vector",
        ) from error


def _make(connection: Connection, database: Database) -> None:
    name = sql.Identifier(database.schema)
    found = execute(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %s", database.schema).fetchone()
    if found is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
    row = execute(
        connection,
        """SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'vector'""",
    ).fetchone()
    assert row is not None
    connection.execute(sql.SQL("SET LOCAL search_path = {}, {}").format(name, sql.Identifier(row[0])))
    for statement in TABLES:
        connection.execute(statement)
    for table in ("owners", *OWNED):
        for statement in WALL:
            connection.execute(sql.SQL(statement).format(table=sql.Identifier(table)))
    connection.execute(OWNERS_POLICY)
    for table in OWNED:
        connection.execute(sql.SQL(OWNED_POLICY).format(table=sql.Identifier(table)))
    execute(
        connection,
        "INSERT INTO meta VALUES ('application', %s), ('format', %s)",
        APPLICATION_ID,
        FORMAT_VERSION,
    )
