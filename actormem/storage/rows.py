"""Each kind of write, as rows. Runs in the writer's thread, inside its transaction.

The law of the file: a write either does all it says or raises, and the transaction with it. Late writes about
what has been erased in the meantime do nothing; events are the exception, for a gap between them would be a
loss. What removes or replaces words leaves a mark (`scrub_due`) in the same transaction, so that the bytes
are still found and cleared when the process dies before `scrub`.

A kind of database brings two modules of functions, which each take what it writes with: `SessionRows` and `ItemRows`.
"""

from typing import Protocol, TypeVar, assert_never

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

__all__ = ["ItemRows", "ReserveNumbers", "SessionRows", "apply"]

C = TypeVar("C")
C_contra = TypeVar("C_contra", contravariant=True)


class ReserveNumbers(msgspec.Struct, frozen=True):
    """Our own write: item numbers up to `last` may have been given."""

    last: int


class SessionRows(Protocol[C_contra]):
    """Writes about sessions."""

    def append_events(self, connection: C_contra, write: AppendEvents, /) -> None: ...
    def save_snapshot(self, connection: C_contra, write: SaveSnapshot, /) -> None: ...
    def replace_texts(self, connection: C_contra, write: ReplaceTexts, /) -> None: ...
    def release_names(self, connection: C_contra, write: ReleaseNames, /) -> None: ...
    def mark_shown(self, connection: C_contra, write: MarkShown, /) -> None: ...
    def set_progress(self, connection: C_contra, write: SetProgress, /) -> None: ...
    def erase_session(self, connection: C_contra, write: EraseSession, /) -> None: ...


class ItemRows(Protocol[C_contra]):
    """Writes about items and owners."""

    def put_items(self, connection: C_contra, write: PutItems, /) -> None: ...
    def put_vectors(self, connection: C_contra, write: PutVectors, /) -> None: ...
    def delete_items(self, connection: C_contra, write: DeleteItems, /) -> None: ...
    def put_tombstones(self, connection: C_contra, write: PutTombstones, /) -> None: ...
    def put_intent(self, connection: C_contra, write: PutIntent, /) -> None: ...
    def delete_intent(self, connection: C_contra, write: DeleteIntent, /) -> None: ...
    def erase_owner(self, connection: C_contra, write: EraseOwner, /) -> None: ...
    def reserve_numbers(self, connection: C_contra, last: int, /) -> None: ...


def apply(
    session_rows: SessionRows[C], item_rows: ItemRows[C], connection: C, write: Write | ReserveNumbers
) -> None:
    """Do one write.

    Raises:
        AssertionError: The write contradicts what is stored: a gap between events, another owner's item.
        Exception: The database's own: it failed, or a name that stands once is given twice.
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
            item_rows.reserve_numbers(connection, write.last)
        case _:
            assert_never(write)
