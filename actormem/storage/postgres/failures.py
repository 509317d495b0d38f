"""What went wrong with the database, as errors of ours: no value of any row, no password."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from actormem.errors import ActorMemError, CorruptError, StorageError, UsageError
from actormem.storage.failures import DamagedRowError
from actormem.storage.postgres.address import Database

__all__ = ["asking_reason", "opening_error", "postgres_error", "reason_of"]

LINE_CHARS_MAX = 400  # a host name with many addresses tells of each
DAMAGED = ("XX001", "XX002")  # data_corrupted, index_corrupted: what PostgreSQL's own checksums find


def postgres_error(error: Exception, place: str) -> StorageError:
    """The error of ours that says what `error` means for a record that is open."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, UnicodeDecodeError):
        return CorruptError("a row is damaged", path=place, expected="UTF-8", found="other bytes")
    if isinstance(error, DamagedRowError):
        return CorruptError(str(error), path=place, expected=error.expected, found=error.found)
    if isinstance(error, psycopg.Error):
        if error.sqlstate in DAMAGED:
            return CorruptError(
                "the record is damaged",
                path=place,
                expected="a sound database",
                found=f"SQLSTATE {error.sqlstate}",
            )
        told = _line(error) if _of_connection(error) else _told(error)
        return StorageError(f"the record failed ({told})", path=place)
    plain = isinstance(error, (OSError, AssertionError))
    reason = f"{type(error).__name__}: {error}" if plain else type(error).__name__
    return StorageError(f"the record failed ({reason})", path=place)


def opening_error(error: psycopg.Error, database: Database) -> ActorMemError:
    """The error of ours for a database that cannot be opened; nothing was changed."""
    if _of_connection(error):
        return UsageError(f"the database cannot be reached ({reason_of(error, database)}): {database.place}")
    if error.sqlstate in ("42501", "25006"):  # insufficient_privilege, read_only_sql_transaction
        return UsageError(
            f"the user may not write to the schema {database.schema} ({_told(error)}): {database.place}",
            hint=f"as an administrator: CREATE SCHEMA {database.schema} AUTHORIZATION the_user",
        )
    return postgres_error(error, database.place)


def reason_of(error: psycopg.Error, database: Database) -> str:
    """What libpq says of a connection, which names host, user and cause, as one line."""
    return _without_password(_line(error), database.conninfo)


def asking_reason(error: psycopg.Error, url: str) -> str:
    """Why a database that a URL names did not answer: what libpq says of the connection, else the kind of error."""
    return _without_password(_line(error), url) if _of_connection(error) else _told(error)


def _without_password(told: str, conninfo: str) -> str:
    password = conninfo_to_dict(conninfo).get("password")
    return told.replace(str(password), "***") if password else told


def _of_connection(error: psycopg.Error) -> bool:
    """Whether libpq itself says it, which knows of no rows."""
    return error.sqlstate is None and isinstance(error, psycopg.OperationalError)


def _line(error: psycopg.Error) -> str:
    told = " ".join(str(error).removeprefix("connection failed: ").split())
    return told[:LINE_CHARS_MAX] or type(error).__name__


def _told(error: psycopg.Error) -> str:
    """Its kind, never its text: that quotes values of rows."""
    constraint = error.diag.constraint_name
    code = f"{type(error).__name__}, SQLSTATE {error.sqlstate}" if error.sqlstate else type(error).__name__
    return f"{code}, {constraint}" if constraint else code
