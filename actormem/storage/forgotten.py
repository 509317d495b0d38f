"""Owners that were forgotten as a whole: a keyed hash of each and the time, and no word else.

The law of the file: without the folder's key a hash tells nothing; with it, it tells whether one owner, who must be
guessed, was forgotten, and when. The rows stand among the tombstones, under the number no owner has.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from actormem.core.values import Owner
from actormem.storage.places import mark, read_mark

__all__ = ["KEY_BITS", "KEY_MARKS", "keep_forgotten", "keyed_hash", "read_forgotten"]

NOBODY: Final = 0  # numbers of owners begin with 1
KEY_MARKS: Final = ("owner_key_1", "owner_key_2")  # of the folder, drawn once
KEY_BITS: Final = 63  # of each: SQLite's integers have a sign
TIME_DIGITS: Final = 20


def keep_forgotten(connection: sqlite3.Connection, owner: Owner, time_ms: int) -> None:
    """Note when the owner was forgotten, in the place of an earlier time."""
    for key in KEY_MARKS:
        if not read_mark(connection, key):
            mark(connection, key, secrets.randbits(KEY_BITS) or 1)
    name = hashed(connection, owner)
    connection.execute(
        "DELETE FROM tombstones WHERE owner_no = ? AND hash BETWEEN ? AND ?", (NOBODY, name, f"{name}~")
    )
    connection.execute(
        "INSERT INTO tombstones (owner_no, hash) VALUES (?, ?)", (NOBODY, f"{name}:{time_ms:0{TIME_DIGITS}d}")
    )


def read_forgotten(connection: sqlite3.Connection, owner: Owner) -> int:
    """When the owner was forgotten last, in UTC milliseconds; 0 for never."""
    if not read_mark(connection, KEY_MARKS[0]):
        return 0
    name = hashed(connection, owner)
    row = connection.execute(
        "SELECT hash FROM tombstones WHERE owner_no = ? AND hash BETWEEN ? AND ?", (NOBODY, name, f"{name}~")
    ).fetchone()
    return 0 if row is None else int(row[0][len(name) + 1 :])


def hashed(connection: sqlite3.Connection, owner: Owner) -> str:
    return keyed_hash([read_mark(connection, name) for name in KEY_MARKS], owner)


def keyed_hash(keys: Sequence[int], owner: Owner) -> str:
    """What an owner is kept as, by the numbers under `KEY_MARKS`."""
    words = f"{len(owner.tenant)}:{owner.tenant}{owner.user}".encode()
    return blake2b(words, key=b"".join(key.to_bytes(8) for key in keys), digest_size=16).hexdigest()
