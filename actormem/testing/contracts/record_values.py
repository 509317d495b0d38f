"""What the checks of the record write and read: owners, sessions, events, items."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import AppendEvents, Record, SessionHistory, StoredEvent, Write
from actormem.testing.contracts.checks import BrokenPromiseError, refused
from actormem.testing.contracts.places import own_folder

__all__ = [
    "ADA",
    "BOB",
    "NOBODY",
    "NO_HASHES",
    "NO_VECTORS",
    "TALK",
    "VECTOR",
    "MakeRecord",
    "append",
    "event",
    "fails",
    "item",
    "message",
    "opened",
    "sequences",
    "woken",
]

MakeRecord: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Record]]
"""Opens the record in a folder, until the block ends; a record in memory takes no notice of the folder."""
ADA: Final = Owner("shop", "ada")
BOB: Final = Owner("shop", "bob")
NOBODY: Final = Owner("no", "one")
TALK: Final = SessionKey(ADA, "s-1")
NO_VECTORS: Final[dict[str, bytes]] = {}
NO_HASHES: Final[frozenset[str]] = frozenset()
VECTOR: Final = b"\x00\x00\x80\x3f" * 4


@asynccontextmanager
async def opened(make: MakeRecord) -> AsyncGenerator[Record, None]:
    """A new record, in a folder of its own."""
    with own_folder() as folder:
        async with make(folder) as record:
            yield record


def event(sequence: int, text: str | None = "words", name: str = "") -> StoredEvent:
    """An event of a session."""
    return StoredEvent(sequence=sequence, body=b"body %d" % sequence, name=name, text=text)


def append(first: int, last: int, key: SessionKey = TALK, time_ms: int = 1_000) -> AppendEvents:
    """Events without names, from `first` to `last`."""
    return AppendEvents(key, tuple(event(number) for number in range(first, last + 1)), time_ms)


def message(first: int, last: int = 0, key: SessionKey = TALK) -> AppendEvents:
    """Events with the names `n1`, `n2` …: only those are behind."""
    numbers = range(first, max(first, last) + 1)
    return AppendEvents(key, tuple(event(number, name=f"n{number}") for number in numbers), 1_000)


def item(number: int, owner: Owner = ADA, text: str = "Ada lives in Hangzhou.", **fields: object) -> Item:
    """The item with this number."""
    return Item(id=f"m{number}", owner=owner, kind="fact", text=text, **fields)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def sequences(record: Record, key: SessionKey = TALK) -> list[int]:
    """The events that a session wakes with, by their sequences."""
    history = await record.load_session(key)
    return [] if history is None else [event.sequence for event in history.events]


async def woken(record: Record, key: SessionKey = TALK) -> SessionHistory:
    """What a session that must be there wakes with."""
    history = await record.load_session(key)
    if history is None:
        raise BrokenPromiseError(f"session {key.session_id} is not there")
    return history


async def fails(record: Record, writes: Sequence[Write], what: str) -> None:
    """Fail the check unless these writes are a StorageError."""
    with refused(StorageError, what):
        await record.sync(writes)
