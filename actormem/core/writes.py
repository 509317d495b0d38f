"""What is written to the record, as values; `actormem.ports.Record` says what becomes of them.

The law of the file: a write holds all that it needs and may be done again; words stand in texts and items alone.
"""

from typing import TypeAlias

import msgspec

from actormem.core.values import Item, Owner, SessionKey

__all__ = [
    "AppendEvents",
    "DeleteIntent",
    "DeleteItems",
    "EraseOwner",
    "EraseSession",
    "MarkShown",
    "PutIntent",
    "PutItems",
    "PutTombstones",
    "PutVectors",
    "ReleaseNames",
    "ReplaceTexts",
    "SaveSnapshot",
    "SetProgress",
    "StoredEvent",
    "Write",
    "owner_of",
]


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a session as the record keeps it.

    Attributes:
        sequence: Its place in the session, from 1, without gaps.
        name: An id that stands once in its session (a message id), or an empty string.
        body: The event without its words.
        text: Its words, in a column that can be erased; None where it has none or they are gone.
    """

    sequence: int
    body: bytes
    name: str = ""
    text: str | None = None


class AppendEvents(msgspec.Struct, frozen=True):
    """Append to a session, which begins with its first event. Sequences follow the last one stored."""

    key: SessionKey
    events: tuple[StoredEvent, ...]
    time_ms: int


class SaveSnapshot(msgspec.Struct, frozen=True):
    """Keep the state of a session after event `sequence`; replaces the one before."""

    key: SessionKey
    sequence: int
    body: bytes


class ReplaceTexts(msgspec.Struct, frozen=True):
    """Put other words (or None) in the place of those of some events; the session's snapshot goes too."""

    key: SessionKey
    texts: tuple[tuple[int, str | None], ...]


class ReleaseNames(msgspec.Struct, frozen=True):
    """Take the names off the events from `first` to `last`, so that they may be given again.

    The session is behind (see `Record.behind`) until its progress is past `last`.
    """

    key: SessionKey
    first: int
    last: int


class MarkShown(msgspec.Struct, frozen=True):
    """Event `sequence` of the session is a note that shows these items, its owner's or its tenant's knowledge."""

    key: SessionKey
    sequence: int
    item_ids: tuple[str, ...]


class SetProgress(msgspec.Struct, frozen=True):
    """Long-term memory has taken in the session's events up to `sequence`. Never goes back."""

    key: SessionKey
    sequence: int


class PutItems(msgspec.Struct, frozen=True):
    """Store items, new ones and new states of old ones. Their owners are theirs alone."""

    items: tuple[Item, ...]


class PutVectors(msgspec.Struct, frozen=True):
    """Store vectors of items: (item id, float32 bytes) made by `embedder`. Ignored where the item is gone."""

    owner: Owner
    embedder: str
    vectors: tuple[tuple[str, bytes], ...]


class DeleteItems(msgspec.Struct, frozen=True):
    """Remove items with their vectors and what says where they were shown."""

    owner: Owner
    item_ids: tuple[str, ...]


class PutTombstones(msgspec.Struct, frozen=True):
    """Hashes of forgotten texts, which are never taken in again."""

    owner: Owner
    hashes: tuple[str, ...]


class PutIntent(msgspec.Struct, frozen=True):
    """Note what is to be done for the owner, under a name; replaces that of the same name. Ids only, no words."""

    owner: Owner
    name: str
    body: bytes


class DeleteIntent(msgspec.Struct, frozen=True):
    """It is done, or is not to be done any more."""

    owner: Owner
    name: str


class EraseSession(msgspec.Struct, frozen=True):
    """Remove a session: its events, texts, snapshot, progress."""

    key: SessionKey


class EraseOwner(msgspec.Struct, frozen=True):
    """Remove everything of an owner.

    With `forgotten_ms`, a time, a keyed hash of him stays with it, for `Record.forgotten_ms`.
    """

    owner: Owner
    forgotten_ms: int = 0


Write: TypeAlias = (
    AppendEvents
    | SaveSnapshot
    | ReplaceTexts
    | ReleaseNames
    | MarkShown
    | SetProgress
    | PutItems
    | PutVectors
    | DeleteItems
    | PutTombstones
    | PutIntent
    | DeleteIntent
    | EraseSession
    | EraseOwner
)


def owner_of(write: Write) -> Owner | None:
    """Whose write it is; None for items without any."""
    if isinstance(write, PutItems):
        return write.items[0].owner if write.items else None
    if isinstance(write, (PutVectors, DeleteItems, PutTombstones, PutIntent, DeleteIntent, EraseOwner)):
        return write.owner
    return write.key.owner
