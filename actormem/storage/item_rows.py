"""Writes about items, as rows: bodies, vectors, tombstones, what waits. Inside a transaction; see `rows`."""

import sqlite3

import msgspec

from actormem.core.ids import item_number
from actormem.core.values import Item
from actormem.ports import (
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
)
from actormem.storage.checks import checksum, decode_item, encode_item
from actormem.storage.forgotten import keep_forgotten
from actormem.storage.places import (
    NUMBER_MARK,
    RELEASED_MARK,
    SCRUB_MARK,
    mark,
    numbers_of,
    owner_made,
    owner_number,
    read_mark,
)

__all__ = [
    "delete_intent",
    "delete_items",
    "erase_owner",
    "put_intent",
    "put_items",
    "put_tombstones",
    "put_vectors",
    "reserve_numbers",
]


def put_items(connection: sqlite3.Connection, write: PutItems) -> None:
    """Store items, each in the row of its number."""
    last = 0
    for item in write.items:
        number = item_number(item.id)
        if number is None:
            raise AssertionError("an item's id is not m and a number")
        put_item(connection, number, item)
        last = max(last, number)
    if last > read_mark(connection, NUMBER_MARK):
        mark(connection, NUMBER_MARK, last)


def put_item(connection: sqlite3.Connection, number: int, item: Item) -> None:
    owner_no = owner_made(connection, item.owner)
    row = connection.execute("SELECT owner_no, body FROM items WHERE item_no = ?", (number,)).fetchone()
    if row is not None:
        if row[0] != owner_no:
            raise AssertionError(f"item m{number} belongs to another owner")
        if stored_text(row[1]) != item.text:
            # A vector of words that are gone would be found for them, and can be turned back into them.
            connection.execute("DELETE FROM vectors WHERE owner_no = ? AND item_no = ?", (owner_no, number))
            mark(connection, SCRUB_MARK, 1)
    body = encode_item(item)
    connection.execute(
        "INSERT OR REPLACE INTO items (item_no, owner_no, body, checksum) VALUES (?, ?, ?, ?)",
        (number, owner_no, body, checksum(number, body)),
    )


def stored_text(body: bytes) -> str | None:
    """The text of an item that is about to be replaced; None where its row is damaged."""
    try:
        return decode_item(body).text
    except msgspec.MsgspecError:
        return None


def put_vectors(connection: sqlite3.Connection, write: PutVectors) -> None:
    """Store vectors of items that are there."""
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    connection.executemany(
        """INSERT OR REPLACE INTO vectors (owner_no, item_no, embedder, vector, checksum)
        SELECT owner_no, item_no, ?, ?, ? FROM items WHERE item_no = ? AND owner_no = ?""",
        [
            (write.embedder, vector, checksum(number, vector), number, owner_no)
            for item_id, vector in write.vectors
            if (number := item_number(item_id)) is not None
        ],
    )


def delete_items(connection: sqlite3.Connection, write: DeleteItems) -> None:
    """Remove items with all that names them."""
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    rows = [(owner_no, number) for number in numbers_of(write.item_ids)]
    for table in ("items", "vectors", "shown"):
        connection.executemany(f"DELETE FROM {table} WHERE owner_no = ? AND item_no = ?", rows)
    mark(connection, SCRUB_MARK, 1)


def put_tombstones(connection: sqlite3.Connection, write: PutTombstones) -> None:
    """Keep hashes of forgotten texts."""
    if not write.hashes:
        return
    owner_no = owner_made(connection, write.owner)
    connection.executemany(
        "INSERT OR IGNORE INTO tombstones (owner_no, hash) VALUES (?, ?)",
        [(owner_no, text_hash) for text_hash in write.hashes],
    )


def put_intent(connection: sqlite3.Connection, write: PutIntent) -> None:
    """Keep what is to be done."""
    connection.execute(
        "INSERT OR REPLACE INTO intents (owner_no, name, body, checksum) VALUES (?, ?, ?, ?)",
        (owner_made(connection, write.owner), write.name, write.body, checksum(write.name, write.body)),
    )


def delete_intent(connection: sqlite3.Connection, write: DeleteIntent) -> None:
    """Forget what has been done."""
    connection.execute(
        "DELETE FROM intents WHERE owner_no = ? AND name = ?",
        (owner_number(connection, write.owner), write.name),
    )


def erase_owner(connection: sqlite3.Connection, write: EraseOwner) -> None:
    """Remove every row of an owner."""
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    connection.execute(
        "DELETE FROM meta WHERE key IN (SELECT ? || session_no FROM sessions WHERE owner_no = ?)",
        (RELEASED_MARK, owner_no),
    )
    for table in ("shown", "snapshots", "events"):
        connection.execute(
            f"DELETE FROM {table} WHERE session_no IN (SELECT session_no FROM sessions WHERE owner_no = ?)",
            (owner_no,),
        )
    for table in ("shown", "sessions", "vectors", "items", "tombstones", "intents", "owners"):
        connection.execute(f"DELETE FROM {table} WHERE owner_no = ?", (owner_no,))
    if write.forgotten_ms:
        keep_forgotten(connection, write.owner, write.forgotten_ms)
    mark(connection, SCRUB_MARK, 1)


def reserve_numbers(connection: sqlite3.Connection, last: int) -> None:
    """Keep that item numbers up to this one may have been given."""
    mark(connection, NUMBER_MARK, last)
