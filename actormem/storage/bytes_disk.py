"""diskcache, cut down to bytes under bytes, all in one file.

The law of the file: bytes go in, bytes come out, in the database itself. diskcache would pickle anything else
and unpickle what it finds, so that whoever can write one row can run code (CVE-2025-69872, no fixed version);
and it would follow a row's file name out of its folder. A row that this class did not write reads as
no bytes.
"""

import os.path
import sqlite3
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast

import diskcache

__all__ = ["DATABASE_NAME", "BytesDatabase", "BytesDisk", "open_bytes_database"]

DATABASE_NAME: Final = diskcache.core.DBNAME
CULL_ROWS: Final = 16  # rows evicted per stored one while over the limit: it must go down, not only stop
LOCK_TIMEOUT_S: Final = 1  # only a foreign tool can hold the file; the cache can be done without
PAGES_CACHED: Final = 2_048  # 8 MB of pages in memory
WAL_BYTES_MAX: Final = 16 * 1024 * 1024  # what the log is cut back to after a large transaction
FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
RAW: Final = 1  # diskcache's mark for a value kept in its row


class BytesDatabase(Protocol):
    """What we use of `diskcache.Cache`. Belongs to the thread that opened it."""

    def transact(self) -> AbstractContextManager[None]: ...
    def get(self, key: bytes) -> bytes | None: ...
    def set(self, key: bytes, value: bytes, *, tag: str) -> bool: ...
    def delete(self, key: bytes) -> bool: ...
    def evict(self, tag: str) -> int: ...
    def close(self) -> None: ...


class BytesDisk(diskcache.Disk):
    """A `diskcache.Disk` for bytes alone.

    Raises:
        TypeError: A key or value to store is not bytes.
    """

    def put(self, key: object) -> tuple[memoryview, Literal[True]]:
        """The row's key: bytes, and nothing else."""
        if type(key) is not bytes:
            raise TypeError("a key of the cache must be bytes")
        return sqlite3.Binary(key), True

    def get(self, key: object, raw: object) -> bytes:
        """The key that a row holds, if this class wrote it."""
        return key if raw and type(key) is bytes else b""

    def store(
        self,
        value: object,
        read: bool,
        key: object = None,  # noqa: ARG002 - diskcache passes it by name
    ) -> tuple[Literal[0], Literal[1], None, memoryview]:
        """The row's value, inside the database: bytes, and nothing else."""
        if read or type(value) is not bytes:
            raise TypeError("a value of the cache must be bytes")
        return 0, RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: object, filename: object, value: object, read: object) -> bytes:
        """The value that a row holds, if this class wrote it."""
        return value if mode == RAW and filename is None and not read and type(value) is bytes else b""

    def remove(self, file_path: object) -> None:
        """Nothing: no value has a file, and a file name in a row is not ours to follow."""


class TidyCache(diskcache.Cache):
    """A diskcache that leaves no connection open where it cannot be made."""

    def __init__(self, folder: str, **settings: Any) -> None:
        try:
            super().__init__(folder, **settings)  # pyright: ignore[reportUnknownMemberType]
        except BaseException:
            with suppress(AttributeError):  # it had not come so far as to have one
                self.close()
            raise


def open_bytes_database(folder: Path, size_bytes_max: int) -> BytesDatabase:
    """Open or make the database in the folder, for this thread.

    Raises:
        ValueError: The path holds a `$NAME` of the environment, which diskcache would replace.
        OSError, sqlite3.Error: The file cannot be used. Damaged files raise many other errors too.
    """
    if os.path.expandvars(str(folder)) != str(folder):
        raise ValueError("the path holds a $NAME of the environment")
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    (folder / DATABASE_NAME).touch(FILE_MODE)  # SQLite gives its other files the mode of this one
    # All settings that matter are given at each opening, for diskcache keeps them in the file.
    database = TidyCache(
        str(folder),
        timeout=LOCK_TIMEOUT_S,
        disk=BytesDisk,
        size_limit=size_bytes_max,
        eviction_policy="least-recently-used",
        cull_limit=CULL_ROWS,
        statistics=0,
        tag_index=1,
        sqlite_cache_size=PAGES_CACHED,
        sqlite_journal_mode="wal",
        sqlite_journal_size_limit=WAL_BYTES_MAX,
        sqlite_mmap_size=0,
        sqlite_synchronous=0,  # it may be lost: kill -9 keeps it, and a torn file is found and removed
        sqlite_secure_delete=1,
    )
    return cast("BytesDatabase", database)
