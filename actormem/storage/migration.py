"""Folders of older formats, brought to the newest one when they are opened for writing.

The law of the file: each step is one transaction that ends with the number of its format, so that a folder is
always of a whole format, whatever happens; a step is never changed once a version with it is out.
"""

import sqlite3
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["FORMAT_VERSION", "INTENTS", "migrate"]

INTENTS: Final = """CREATE TABLE intents (
    owner_no INTEGER NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (owner_no, name)) WITHOUT ROWID"""


def add_intents(connection: sqlite3.Connection) -> None:
    """Format 2: what is still to be done for an owner."""
    connection.execute(INTENTS)


STEPS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = MappingProxyType({1: add_intents})
"""What takes a folder of a format to the next one."""
FORMAT_VERSION: Final = (
    max(STEPS) + 1
)  # of folders that are written now; goes up with every change of a table


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to `FORMAT_VERSION`; nothing where they are.

    Raises:
        sqlite3.Error: The disk failed; the folder has the format of the last step that was done.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    for before in range(version, FORMAT_VERSION):
        connection.execute("BEGIN IMMEDIATE")
        try:
            STEPS[before](connection)
            connection.execute(f"PRAGMA user_version={before + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
