"""Verifying a whole folder, and making anew what is derived.

The law of the file: a repair loses nothing that another file or row does not say. A log that is damaged in its middle
is cut back to what SQLite would take of it, after a copy of it was set aside; a damaged message or item is told and
left as it is.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from actormem.errors import CorruptError
from actormem.storage.aside import SetAside
from actormem.storage.bytes_disk import DATABASE_NAME as CACHE_NAME
from actormem.storage.checks import checksum
from actormem.storage.failures import storage_error
from actormem.storage.log_check import LogDamage, log_damage, log_of
from actormem.storage.places import SCRUB_MARK, mark
from actormem.storage.schema import check_header, check_parts, connect
from actormem.storage.verification import Damage, Rows, file_damages, look_at_rows, tolerant_text

__all__ = ["RECORD_NAME", "Verification", "verify_folder"]

CACHE_FOLDER: Final = "cache"
RECORD_NAME: Final = "record.db"


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a folder.

    Attributes:
        format: Of the record; 0 where it could not be read.
        row_count: Rows looked at.
        damage_count: How many things are wrong; `damages` holds at most 1,000 of them.
    """

    format: int
    row_count: int
    damage_count: int
    damages: tuple[Damage, ...]

    @property
    def open_count(self) -> int:
        """Things that are wrong and not repaired."""
        return self.damage_count - sum(damage.repaired for damage in self.damages)


def verify_folder(folder: Path, *, repair: bool, now_ms: Callable[[], int]) -> Verification:
    """Look at the record and the cache of a folder that nobody has open; blocks for as long as reading it takes.

    Args:
        repair: Make anew what is derived.

    Raises:
        VersionError: A newer version wrote it.
        StorageError: The disk failed.
    """
    path, aside = folder / RECORD_NAME, SetAside(folder, now_ms)
    try:
        damages = log_damages(path, aside, repair=repair)
        version, rows, more = looked_at(path)
        damages += more
        if repair:
            damages = repaired(path, damages)
        damages += cache_damages(folder / CACHE_FOLDER, aside, repair=repair)
        if repair:
            aside.expire()
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise storage_error(error, path) from error
    return Verification(
        format=version,
        row_count=0 if rows is None else rows.row_count,
        damage_count=len(damages) + (rows.damage_count - len(rows.damages) if rows is not None else 0),
        damages=tuple(damages),
    )


def log_damages(path: Path, aside: SetAside, *, repair: bool) -> list[Damage]:
    found = log_damage(path)
    if found is None:
        return []
    if repair:
        cut_log(path, found, aside)
    damage = Damage(
        kind="log",
        where=log_of(path).name,
        expected="a sound log",
        found=f"frame {found.frame} is not, before {found.lost_commits} commits",
        repaired=repair,
    )
    return [damage]


def cut_log(path: Path, damage: LogDamage, aside: SetAside) -> None:
    log = log_of(path)
    copy = log.with_name(log.name + ".copy")
    shutil.copyfile(log, copy)
    aside.take([copy], "log")
    with log.open("r+b") as file:
        file.truncate(damage.sound_bytes)


def looked_at(path: Path) -> tuple[int, Rows | None, list[Damage]]:
    """The format, the rows looked at, and what is wrong with file and rows."""
    found: list[Damage] = []
    version, rows = 0, None
    try:
        check_parts(path)
        with closing(connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = tolerant_text
            check_header(connection, path)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            found += file_damages(connection)
            rows = look_at_rows(connection, path)
            found += rows.damages
    except sqlite3.DatabaseError as error:
        failure = storage_error(error, path)
        if not isinstance(failure, CorruptError):
            raise
        found.append(file_damage(failure))
    except CorruptError as error:
        found.append(file_damage(error))
    return version, rows, found


def file_damage(error: CorruptError) -> Damage:
    return Damage(kind="file", where=RECORD_NAME, expected=error.expected, found=error.found)


def repaired(path: Path, damages: list[Damage]) -> list[Damage]:
    """Make anew what is derived, in one transaction; rows that are damaged otherwise stay as they are.

    Vectors and snapshots are dropped: the memory makes them again when its owner is next awake.
    """
    kinds = {damage.kind for damage in damages if damage.derived}
    if not kinds or any(damage.kind == "file" for damage in damages):
        return damages  # nothing is written to a file whose pages cannot be trusted
    with closing(connect(str(path))) as connection:
        connection.text_factory = tolerant_text
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("BEGIN IMMEDIATE")
        if "index" in kinds:
            connection.execute("REINDEX")
        if "vector" in kinds:
            drop_damaged(connection, "vectors", ("owner_no", "item_no", "embedder"), "item_no, vector")
            connection.execute(
                """DELETE FROM vectors WHERE length(vector) = 0 OR length(vector) % 4 OR NOT EXISTS
                (SELECT 1 FROM items WHERE items.item_no = vectors.item_no AND items.owner_no = vectors.owner_no)"""
            )
        if "snapshot" in kinds:
            drop_damaged(connection, "snapshots", ("session_no",), "sequence, body")
            connection.execute(
                "DELETE FROM snapshots WHERE session_no NOT IN (SELECT session_no FROM sessions)"
            )
        if "count" in kinds:
            connection.execute(
                """UPDATE sessions SET message_count = (SELECT count(*) FROM events
                WHERE events.session_no = sessions.session_no AND name <> '')"""
            )
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        mark(connection, SCRUB_MARK, 0)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return [msgspec.structs.replace(one, repaired=one.repaired or one.derived) for one in damages]


def drop_damaged(connection: sqlite3.Connection, table: str, key: tuple[str, ...], summed: str) -> None:
    """Delete the rows whose checksum is not that of these columns."""
    names = ", ".join(key)
    sums = connection.execute(f"SELECT {names}, checksum, {summed} FROM {table}")
    wrong = [row[: len(key)] for row in sums if not is_sound(row[len(key)], row[len(key) + 1 :])]
    where = " AND ".join(f"{name} IS ?" for name in key)
    connection.executemany(f"DELETE FROM {table} WHERE {where}", wrong)


def is_sound(expected: object, summed: tuple[bytes | int, ...]) -> bool:
    return type(expected) is int and checksum(*summed) == expected


def cache_damages(folder: Path, aside: SetAside, *, repair: bool) -> list[Damage]:
    """The cache is derived, all of it."""
    path = folder / CACHE_NAME
    if not folder.exists() or (folder.is_dir() and not path.exists()):
        return []
    found = "no file"
    if path.is_file():
        try:
            with closing(connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                found = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            found = str(error) if isinstance(error, sqlite3.DatabaseError) else "other bytes"
    if found == "ok":
        return []
    if repair:
        aside.take([folder], CACHE_FOLDER)
    damage = Damage(
        kind="cache",
        where=CACHE_NAME,
        expected="a sound database",
        found=found,
        derived=True,
        repaired=repair,
    )
    return [damage]
