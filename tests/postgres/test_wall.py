"""The second wall: row-level security, looked at from behind the record's back as a user whom it binds."""

import logging
from typing import Any

import pytest

from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    MarkShown,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    SaveSnapshot,
    Write,
)
from actormem.testing.contracts.record_values import ADA, BOB, VECTOR, event, item
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio

TABLES = ("owners", "sessions", "events", "snapshots", "items", "vectors", "shown", "tombstones", "intents")


def everything(owner: Owner, number: int) -> list[Write]:
    key = SessionKey(owner, "s")
    return [
        AppendEvents(key, (event(1),), 1),
        SaveSnapshot(key, 1, b"state"),
        PutItems((item(number, owner),)),
        PutVectors(owner, "e", ((f"m{number}", VECTOR),)),
        MarkShown(key, 1, (f"m{number}",)),
        PutTombstones(owner, ("hash",)),
        PutIntent(owner, "name", b"body"),
    ]


async def fill(server: Server, schema: str) -> None:
    from actormem.storage.postgres.record import open_postgres

    async with open_postgres(server.url(schema), durability="process") as record:
        await record.sync([*everything(ADA, 1), *everything(BOB, 2)])


def counts(connection: Any, setting: str | None) -> dict[str, int]:
    """How many rows of each table somebody sees who names this owner."""
    with connection.transaction():
        if setting is not None:
            connection.execute("SELECT set_config('actormem.owner', %s, true)", [setting])
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


async def test_nobody_is_seen_until_somebody_is_named(postgres: Server, schema: str) -> None:
    from actormem.storage.postgres.places import owner_key

    await fill(postgres, schema)
    with postgres.connect(schema) as connection:
        for setting, count in ((None, 0), ("", 0), ("nobody", 0), (owner_key(ADA), 1), ("*", 2), (None, 0)):
            assert counts(connection, setting) == dict.fromkeys(TABLES, count), setting


async def test_a_query_for_another_owner_gives_nothing(postgres: Server, schema: str) -> None:
    from actormem.storage.postgres.places import owner_key

    await fill(postgres, schema)
    with postgres.connect(schema) as connection, connection.transaction():
        connection.execute("SELECT set_config('actormem.owner', '*', true)")
        row = connection.execute("SELECT owner_no FROM owners WHERE key = %s", [owner_key(BOB)]).fetchone()
        connection.execute("SELECT set_config('actormem.owner', %s, true)", [owner_key(ADA)])
        for table in TABLES:
            found = connection.execute(f"SELECT 1 FROM {table} WHERE owner_no = %s", row).fetchall()
            assert found == [], table
        for statement in ("UPDATE items SET body = ''", "DELETE FROM events", "DELETE FROM owners"):
            assert connection.execute(f"{statement} WHERE owner_no = %s", row).rowcount == 0


async def test_nothing_can_be_written_for_an_owner_who_is_not_named(postgres: Server, schema: str) -> None:
    import psycopg

    from actormem.storage.postgres.places import owner_key

    await fill(postgres, schema)
    with postgres.connect(schema) as connection:
        connection.execute("SELECT set_config('actormem.owner', %s, false)", [owner_key(ADA)])
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO tombstones VALUES (2, 'theirs')")
        connection.execute("INSERT INTO tombstones VALUES (1, 'ours')")


async def test_the_record_asks_for_one_owner_alone_under_that_owners_name(
    postgres: Server, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the first wall taken away (another's number is looked up), the second still gives nothing."""
    from actormem.storage.postgres import item_reads, places, reads
    from actormem.storage.postgres.record import open_postgres

    await fill(postgres, schema)
    theirs = {"owner_no": 2, "session_no": 2}
    place = places.SessionPlace(theirs["session_no"], theirs["owner_no"], 1, 0)
    for module in (reads, item_reads):
        monkeypatch.setattr(module, "owner_number", lambda connection, owner: theirs["owner_no"])
    monkeypatch.setattr(reads, "session_place", lambda connection, key: place)
    async with open_postgres(postgres.url(schema)) as record:
        assert (await record.load_items(ADA, "e")).items == ()
        assert dict((await record.load_items(ADA, "e")).vectors) == {}
        assert await record.items_of(ADA, [1, 2]) == ()
        assert await record.items_after(ADA, 0, 9) == ()
        assert (await record.vectors_before(ADA, "e", None, limit=9, size_bytes=16)).numbers == ()
        assert await record.read_events(SessionKey(ADA, "s"), 1, 9) == ()
        assert await record.sessions(ADA) == ()
        assert await record.intents(ADA) == ()
        assert await record.shown_in(ADA, "m2") == ()
        assert (await record.load_items(BOB, "e")).items == (item(2, BOB),)


async def test_a_knowledge_bases_owner_is_a_wall_too(postgres: Server, schema: str) -> None:
    from actormem.storage.postgres.places import owner_key

    base = base_owner("shop", "manual")
    await fill(postgres, schema)
    with postgres.connect(schema) as connection:
        assert counts(connection, owner_key(base)) == dict.fromkeys(TABLES, 0)


async def test_a_user_whom_the_wall_does_not_bind_is_told_of_in_the_log(
    postgres: Server, schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    from actormem.storage.postgres.record import open_postgres

    with caplog.at_level(logging.WARNING, "actormem"):
        async with open_postgres(postgres.url(schema, role="postgres")):
            pass
        assert [line.levelname for line in caplog.records] == ["WARNING"]
        assert "the second wall" in caplog.text
        caplog.clear()
        async with open_postgres(postgres.url(f"{schema}_2")):
            pass
        assert caplog.text == ""
