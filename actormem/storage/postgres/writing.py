"""What the one writer of a schema knows by heart, so that most writes need no answer before they are sent.

The law of the file: what is kept here was read or written under the fence that every commit looks at, so nobody else
can have changed it; after a transaction that failed nothing of it is used again.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from actormem.core.values import Owner, SessionKey
from actormem.storage.places import SCRUB_MARK, SessionPlace
from actormem.storage.postgres.connections import Connection, execute
from actormem.storage.postgres.places import owner_key, owner_number, session_place

__all__ = ["Writing", "scrub_due"]

KNOWN_MAX: Final = 20_000  # of owners and of sessions each: a few megabytes, and more than write at once

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Known(Generic[K, V]):
    """The newest entries of a table, at most `KNOWN_MAX`."""

    def __init__(self) -> None:
        self._entries: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The entry, or None where it is not known."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep it, in the place of the one of the key or of the oldest."""
        if key not in self._entries and len(self._entries) >= KNOWN_MAX:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = value

    def drop(self, key: K) -> None:
        """Forget it."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()


class Writing:
    """A connection that writes, inside a transaction and a pipeline, and what it knows.

    Attributes:
        connection: Statements of it are queued; whoever needs an answer waits for all before.
        last_item: No item that is stored has a larger number.
        number_mark: The mark that no item has or had a larger number.
    """

    def __init__(self, connection: Connection, last_item: int, number_mark: int) -> None:
        self.connection = connection
        self.last_item = last_item
        self.number_mark = number_mark
        self._owners: Known[Owner, int] = Known()
        self._sessions: Known[SessionKey, SessionPlace] = Known()

    def owner_number(self, owner: Owner) -> int | None:
        """The owner's number, or None where nothing is stored for it."""
        number = self._owners.get(owner)
        if number is None:
            number = owner_number(self.connection, owner)
            if number is not None:
                self._owners.put(owner, number)
        return number

    def owner_made(self, owner: Owner) -> int:
        """The owner's number, made where it has none."""
        number = self.owner_number(owner)
        if number is None:
            row = execute(
                self.connection,
                "INSERT INTO owners (key, tenant, user_id) VALUES (%s, %s, %s) RETURNING owner_no",
                owner_key(owner),
                owner.tenant.encode(),
                owner.user.encode(),
            ).fetchone()
            assert row is not None
            number = int(row[0])
            self._owners.put(owner, number)
        return number

    def session_place(self, key: SessionKey) -> SessionPlace | None:
        """Where the session stands, or None where it has no event."""
        place = self._sessions.get(key)
        if place is None:
            place = session_place(self.connection, key)
            if place is not None:
                self._sessions.put(key, place)
        return place

    def session_is_at(self, key: SessionKey, place: SessionPlace) -> None:
        """Keep where the session stands after what was written of it."""
        self._sessions.put(key, place)

    def session_gone(self, key: SessionKey) -> None:
        """Forget the session, which is erased."""
        self._sessions.drop(key)

    def owner_gone(self, owner: Owner) -> None:
        """Forget the owner, who is erased; all sessions with him, for his are not told apart."""
        self._owners.drop(owner)
        self._sessions.clear()


def scrub_due(writing: Writing) -> None:
    """Note that words were erased which dead rows still hold."""
    execute(
        writing.connection,
        """INSERT INTO meta (key, value) VALUES (%s, 1)
        ON CONFLICT (key) DO UPDATE SET value = meta.value + 1""",
        SCRUB_MARK,
    )
