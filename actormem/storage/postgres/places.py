"""Where owners and sessions stand in the tables, and who a reading transaction may see. Runs inside a transaction.

The law of the file: a transaction names whom it asks about before it asks; see the wall in `schema`.
"""

from hashlib import blake2b
from typing import Any, Final

from actormem.core.values import Owner, SessionKey
from actormem.storage.places import SessionPlace
from actormem.storage.postgres.connections import Connection, execute

__all__ = [
    "ALL",
    "decoded",
    "look_as",
    "mark",
    "owner_key",
    "owner_number",
    "owner_of_row",
    "read_mark",
    "session_place",
]

ALL: Final = "*"


def owner_key(owner: Owner) -> str:
    """What the wall knows an owner by: a hash, for names may be long."""
    words = f"{len(owner.tenant)}:{owner.tenant}{owner.user}".encode()
    return blake2b(words, digest_size=16).hexdigest()


def look_as(connection: Connection, whom: Owner | None) -> None:
    """Let the transaction see what belongs to an owner; None: everything."""
    key = ALL if whom is None else owner_key(whom)
    execute(connection, "SELECT set_config('actormem.owner', %s, true)", key)


def owner_number(connection: Connection, owner: Owner) -> int | None:
    """The owner's number, or None where nothing was ever stored for it."""
    row = execute(
        connection,
        "SELECT owner_no FROM owners WHERE key = %s AND tenant = %s AND user_id = %s",
        owner_key(owner),
        owner.tenant.encode(),
        owner.user.encode(),
    ).fetchone()
    return None if row is None else row[0]


def session_place(connection: Connection, key: SessionKey) -> SessionPlace | None:
    """Where the session stands, or None where it has no event."""
    row = execute(
        connection,
        """SELECT session_no, owner_no, last_sequence, progress FROM sessions
        WHERE owner_no = (SELECT owner_no FROM owners WHERE key = %s AND tenant = %s AND user_id = %s)
            AND session_id = %s""",
        owner_key(key.owner),
        key.owner.tenant.encode(),
        key.owner.user.encode(),
        key.session_id.encode(),
    ).fetchone()
    return None if row is None else SessionPlace(*row)


def owner_of_row(tenant: bytes, user: bytes) -> Owner:
    """The owner of a row of `owners`."""
    return Owner(tenant.decode(), user.decode())


def decoded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with its bytes as text."""
    return tuple(value.decode() if isinstance(value, bytes) else value for value in row)


def read_mark(connection: Connection, key: str) -> int:
    """A number of the schema itself, 0 where it was never set."""
    row = execute(connection, "SELECT value FROM meta WHERE key = %s", key).fetchone()
    return 0 if row is None else row[0]


def mark(connection: Connection, key: str, value: int) -> None:
    """Set one of the record's marks."""
    execute(
        connection,
        "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        key,
        value,
    )
