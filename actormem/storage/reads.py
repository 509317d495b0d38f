"""Each question to the record, as rows read. Runs in a reader's thread, inside one transaction.

The law of the file: a row is checked before it is believed: its checksum, and that its owner is the asker.
What may fail half-way closes its cursor: an open one would keep its connection in the past, for as long as
somebody keeps the error.
"""

import sqlite3
from contextlib import closing

from actormem.core.ids import item_id, item_number
from actormem.core.knowledge.bases import BASE_MARK, base_name, is_base
from actormem.core.values import Owner, SessionKey
from actormem.ports import (
    BaseContents,
    BaseRow,
    OwnerRow,
    SessionHistory,
    SessionRow,
    StoredEvent,
)
from actormem.storage.checks import INTEGER_MAX, checked_types, verify
from actormem.storage.failures import DamagedRowError
from actormem.storage.places import RELEASED_MARK, SessionPlace, owner_number, session_place

__all__ = [
    "base_contents",
    "bases",
    "behind",
    "checked_event",
    "checked_history",
    "checked_intent",
    "intents",
    "load_session",
    "owners",
    "owners_with_intents",
    "read_events",
    "session_names",
    "sessions",
    "shown_in",
]


def load_session(connection: sqlite3.Connection, key: SessionKey) -> SessionHistory | None:
    """What is needed to wake a session, or None where it was never stored."""
    place = session_place(connection, key)
    if place is None:
        return None
    row = connection.execute(
        "SELECT body, sequence, checksum FROM snapshots WHERE session_no = ? AND owner_no = ?",
        (place.session_no, place.owner_no),
    ).fetchone()
    body, sequence, damaged_count = None, 0, 0
    if row is not None:
        try:
            verify(row[2], row[1], row[0])
            body, sequence = row[0], row[1]
        except DamagedRowError:
            body, sequence, damaged_count = None, 0, 1  # it is derived: all events are read in its place
    events = events_between(connection, place.session_no, place.owner_no, sequence + 1, INTEGER_MAX)
    return checked_history(body, sequence, events, place, damaged_count)


def checked_history(
    snapshot: bytes | None,
    sequence: int,
    events: tuple[StoredEvent, ...],
    place: SessionPlace,
    damaged_count: int,
) -> SessionHistory:
    """The snapshot of event `sequence` and the events after it.

    Raises:
        DamagedRowError: Between them and the session's last event there is a gap.
    """
    found = tuple(event.sequence for event in events)
    if found != tuple(range(sequence + 1, place.last_sequence + 1)):
        last = place.last_sequence
        raise DamagedRowError(
            "a session has a gap",
            expected=f"events {sequence + 1} to {last}",
            found=f"{len(found)} of them, the last {max(found, default=sequence)}",
        )
    return SessionHistory(
        snapshot=snapshot,
        snapshot_sequence=sequence,
        events=events,
        progress=place.progress,
        damaged_count=damaged_count,
    )


def read_events(
    connection: sqlite3.Connection, key: SessionKey, first: int, last: int
) -> tuple[StoredEvent, ...]:
    """Events by sequence, in order; those that are not there are left out."""
    place = session_place(connection, key)
    if place is None:
        return ()
    first, last = max(first, 1), min(last, place.last_sequence)
    return events_between(connection, place.session_no, place.owner_no, first, last) if first <= last else ()


def events_between(
    connection: sqlite3.Connection, session_no: int, owner_no: int, first: int, last: int
) -> tuple[StoredEvent, ...]:
    rows = connection.execute(
        """SELECT sequence, name, body, text, checksum FROM events
        WHERE session_no = ? AND sequence BETWEEN ? AND ? AND owner_no = ? ORDER BY sequence""",
        (session_no, first, last, owner_no),
    )
    with closing(rows):
        return tuple(checked_event(*row) for row in rows)


def checked_event(sequence: int, name: str, body: bytes, text: str | None, expected: int) -> StoredEvent:
    """The event of a row that is what was stored."""
    verify(expected, sequence, name, body, text)
    return StoredEvent(sequence=sequence, name=name, body=body, text=text)


def session_names(connection: sqlite3.Connection, key: SessionKey) -> frozenset[str]:
    """Every message id of a session."""
    place = session_place(connection, key)
    if place is None:
        return frozenset()
    rows = connection.execute(
        "SELECT name FROM events WHERE session_no = ? AND name <> '' AND owner_no = ?",
        (place.session_no, place.owner_no),
    )
    return frozenset(row[0] for row in rows)


def sessions(connection: sqlite3.Connection, owner: Owner) -> tuple[SessionRow, ...]:
    """An owner's sessions, newest change first."""
    owner_no = owner_number(connection, owner)
    rows = connection.execute(
        """SELECT session_id, created_ms, changed_ms, message_count FROM sessions
        WHERE owner_no = ? ORDER BY changed_ms DESC, session_no DESC""",
        (owner_no,),
    )
    return tuple(
        SessionRow(session_id=id, created_ms=created_ms, changed_ms=changed_ms, message_count=message_count)
        for id, created_ms, changed_ms, message_count in (
            checked_types(row, str, int, int, int) for row in rows
        )
    )


def owners(
    connection: sqlite3.Connection, limit: int, tenant: str | None, prefix: str
) -> tuple[OwnerRow, ...]:
    """The owners, newest first, with what is stored of each."""
    where, given = "user <> ''", list[object]()
    if tenant is not None:
        where += " AND tenant = ?"
        given.append(tenant)
    if prefix:  # the range is what an index finds; the bytes above it are no character's
        where += " AND user >= ? AND user < CAST(CAST(? AS BLOB) || x'FF' AS TEXT)"
        given += [prefix, prefix]
    rows = connection.execute(
        f"""SELECT tenant, user,
            (SELECT count(*) FROM sessions WHERE sessions.owner_no = owners.owner_no),
            (SELECT count(*) FROM items WHERE items.owner_no = owners.owner_no)
        FROM owners WHERE {where} ORDER BY owner_no DESC LIMIT ?""",
        (*given, limit),
    )
    return tuple(
        OwnerRow(owner=Owner(tenant, user), session_count=session_count, item_count=item_count)
        for tenant, user, session_count, item_count in (
            checked_types(row, str, str, int, int) for row in rows
        )
    )


def behind(connection: sqlite3.Connection) -> tuple[SessionKey, ...]:
    """Sessions with messages that long-term memory has not taken in."""
    rows = connection.execute(
        """SELECT tenant, user, session_id FROM sessions JOIN owners USING (owner_no)
        WHERE last_sequence > progress AND (
            EXISTS (SELECT 1 FROM events WHERE events.session_no = sessions.session_no
                AND events.sequence > sessions.progress AND events.name <> '')
            OR EXISTS (SELECT 1 FROM meta WHERE key = ? || session_no AND value >= progress))
        ORDER BY session_no""",
        (RELEASED_MARK,),
    )
    found = (checked_types(row, str, str, str) for row in rows)
    return tuple(SessionKey(Owner(tenant, user), session_id) for tenant, user, session_id in found)


def intents(connection: sqlite3.Connection, owner: Owner) -> tuple[tuple[str, bytes], ...]:
    """What is still to be done for an owner, by name."""
    rows = connection.execute(
        "SELECT name, body, checksum FROM intents WHERE owner_no = ? ORDER BY name",
        (owner_number(connection, owner),),
    )
    with closing(rows):
        return tuple(checked_intent(*row) for row in rows)


def checked_intent(name: str, body: bytes, expected: int) -> tuple[str, bytes]:
    """Name and body of a row that is what was stored."""
    verify(expected, name, body)
    return name, body


def owners_with_intents(connection: sqlite3.Connection, prefix: str) -> tuple[Owner, ...]:
    """Owners for whom something is still to be done whose name begins so."""
    rows = connection.execute(
        """SELECT tenant, user FROM owners WHERE owner_no IN
            (SELECT owner_no FROM intents WHERE substr(name, 1, length(?)) = ?) ORDER BY owner_no""",
        (prefix, prefix),
    )
    return tuple(Owner(tenant, user) for tenant, user in (checked_types(row, str, str) for row in rows))


def intent_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How much is still to be done, by what the names begin with."""
    rows = connection.execute(
        "SELECT substr(name, 1, instr(name, ':')), count(*) FROM intents GROUP BY 1 ORDER BY 1"
    )
    return dict(checked_types(row, str, int) for row in rows)


def shown_in(connection: sqlite3.Connection, owner: Owner, id: str) -> tuple[tuple[SessionKey, int], ...]:
    """Sessions and events whose notes show an item; only a knowledge base's stand in sessions of others."""
    rows = connection.execute(
        """SELECT owners.user, session_id, sequence
        FROM shown JOIN sessions USING (session_no) JOIN owners ON owners.owner_no = sessions.owner_no
        WHERE item_no = ? AND shown.owner_no = ? AND owners.tenant = ?
            AND (sessions.owner_no = shown.owner_no OR ?)
        ORDER BY session_no, sequence""",
        (item_number(id), owner_number(connection, owner), owner.tenant, is_base(owner)),
    )
    found = (checked_types(row, str, str, int) for row in rows)
    return tuple(
        (SessionKey(Owner(owner.tenant, user), session_id), sequence) for user, session_id, sequence in found
    )


def base_contents(connection: sqlite3.Connection, base: Owner) -> BaseContents:
    """What a knowledge base holds, and the sessions of the tenant whose notes show any of it."""
    if not is_base(base):
        raise AssertionError("what a user has is shown in his own sessions")
    number = owner_number(connection, base)
    items = connection.execute("SELECT item_no FROM items WHERE owner_no = ?", (number,))
    sessions = connection.execute(
        """SELECT DISTINCT owners.user, session_id
        FROM shown JOIN sessions USING (session_no) JOIN owners ON owners.owner_no = sessions.owner_no
        WHERE shown.owner_no = ? AND owners.tenant = ?""",
        (number, base.tenant),
    )
    return BaseContents(
        item_ids=frozenset(item_id(row[0]) for row in items),
        shown_in=frozenset(SessionKey(Owner(base.tenant, user), name) for user, name in sessions),
    )


def bases(connection: sqlite3.Connection, tenant: str) -> tuple[BaseRow, ...]:
    """The knowledge bases of a tenant that hold anything, by name."""
    rows = connection.execute(
        """SELECT user, count(*) FROM owners JOIN items USING (owner_no)
        WHERE tenant = ? AND user >= ? AND user < ? GROUP BY user ORDER BY user""",
        (tenant, BASE_MARK, chr(ord(BASE_MARK) + 1)),
    )
    return tuple(BaseRow(base_name(Owner(tenant, user)), count) for user, count in rows)
