"""Questions to the record about items and their vectors, whole or in pages; see `reads` for the law of both."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise

import msgspec

from actormem.core.ids import item_id
from actormem.core.values import Item, Owner
from actormem.ports import OwnerItems, VectorPage
from actormem.storage.checks import INTEGER_MAX, checked_types, decode_item, verify
from actormem.storage.failures import DamagedRowError
from actormem.storage.forgotten import read_forgotten
from actormem.storage.places import owner_number

__all__ = [
    "check_order",
    "checked_item",
    "items_after",
    "items_of",
    "load_items",
    "newest_stored_ms",
    "read_forgotten",
    "sound_vector",
    "stored_ms_of",
    "vector_page",
    "vectors_before",
]


def load_items(connection: sqlite3.Connection, owner: Owner, embedder: str, newest: int | None) -> OwnerItems:
    """An owner's items by number, all or the newest, their vectors of one embedder, and the tombstones."""
    owner_no = owner_number(connection, owner)
    counted = connection.execute("SELECT count(*) FROM items WHERE owner_no = ?", (owner_no,)).fetchone()
    first = 0 if newest is None else first_of_newest(connection, owner_no, newest)
    items = connection.execute(
        "SELECT item_no, body, checksum FROM items WHERE owner_no = ? AND item_no >= ? ORDER BY item_no",
        (owner_no, first),
    )
    vectors = connection.execute(
        "SELECT item_no, vector, checksum FROM vectors WHERE owner_no = ? AND item_no >= ? AND embedder = ?",
        (owner_no, first, embedder),
    )
    tombstones = connection.execute("SELECT hash FROM tombstones WHERE owner_no = ?", (owner_no,))
    with closing(items), closing(vectors), closing(tombstones):
        found = [sound_vector(*row) for row in vectors]
        return OwnerItems(
            items=tuple(checked_item(owner, *row) for row in items),
            vectors=dict(row for row in found if row is not None),
            tombstones=frozenset(checked_types(row, str)[0] for row in tombstones),
            item_count=counted[0],
            damaged_count=found.count(None),
        )


def newest_stored_ms(connection: sqlite3.Connection) -> int:
    """When the newest item of all was stored; 0 where there is none, or its row is damaged."""
    row = connection.execute(
        "SELECT item_no, body, checksum FROM items ORDER BY item_no DESC LIMIT 1"
    ).fetchone()
    return 0 if row is None else stored_ms_of(*row)


def stored_ms_of(number: int, body: bytes, expected: int) -> int:
    """When the item of a row was stored; 0 where the row is damaged."""
    try:
        verify(expected, number, body)
        return decode_item(body).stored_ms
    except (DamagedRowError, msgspec.MsgspecError):
        return 0


def first_of_newest(connection: sqlite3.Connection, owner_no: int | None, count: int) -> int:
    row = connection.execute(
        "SELECT item_no FROM items WHERE owner_no = ? ORDER BY item_no DESC LIMIT 1 OFFSET ?",
        (owner_no, count - 1),
    ).fetchone()
    return 0 if row is None else row[0]


def items_after(connection: sqlite3.Connection, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
    """The next items above a number."""
    rows = connection.execute(
        """SELECT item_no, body, checksum FROM items
        WHERE owner_no = ? AND item_no > ? ORDER BY item_no LIMIT ?""",
        (owner_number(connection, owner), number, limit),
    )
    with closing(rows):
        items = {row[0]: checked_item(owner, *row) for row in rows}
    check_order([number, *items])
    return tuple(items.values())


def items_of(connection: sqlite3.Connection, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
    """Those of the items that the owner has."""
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(
        f"""SELECT item_no, body, checksum FROM items
        WHERE item_no IN ({marks}) AND owner_no = ? ORDER BY item_no""",
        (*numbers, owner_number(connection, owner)),
    )
    with closing(rows):
        return tuple(checked_item(owner, *row) for row in rows)


def vectors_before(
    connection: sqlite3.Connection,
    owner: Owner,
    embedder: str,
    number: int | None,
    *,
    limit: int,
    size_bytes: int,
) -> VectorPage:
    """Vectors of the items next below a number, or of the newest."""
    below = INTEGER_MAX if number is None else number
    found = connection.execute(
        """SELECT item_no, vector, checksum FROM vectors
        WHERE owner_no = ? AND item_no < ? AND embedder = ? AND length(vector) = ?
        ORDER BY item_no DESC LIMIT ?""",
        (owner_number(connection, owner), below, embedder, size_bytes, limit),
    )
    with closing(found):
        rows: list[tuple[int, bytes, int]] = list(found)
    return vector_page(rows, below, limit)


def vector_page(rows: Sequence[tuple[int, bytes, int]], below: int, limit: int) -> VectorPage:
    """The page of rows that were read downwards, at most `limit`, from a number."""
    check_order([-below, *(-row[0] for row in rows)])
    sound = [row for row in reversed(rows) if sound_vector(*row) is not None]
    return VectorPage(
        numbers=tuple(row[0] for row in sound),
        vectors=b"".join(row[1] for row in sound),
        rest=rows[-1][0] if len(rows) == limit else None,
        damaged_count=len(rows) - len(sound),
    )


def check_order(numbers: Sequence[int]) -> None:
    """A damaged tree may give a row twice, and a reader of pages would never come to their end.

    Raises:
        DamagedRowError: They do not ascend.
    """
    if any(second <= first for first, second in pairwise(numbers)):
        raise DamagedRowError("rows are damaged", expected="rows in order", found="rows out of order")


def checked_item(owner: Owner, number: int, body: bytes, expected: int) -> Item:
    """The item of a row.

    Raises:
        DamagedRowError: It is not what was stored, or not of this owner and number.
    """
    verify(expected, number, body)
    try:
        item = decode_item(body)
    except msgspec.MsgspecError as error:
        raise DamagedRowError("an item is damaged", expected="an item", found=type(error).__name__) from None
    if item.owner != owner or item.id != item_id(number):
        raise DamagedRowError("an item is misplaced", expected=f"m{number} of its owner", found="another")
    return item


def sound_vector(number: int, vector: bytes, expected: int) -> tuple[str, bytes] | None:
    """The vector by item id; None for a damaged one, which is derived: it is made anew from the item."""
    try:
        verify(expected, number, vector)
    except DamagedRowError:
        return None
    return item_id(number), vector
