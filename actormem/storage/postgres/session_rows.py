"""Writes about sessions, as rows: events, snapshots, what was shown.

Runs inside a transaction and a pipeline; see `actormem.storage.rows`.
"""

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
from actormem.storage.places import SessionPlace, numbers_of
from actormem.storage.postgres.connections import execute, execute_many
from actormem.storage.postgres.writing import Writing, scrub_due

__all__ = [
    "append_events",
    "erase_session",
    "mark_shown",
    "release_names",
    "replace_texts",
    "save_snapshot",
    "set_progress",
]


def append_events(writing: Writing, write: AppendEvents) -> None:
    """Append events, the first of which begins the session."""
    if not write.events:
        return
    place = writing.session_place(write.key) or begin_session(writing, write)
    for expected, event in enumerate(write.events, place.last_sequence + 1):
        if event.sequence != expected:
            raise AssertionError(f"event {event.sequence} comes where event {expected} belongs")
    execute_many(
        writing.connection,
        """INSERT INTO events (session_no, sequence, owner_no, name, body, words, checksum)
        VALUES (%s, %s, %s, %s, %s, %s, %s)""",
        [
            (
                place.session_no,
                event.sequence,
                place.owner_no,
                event.name.encode(),
                event.body,
                None if event.text is None else event.text.encode(),
                checksum(event.sequence, event.name, event.body, event.text),
            )
            for event in write.events
        ],
    )
    last_sequence = write.events[-1].sequence
    execute(
        writing.connection,
        """UPDATE sessions SET changed_ms = %s, message_count = message_count + %s, last_sequence = %s
        WHERE session_no = %s""",
        write.time_ms,
        sum(1 for event in write.events if event.name),
        last_sequence,
        place.session_no,
    )
    writing.session_is_at(write.key, place._replace(last_sequence=last_sequence))


def begin_session(writing: Writing, write: AppendEvents) -> SessionPlace:
    owner_no = writing.owner_made(write.key.owner)
    row = execute(
        writing.connection,
        """INSERT INTO sessions
        (owner_no, session_id, created_ms, changed_ms, message_count, progress, last_sequence)
        VALUES (%s, %s, %s, %s, 0, 0, 0) RETURNING session_no""",
        owner_no,
        write.key.session_id.encode(),
        write.time_ms,
        write.time_ms,
    ).fetchone()
    assert row is not None
    return SessionPlace(row[0], owner_no, 0, 0)


def save_snapshot(writing: Writing, write: SaveSnapshot) -> None:
    """Keep a state of the session in place of the one before."""
    place = writing.session_place(write.key)
    if place is None:
        return
    if not 0 < write.sequence <= place.last_sequence:
        raise AssertionError(f"a snapshot of event {write.sequence} in a session of {place.last_sequence}")
    execute(
        writing.connection,
        """INSERT INTO snapshots (session_no, owner_no, sequence, body, checksum) VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT (session_no) DO UPDATE SET owner_no = excluded.owner_no, sequence = excluded.sequence,
            body = excluded.body, checksum = excluded.checksum""",
        place.session_no,
        place.owner_no,
        write.sequence,
        write.body,
        checksum(write.sequence, write.body),
    )


def replace_texts(writing: Writing, write: ReplaceTexts) -> None:
    """Put other words in the place of those of events."""
    place = writing.session_place(write.key)
    if place is None:
        return
    texts = dict(write.texts)
    rows = execute(
        writing.connection,
        "SELECT sequence, name, body FROM events WHERE session_no = %s AND sequence = ANY(%s::bigint[])",
        place.session_no,
        list(texts),
    ).fetchall()
    execute_many(
        writing.connection,
        "UPDATE events SET words = %s, checksum = %s WHERE session_no = %s AND sequence = %s",
        [
            (
                None if (text := texts[sequence]) is None else text.encode(),
                checksum(sequence, name.decode(), body, text),
                place.session_no,
                sequence,
            )
            for sequence, name, body in rows
        ],
    )
    execute(writing.connection, "DELETE FROM snapshots WHERE session_no = %s", place.session_no)
    scrub_due(writing)


def release_names(writing: Writing, write: ReleaseNames) -> None:
    """Take the names off events."""
    place = writing.session_place(write.key)
    if place is None:
        return
    rows = execute(
        writing.connection,
        """SELECT sequence, body, words FROM events
        WHERE session_no = %s AND sequence BETWEEN %s AND %s AND name <> ''::bytea""",
        place.session_no,
        write.first,
        write.last,
    ).fetchall()
    execute_many(
        writing.connection,
        "UPDATE events SET name = ''::bytea, checksum = %s WHERE session_no = %s AND sequence = %s",
        [
            (
                checksum(sequence, "", body, None if words is None else words.decode()),
                place.session_no,
                sequence,
            )
            for sequence, body, words in rows
        ],
    )
    execute(
        writing.connection,
        "UPDATE sessions SET message_count = message_count - %s, released = %s WHERE session_no = %s",
        len(rows),
        min(write.last, place.last_sequence - 1),
        place.session_no,
    )


def mark_shown(writing: Writing, write: MarkShown) -> None:
    """Keep which items a note shows."""
    place = writing.session_place(write.key)
    if place is None:
        return
    execute_many(
        writing.connection,
        """INSERT INTO shown (item_no, session_no, sequence, owner_no)
        SELECT item_no, %s, %s, owner_no FROM items JOIN owners USING (owner_no)
        WHERE item_no = %s AND (owner_no = %s OR tenant = %s AND substr(user_id, 1, %s::int) = %s)
        ON CONFLICT DO NOTHING""",
        [
            (
                place.session_no,
                write.sequence,
                number,
                place.owner_no,
                write.key.owner.tenant.encode(),
                len(BASE_MARK.encode()),
                BASE_MARK.encode(),
            )
            for number in numbers_of(write.item_ids)
        ],
    )


def set_progress(writing: Writing, write: SetProgress) -> None:
    """Keep how far long-term memory has come."""
    place = writing.session_place(write.key)
    if place is None:
        return
    # Never past the last event: the session may have been erased and begun again since.
    progress = min(write.sequence, place.last_sequence)
    execute(
        writing.connection,
        "UPDATE sessions SET progress = greatest(progress, %s) WHERE session_no = %s",
        progress,
        place.session_no,
    )


def erase_session(writing: Writing, write: EraseSession) -> None:
    """Remove every row of a session."""
    place = writing.session_place(write.key)
    if place is None:
        return
    for statement in (
        "DELETE FROM shown WHERE session_no = %s",
        "DELETE FROM snapshots WHERE session_no = %s",
        "DELETE FROM events WHERE session_no = %s",
        "DELETE FROM sessions WHERE session_no = %s",
    ):
        execute(writing.connection, statement, place.session_no)
    writing.session_gone(write.key)
    scrub_due(writing)
