"""Writes about items, as rows: bodies, vectors, tombstones, what waits.

Runs inside a transaction and a pipeline; see `actormem.storage.rows`.
"""

import secrets

import numpy as np
from pgvector import Vector

from actormem.core.ids import item_number
from actormem.core.values import Item, Owner
from actormem.errors import UsageError
from actormem.ports import (
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
)
from actormem.storage.checks import checksum, encode_item
from actormem.storage.forgotten import KEY_BITS, KEY_MARKS, keyed_hash
from actormem.storage.item_rows import stored_text
from actormem.storage.places import NUMBER_MARK, numbers_of
from actormem.storage.postgres.connections import execute, execute_many
from actormem.storage.postgres.places import mark, read_mark
from actormem.storage.postgres.writing import Writing, scrub_due

__all__ = [
    "check_vectors",
    "delete_intent",
    "delete_items",
    "erase_owner",
    "put_intent",
    "put_items",
    "put_tombstones",
    "put_vectors",
    "reserve_numbers",
]

DIMENSIONS_MAX = 16_000  # of pgvector's type


def check_vectors(write: PutVectors) -> None:
    """Refuse vectors that pgvector could not hold.

    Raises:
        UsageError: One has no number, more than 16,000, or one that is not finite.
    """
    for _, vector in write.vectors:
        numbers = np.frombuffer(vector, dtype=np.float32)
        if not 1 <= len(numbers) <= DIMENSIONS_MAX or not np.isfinite(numbers).all():
            raise UsageError(
                f"PutVectors cannot be stored: a vector of {len(numbers)} numbers",
                hint=f"pgvector takes 1 to {DIMENSIONS_MAX} numbers, all finite",
            )


def put_items(writing: Writing, write: PutItems) -> None:
    """Store items, each in the row of its number."""
    numbers = [item_number(item.id) for item in write.items]
    if None in numbers:
        raise AssertionError("an item's id is not m and a number")
    known = [number for number in numbers if number is not None and number <= writing.last_item]
    if known or len(set(numbers)) < len(numbers):
        for number, item in zip(numbers, write.items, strict=True):
            assert number is not None
            make_room(writing, number, item)
            insert_items(writing, [(number, item)])
    else:
        insert_items(
            writing,
            [(number, item) for number, item in zip(numbers, write.items, strict=True) if number is not None],
        )
    last = max((number for number in numbers if number is not None), default=0)
    writing.last_item = max(writing.last_item, last)
    if last > writing.number_mark:
        reserve_numbers(writing, last)


def make_room(writing: Writing, number: int, item: Item) -> None:
    """Look at what is stored under an item's number; its vectors go with the words they were made from."""
    owner_no = writing.owner_made(item.owner)
    row = execute(
        writing.connection, "SELECT owner_no, body FROM items WHERE item_no = %s", number
    ).fetchone()
    if row is None:
        return
    if row[0] != owner_no:
        raise AssertionError(f"item m{number} belongs to another owner")
    if stored_text(row[1]) != item.text:
        # A vector of words that are gone would be found for them, and can be turned back into them.
        execute(
            writing.connection, "DELETE FROM vectors WHERE owner_no = %s AND item_no = %s", owner_no, number
        )
        scrub_due(writing)


def insert_items(writing: Writing, items: list[tuple[int, Item]]) -> None:
    rows: list[tuple[object, ...]] = []
    for number, item in items:
        body = encode_item(item)
        rows.append((number, writing.owner_made(item.owner), body, checksum(number, body)))
    execute_many(
        writing.connection,
        """INSERT INTO items (item_no, owner_no, body, checksum) VALUES (%s, %s, %s, %s)
        ON CONFLICT (item_no) DO UPDATE SET body = excluded.body, checksum = excluded.checksum""",
        rows,
    )


def put_vectors(writing: Writing, write: PutVectors) -> None:
    """Store vectors of items that are there."""
    owner_no = writing.owner_number(write.owner)
    if owner_no is None:
        return
    embedder = write.embedder.encode()
    execute_many(
        writing.connection,
        """INSERT INTO vectors (owner_no, item_no, embedder, vector, checksum)
        SELECT owner_no, item_no, %s, %s, %s FROM items WHERE item_no = %s AND owner_no = %s
        ON CONFLICT (owner_no, item_no, embedder)
            DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum""",
        [
            (
                embedder,
                Vector(np.frombuffer(vector, dtype=np.float32)),
                checksum(number, vector),
                number,
                owner_no,
            )
            for item_id, vector in write.vectors
            if (number := item_number(item_id)) is not None
        ],
    )


def delete_items(writing: Writing, write: DeleteItems) -> None:
    """Remove items with all that names them."""
    owner_no = writing.owner_number(write.owner)
    if owner_no is None:
        return
    numbers = numbers_of(write.item_ids)
    for statement in (
        "DELETE FROM items WHERE owner_no = %s AND item_no = ANY(%s::bigint[])",
        "DELETE FROM vectors WHERE owner_no = %s AND item_no = ANY(%s::bigint[])",
        "DELETE FROM shown WHERE owner_no = %s AND item_no = ANY(%s::bigint[])",
    ):
        execute(writing.connection, statement, owner_no, numbers)
    scrub_due(writing)


def put_tombstones(writing: Writing, write: PutTombstones) -> None:
    """Keep hashes of forgotten texts."""
    if not write.hashes:
        return
    owner_no = writing.owner_made(write.owner)
    execute_many(
        writing.connection,
        "INSERT INTO tombstones (owner_no, hash) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        [(owner_no, text_hash.encode()) for text_hash in write.hashes],
    )


def put_intent(writing: Writing, write: PutIntent) -> None:
    """Keep what is to be done."""
    execute(
        writing.connection,
        """INSERT INTO intents (owner_no, name, body, checksum) VALUES (%s, %s, %s, %s)
        ON CONFLICT (owner_no, name) DO UPDATE SET body = excluded.body, checksum = excluded.checksum""",
        writing.owner_made(write.owner),
        write.name.encode(),
        write.body,
        checksum(write.name, write.body),
    )


def delete_intent(writing: Writing, write: DeleteIntent) -> None:
    """Forget what has been done."""
    owner_no = writing.owner_number(write.owner)
    if owner_no is not None:
        execute(
            writing.connection,
            "DELETE FROM intents WHERE owner_no = %s AND name = %s",
            owner_no,
            write.name.encode(),
        )


def erase_owner(writing: Writing, write: EraseOwner) -> None:
    """Remove every row of an owner."""
    owner_no = writing.owner_number(write.owner)
    if owner_no is None:
        return
    for statement in (
        # Knowledge that was shown in his sessions is another's.
        "DELETE FROM shown WHERE session_no IN (SELECT session_no FROM sessions WHERE owner_no = %s)",
        "DELETE FROM shown WHERE owner_no = %s",
        "DELETE FROM snapshots WHERE session_no IN (SELECT session_no FROM sessions WHERE owner_no = %s)",
        "DELETE FROM events WHERE session_no IN (SELECT session_no FROM sessions WHERE owner_no = %s)",
        "DELETE FROM sessions WHERE owner_no = %s",
        "DELETE FROM vectors WHERE owner_no = %s",
        "DELETE FROM items WHERE owner_no = %s",
        "DELETE FROM tombstones WHERE owner_no = %s",
        "DELETE FROM intents WHERE owner_no = %s",
        "DELETE FROM owners WHERE owner_no = %s",
    ):
        execute(writing.connection, statement, owner_no)
    writing.owner_gone(write.owner)
    if write.forgotten_ms:
        keep_forgotten(writing, write.owner, write.forgotten_ms)
    scrub_due(writing)


def keep_forgotten(writing: Writing, owner: Owner, time_ms: int) -> None:
    """Note when the owner was forgotten, in the place of an earlier time."""
    connection = writing.connection
    for name in KEY_MARKS:
        if not read_mark(connection, name):
            mark(connection, name, secrets.randbits(KEY_BITS) or 1)
    execute(
        connection,
        """INSERT INTO forgotten (hash, forgotten_ms) VALUES (%s, %s)
        ON CONFLICT (hash) DO UPDATE SET forgotten_ms = excluded.forgotten_ms""",
        keyed_hash([read_mark(connection, name) for name in KEY_MARKS], owner),
        time_ms,
    )


def reserve_numbers(writing: Writing, last: int) -> None:
    """Keep that item numbers up to this one may have been given."""
    mark(writing.connection, NUMBER_MARK, last)
    writing.number_mark = last
