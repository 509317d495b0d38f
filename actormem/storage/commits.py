"""A group of submissions as one transaction of SQLite."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from actormem.storage import item_rows, session_rows
from actormem.storage.failures import storage_error
from actormem.storage.rows import apply
from actormem.storage.schema import files_bytes
from actormem.storage.writer import Writes

__all__ = ["commit"]


def commit(connection: sqlite3.Connection, path: Path | None, group: Sequence[Writes]) -> int:
    """Store the group, rolled back whole on any error.

    Returns:
        The size of the database and its log in bytes.

    Raises:
        StorageError: A write contradicts what is stored, or the disk failed.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        for writes in group:
            for write in writes:
                apply(session_rows, item_rows, connection, write)
        connection.execute("COMMIT")
    except Exception as error:
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error as second:
                error.add_note(f"the rollback failed too: {second}")
        raise storage_error(error, path) from error
    return files_bytes(connection, path)
