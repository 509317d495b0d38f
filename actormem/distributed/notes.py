"""What a place knows of its shards: how many they are, and which of them have a record.

The law of the file: the number is noted before the first record is made, and a record is noted after it was made. So a
number that differs is refused before anything is looked for in the wrong shard, and a record that was there and is not
is told, and never begun anew as if its owners had said nothing.
"""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote
from uuid import uuid4

import msgspec

from actormem.core.placement import shard_name
from actormem.errors import StorageError, UsageError

__all__ = ["POSTGRES", "FolderNotes", "Notes", "notes_of"]

POSTGRES = ("postgresql://", "postgres://")
FORMAT = 1
NAME = re.compile(
    r"(?!pg_)[a-z_][a-z0-9_]{0,58}"
)  # with a shard's number behind it, it is a schema's name too
SCHEMA = "actormem"
CONNECT_S = 5
RECORD_S = ("lease_s",)  # what the record takes from the URL, and the database does not know
FOLDER_MODE = 0o700  # conversations are for the user who runs the process
HINT = "how many shards there are is chosen once; another place may have another number"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """The number of shards, as it is noted."""

    format: int
    shards: int


class Notes(Protocol):
    """The notes of one place. Every method blocks; for a thread."""

    def path(self, number: int) -> str:
        """What `actormem.open` is given for this shard."""
        ...

    def is_noted(self) -> bool:
        """Whether a number of shards is noted: False for a place that is yet to be."""
        ...

    def check(self, shards: int) -> None:
        """Note the number of shards where none is noted.

        Raises:
            UsageError: Another number is noted, or the place cannot be one; nothing changed.
        """
        ...

    def check_record(self, number: int) -> None:
        """Raises StorageError where the shard had a record, and has none."""
        ...

    def made(self, number: int) -> None:
        """Note that the shard has a record."""
        ...


def notes_of(place: str) -> Notes:
    """The notes of a folder, or of a `postgresql://` URL."""
    if place.startswith(POSTGRES):
        return PostgresNotes(place)
    return FolderNotes(Path(place))


class FolderNotes:
    """In a folder: `cluster.json`, and `shard-000.made` beside the folder `shard-000`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "cluster.json"

    def path(self, number: int) -> str:
        """The sub folder."""
        return str(self._folder / f"shard-{shard_name(number)}")

    def is_noted(self) -> bool:
        """The file is there."""
        return self._note.exists()

    def check(self, shards: int) -> None:
        """Whoever links the note first has chosen."""
        try:
            self._folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            if not self._note.exists():
                self._write(shards)
            noted = msgspec.json.decode(self._note.read_bytes(), type=Note)
        except FileExistsError:
            raise UsageError(f"the path is a file, not a folder: {self._folder}") from None
        except OSError as error:
            raise UsageError(f"the folder cannot be used ({error.strerror}): {self._folder}") from error
        except (msgspec.MsgspecError, UnicodeError):
            raise StorageError(
                "the note of how many shards there are is damaged", path=str(self._note)
            ) from None
        _compare(noted, shards)

    def _write(self, shards: int) -> None:
        if (self._folder / "record.db").exists():
            raise UsageError(
                f"the folder is a memory by itself: {self._folder}",
                hint="give the shards a folder of their own",
            )
        beside = self._folder / f".{uuid4().hex}"
        try:
            with beside.open("xb") as file:
                file.write(msgspec.json.encode(Note(format=FORMAT, shards=shards)))
                file.flush()
                os.fsync(file.fileno())
            if not self._note.exists():
                os.link(beside, self._note)
        except FileExistsError:
            return  # another shard was first
        finally:
            beside.unlink(missing_ok=True)

    def check_record(self, number: int) -> None:
        """A record that was noted must be there."""
        folder = Path(self.path(number))
        if self._made(number).exists() and not (folder / "record.db").is_file():
            raise _lost(number, str(folder), f"delete {self._made(number).name}")

    def made(self, number: int) -> None:
        """An empty file says so."""
        self._made(number).touch()

    def _made(self, number: int) -> Path:
        return self._folder / f"shard-{shard_name(number)}.made"


class PostgresNotes:
    """In a schema: the table `cluster`, and the table `made`; beside it the schemas of the shards, `NAME_000` on."""

    def __init__(self, url: str) -> None:
        # As libpq reads it: to it # is like any other letter, and all but the schema goes on as it is.
        self._head, _, query = url.partition("?")
        given = [part for part in query.split("&") if part]
        named = [part.partition("=")[2] for part in given if part.startswith("schema=")]
        self._schema = unquote(named[-1]) if named else SCHEMA
        if not NAME.fullmatch(self._schema):
            raise UsageError(
                "the schema in the URL must be a name of its own of 1 to 59 of a-z, 0-9 and _, no digit first",
                hint="such as ?schema=memory",
            )
        self._given = [part for part in given if not part.startswith("schema=")]
        told = [part for part in self._given if part.partition("=")[0] not in RECORD_S]
        self._url = f"{self._head}?{'&'.join(told)}" if told else self._head

    def path(self, number: int) -> str:
        """The URL, with the shard's schema."""
        return f"{self._head}?{'&'.join([*self._given, f'schema={self._name(number)}'])}"

    def is_noted(self) -> bool:
        """The row is there."""
        return bool(self._ask(f'SELECT shards FROM "{self._schema}".cluster'))

    def check(self, shards: int) -> None:
        """Whoever writes the row first has chosen."""
        noted = self._ask(
            f'INSERT INTO "{self._schema}".cluster VALUES (1, {FORMAT}, {shards}) ON CONFLICT DO NOTHING;'
            f' SELECT format, shards FROM "{self._schema}".cluster'
        )
        _compare(Note(format=noted[0][0], shards=noted[0][1]), shards)

    def check_record(self, number: int) -> None:
        """A record that was noted must be there."""
        name = self._name(number)
        found = self._ask(
            f'SELECT EXISTS (SELECT FROM "{self._schema}".made WHERE number = {number}),'
            f" EXISTS (SELECT FROM information_schema.tables WHERE table_schema = '{name}')"
        )
        if found[0] == (True, False):
            raise _lost(number, f"schema {name}", f"delete number {number} from {self._schema}.made")

    def made(self, number: int) -> None:
        """A row says so."""
        self._ask(f'INSERT INTO "{self._schema}".made VALUES ({number}) ON CONFLICT DO NOTHING; SELECT 1')

    def _name(self, number: int) -> str:
        return f"{self._schema}_{shard_name(number)}"

    def _ask(self, statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement, in one transaction; the tables are made where they are missing."""
        try:
            psycopg: Any = import_module("psycopg")
        except ImportError:
            raise UsageError(
                "a PostgreSQL place needs psycopg, which is not installed",
                hint="pip install 'actormem[postgres]'",
            ) from None
        try:
            with (
                psycopg.connect(self._url, connect_timeout=CONNECT_S) as connection,
                connection.cursor() as cursor,
            ):
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"actormem {self._schema}"])
                cursor.execute(f'CREATE SCHEMA IF NOT EXISTS "{self._schema}"')
                cursor.execute(
                    f'CREATE TABLE IF NOT EXISTS "{self._schema}".cluster'
                    " (one int PRIMARY KEY, format int NOT NULL, shards int NOT NULL);"
                    f' CREATE TABLE IF NOT EXISTS "{self._schema}".made (number int PRIMARY KEY)'
                )
                cursor.execute(statements)
                while cursor.nextset():
                    pass
                return cursor.fetchall()
        except psycopg.Error as error:
            reason = import_module("actormem.storage.postgres.failures").asking_reason(error, self._url)
            raise StorageError(
                f"the database cannot be asked ({reason})", path=f"schema {self._schema}"
            ) from None


def _compare(noted: Note, shards: int) -> None:
    if noted.format != FORMAT:
        raise UsageError(f"the place was made by another version: format {noted.format}, here {FORMAT}")
    if noted.shards != shards:
        raise UsageError(f"the place has {noted.shards} shards, not {shards}", hint=HINT)


def _lost(number: int, where: str, begin: str) -> StorageError:
    return StorageError(
        f"shard {shard_name(number)} had a record and has none: put it back from its backup,"
        f" or {begin} to begin it anew",
        path=where,
    )
