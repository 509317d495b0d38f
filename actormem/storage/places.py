"""Where owners, sessions and the record's own marks stand in the tables. Runs inside a transaction of the caller's."""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from actormem.core.ids import item_number
from actormem.core.values import Owner, SessionKey
from actormem.storage.checks import checked_types

__all__ = [
    "NUMBER_MARK",
    "RELEASED_MARK",
    "SCRUB_MARK",
    "SessionPlace",
    "mark",
    "numbers_of",
    "owner_made",
    "owner_number",
    "read_mark",
    "session_place",
]

NUMBER_MARK: Final = "item_number"  # no item has or had a number above this one
SCRUB_MARK: Final = "scrub_due"  # 1 while erased words may still be in a free part of the file
RELEASED_MARK: Final = "released:"  # and a session's number: its last event whose name was released


class SessionPlace(NamedTuple):
    """Where a session stands in the tables."""

    session_no: int
    owner_no: int
    last_sequence: int
    progress: int


def read_mark(connection: sqlite3.Connection, key: str) -> int:
    """A number of the folder itself, 0 where it was never set."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return 0 if row is None else checked_types(row, int)[0]


def mark(connection: sqlite3.Connection, key: str, value: int) -> None:
    """Set one of the record's marks."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


def owner_number(connection: sqlite3.Connection, owner: Owner) -> int | None:
    """The owner's number, or None where nothing was ever stored for it."""
    row = connection.execute(
        "SELECT owner_no FROM owners WHERE tenant = ? AND user = ?", (owner.tenant, owner.user)
    ).fetchone()
    return None if row is None else row[0]


def owner_made(connection: sqlite3.Connection, owner: Owner) -> int:
    """The number of an owner, made where it has none."""
    number = owner_number(connection, owner)
    if number is not None:
        return number
    cursor = connection.execute("INSERT INTO owners (tenant, user) VALUES (?, ?)", (owner.tenant, owner.user))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def session_place(connection: sqlite3.Connection, key: SessionKey) -> SessionPlace | None:
    """Where the session stands, or None where it has no event."""
    row = connection.execute(
        """SELECT session_no, owner_no, last_sequence, progress FROM sessions
        WHERE owner_no = (SELECT owner_no FROM owners WHERE tenant = ? AND user = ?) AND session_id = ?""",
        (key.owner.tenant, key.owner.user, key.session_id),
    ).fetchone()
    return None if row is None else SessionPlace(*checked_types(row, int, int, int, int))


def numbers_of(item_ids: Iterable[str]) -> list[int]:
    """Numbers of the ids that are item ids; no other can be stored."""
    return [number for number in map(item_number, item_ids) if number is not None]
