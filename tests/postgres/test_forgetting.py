"""Forgetting in a database: rows go, dead rows too, and the receipt says what is out of reach."""

from pathlib import Path

import pytest

import actormem
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


async def test_scrubbing_lets_dead_rows_go_once(postgres: Server, tmp_path: Path) -> None:
    from actormem.ports import EraseSession
    from actormem.testing.contracts.record_values import TALK, append

    schema = postgres.schema_of(tmp_path)

    def vacuum_count() -> int:
        with postgres.connect(schema) as connection:
            query = "SELECT vacuum_count FROM pg_stat_all_tables WHERE schemaname = %s AND relname = 'events'"
            return connection.execute(query, [schema]).fetchone()[0]

    async with postgres.open(tmp_path) as record:
        await record.sync([append(1, 3)])
        await record.scrub()
        assert vacuum_count() == 0
        await record.sync([EraseSession(TALK)])
    async with postgres.open(tmp_path) as record:  # what a process that died has left to do
        for _ in range(2):
            await record.scrub()
            assert vacuum_count() == 1


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
