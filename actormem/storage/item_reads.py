"""Questions to the record about items and their vectors, whole or in pages; see `reads` for the law of both."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import msgspec

from actormem.core.ids import item_id
from actormem.core.values import Item, Owner
from actormem.ports import OwnerItems, VectorPage
from actormem.storage.checks import INTEGER_MAX, decode_item, verify
from actormem.storage.failures import DamagedRowError
from actormem.storage.places import owner_number

__all__ = ["items_after", "items_of", "load_items", "vectors_before"]


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
        return OwnerItems(
            items=tuple(checked_item(owner, *row) for row in items),
            vectors={item_id(row[0]): checked_vector(*row) for row in vectors},
            tombstones=frozenset(row[0] for row in tombstones),
            item_count=counted[0],
        )


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
        return tuple(checked_item(owner, *row) for row in rows)


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
    connection: sqlite3.Connection, owner: Owner, embedder: str, number: int | None, limit: int
) -> VectorPage:
    """Vectors of the items next below a number, or of the newest."""
    found = connection.execute(
        """SELECT item_no, vector, checksum FROM vectors
        WHERE owner_no = ? AND item_no < ? AND embedder = ? ORDER BY item_no DESC LIMIT ?""",
        (owner_number(connection, owner), INTEGER_MAX if number is None else number, embedder, limit),
    )
    with closing(found):
        rows = [(row[0], checked_vector(*row)) for row in found]
    rows.reverse()
    return VectorPage(tuple(number for number, _ in rows), b"".join(vector for _, vector in rows))


def checked_item(owner: Owner, number: int, body: bytes, expected: int) -> Item:
    verify(expected, number, body)
    try:
        item = decode_item(body)
    except msgspec.MsgspecError as error:
        raise DamagedRowError("an item is damaged", expected="an item", found=type(error).__name__) from None
    if item.owner != owner or item.id != item_id(number):
        raise DamagedRowError("an item is misplaced", expected=f"m{number} of its owner", found="another")
    return item


def checked_vector(number: int, vector: bytes, expected: int) -> bytes:
    verify(expected, number, vector)
    return vector
