"""Each kind of write, as rows. Runs in the writer's thread, inside its transaction.

The law of the file: a write either does all it says or raises, and the transaction with it. Late writes about
what has been erased in the meantime do nothing; events are the exception, for a gap between them would be a
loss. What removes or replaces words leaves a mark (`scrub_due`) in the same transaction, so that the bytes
are still found and cleared when the process dies before `scrub`.
"""

import sqlite3
from typing import assert_never

import msgspec

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
from actormem.storage import item_rows, session_rows
from actormem.storage.places import (
    NUMBER_MARK,
    mark,
)

__all__ = ["ReserveNumbers", "apply"]


class ReserveNumbers(msgspec.Struct, frozen=True):
    """Our own write: item numbers up to `last` may have been given."""

    last: int


def apply(connection: sqlite3.Connection, write: Write | ReserveNumbers) -> None:
    """Do one write.

    Raises:
        AssertionError: The write contradicts what is stored: a gap between events, another owner's item.
        sqlite3.Error: The disk failed, or a name that stands once is given twice.
    """
    match write:
        case AppendEvents():
            session_rows.append_events(connection, write)
        case SaveSnapshot():
            session_rows.save_snapshot(connection, write)
        case ReplaceTexts():
            session_rows.replace_texts(connection, write)
        case ReleaseNames():
            session_rows.release_names(connection, write)
        case MarkShown():
            session_rows.mark_shown(connection, write)
        case SetProgress():
            session_rows.set_progress(connection, write)
        case PutItems():
            item_rows.put_items(connection, write)
        case PutVectors():
            item_rows.put_vectors(connection, write)
        case DeleteItems():
            item_rows.delete_items(connection, write)
        case PutTombstones():
            item_rows.put_tombstones(connection, write)
        case PutIntent():
            item_rows.put_intent(connection, write)
        case DeleteIntent():
            item_rows.delete_intent(connection, write)
        case EraseSession():
            session_rows.erase_session(connection, write)
        case EraseOwner():
            item_rows.erase_owner(connection, write)
        case ReserveNumbers():
            mark(connection, NUMBER_MARK, write.last)
        case _:
            assert_never(write)
