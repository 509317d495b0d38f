"""What cannot be opened is refused in one clear line, without a password in it, and nothing is changed."""

import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

import actormem
from actormem.cli.main import main
from actormem.cli.place import shown
from actormem.errors import CorruptError, UsageError, VersionError
from actormem.opening import open as open_memory
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio

SECRET = "hunter2"


async def refused(url: str, kind: type[Exception] = UsageError) -> str:
    """What opening says that is refused."""
    with pytest.raises(kind) as raised:
        async with open_memory(url, embedder="hashing"):
            pass
    told = str(raised.value)
    assert "\n" not in told
    assert SECRET not in told
    return told


def schemas(server: Server) -> set[str]:
    with server.connect(role="postgres") as connection:
        return {row[0] for row in connection.execute("SELECT nspname FROM pg_namespace")}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://ada@host/db?schema=Upper", "schema in the URL must be"),
        ("postgresql://ada@host/db?schema=", "schema in the URL must be"),
        ("postgresql://ada@host/db?schema=public", "schema in the URL must be"),
        ("postgresql://ada@host/db?schema=pg_mine", "schema in the URL must be"),
        (f"postgresql://ada@host/db?schema={'a' * 64}", "schema in the URL must be"),
        ("postgresql://ada@host/db?schema=a%22b", "schema in the URL must be"),
        ("postgresql://ada@host/db?lease_s=soon", "lease_s in the URL must be"),
        ("postgresql://ada@host/db?lease_s=0.01", "lease_s in the URL must be"),
        ("postgresql://ada@host/db?lease_s=nan", "lease_s in the URL must be"),
        (f"postgresql://ada:{SECRET}@host/db?sslmod=x", "an option 'sslmod' that neither we nor libpq know"),
        (f"postgresql://ada:{SECRET}@host/db?shema=memory", "an option 'shema' that neither"),
        (f"postgresql://ada:{SECRET}@host/db?schema=a&schema=b", "has schema twice"),
        (f"postgresql://ada:{SECRET}@host:port/db", "URL of the database cannot be read"),
        (f"postgresql+asyncpg://ada:{SECRET}@host/db", "postgresql+asyncpg: is no kind of URL"),
        (f"Postgresql://ada:{SECRET}@host/db", "Postgresql: is no kind of URL"),
        (f"mysql://ada:{SECRET}@host/db", "mysql: is no kind of URL"),
        ("postgresql:shop", "postgresql: is no kind of URL"),
        (f"postgresql://ada:{SECRET}@[::1/db", "URL of the database cannot be read"),
        (f"postgresql://ada:{SECRET}/x@host/db", "%2F for / and %40 for @ in a password"),
        (f"postgresql://ada:12/{SECRET}@host/db", "%2F for / and %40 for @ in a password"),
        (f"postgresql://ada:x@{SECRET}@host/db", "%2F for / and %40 for @ in a password"),
    ],
)
async def test_a_wrong_url(url: str, told: str) -> None:
    assert told in await refused(url)


async def test_a_database_that_nobody_serves() -> None:
    told = await refused(f"postgresql://ada:{SECRET}@127.0.0.1:1/db")
    assert "cannot be reached" in told
    assert "Connection refused" in told
    assert "postgresql://ada@127.0.0.1:1/db?schema=actormem" in told


async def test_a_database_that_is_not_there(postgres: Server) -> None:
    told = await refused(postgres.url("s", database="nowhere"))
    assert 'database "nowhere" does not exist' in told


async def test_a_wrong_password(guarded: Server) -> None:
    told = await refused(guarded.url("s", role=f"locked:{SECRET}"))
    assert "password authentication failed" in told


async def test_a_missing_extension(postgres: Server) -> None:
    with postgres.connect(role="postgres") as connection:
        connection.execute("DROP DATABASE IF EXISTS bare")
        connection.execute("CREATE DATABASE bare")
    told = await refused(postgres.url("s", database="bare", role="plain"))
    assert "no extension vector" in told
    assert "CREATE EXTENSION vector" in told


async def test_a_user_who_may_make_no_schema(postgres: Server, schema: str) -> None:
    with postgres.connect(role="postgres") as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guest'").fetchone() is None:
            connection.execute("CREATE ROLE guest LOGIN")
    told = await refused(postgres.url(schema, role="guest"))
    assert "may not write to the schema" in told
    assert f"CREATE SCHEMA {schema}" in told
    assert schema not in schemas(postgres)


async def test_a_schema_of_somebody_else(postgres: Server, schema: str) -> None:
    with postgres.connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.meta (words text)")
        connection.execute(f"INSERT INTO {schema}.meta VALUES ('theirs')")
    told = await refused(postgres.url(schema), CorruptError)
    assert "not a record of actormem" in told
    with postgres.connect(schema) as connection:
        assert connection.execute("SELECT * FROM meta").fetchall() == [("theirs",)]
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = %s", [schema])
        assert tables.fetchone() == (1,)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_of_any_encoding_holds_words_of_any_language(
    postgres: Server, schema: str, encoding: str
) -> None:
    name = f"of_{encoding.lower()}"
    with postgres.connect(role="postgres") as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO plain")
    with postgres.connect(role="postgres", database=name) as connection:
        connection.execute("CREATE EXTENSION vector")
    for _ in range(2):
        async with open_memory(postgres.url(schema, database=name), embedder="hashing") as runtime:
            await runtime.remember("我住在杭州。", user="阿达")
            assert "杭州" in (await runtime.recall("杭州", user="阿达"))[0].item.text


async def test_an_empty_schema_is_taken(postgres: Server, schema: str) -> None:
    with postgres.connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    async with open_memory(postgres.url(schema), embedder="hashing") as runtime:
        assert await runtime.items("ada") == ()


async def test_a_schema_of_a_newer_version(postgres: Server, schema: str) -> None:
    async with open_memory(postgres.url(schema), embedder="hashing"):
        pass
    with postgres.connect(schema) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE key = 'format'")
    with pytest.raises(VersionError) as raised:
        async with open_memory(postgres.url(schema), embedder="hashing"):
            pass
    assert (raised.value.found, raised.value.supported) == (99, 1)


async def test_a_server_that_is_too_old(
    postgres: Server, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.storage.postgres.schema.SERVER_MIN", 990_000)
    assert "PostgreSQL 99 or newer is needed" in await refused(postgres.url(schema))
    assert schema not in schemas(postgres)


async def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    importing: Callable[..., Any] = builtins.__import__

    def missing(name: str, *given: Any, **named: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "psycopg":
            raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
        return importing(name, *given, **named)

    for name in [name for name in sys.modules if name.startswith(("psycopg", "actormem.storage.postgres"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    told = await refused("postgresql://ada@host/db")
    assert told == "a database needs psycopg, which is not installed (pip install 'actormem[postgres]')"


async def test_a_number_that_pgvector_cannot_hold_is_refused_before_it_is_queued(
    postgres: Server, schema: str
) -> None:
    from actormem.ports import PutItems, PutVectors
    from actormem.storage.postgres.record import open_postgres
    from actormem.testing.contracts.record_values import ADA, item

    async with open_postgres(postgres.url(schema)) as record:
        for wrong in (b"", b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", bytes(4 * 16_001)):
            with pytest.raises(UsageError, match="pgvector takes 1 to 16000 numbers"):
                record.submit([PutVectors(ADA, "e", (("m1", wrong),))])
        bits = b"\x00\x00\x00\x80\x01\x00\x00\x00\xff\xff\x7f\x7f\xcd\xcc\xcc\x3d"  # -0.0, subnormal, largest, 0.1
        await record.sync([PutItems((item(1),)), PutVectors(ADA, "e", (("m1", bits),))])
        assert dict((await record.load_items(ADA, "e")).vectors) == {"m1": bits}


@pytest.mark.parametrize("path", ["postgresql:/ada:hunter2@host/db", "postgresql://ada:hunter2@host/db"])
async def test_a_url_that_is_no_str_or_stands_where_only_a_folder_may(path: str) -> None:
    with pytest.raises(UsageError, match="named by a str") as raised:
        async with open_memory(Path(path)):
            pass
    with pytest.raises(UsageError, match="not a database") as refused_too:
        await actormem.verify(path)
    assert SECRET not in f"{raised.value} {refused_too.value}"


async def test_the_command_line_takes_a_url_where_it_takes_a_folder(
    postgres: Server, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgres.url(schema)
    async with open_memory(url, embedder="hashing") as runtime:
        await runtime.remember("Ada lives in Hangzhou.", user="ada")

    def command(*given: str) -> str:
        assert main(list(given)) == 0
        return capsys.readouterr().out

    assert "Hangzhou" in await to_thread.run_sync(command, "memories", "list", url, "--user", "ada")
    mistyped = postgres.url(f"{schema}_x")
    for looked in (["memories", "list", mistyped], ["export", mistyped], ["checkup", mistyped]):
        assert await to_thread.run_sync(main, [*looked, "--user", "ada"]) == 2
        assert "no memory is in the schema" in capsys.readouterr().err
    assert f"{schema}_x" not in schemas(postgres), "looking makes nothing"
    assert await to_thread.run_sync(command, "checkup", url, "--user", "ada")
    told = await to_thread.run_sync(command, "memories", "forget", url, "m1", "--user", "ada")
    assert told.count("not looked at:") == 3


def test_a_password_is_in_what_libpq_is_given_and_nowhere_else() -> None:
    from actormem.storage.postgres.address import parse_url

    for url in (
        "postgresql://ada:hunter2@host:5433/db?sslmode=require&schema=s&lease_s=3",
        "postgresql://ada@host:5433/db?schema=s&password=hunter2&lease_s=3&sslmode=require",
    ):
        database = parse_url(url)
        assert "password=hunter2" in database.conninfo
        assert "sslmode=require" in database.conninfo
        assert database.place == "postgresql://ada@host:5433/db?schema=s"
        assert (database.schema, database.lease_s) == ("s", 3.0)


@pytest.mark.parametrize("letter", ["#", "?", "%23", ":"])
def test_what_libpq_takes_for_a_password_is_shown_nowhere(letter: str) -> None:
    from actormem.storage.postgres.address import parse_url

    url = f"postgresql://ada:{SECRET}{letter}rest@host/db"
    database = parse_url(url)
    assert f"password={SECRET}" in database.conninfo
    for told in (database.place, repr(database), shown(url)):
        assert SECRET not in told
        assert "rest" not in told
    assert database.place == "postgresql://ada@host/db?schema=actormem"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql:///db?host=/run/pg&user=ada", "postgresql://ada@/db?host=/run/pg&schema=actormem"),
        ("postgresql://ada@[::1]:5433/db", "postgresql://ada@[::1]:5433/db?schema=actormem"),
        ("postgresql://ada@one:1,two:2/db", "postgresql://ada@one:1,two:2/db?schema=actormem"),
        ("postgresql://", "postgresql:///?schema=actormem"),
    ],
)
def test_places_are_shown_as_libpq_reads_them(url: str, place: str) -> None:
    from actormem.storage.postgres.address import parse_url

    assert parse_url(url).place == place


def test_what_is_printed_of_a_place_has_no_password() -> None:
    for url in (f"postgresql://ada:{SECRET}/x@host/db", f"postgresql://ada:x@{SECRET}@host/db"):
        assert shown(url) == "a database"
    for url in ("postgresql://ada:hunter2@host/db", "postgresql://ada@host/db?password=hunter2&schema=s"):
        assert shown(url) == "postgresql://ada@host/db"
    assert shown(Path("memory")) == "memory"
