"""A commit that fails at any step of its work: all of it is there, or nothing, and nothing is acknowledged after it."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import (
    AppendEvents,
    DeleteItems,
    PutItems,
    PutTombstones,
    PutVectors,
    ReplaceTexts,
    SaveSnapshot,
    StoredEvent,
    Write,
)
from actormem.storage.record import SqliteRecord, open_record

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

ADA = Owner("shop", "ada")
TALK = SessionKey(ADA, "s")
STEPS_MAX = 40_000  # of SQLite's machine in this commit: a loop over them ends


def events(first: int, last: int) -> AppendEvents:
    return AppendEvents(
        TALK,
        tuple(
            StoredEvent(sequence=one, name=f"m{one}", body=b"b" * 40, text=f"words {one}")
            for one in range(first, last + 1)
        ),
        last,
    )


def items(first: int, last: int) -> tuple[Item, ...]:
    return tuple(
        Item(id=f"m{one}", owner=ADA, kind="fact", text=f"fact {one}") for one in range(first, last + 1)
    )


def second() -> list[Write]:
    """A commit of many kinds of writes over what the first one stored."""
    return [
        events(9, 12),
        SaveSnapshot(TALK, 10, b"state"),
        ReplaceTexts(TALK, ((2, None), (3, "[forgotten]"))),
        PutItems(items(5, 9)),
        PutVectors(ADA, "e", tuple((one.id, bytes(16)) for one in items(5, 9))),
        DeleteItems(ADA, ("m1", "m2")),
        PutTombstones(ADA, ("0" * 32,)),
    ]


async def state(folder: Path) -> tuple[object, ...]:
    async with open_record(folder, durability="process") as record:
        return (
            await record.load_session(TALK),
            await record.read_events(TALK, 1, 99),
            await record.sessions(ADA),
            await record.load_items(ADA, "e"),
        )


async def begun(folder: Path) -> None:
    async with open_record(folder, durability="process") as record:
        await record.sync([events(1, 8), PutItems(items(1, 6))])


async def failed(folder: Path, after_steps: int) -> bool:
    """Whether the second commit was cut off after so many steps; where it was, no other is taken."""
    async with open_record(folder, durability="process") as record:
        assert isinstance(record, SqliteRecord)
        connection: sqlite3.Connection = record._connections.writing
        connection.set_progress_handler(lambda: 1, after_steps)
        try:
            await record.sync(second())
        except StorageError as error:
            assert "interrupted" in str(error)  # noqa: PT017
            connection.set_progress_handler(None, 0)
            with pytest.raises(StorageError):
                record.submit([events(13, 13)])
            with pytest.raises(StorageError):
                await record.sync()
            assert len(await record.read_events(TALK, 1, 99)) == 8, "what was there is still read"
            return True
        connection.set_progress_handler(None, 0)
        return False


async def test_a_commit_that_is_cut_off_anywhere_leaves_all_as_it_was(tmp_path: Path) -> None:
    await begun(tmp_path / "begun")
    for name in ("before", "after"):
        shutil.copytree(tmp_path / "begun", tmp_path / name)
    async with open_record(tmp_path / "after", durability="process") as record:
        await record.sync(second())
    before, after = await state(tmp_path / "before"), await state(tmp_path / "after")
    steps, cut_count = 1, 0
    while steps < STEPS_MAX:
        folder = tmp_path / str(steps)
        shutil.copytree(tmp_path / "begun", folder)
        cut = await failed(folder, steps)
        assert await state(folder) == (before if cut else after), steps
        if not cut:
            break
        cut_count += 1
        steps = steps * 3 // 2 + 1
    assert steps < STEPS_MAX
    assert cut_count > 7
