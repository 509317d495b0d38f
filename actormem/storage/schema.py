"""The tables of the record, and opening its file.

The law of the file: nothing is written to a file before it is known to be ours, of a version we read, and
sound; a file under the record's name was whole once. Every row has its owner's number; every row with a body
has a checksum, for SQLite has none of its own.

One connection writes and checkpoints; the others only read. That keeps clear of the WAL-reset bug of SQLite
before 3.51.3, where two connections that write or checkpoint at once may damage the file.
"""

import logging
import os
import sqlite3
from pathlib import Path
from typing import Final, Literal, TypeAlias

from actormem.errors import CorruptError, StorageError, VersionError
from actormem.storage.failures import storage_error
from actormem.storage.log_check import check_log, log_damage, log_of
from actormem.storage.migration import FORMAT_VERSION, INTENTS, migrate

__all__ = [
    "FORMAT_VERSION",
    "Durability",
    "check_header",
    "check_parts",
    "connect",
    "connect_reader",
    "connect_writer",
    "files_bytes",
]

Durability: TypeAlias = Literal["power", "process"]

APPLICATION_ID: Final = 0x616D656D  # "amem", in the header of the file
BUSY_TIMEOUT_MS: Final = 5_000  # only a foreign tool can hold the file: wait for it a little, then fail
WAL_BYTES_MAX: Final = 64 * 1024 * 1024  # what the write-ahead log is cut back to after a checkpoint
STATEMENTS_CACHED: Final = 256  # more than this package has
FILE_MODE: Final = 0o600
logger = logging.getLogger(__name__)

TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TABLE owners (
        owner_no INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, user TEXT NOT NULL,
        UNIQUE (tenant, user))""",
    """CREATE TABLE sessions (
        session_no INTEGER PRIMARY KEY AUTOINCREMENT, owner_no INTEGER NOT NULL, session_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL, message_count INTEGER NOT NULL,
        progress INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
        UNIQUE (owner_no, session_id))""",
    """CREATE TABLE events (
        session_no INTEGER NOT NULL, sequence INTEGER NOT NULL, owner_no INTEGER NOT NULL,
        name TEXT NOT NULL, body BLOB NOT NULL, text TEXT, checksum INTEGER NOT NULL,
        PRIMARY KEY (session_no, sequence)) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX events_name ON events (session_no, name) WHERE name <> ''",
    """CREATE TABLE snapshots (
        session_no INTEGER PRIMARY KEY, owner_no INTEGER NOT NULL, sequence INTEGER NOT NULL,
        body BLOB NOT NULL, checksum INTEGER NOT NULL)""",
    """CREATE TABLE items (
        item_no INTEGER PRIMARY KEY, owner_no INTEGER NOT NULL,
        body BLOB NOT NULL, checksum INTEGER NOT NULL)""",
    "CREATE INDEX items_owner ON items (owner_no)",
    """CREATE TABLE vectors (
        owner_no INTEGER NOT NULL, item_no INTEGER NOT NULL, embedder TEXT NOT NULL,
        vector BLOB NOT NULL, checksum INTEGER NOT NULL,
        PRIMARY KEY (owner_no, item_no, embedder)) WITHOUT ROWID""",
    """CREATE TABLE shown (
        item_no INTEGER NOT NULL, session_no INTEGER NOT NULL, sequence INTEGER NOT NULL,
        owner_no INTEGER NOT NULL,
        PRIMARY KEY (item_no, session_no, sequence)) WITHOUT ROWID""",
    "CREATE INDEX shown_session ON shown (session_no)",
    """CREATE TABLE tombstones (
        owner_no INTEGER NOT NULL, hash TEXT NOT NULL,
        PRIMARY KEY (owner_no, hash)) WITHOUT ROWID""",
    INTENTS,
)


def connect_writer(path: Path | None, durability: Durability) -> sqlite3.Connection:
    """The one connection that writes, with the tables made where the file is new.

    Args:
        path: The database file, in a folder that exists; None for one in memory.
        durability: `power` syncs at each commit; `process` leaves that to the operating system.

    Raises:
        VersionError: A newer version wrote the file.
        CorruptError: It is damaged or not ours. In both cases nothing was changed.
        StorageError: The disk failed.
    """
    try:
        if path is not None:
            create_file(path)
            check_file(path, durability)
        connection = connect(":memory:" if path is None else str(path))
        try:
            if path is None:
                create_tables(connection)
            set_pragmas(connection, path, durability)
            migrate(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise storage_error(error, path) from error
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection to a file that is open for writing already, which can only read."""
    connection = connect(str(path))
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA mmap_size=0")
    return connection


def files_bytes(connection: sqlite3.Connection, path: Path | None) -> int:
    """How large the database and its log are now."""
    if path is None:
        pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
        page_bytes: int = connection.execute("PRAGMA page_size").fetchone()[0]
        return pages * page_bytes
    paths = (path, path.with_name(path.name + "-wal"))
    return sum(path.stat().st_size for path in paths if path.exists())


def connect(database: str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode that any one thread at a time may use."""
    connection = sqlite3.connect(
        database,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS_CACHED,
        uri=uri,
    )
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def create_file(path: Path) -> None:
    """Make the file where it is missing, whole under another name first: so an empty one is never a new one.

    Raises:
        CorruptError: The file is missing and its log is not; SQLite would lay that over the new file.
    """
    if path.exists():
        return
    log = log_of(path)
    if log.exists() and log.stat().st_size:
        raise CorruptError(
            "the record is damaged", path=str(path), expected="the file", found="its log alone"
        )
    draft = path.with_name(path.name + ".new")
    for leftover in (draft, draft.with_name(draft.name + "-journal")):
        leftover.unlink(missing_ok=True)
    # SQLite gives its other files the mode of this one.
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    connection = connect(str(draft))
    try:
        create_tables(connection)
    finally:
        connection.close()
    draft.rename(path)
    sync_folder(path.parent)


def check_file(path: Path, durability: Durability) -> None:
    """Look at the file without changing it, and refuse what is not ours to open.

    At level `process` a power loss may tear the log anywhere: then what is lost is told in the log of the program,
    and the folder opens. The tables are compared with their indexes, which costs a half more than looking at them
    alone: without it a damaged index hides rows.
    """
    check_parts(path)
    if durability == "power":
        check_log(path)
    elif (damage := log_damage(path)) is not None:
        logger.warning(
            "the log of the record is damaged at frame %d: at least %d commits behind it are lost (%s)",
            damage.frame,
            damage.lost_commits,
            log_of(path),
        )
    connection = connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        check_header(connection, path)
        sound: str = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    finally:
        connection.close()
    if sound != "ok":
        raise CorruptError("the record is damaged", path=str(path), expected="a sound database", found=sound)


def check_parts(path: Path) -> None:
    """Look whether the database and what SQLite keeps beside it are files at all.

    Raises:
        CorruptError: One is something else.
    """
    if not path.is_file():
        raise foreign(path, "no file")
    for part in (log_of(path), path.with_name(path.name + "-shm")):
        if part.exists() and not part.is_file():
            raise CorruptError("the record is damaged", path=str(part), expected="a file", found="no file")


def check_header(connection: sqlite3.Connection, path: Path) -> None:
    """Look at the marks in the file's header.

    Raises:
        VersionError: A newer version wrote the file.
        CorruptError: It is not ours.
    """
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    table_count: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID:
        raise foreign(path, f"application id {application:#x}")
    if version > FORMAT_VERSION:
        message = (
            f"the folder has format {version}, this version of actormem reads {FORMAT_VERSION}: {path.parent}"
        )
        raise VersionError(message, found=version, supported=FORMAT_VERSION)
    if version < 1 or table_count == 0:
        raise foreign(path, f"format {version} with {table_count} tables and indexes")


def foreign(path: Path, found: str) -> CorruptError:
    expected = f"application id {APPLICATION_ID:#x}"
    return CorruptError(
        "the file is not a record of actormem", path=str(path), expected=expected, found=found
    )


def set_pragmas(connection: sqlite3.Connection, path: Path | None, durability: Durability) -> None:
    journal: str = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if path is not None and journal != "wal":
        raise StorageError(f"the file system takes no write-ahead log, only {journal}", path=str(path))
    connection.execute(f"PRAGMA synchronous={'FULL' if durability == 'power' else 'NORMAL'}")
    if durability == "power":
        connection.execute("PRAGMA fullfsync=ON")  # macOS: an fsync there does not reach the platter
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA mmap_size=0")
    connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES_MAX}")


def create_tables(connection: sqlite3.Connection) -> None:
    """All tables, and the marks in the header."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")
    connection.execute("COMMIT")


def sync_folder(folder: Path) -> None:
    """Make the names of new files durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
