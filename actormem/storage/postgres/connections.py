"""Connections to one schema: how values travel, and how long anybody waits.

The law of the file: values travel in binary, words as bytes: PostgreSQL's text takes no zero byte, and a database may
have any encoding. A connection serves one thread at a time.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, LiteralString, TypeAlias

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.types.numeric import Int8BinaryDumper

from actormem.storage.postgres.address import Database

__all__ = [
    "Connection",
    "Cursor",
    "connect",
    "connect_to_schema",
    "execute",
    "execute_many",
    "pipelined",
    "roll_back",
    "use_schema",
]

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
Cursor: TypeAlias = "psycopg.Cursor[tuple[Any, ...]]"


def connect(database: Database) -> Connection:
    """A connection in autocommit mode.

    Raises:
        psycopg.Error: The database does not answer in time, or refuses.
    """
    connection = psycopg.Connection.connect(database.conninfo, autocommit=True)
    # One type for every integer: otherwise each size of number makes another statement of the same text.
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    return connection


def connect_to_schema(database: Database) -> Connection:
    """A connection whose names mean the tables of the schema; none is left open where that fails.

    Raises:
        psycopg.Error: The database does not answer in time, or refuses.
    """
    connection = connect(database)
    try:
        use_schema(connection, database)
    except BaseException:
        connection.close()
        raise
    return connection


def use_schema(connection: Connection, database: Database) -> None:
    """Let names mean the tables of the schema, and vectors be read and written."""
    row = execute(
        connection,
        """SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'vector'""",
    ).fetchone()
    assert row is not None, "the extension is looked for before"
    places = sql.SQL(", ").join([sql.Identifier(database.schema), sql.Identifier(row[0])])
    connection.execute(sql.SQL("SET search_path = {}").format(places))
    # Whoever waits for the lease looks again when he may: a server may have a stricter default, which fails him.
    execute(connection, "SET default_transaction_isolation = 'read committed'")
    register_vector(connection)


def execute(connection: Connection, query: LiteralString, *values: object) -> Cursor:
    """Ask, with answers in binary. In a pipeline it is only queued, and asked by whoever wants the answer."""
    return connection.execute(query, values or None, binary=True)


def execute_many(connection: Connection, query: LiteralString, rows: list[tuple[object, ...]]) -> None:
    """Do the same with each row; nothing without any."""
    if rows:
        connection.cursor().executemany(query, rows)


@contextmanager
def pipelined(connection: Connection) -> Generator[psycopg.Pipeline, None, None]:
    """A pipeline that raises what failed first. psycopg's own would tell its log of the second, with values of rows."""
    failure: Exception | None = None
    try:
        with connection.pipeline() as pipeline:
            try:
                yield pipeline
            except Exception as error:
                failure = error
    except psycopg.Error as error:
        failure = failure or error
    if failure is not None:
        raise failure


def roll_back(connection: Connection) -> None:
    """End the transaction that is open, if the connection still is; what is lost is ended by the server."""
    if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        connection.execute("ROLLBACK")
