"""Each kind of write, as rows. Runs in the writer's thread, inside its transaction.

The law of the file: a write either does all it says or raises, and the transaction with it. Late writes about
what has been erased in the meantime do nothing; events are the exception, for a gap between them would be a
loss. What removes or replaces words leaves a mark (`scrub_due`) in the same transaction, so that the bytes
are still found and cleared when the process dies before `scrub`.
"""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple, assert_never

import msgspec

from actormem.core.ids import item_number
from actormem.core.knowledge.bases import BASE_MARK
from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    EraseSession,
    MarkShown,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
    Write,
)
from actormem.storage.checks import checksum, decode_item, encode_item

__all__ = [
    "NUMBER_MARK",
    "RELEASED_MARK",
    "SCRUB_MARK",
    "ReserveNumbers",
    "SessionPlace",
    "apply",
    "mark",
    "owner_number",
    "read_mark",
    "session_place",
]

NUMBER_MARK: Final = "item_number"  # no item has or had a number above this one
SCRUB_MARK: Final = "scrub_due"  # 1 while erased words may still be in a free part of the file
RELEASED_MARK: Final = "released:"  # and a session's number: its last event whose name was released


class ReserveNumbers(msgspec.Struct, frozen=True):
    """Our own write: item numbers up to `last` may have been given."""

    last: int


class SessionPlace(NamedTuple):
    """Where a session stands in the tables."""

    session_no: int
    owner_no: int
    last_sequence: int
    progress: int


def apply(connection: sqlite3.Connection, write: Write | ReserveNumbers) -> None:
    """Do one write.

    Raises:
        AssertionError: The write contradicts what is stored: a gap between events, another owner's item.
        sqlite3.Error: The disk failed, or a name that stands once is given twice.
    """
    match write:
        case AppendEvents():
            append_events(connection, write)
        case SaveSnapshot():
            save_snapshot(connection, write)
        case ReplaceTexts():
            replace_texts(connection, write)
        case ReleaseNames():
            release_names(connection, write)
        case MarkShown():
            mark_shown(connection, write)
        case SetProgress():
            set_progress(connection, write)
        case PutItems():
            put_items(connection, write)
        case PutVectors():
            put_vectors(connection, write)
        case DeleteItems():
            delete_items(connection, write)
        case PutTombstones():
            put_tombstones(connection, write)
        case PutIntent():
            put_intent(connection, write)
        case DeleteIntent():
            delete_intent(connection, write)
        case EraseSession():
            erase_session(connection, write)
        case EraseOwner():
            erase_owner(connection, write)
        case ReserveNumbers():
            mark(connection, NUMBER_MARK, write.last)
        case _:
            assert_never(write)


# --- marks and places ----------------------------------------------------------------------------


def read_mark(connection: sqlite3.Connection, key: str) -> int:
    """A number of the folder itself, 0 where it was never set."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return 0 if row is None else row[0]


def mark(connection: sqlite3.Connection, key: str, value: int) -> None:
    """Set one of the record's marks."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


def owner_number(connection: sqlite3.Connection, owner: Owner) -> int | None:
    """The owner's number, or None where nothing was ever stored for it."""
    row = connection.execute(
        "SELECT owner_no FROM owners WHERE tenant = ? AND user = ?", (owner.tenant, owner.user)
    ).fetchone()
    return None if row is None else row[0]


def owner_made(connection: sqlite3.Connection, owner: Owner) -> int:
    """The number of an owner, made where it has none."""
    number = owner_number(connection, owner)
    if number is not None:
        return number
    cursor = connection.execute("INSERT INTO owners (tenant, user) VALUES (?, ?)", (owner.tenant, owner.user))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def session_place(connection: sqlite3.Connection, key: SessionKey) -> SessionPlace | None:
    """Where the session stands, or None where it has no event."""
    row = connection.execute(
        """SELECT session_no, owner_no, last_sequence, progress FROM sessions
        WHERE owner_no = (SELECT owner_no FROM owners WHERE tenant = ? AND user = ?) AND session_id = ?""",
        (key.owner.tenant, key.owner.user, key.session_id),
    ).fetchone()
    return None if row is None else SessionPlace(*row)


# --- sessions ------------------------------------------------------------------------------------


def append_events(connection: sqlite3.Connection, write: AppendEvents) -> None:
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
    place = session_place(connection, write.key)
    if place is None:
        return
    # Never past the last event: the session may have been erased and begun again since.
    progress = min(write.sequence, place.last_sequence)
    connection.execute(
        "UPDATE sessions SET progress = max(progress, ?) WHERE session_no = ?", (progress, place.session_no)
    )


def erase_session(connection: sqlite3.Connection, write: EraseSession) -> None:
    place = session_place(connection, write.key)
    if place is None:
        return
    for table in ("shown", "snapshots", "events", "sessions"):
        connection.execute(f"DELETE FROM {table} WHERE session_no = ?", (place.session_no,))
    connection.execute("DELETE FROM meta WHERE key = ?", (f"{RELEASED_MARK}{place.session_no}",))
    mark(connection, SCRUB_MARK, 1)


# --- items ---------------------------------------------------------------------------------------


def numbers_of(item_ids: Iterable[str]) -> list[int]:
    """Numbers of the ids that are item ids; no other can be stored."""
    return [number for number in map(item_number, item_ids) if number is not None]


def put_items(connection: sqlite3.Connection, write: PutItems) -> None:
    last = 0
    for item in write.items:
        number = item_number(item.id)
        if number is None:
            raise AssertionError("an item's id is not m and a number")
        put_item(connection, number, item)
        last = max(last, number)
    if last > read_mark(connection, NUMBER_MARK):
        mark(connection, NUMBER_MARK, last)


def put_item(connection: sqlite3.Connection, number: int, item: Item) -> None:
    owner_no = owner_made(connection, item.owner)
    row = connection.execute("SELECT owner_no, body FROM items WHERE item_no = ?", (number,)).fetchone()
    if row is not None:
        if row[0] != owner_no:
            raise AssertionError(f"item m{number} belongs to another owner")
        if stored_text(row[1]) != item.text:
            # A vector of words that are gone would be found for them, and can be turned back into them.
            connection.execute("DELETE FROM vectors WHERE owner_no = ? AND item_no = ?", (owner_no, number))
            mark(connection, SCRUB_MARK, 1)
    body = encode_item(item)
    connection.execute(
        "INSERT OR REPLACE INTO items (item_no, owner_no, body, checksum) VALUES (?, ?, ?, ?)",
        (number, owner_no, body, checksum(number, body)),
    )


def stored_text(body: bytes) -> str | None:
    """The text of an item that is about to be replaced; None where its row is damaged."""
    try:
        return decode_item(body).text
    except msgspec.MsgspecError:
        return None


def put_vectors(connection: sqlite3.Connection, write: PutVectors) -> None:
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    connection.executemany(
        """INSERT OR REPLACE INTO vectors (owner_no, item_no, embedder, vector, checksum)
        SELECT owner_no, item_no, ?, ?, ? FROM items WHERE item_no = ? AND owner_no = ?""",
        [
            (write.embedder, vector, checksum(number, vector), number, owner_no)
            for item_id, vector in write.vectors
            if (number := item_number(item_id)) is not None
        ],
    )


def delete_items(connection: sqlite3.Connection, write: DeleteItems) -> None:
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    rows = [(owner_no, number) for number in numbers_of(write.item_ids)]
    for table in ("items", "vectors", "shown"):
        connection.executemany(f"DELETE FROM {table} WHERE owner_no = ? AND item_no = ?", rows)
    mark(connection, SCRUB_MARK, 1)


def put_tombstones(connection: sqlite3.Connection, write: PutTombstones) -> None:
    if not write.hashes:
        return
    owner_no = owner_made(connection, write.owner)
    connection.executemany(
        "INSERT OR IGNORE INTO tombstones (owner_no, hash) VALUES (?, ?)",
        [(owner_no, text_hash) for text_hash in write.hashes],
    )


def put_intent(connection: sqlite3.Connection, write: PutIntent) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO intents (owner_no, name, body, checksum) VALUES (?, ?, ?, ?)",
        (owner_made(connection, write.owner), write.name, write.body, checksum(write.name, write.body)),
    )


def delete_intent(connection: sqlite3.Connection, write: DeleteIntent) -> None:
    connection.execute(
        "DELETE FROM intents WHERE owner_no = ? AND name = ?",
        (owner_number(connection, write.owner), write.name),
    )


def erase_owner(connection: sqlite3.Connection, write: EraseOwner) -> None:
    owner_no = owner_number(connection, write.owner)
    if owner_no is None:
        return
    connection.execute(
        "DELETE FROM meta WHERE key IN (SELECT ? || session_no FROM sessions WHERE owner_no = ?)",
        (RELEASED_MARK, owner_no),
    )
    for table in ("shown", "snapshots", "events"):
        connection.execute(
            f"DELETE FROM {table} WHERE session_no IN (SELECT session_no FROM sessions WHERE owner_no = ?)",
            (owner_no,),
        )
    for table in ("shown", "sessions", "vectors", "items", "tombstones", "intents", "owners"):
        connection.execute(f"DELETE FROM {table} WHERE owner_no = ?", (owner_no,))
    mark(connection, SCRUB_MARK, 1)
