"""Writes about sessions, as rows: events, snapshots, what was shown. Inside a transaction; see `rows`."""

import sqlite3

from actormem.core.knowledge.bases import BASE_MARK
from actormem.ports import (
    AppendEvents,
    EraseSession,
    MarkShown,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
)
from actormem.storage.checks import checksum
from actormem.storage.places import (
    RELEASED_MARK,
    SCRUB_MARK,
    SessionPlace,
    mark,
    numbers_of,
    owner_made,
    session_place,
)

__all__ = [
    "append_events",
    "erase_session",
    "mark_shown",
    "release_names",
    "replace_texts",
    "save_snapshot",
    "set_progress",
]


def append_events(connection: sqlite3.Connection, write: AppendEvents) -> None:
    """Append events, the first of which begins the session."""
    if not write.events:
        return
    place = session_place(connection, write.key) or begin_session(connection, write)
    for expected, event in enumerate(write.events, place.last_sequence + 1):
        if event.sequence != expected:
            raise AssertionError(f"event {event.sequence} comes where event {expected} belongs")
    connection.executemany(
        """INSERT INTO events (session_no, sequence, owner_no, name, body, text, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                place.session_no,
                event.sequence,
                place.owner_no,
                event.name,
                event.body,
                event.text,
                checksum(event.sequence, event.name, event.body, event.text),
            )
            for event in write.events
        ],
    )
    named_count = sum(1 for event in write.events if event.name)
    connection.execute(
        """UPDATE sessions SET changed_ms = ?, message_count = message_count + ?, last_sequence = ?
        WHERE session_no = ?""",
        (write.time_ms, named_count, write.events[-1].sequence, place.session_no),
    )


def begin_session(connection: sqlite3.Connection, write: AppendEvents) -> SessionPlace:
    owner_no = owner_made(connection, write.key.owner)
    cursor = connection.execute(
        """INSERT INTO sessions
        (owner_no, session_id, created_ms, changed_ms, message_count, progress, last_sequence)
        VALUES (?, ?, ?, ?, 0, 0, 0)""",
        (owner_no, write.key.session_id, write.time_ms, write.time_ms),
    )
    assert cursor.lastrowid is not None
    return SessionPlace(cursor.lastrowid, owner_no, 0, 0)


def save_snapshot(connection: sqlite3.Connection, write: SaveSnapshot) -> None:
    """Keep a state of the session in place of the one before."""
    place = session_place(connection, write.key)
    if place is None:
        return
    if not 0 < write.sequence <= place.last_sequence:
        raise AssertionError(f"a snapshot of event {write.sequence} in a session of {place.last_sequence}")
    connection.execute(
        """INSERT OR REPLACE INTO snapshots (session_no, owner_no, sequence, body, checksum)
        VALUES (?, ?, ?, ?, ?)""",
        (
            place.session_no,
            place.owner_no,
            write.sequence,
            write.body,
            checksum(write.sequence, write.body),
        ),
    )


def replace_texts(connection: sqlite3.Connection, write: ReplaceTexts) -> None:
    """Put other words in the place of those of events."""
    place = session_place(connection, write.key)
    if place is None:
        return
    for sequence, text in write.texts:
        row = connection.execute(
            "SELECT name, body FROM events WHERE session_no = ? AND sequence = ?",
            (place.session_no, sequence),
        ).fetchone()
        if row is not None:
            connection.execute(
                "UPDATE events SET text = ?, checksum = ? WHERE session_no = ? AND sequence = ?",
                (text, checksum(sequence, row[0], row[1], text), place.session_no, sequence),
            )
    connection.execute("DELETE FROM snapshots WHERE session_no = ?", (place.session_no,))
    mark(connection, SCRUB_MARK, 1)


def release_names(connection: sqlite3.Connection, write: ReleaseNames) -> None:
    """Take the names off events."""
    place = session_place(connection, write.key)
    if place is None:
        return
    rows = connection.execute(
        """SELECT sequence, body, text FROM events
        WHERE session_no = ? AND sequence BETWEEN ? AND ? AND name <> ''""",
        (place.session_no, write.first, write.last),
    ).fetchall()
    connection.executemany(
        "UPDATE events SET name = '', checksum = ? WHERE session_no = ? AND sequence = ?",
        [(checksum(row[0], "", row[1], row[2]), place.session_no, row[0]) for row in rows],
    )
    connection.execute(
        "UPDATE sessions SET message_count = message_count - ? WHERE session_no = ?",
        (len(rows), place.session_no),
    )
    mark(connection, f"{RELEASED_MARK}{place.session_no}", min(write.last, place.last_sequence - 1))


def mark_shown(connection: sqlite3.Connection, write: MarkShown) -> None:
    """Keep which items a note shows."""
    place = session_place(connection, write.key)
    if place is None:
        return
    connection.executemany(
        """INSERT OR IGNORE INTO shown (item_no, session_no, sequence, owner_no)
        SELECT item_no, ?, ?, owner_no FROM items JOIN owners USING (owner_no)
        WHERE item_no = ? AND (owner_no = ? OR tenant = ? AND substr(user, 1, 1) = ?)""",
        [
            (place.session_no, write.sequence, number, place.owner_no, write.key.owner.tenant, BASE_MARK)
            for number in numbers_of(write.item_ids)
        ],
    )


def set_progress(connection: sqlite3.Connection, write: SetProgress) -> None:
    """Keep how far long-term memory has come."""
    place = session_place(connection, write.key)
    if place is None:
        return
    # Never past the last event: the session may have been erased and begun again since.
    progress = min(write.sequence, place.last_sequence)
    connection.execute(
        "UPDATE sessions SET progress = max(progress, ?) WHERE session_no = ?", (progress, place.session_no)
    )


def erase_session(connection: sqlite3.Connection, write: EraseSession) -> None:
    """Remove every row of a session."""
    place = session_place(connection, write.key)
    if place is None:
        return
    for table in ("shown", "snapshots", "events", "sessions"):
        connection.execute(f"DELETE FROM {table} WHERE session_no = ?", (place.session_no,))
    connection.execute("DELETE FROM meta WHERE key = ?", (f"{RELEASED_MARK}{place.session_no}",))
    mark(connection, SCRUB_MARK, 1)
