"""Each question to the record about owners, sessions and intents; as `actormem.storage.reads`, in PostgreSQL.

The law of the file: a row is checked before it is believed, and each question names first whom it is about.
"""

from actormem.core.ids import item_id, item_number
from actormem.core.knowledge.bases import BASE_MARK, base_name, is_base
from actormem.core.values import Owner, SessionKey
from actormem.ports import BaseContents, BaseRow, OwnerRow, SessionHistory, SessionRow, StoredEvent
from actormem.storage.checks import INTEGER_MAX, verify
from actormem.storage.failures import DamagedRowError
from actormem.storage.postgres.connections import Connection, execute
from actormem.storage.postgres.places import decoded, look_as, owner_number, owner_of_row, session_place
from actormem.storage.reads import checked_event, checked_history, checked_intent

__all__ = [
    "base_contents",
    "bases",
    "behind",
    "intent_counts",
    "intents",
    "load_session",
    "owners",
    "owners_with_intents",
    "read_events",
    "session_names",
    "sessions",
    "shown_in",
]


def load_session(connection: Connection, key: SessionKey) -> SessionHistory | None:
    """What is needed to wake a session, or None where it was never stored."""
    look_as(connection, key.owner)
    place = session_place(connection, key)
    if place is None:
        return None
    row = execute(
        connection,
        "SELECT body, sequence, checksum FROM snapshots WHERE session_no = %s AND owner_no = %s",
        place.session_no,
        place.owner_no,
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


def read_events(connection: Connection, key: SessionKey, first: int, last: int) -> tuple[StoredEvent, ...]:
    """Events by sequence, in order; those that are not there are left out."""
    look_as(connection, key.owner)
    place = session_place(connection, key)
    if place is None:
        return ()
    first, last = max(first, 1), min(last, place.last_sequence)
    return events_between(connection, place.session_no, place.owner_no, first, last) if first <= last else ()


def events_between(
    connection: Connection, session_no: int, owner_no: int, first: int, last: int
) -> tuple[StoredEvent, ...]:
    rows = execute(
        connection,
        """SELECT sequence, name, body, words, checksum FROM events
        WHERE session_no = %s AND sequence BETWEEN %s AND %s AND owner_no = %s ORDER BY sequence""",
        session_no,
        first,
        last,
        owner_no,
    )
    return tuple(
        checked_event(sequence, name.decode(), body, None if words is None else words.decode(), expected)
        for sequence, name, body, words, expected in rows
    )


def session_names(connection: Connection, key: SessionKey) -> frozenset[str]:
    """Every message id of a session."""
    look_as(connection, key.owner)
    place = session_place(connection, key)
    if place is None:
        return frozenset()
    rows = execute(
        connection,
        "SELECT name FROM events WHERE session_no = %s AND name <> ''::bytea AND owner_no = %s",
        place.session_no,
        place.owner_no,
    )
    return frozenset(row[0].decode() for row in rows)


def sessions(connection: Connection, owner: Owner) -> tuple[SessionRow, ...]:
    """An owner's sessions, newest change first."""
    look_as(connection, owner)
    rows = execute(
        connection,
        """SELECT session_id, created_ms, changed_ms, message_count FROM sessions
        WHERE owner_no = %s ORDER BY changed_ms DESC, session_no DESC""",
        owner_number(connection, owner),
    )
    return tuple(
        SessionRow(session_id=id, created_ms=created_ms, changed_ms=changed_ms, message_count=message_count)
        for id, created_ms, changed_ms, message_count in map(decoded, rows)
    )


def owners(connection: Connection, limit: int, tenant: str | None, prefix: str) -> tuple[OwnerRow, ...]:
    """The owners, newest first, with what is stored of each."""
    look_as(connection, None)
    begins = prefix.encode()
    rows = execute(
        connection,
        """SELECT tenant, user_id,
            (SELECT count(*) FROM sessions WHERE sessions.owner_no = owners.owner_no),
            (SELECT count(*) FROM items WHERE items.owner_no = owners.owner_no)
        FROM owners WHERE user_id <> ''::bytea AND (%s::bytea IS NULL OR tenant = %s)
            AND user_id >= %s AND (%s = ''::bytea OR user_id < %s)
        ORDER BY owner_no DESC LIMIT %s""",
        *[None if tenant is None else tenant.encode()] * 2,
        *[begins] * 2,
        begins + b"\xff",  # the byte above is no character's
        limit,
    )
    return tuple(
        OwnerRow(owner=owner_of_row(tenant, user), session_count=session_count, item_count=item_count)
        for tenant, user, session_count, item_count in rows
    )


def behind(connection: Connection) -> tuple[SessionKey, ...]:
    """Sessions with messages that long-term memory has not taken in."""
    look_as(connection, None)
    rows = execute(
        connection,
        """SELECT tenant, user_id, session_id FROM sessions JOIN owners USING (owner_no)
        WHERE last_sequence > progress AND (released >= progress OR EXISTS (
            SELECT 1 FROM events WHERE events.session_no = sessions.session_no
                AND events.sequence > sessions.progress AND events.name <> ''::bytea))
        ORDER BY session_no""",
    )
    return tuple(SessionKey(owner_of_row(tenant, user), id.decode()) for tenant, user, id in rows)


def intents(connection: Connection, owner: Owner) -> tuple[tuple[str, bytes], ...]:
    """What is still to be done for an owner, by name."""
    look_as(connection, owner)
    rows = execute(
        connection,
        "SELECT name, body, checksum FROM intents WHERE owner_no = %s ORDER BY name",
        owner_number(connection, owner),
    )
    return tuple(checked_intent(name.decode(), body, expected) for name, body, expected in rows)


def owners_with_intents(connection: Connection, prefix: str) -> tuple[Owner, ...]:
    """Owners for whom something is still to be done whose name begins so."""
    look_as(connection, None)
    begins = prefix.encode()
    rows = execute(
        connection,
        """SELECT tenant, user_id FROM owners WHERE owner_no IN
            (SELECT owner_no FROM intents WHERE substr(name, 1, %s::int) = %s) ORDER BY owner_no""",
        len(begins),
        begins,
    )
    return tuple(owner_of_row(*row) for row in rows)


def intent_counts(connection: Connection) -> dict[str, int]:
    """How much is still to be done, by what the names begin with."""
    look_as(connection, None)
    rows = execute(
        connection,
        """SELECT substr(name, 1, position(':'::bytea IN name)), count(*) FROM intents
        GROUP BY 1 ORDER BY 1""",
    )
    return dict(decoded(row) for row in rows)


def shown_in(connection: Connection, owner: Owner, id: str) -> tuple[tuple[SessionKey, int], ...]:
    """Sessions and events whose notes show an item; only a knowledge base's stand in sessions of others."""
    base = is_base(owner)
    look_as(connection, None if base else owner)
    rows = execute(
        connection,
        """SELECT owners.user_id, session_id, sequence
        FROM shown JOIN sessions USING (session_no) JOIN owners ON owners.owner_no = sessions.owner_no
        WHERE item_no = %s AND shown.owner_no = %s AND owners.tenant = %s
            AND (sessions.owner_no = shown.owner_no OR %s)
        ORDER BY session_no, sequence""",
        item_number(id),
        owner_number(connection, owner),
        owner.tenant.encode(),
        base,
    )
    return tuple(
        (SessionKey(Owner(owner.tenant, user), session_id), sequence)
        for user, session_id, sequence in map(decoded, rows)
    )


def base_contents(connection: Connection, base: Owner) -> BaseContents:
    """What a knowledge base holds, and the sessions of the tenant whose notes show any of it."""
    if not is_base(base):
        raise AssertionError("what a user has is shown in his own sessions")
    look_as(connection, None)
    number = owner_number(connection, base)
    items = execute(connection, "SELECT item_no FROM items WHERE owner_no = %s", number)
    sessions = execute(
        connection,
        """SELECT DISTINCT owners.user_id, session_id
        FROM shown JOIN sessions USING (session_no) JOIN owners ON owners.owner_no = sessions.owner_no
        WHERE shown.owner_no = %s AND owners.tenant = %s""",
        number,
        base.tenant.encode(),
    )
    return BaseContents(
        item_ids=frozenset(item_id(row[0]) for row in items),
        shown_in=frozenset(
            SessionKey(Owner(base.tenant, user), name) for user, name in map(decoded, sessions)
        ),
    )


def bases(connection: Connection, tenant: str) -> tuple[BaseRow, ...]:
    """The knowledge bases of a tenant that hold anything, by name."""
    look_as(connection, None)
    rows = execute(
        connection,
        """SELECT user_id, count(*) FROM owners JOIN items USING (owner_no)
        WHERE tenant = %s AND user_id >= %s AND user_id < %s GROUP BY user_id ORDER BY user_id""",
        tenant.encode(),
        BASE_MARK.encode(),
        chr(ord(BASE_MARK) + 1).encode(),
    )
    return tuple(BaseRow(base_name(Owner(tenant, user)), count) for user, count in map(decoded, rows))
