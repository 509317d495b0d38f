"""Questions to the record about items and their vectors, whole or in pages; see `reads` for the law of both."""

from collections.abc import Sequence
from typing import Any

from actormem.core.values import Item, Owner
from actormem.ports import OwnerItems, VectorPage
from actormem.storage.checks import INTEGER_MAX
from actormem.storage.forgotten import KEY_MARKS, keyed_hash
from actormem.storage.item_reads import check_order, checked_item, sound_vector, stored_ms_of, vector_page
from actormem.storage.postgres.connections import Connection, execute
from actormem.storage.postgres.places import look_as, owner_number, read_mark

__all__ = [
    "items_after",
    "items_of",
    "last_item_number",
    "load_items",
    "newest_stored_ms",
    "read_forgotten",
    "vectors_before",
]

VECTOR_ITEM_BYTES = 4  # float32


def load_items(connection: Connection, owner: Owner, embedder: str, newest: int | None) -> OwnerItems:
    """An owner's items by number, all or the newest, their vectors of one embedder, and the tombstones."""
    look_as(connection, owner)
    owner_no = owner_number(connection, owner)
    first = 0 if newest is None else first_of_newest(connection, owner_no, newest)
    counted = execute(connection, "SELECT count(*) FROM items WHERE owner_no = %s", owner_no)
    items = execute(
        connection,
        "SELECT item_no, body, checksum FROM items WHERE owner_no = %s AND item_no >= %s ORDER BY item_no",
        owner_no,
        first,
    )
    vectors = execute(
        connection,
        "SELECT item_no, vector, checksum FROM vectors WHERE owner_no = %s AND item_no >= %s AND embedder = %s",
        owner_no,
        first,
        embedder.encode(),
    )
    tombstones = execute(connection, "SELECT hash FROM tombstones WHERE owner_no = %s", owner_no)
    found = [sound_vector(number, as_bytes(vector), expected) for number, vector, expected in vectors]
    count = counted.fetchone()
    return OwnerItems(
        items=tuple(checked_item(owner, *row) for row in items),
        vectors=dict(row for row in found if row is not None),
        tombstones=frozenset(row[0].decode() for row in tombstones),
        item_count=0 if count is None else count[0],
        damaged_count=found.count(None),
    )


def as_bytes(vector: Any) -> bytes:
    """The float32 bytes of a `pgvector.Vector`."""
    return vector.to_numpy().tobytes()


def newest_stored_ms(connection: Connection) -> int:
    """When the newest item of all was stored; 0 where there is none, or its row is damaged."""
    look_as(connection, None)
    row = execute(
        connection, "SELECT item_no, body, checksum FROM items ORDER BY item_no DESC LIMIT 1"
    ).fetchone()
    return 0 if row is None else stored_ms_of(*row)


def last_item_number(connection: Connection) -> int:
    """The largest number of an item that is stored; 0 where there is none."""
    look_as(connection, None)
    row = execute(connection, "SELECT max(item_no) FROM items").fetchone()
    return 0 if row is None or row[0] is None else row[0]


def first_of_newest(connection: Connection, owner_no: int | None, count: int) -> int:
    row = execute(
        connection,
        "SELECT item_no FROM items WHERE owner_no = %s ORDER BY item_no DESC LIMIT 1 OFFSET %s",
        owner_no,
        count - 1,
    ).fetchone()
    return 0 if row is None else row[0]


def items_after(connection: Connection, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
    """The next items above a number."""
    look_as(connection, owner)
    rows = execute(
        connection,
        """SELECT item_no, body, checksum FROM items
        WHERE owner_no = %s AND item_no > %s ORDER BY item_no LIMIT %s""",
        owner_number(connection, owner),
        number,
        limit,
    )
    items = {row[0]: checked_item(owner, *row) for row in rows}
    check_order([number, *items])
    return tuple(items.values())


def items_of(connection: Connection, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
    """Those of the items that the owner has."""
    look_as(connection, owner)
    rows = execute(
        connection,
        """SELECT item_no, body, checksum FROM items
        WHERE item_no = ANY(%s::bigint[]) AND owner_no = %s ORDER BY item_no""",
        list(numbers),
        owner_number(connection, owner),
    )
    return tuple(checked_item(owner, *row) for row in rows)


def vectors_before(
    connection: Connection,
    owner: Owner,
    embedder: str,
    number: int | None,
    *,
    limit: int,
    size_bytes: int,
) -> VectorPage:
    """Vectors of the items next below a number, or of the newest."""
    look_as(connection, owner)
    below = INTEGER_MAX if number is None else number
    found = execute(
        connection,
        """SELECT item_no, vector, checksum FROM vectors
        WHERE owner_no = %s AND item_no < %s AND embedder = %s AND vector_dims(vector) = %s
        ORDER BY item_no DESC LIMIT %s""",
        owner_number(connection, owner),
        below,
        embedder.encode(),
        size_bytes // VECTOR_ITEM_BYTES,
        limit,
    )
    rows = [(number, as_bytes(vector), expected) for number, vector, expected in found]
    return vector_page(rows, below, limit)


def read_forgotten(connection: Connection, owner: Owner) -> int:
    """When the owner was forgotten last, in UTC milliseconds; 0 for never."""
    keys = [read_mark(connection, name) for name in KEY_MARKS]
    if not keys[0]:
        return 0
    row = execute(
        connection, "SELECT forgotten_ms FROM forgotten WHERE hash = %s", keyed_hash(keys, owner)
    ).fetchone()
    return 0 if row is None else row[0]
