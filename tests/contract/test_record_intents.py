"""Intents in `actormem.ports.Record`: those that are damaged, and folders older than they are."""

import sqlite3
from pathlib import Path

import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import CorruptError, UsageError
from actormem.ports import AppendEvents, PutIntent, PutItems, StoredEvent
from actormem.storage.migration import FORMAT_VERSION
from actormem.storage.record import open_record
from tests.contract.records import Place

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")


async def test_an_intent_that_could_not_be_read_back_is_refused(place: Place) -> None:
    async with place.open() as record:
        for wrong in (PutIntent(ADA, "\ud800", b""), PutIntent(ADA, "a", "words")):  # type: ignore[arg-type]
            with pytest.raises(UsageError):
                record.submit([wrong])
        assert await record.intents(ADA) == ()


async def test_intents_are_read_after_a_restart_and_damage_is_found(folder: Place) -> None:
    async with folder.open() as record:
        await record.sync([PutIntent(ADA, "a", b"1")])
    async with folder.open() as record:
        assert await record.intents(ADA) == (("a", b"1"),)
    alter(folder.path, "UPDATE intents SET body = x'00'")
    async with folder.open() as record:
        with pytest.raises(CorruptError):
            await record.intents(ADA)


# --- folders of format 1 ---------------------------------------------------------------------------------

ITEM = Item(id="m1", owner=ADA, kind="fact", text="Ada lives in Hangzhou.")
EVENT = StoredEvent(sequence=1, name="u-1", body=b"body", text="words")


def alter(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path / "record.db")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def version(path: Path) -> int:
    connection = sqlite3.connect(path / "record.db")
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found


async def older(path: Path) -> None:
    """A folder as format 1 left it: the same tables without that of intents."""
    async with open_record(path, durability="process") as record:
        await record.sync([AppendEvents(SessionKey(ADA, "s"), (EVENT,), 1), PutItems((ITEM,))])
    alter(path, "DROP TABLE intents", "PRAGMA user_version = 1")


async def test_a_folder_of_format_1_opens_with_all_it_had_and_takes_intents(folder: Place) -> None:
    await older(folder.path)
    assert version(folder.path) == 1
    for _ in range(2):
        async with folder.open() as record:
            assert await record.read_events(SessionKey(ADA, "s"), 1, 1) == (EVENT,)
            assert (await record.load_items(ADA, "e")).items == (ITEM,)
            await record.sync([PutIntent(ADA, "a", b"1")])
            assert await record.intents(ADA) == (("a", b"1"),)
    assert version(folder.path) == FORMAT_VERSION == 2


async def test_a_migrated_folder_has_the_tables_of_a_new_one(folder: Place, tmp_path: Path) -> None:
    await older(folder.path)
    async with folder.open():
        pass
    async with open_record(tmp_path / "new"):
        pass
    tables: list[set[str]] = []
    for path in (folder.path, tmp_path / "new"):
        connection = sqlite3.connect(path / "record.db")
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        tables.append({" ".join(str(row[0]).split()) for row in rows})
        connection.close()
    assert tables[0] == tables[1]
