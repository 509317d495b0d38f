"""Opening a file that is not ours, is damaged, or is of another version; and what its disk does later."""

import random
import sqlite3
import stat
from pathlib import Path

import pytest

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import CorruptError, StorageError, VersionError
from actormem.ports import AppendEvents, PutItems, PutVectors, SaveSnapshot, StoredEvent
from actormem.storage.record import SqliteRecord, open_record
from actormem.storage.schema import APPLICATION_ID, FORMAT_VERSION

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
TALK = SessionKey(ADA, "s-1")
EVENTS = tuple(
    StoredEvent(sequence=number, name=f"m-{number}", body=b"b" * 40, text=f"words {number} " + "w" * 300)
    for number in range(1, 61)
)
ITEMS = tuple(Item(id=f"m{number}", owner=ADA, kind="fact", text=f"fact {number}") for number in range(1, 41))
VECTORS = tuple((item.id, bytes(range(256))) for item in ITEMS)


async def fill(folder: Path) -> None:
    async with open_record(folder, durability="process") as record:
        await record.sync([AppendEvents(TALK, EVENTS[:30], 1), SaveSnapshot(TALK, 10, b"state" * 300)])
        await record.sync(
            [AppendEvents(TALK, EVENTS[30:], 2), PutItems(ITEMS), PutVectors(ADA, "e", VECTORS)]
        )


async def check(folder: Path) -> None:
    """Everything is read as it was written, or an error says that it is not."""
    async with open_record(folder, durability="process") as record:
        history = await record.load_session(TALK)
        assert history is not None
        assert history.snapshot == b"state" * 300
        assert history.events == EVENTS[10:]
        assert await record.read_events(TALK, 1, 60) == EVENTS
        stored = await record.load_items(ADA, "e")
        assert stored.items == ITEMS
        assert stored.vectors.items() <= dict(VECTORS).items(), "they are derived, and may be fewer"


def alter(folder: Path, statement: str, values: tuple[object, ...] = ()) -> None:
    connection = sqlite3.connect(folder / "record.db")
    with connection:
        connection.execute(statement, values)
    connection.close()


async def test_files_are_for_their_user_alone_and_marked_as_ours(tmp_path: Path) -> None:
    folder = tmp_path / "record"
    async with open_record(folder) as record:
        await record.sync([AppendEvents(TALK, EVENTS, 1)])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(["lock", "record.db", "record.db-wal", "record.db-shm"], 0o600)
    connection = sqlite3.connect(folder / "record.db")
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)
    connection.close()


@pytest.mark.parametrize(("durability", "synchronous"), [("power", 2), ("process", 1)])
async def test_the_level_of_durability_is_what_was_asked(
    tmp_path: Path, durability: str, synchronous: int
) -> None:
    async with open_record(tmp_path, durability=durability) as record:  # type: ignore[arg-type]
        assert isinstance(record, SqliteRecord)
        connection = record._connections.writing
        settings = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "mmap_size")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": synchronous,
        "secure_delete": 1,
        "mmap_size": 0,
    }


async def test_a_newer_version_is_refused_with_both_numbers_and_left_alone(tmp_path: Path) -> None:
    await fill(tmp_path)
    alter(tmp_path, f"PRAGMA user_version = {FORMAT_VERSION + 4}")
    before = (tmp_path / "record.db").read_bytes()
    with pytest.raises(VersionError) as refused:
        await check(tmp_path)
    assert (refused.value.found, refused.value.supported) == (FORMAT_VERSION + 4, FORMAT_VERSION)
    assert (tmp_path / "record.db").read_bytes() == before
    alter(tmp_path, f"PRAGMA user_version = {FORMAT_VERSION}")
    await check(tmp_path)


@pytest.mark.parametrize("content", [b"notes of mine\n" * 400, b"", b"x", b"SQLite format 3\0", b"\0" * 4096])
async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "record.db").write_bytes(content)
    with pytest.raises(CorruptError, match=r"record\.db"):
        await check(tmp_path)
    assert (tmp_path / "record.db").read_bytes() == content


async def test_a_database_of_others_is_refused_and_left_alone(tmp_path: Path) -> None:
    alter(tmp_path, "CREATE TABLE theirs (x)")
    before = (tmp_path / "record.db").read_bytes()
    with pytest.raises(CorruptError, match="not a record of actormem") as refused:
        await check(tmp_path)
    assert refused.value.path == str(tmp_path / "record.db")
    assert (tmp_path / "record.db").read_bytes() == before


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "record.db").mkdir()
    with pytest.raises(CorruptError):
        await check(tmp_path)


async def test_what_a_crash_left_of_making_the_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "record.db.new").write_bytes(b"half of a file")
    (tmp_path / "record.db.new-journal").write_bytes(b"half of a journal")
    await fill(tmp_path)
    await check(tmp_path)
    assert not (tmp_path / "record.db.new").exists()


async def test_a_log_without_its_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "record.db-wal").write_bytes(b"log" * 400)
    with pytest.raises(CorruptError, match="log alone"):
        await check(tmp_path)
    assert (tmp_path / "record.db-wal").read_bytes() == b"log" * 400
    assert not (tmp_path / "record.db").exists()


async def test_odd_characters_in_the_path_are_only_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a?mode=memory#b%20 c $HOME 记忆"
    await fill(folder)
    await check(folder)
    assert (folder / "record.db").exists()


@pytest.mark.parametrize("damage", ["cut", "sector", "bit", "zeros"])
async def test_damage_is_found_and_never_believed(tmp_path: Path, damage: str) -> None:
    """Over many places: all is read as it was written, or a CorruptError names the file."""
    await fill(tmp_path / "whole")
    whole = (tmp_path / "whole" / "record.db").read_bytes()
    found_count = 0
    for seed in range(40):
        chance = random.Random(f"{damage} {seed}")
        content = bytearray(whole)
        place = chance.randrange(len(content) // 512) * 512 if seed else 0
        if damage == "cut":
            del content[place:]
        elif damage == "sector":
            content[place : place + 512] = chance.randbytes(512)
        elif damage == "zeros":
            content[place : place + 512] = bytes(512)
        else:
            content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "record.db").write_bytes(content)
        try:
            await check(folder)
        except CorruptError as error:
            assert error.path == str(folder / "record.db")  # noqa: PT017
            found_count += 1
        except AssertionError:
            raise AssertionError(f"damage was believed: {damage}, seed {seed}") from None
    assert found_count > 5


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET text = 'other' WHERE sequence = 20",
        "UPDATE events SET text = NULL WHERE sequence = 20",
        "UPDATE events SET text = CAST(x'ff' AS TEXT) WHERE sequence = 20",
        "UPDATE events SET body = x'00' WHERE sequence = 20",
        "UPDATE events SET name = 'other' WHERE sequence = 20",
        "DELETE FROM events WHERE sequence = 20",
        "DELETE FROM events WHERE sequence = 60",
        "UPDATE sessions SET last_sequence = 50",
    ],
)
async def test_a_row_of_a_session_that_changed_is_found(tmp_path: Path, statement: str) -> None:
    await fill(tmp_path)
    alter(tmp_path, statement)
    async with open_record(tmp_path) as record:
        with pytest.raises(CorruptError) as found:
            await record.load_session(TALK)
    assert "other" not in str(found.value).replace("other bytes", "")


@pytest.mark.parametrize("change", ["body = x'00'", "sequence = 9"])
async def test_a_snapshot_that_changed_is_left_aside_and_every_event_is_read(
    tmp_path: Path, change: str
) -> None:
    await fill(tmp_path)
    alter(tmp_path, f"UPDATE snapshots SET {change}")
    async with open_record(tmp_path) as record:
        history = await record.load_session(TALK)
    assert history is not None
    assert (history.snapshot, history.snapshot_sequence) == (None, 0)
    assert [event.sequence for event in history.events] == list(range(1, len(history.events) + 1))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET body = x'80' WHERE item_no = 7",
        "UPDATE items SET body = (SELECT body FROM items WHERE item_no = 8) WHERE item_no = 7",
    ],
)
async def test_a_row_of_an_item_that_changed_is_found(tmp_path: Path, statement: str) -> None:
    await fill(tmp_path)
    alter(tmp_path, statement)
    async with open_record(tmp_path) as record:
        with pytest.raises(CorruptError):
            await record.load_items(ADA, "e")


async def test_a_vector_that_changed_is_left_out_and_counted(tmp_path: Path) -> None:
    await fill(tmp_path)
    alter(tmp_path, "UPDATE vectors SET vector = x'00000000' WHERE item_no = 7")
    async with open_record(tmp_path) as record:
        stored = await record.load_items(ADA, "e")
        assert (stored.items, stored.damaged_count) == (ITEMS, 1)
        assert stored.vectors == {id: vector for id, vector in VECTORS if id != "m7"}
        assert record.statistics().damaged_rows == 1
        await record.sync([PutVectors(ADA, "e", (("m7", b"anew" * 4),))])
        assert (await record.load_items(ADA, "e")).vectors["m7"] == b"anew" * 4
        assert record.statistics().damaged_rows == 1


@pytest.mark.parametrize("name", ["record.db-wal", "record.db-shm"])
async def test_a_folder_in_the_place_of_a_file_beside_it_is_refused(tmp_path: Path, name: str) -> None:
    await fill(tmp_path)
    (tmp_path / name).mkdir()
    with pytest.raises(CorruptError, match=name):
        await check(tmp_path)


async def test_a_full_disk_fails_the_commit_and_keeps_what_was_there(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with open_record(tmp_path) as record:
        assert isinstance(record, SqliteRecord)
        connection = record._connections.writing
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        large = StoredEvent(sequence=61, body=b"", text="w" * 1_000_000)
        with pytest.raises(StorageError, match="full"):
            await record.sync([AppendEvents(TALK, (large,), 3)])
        with pytest.raises(StorageError):
            record.submit([AppendEvents(TALK, (StoredEvent(sequence=61, body=b""),), 3)])
        assert await record.read_events(TALK, 1, 99) == EVENTS
    await check(tmp_path)
