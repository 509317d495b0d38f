"""Forgetting in a database: rows go, dead rows too, and the receipt says what is out of reach."""

from pathlib import Path

import pytest

import actormem
from actormem.errors import StorageError
from tests.postgres.server import Server, tables_holding

pytestmark = pytest.mark.anyio

STREET = "77 Quillon Walk"


def holding(server: Server, schema: str, words: str) -> list[str]:
    return tables_holding(server.admin_url, schema, words)


async def say(runtime: actormem.Runtime, user: str) -> None:
    session = await runtime.spawn("s", user=user)
    async with session.turn(f"My address is {STREET}.") as turn:
        turn.reply("Noted.")
    await runtime.settle()


async def test_a_forgotten_user_is_in_no_row_and_the_receipt_names_what_is_out_of_reach(
    postgres: Server, tmp_path: Path
) -> None:
    schema = postgres.schema_of(tmp_path)
    async with actormem.open(postgres.url(schema), embedder="hashing") as runtime:
        await say(runtime, "ada")
        await say(runtime, "bob")
        assert holding(postgres, schema, STREET)
        item = await runtime.value("bob", "address")
        assert item is not None
        await runtime.forget(item.id, user="bob")
        receipt = await runtime.forget_user("ada")
        assert holding(postgres, schema, STREET) == []
    assert receipt.item_count > 0
    assert receipt.found_count == 0
    told = " ".join(receipt.elsewhere)
    assert all(word in told for word in ("VACUUM", "write-ahead log", "backups", "replicas"))


async def test_a_folder_has_nothing_out_of_reach(tmp_path: Path) -> None:
    async with actormem.open(tmp_path / "m", embedder="hashing") as runtime:
        await say(runtime, "ada")
        assert (await runtime.forget_user("ada")).elsewhere == ()


def files_of(server: Server, schema: str) -> bytes:
    """All that the server's files of the schema hold."""
    with server.connect(schema, role="postgres") as connection:
        connection.execute("CHECKPOINT")
        rows = connection.execute(
            """SELECT pg_relation_filepath(oid) FROM pg_class WHERE relkind <> 'S' AND (
                relnamespace = %(schema)s::regnamespace OR oid IN (
                    SELECT reltoastrelid FROM pg_class WHERE relnamespace = %(schema)s::regnamespace))""",
            {"schema": schema},
        ).fetchall()
    files = [Path(server.process.pgdata) / row[0] for row in rows if row[0]]
    return b"".join(file.read_bytes() for file in files if file.exists())


async def erased(server: Server, folder: Path) -> None:
    """A record that held words, which were erased; and others that stay."""
    from actormem.core.values import SessionKey
    from actormem.ports import AppendEvents, DeleteItems, EraseSession, PutItems
    from actormem.testing.contracts.record_values import ADA, BOB, TALK, event, item

    theirs = SessionKey(BOB, "s")
    async with server.open(folder) as record:
        for number in range(1, 200):
            words = f"{STREET} {number} " + "w" * (number * 37 % 3_000)
            said = [AppendEvents(TALK, (event(number, words),), 1), AppendEvents(theirs, (event(number),), 1)]
            items = PutItems((item(number, text=words), item(1_000 + number, BOB)))
            record.submit([*said, items])
        await record.sync()
        assert STREET.encode() in files_of(server, server.schema_of(folder))
        await record.sync(
            [EraseSession(TALK), DeleteItems(ADA, tuple(f"m{number}" for number in range(200)))]
        )


async def test_no_file_of_a_table_holds_erased_words_once_it_is_scrubbed(
    postgres: Server, tmp_path: Path
) -> None:
    schema = postgres.schema_of(tmp_path)
    await erased(postgres, tmp_path)
    assert STREET.encode() in files_of(postgres, schema)
    async with postgres.open(tmp_path) as record:  # what a process that died has left to do
        await record.scrub()
        assert STREET.encode() not in files_of(postgres, schema)


async def test_large_tables_are_not_locked_but_vacuumed_once(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.storage.postgres.erasing.REWRITTEN_BYTES_MAX", 0)
    await erased(postgres, tmp_path)
    async with postgres.open(tmp_path) as record:
        for _ in range(2):
            await record.scrub()
            with postgres.connect(role="postgres") as connection:
                query = (
                    "SELECT vacuum_count FROM pg_stat_all_tables WHERE schemaname = %s AND relname = 'events'"
                )
                assert connection.execute(query, [postgres.schema_of(tmp_path)]).fetchone() == (1,)


async def test_a_table_that_somebody_else_reads_is_cleared_the_next_time(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.storage.postgres.erasing.LOCK_WAIT_MS", 10)
    schema = postgres.schema_of(tmp_path)
    await erased(postgres, tmp_path)
    async with postgres.open(tmp_path) as record:
        with postgres.connect(schema) as backup, backup.transaction():
            backup.execute("LOCK TABLE events IN ACCESS SHARE MODE")
            with pytest.raises(StorageError, match="in use by another program"):
                await record.scrub()
        await record.scrub()
        assert STREET.encode() not in files_of(postgres, schema)


async def test_looking_finds_what_rows_of_the_owner_hold_and_nothing_of_others(
    postgres: Server, tmp_path: Path
) -> None:
    from actormem.core.values import SessionKey
    from actormem.ports import AppendEvents, PutItems
    from actormem.testing.contracts.record_values import ADA, BOB, event, item

    async with postgres.open(tmp_path) as record:
        await record.sync([AppendEvents(SessionKey(ADA, "s"), (event(1, "said by ada"),), 1)])
        await record.sync([PutItems((item(1, BOB, '"said" by bob'),))])
        texts = ["said by ada", '"said" by bob', "said by nobody"]
        for owner, found_count in ((ADA, 1), (BOB, 1)):
            scan = await record.scan(texts, owner)
            assert scan.found_count == found_count
            assert scan.scanned_bytes > 0
        assert (await record.scan(texts, actormem.Owner("shop", "eve"))).scanned_bytes == 0
        assert (await record.scan(texts)).found_count == 0
