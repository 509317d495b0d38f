"""Promise 7 of `actormem.ports.Record`: erased words are in no file."""

from pathlib import Path

import anyio
import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    DeleteItems,
    EraseOwner,
    EraseSession,
    PutItems,
    Record,
    ReplaceTexts,
    SaveSnapshot,
    StoredEvent,
    Write,
)
from tests.contract.records import Place

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")
TALK = SessionKey(ADA, "s-1")
VECTOR = b"\x00\x00\x80\x3f" * 4


def event(sequence: int, text: str | None = "words", name: str = "") -> StoredEvent:
    return StoredEvent(sequence=sequence, body=b"body %d" % sequence, name=name, text=text)


def append(first: int, last: int, key: SessionKey = TALK, time_ms: int = 1_000) -> AppendEvents:
    return AppendEvents(key, tuple(event(number) for number in range(first, last + 1)), time_ms)


def item(number: int, owner: Owner = ADA, text: str = "Ada lives in Hangzhou.", **fields: object) -> Item:
    return Item(id=f"m{number}", owner=owner, kind="fact", text=text, **fields)  # type: ignore[arg-type]


async def sequences(record: Record, key: SessionKey = TALK) -> list[int]:
    history = await record.load_session(key)
    return [] if history is None else [event.sequence for event in history.events]


# --- promise 7: erased words ---------------------------------------------------------------------

CANARY = "canary-7f3a"


def words(number: int) -> str:
    """Words of many lengths, so that rows move between pages and spill over."""
    return f"{CANARY} 金丝雀 {number} " + "w" * (number * 37 % 3_000)


def found_in(folder: Path) -> list[str]:
    needles = (CANARY.encode(), "金丝雀".encode())
    return [path.name for path in folder.iterdir() if any(needle in path.read_bytes() for needle in needles)]


@pytest.mark.parametrize("how", ["texts", "items", "edited items", "session", "owner"])
async def test_erased_words_are_in_no_file_after_scrub(folder: Place, how: str) -> None:
    assert folder.path is not None
    count = 300
    kept = SessionKey(BOB, "s")
    async with folder.open() as record:
        for number in range(1, count + 1):
            record.submit(
                [AppendEvents(TALK, (event(number, words(number)),), 1), append(number, number, kept)]
            )
            record.submit([PutItems((item(number, text=words(number)), item(1_000 + number, BOB)))])
        await record.sync([SaveSnapshot(TALK, count, words(1).encode())])
        assert found_in(folder.path)
        ids = tuple(f"m{number}" for number in range(1, count + 1))
        blank = tuple((number, None if number % 2 else "短") for number in range(1, count + 1))
        texts: list[Write] = [ReplaceTexts(TALK, blank)]
        items: list[Write] = [DeleteItems(ADA, ids)]
        edited: list[Write] = [PutItems(tuple(item(number, text="短") for number in range(1, count + 1)))]
        erasures: dict[str, list[Write]] = {
            "texts": texts + items,
            "items": items + texts,
            "edited items": edited + texts,
            "session": [EraseSession(TALK), *items],
            "owner": [EraseOwner(ADA)],
        }
        record.submit(erasures[how])
        await record.scrub()
        assert found_in(folder.path) == []
        assert await sequences(record, kept) == list(range(1, count + 1))
        assert len((await record.load_items(BOB, "e")).items) == count
    assert found_in(folder.path) == []


async def test_scrub_takes_up_what_was_erased_before_a_restart(folder: Place) -> None:
    assert folder.path is not None
    async with folder.open() as record:
        for number in range(1, 301):
            record.submit([AppendEvents(TALK, (event(number, words(number)),), 1)])
            record.submit([append(number, number, SessionKey(BOB, "s"))])
        await record.sync([EraseSession(TALK)])
    async with folder.open() as record:
        await record.scrub()
        assert found_in(folder.path) == []


async def test_scrub_beside_reads_and_writes_disturbs_neither(place: Place) -> None:
    async with place.open() as record, anyio.create_task_group() as group:
        await record.sync([append(1, 1)])
        for number in range(2, 30):
            group.start_soon(record.load_session, TALK)
            group.start_soon(record.scrub)
            record.submit([append(number, number), ReplaceTexts(TALK, ((number, None),))])
            await anyio.lowlevel.checkpoint()
        await record.scrub()
        assert await sequences(record) == list(range(1, 30))
