"""Connections that are lost: what nobody can have stored is sent again, what somebody may have stored never is."""

from pathlib import Path

import pytest

from actormem.errors import StorageError
from actormem.testing.contracts.record_values import ADA, append, item, sequences
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio

AT_COMMIT = """
CREATE FUNCTION fall() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fall()
"""
AT_INSERT = AT_COMMIT.replace("DEFERRABLE INITIALLY DEFERRED", "")


def end_connections(server: Server) -> int:
    """End all connections of the record's, from the server's side; how many there were."""
    with server.connect(role="postgres") as connection:
        rows = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'actormem'"
        )
        return len(rows.fetchall())


def spoil(server: Server, schema: str, statements: str) -> None:
    with server.connect(schema, role="postgres") as connection:
        connection.execute(statements)


def mend(server: Server, schema: str) -> None:
    with server.connect(schema, role="postgres") as connection:
        connection.execute("DROP FUNCTION fall CASCADE")


async def test_connections_lost_while_nobody_writes_are_made_again(
    own_server: Server, tmp_path: Path
) -> None:
    async with own_server.open(tmp_path, lease_s=600) as record:
        await record.sync([append(1, 2)])
        assert end_connections(own_server) == 4
        await record.sync([append(3, 3)])
        assert await sequences(record) == [1, 2, 3]
        assert end_connections(own_server) >= 2
        assert await sequences(record) == [1, 2, 3]
        await record.scrub()
        await record.sync([append(4, 4)])
    async with own_server.open(tmp_path) as record:
        assert await sequences(record) == [1, 2, 3, 4]


async def test_a_connection_lost_in_the_commit_leaves_the_outcome_unknown_and_is_never_sent_again(
    postgres: Server, tmp_path: Path
) -> None:
    told: list[StorageError | None] = []
    schema = postgres.schema_of(tmp_path)
    async with postgres.open(tmp_path) as record:
        await record.sync([append(1, 1)])
        spoil(postgres, schema, AT_COMMIT)
        for number in (2, 3):
            record.submit([append(number, number)], told.append)
        with pytest.raises(
            StorageError, match="it may be stored, or not; open the memory again, and send the same"
        ):
            await record.sync()
        assert len(told) == 2
        assert all(type(error) is StorageError for error in told)
        mend(postgres, schema)
        with pytest.raises(StorageError):
            record.submit([append(2, 2)])
        assert await sequences(record) == [1]
        assert record.statistics().failed_commit_count == 1
    async with postgres.open(tmp_path) as record:
        await record.sync([append(2, 2)])
        assert await sequences(record) == [1, 2]


async def test_a_connection_lost_again_and_again_before_the_commit_fails(
    postgres: Server, tmp_path: Path
) -> None:
    schema = postgres.schema_of(tmp_path)
    async with postgres.open(tmp_path) as record:
        await record.sync([append(1, 1)])
        spoil(postgres, schema, AT_INSERT)
        with pytest.raises(StorageError, match="the record failed"):
            await record.sync([append(2, 2)])
        mend(postgres, schema)
        with pytest.raises(StorageError):
            await record.sync([append(2, 2)])
        assert await sequences(record) == [1]


async def test_a_reader_s_new_connection_is_only_kept_when_it_looks_at_the_schema(
    postgres: Server, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    from actormem.storage.postgres import connections
    from actormem.storage.postgres.address import parse_url
    from actormem.storage.postgres.record import Reader, first_connection

    database = parse_url(postgres.url(schema))
    first_connection(database).close()
    reader = Reader(database)
    reader.close()
    made: list[connections.Connection] = []

    def fail(connection: connections.Connection, _: object) -> None:
        made.append(connection)
        raise psycopg.OperationalError

    with monkeypatch.context() as patched:
        patched.setattr(connections, "use_schema", fail)
        with pytest.raises(psycopg.OperationalError):
            reader.connected()
    assert made[0].closed
    assert reader.connected().execute("SELECT count(*) FROM meta").fetchone() is not None
    reader.close()


async def test_errors_and_logs_repeat_nothing_of_any_row(
    postgres: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from actormem.ports import AppendEvents
    from actormem.testing.contracts.record_values import TALK, event

    twice = AppendEvents(TALK, (event(2, "unspeakable", "unspeakable"), event(3, "words", "unspeakable")), 1)
    async with postgres.open(tmp_path) as record:
        await record.sync([append(1, 1)])
        with pytest.raises(StorageError, match=r"UniqueViolation, SQLSTATE 23505, events_name") as raised:
            await record.sync([twice])
        assert b"unspeakable".hex() not in str(raised.value) + caplog.text
        assert "unspeakable" not in str(raised.value) + caplog.text
    assert caplog.text == ""


async def test_damaged_rows_are_found_and_never_believed(postgres: Server, tmp_path: Path) -> None:
    from actormem.errors import CorruptError
    from actormem.ports import PutItems, PutVectors, SaveSnapshot
    from actormem.testing.contracts.record_values import TALK, VECTOR

    schema = postgres.schema_of(tmp_path)
    async with postgres.open(tmp_path) as record:
        await record.sync([append(1, 3), SaveSnapshot(TALK, 2, b"state"), PutItems((item(1), item(2)))])
        await record.sync([PutVectors(ADA, "e", (("m1", VECTOR), ("m2", VECTOR)))])
        spoil(postgres, schema, "UPDATE snapshots SET body = 'other'")
        assert await sequences(record) == [1, 2, 3]  # it is derived: all events are read in its place
        spoil(postgres, schema, "UPDATE vectors SET vector = '[1,2,3,4]' WHERE item_no = 1")
        assert [*(await record.load_items(ADA, "e")).vectors] == ["m2"]
        assert record.statistics().damaged_rows == 2
        spoil(postgres, schema, "UPDATE items SET body = 'other' WHERE item_no = 2")
        with pytest.raises(CorruptError, match="a row is damaged"):
            await record.load_items(ADA, "e")
        spoil(postgres, schema, "UPDATE events SET words = 'other' WHERE sequence = 2")
        with pytest.raises(CorruptError, match="a row is damaged"):
            await record.read_events(TALK, 1, 3)
        spoil(postgres, schema, "UPDATE events SET words = '\\xff' WHERE sequence = 2")
        with pytest.raises(CorruptError, match="expected UTF-8"):
            await record.read_events(TALK, 1, 3)
        spoil(postgres, schema, "DELETE FROM events WHERE sequence = 2; DELETE FROM snapshots")
        with pytest.raises(CorruptError, match="a session has a gap"):
            await record.load_session(TALK)
