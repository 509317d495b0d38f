"""Looking at every row of a folder's record, without changing anything.

The law of the file: what is looked at may be anything, so nothing is believed: text that is no text, numbers that are
none, rows without their session. What is derived (vectors, snapshots, indexes, counts, the cache) is told apart from
what is lost. Words of users are in no answer; their ids are.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias, cast

import msgspec

from actormem.core.values import Owner
from actormem.errors import CorruptError
from actormem.storage.checks import checked_types, verify
from actormem.storage.failures import DamagedRowError
from actormem.storage.item_reads import checked_item
from actormem.storage.places import SCRUB_MARK

__all__ = ["DAMAGES_MAX", "Damage", "Rows", "file_damages", "look_at_rows", "tolerant_text"]

DAMAGES_MAX: Final = 1_000  # told one by one; the rest is counted
LINES_MAX: Final = 100  # of what SQLite finds wrong with its own pages
FLOAT_BYTES: Final = 4
Row: TypeAlias = tuple[object, ...]


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong.

    Attributes:
        kind: `file`, `log`, `index`, `event`, `session`, `snapshot`, `count`, `item`, `vector`, `intent`, `row` (of
            another table), `cache`, or `erasure` (what was forgotten may still have bytes in the files).
        where: Which one, by ids.
        expected, found: What should be there, what is.
        derived: Whether it is made anew from the rest, and nothing is lost.
        repaired: Whether it was.
    """

    kind: str
    where: str
    expected: str
    found: str
    derived: bool = False
    repaired: bool = False


class Rows:
    """What was found in the tables.

    Attributes:
        row_count: Rows looked at.
        damages: At most `DAMAGES_MAX`.
        damage_count: All of them.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.row_count = 0
        self.damages: list[Damage] = []
        self.damage_count = 0
        self._connection = connection

    def tell(self, damage: Damage) -> None:
        """Note something that is wrong."""
        self.damage_count += 1
        if len(self.damages) < DAMAGES_MAX:
            self.damages.append(damage)

    def check(
        self, kind: str, statement: str, row_check: Callable[[Row], None], name: Callable[[Row], str]
    ) -> None:
        """Look at each row that the statement gives.

        Args:
            row_check: Raises DamagedRowError where something is wrong.
            name: Which row it is.
        """
        derived = kind in ("snapshot", "vector", "count")
        try:
            for row in self._rows(statement):
                self.row_count += 1
                try:
                    row_check(row)
                except DamagedRowError as error:
                    self.tell(
                        Damage(
                            kind=kind,
                            where=name(row),
                            expected=error.expected,
                            found=error.found,
                            derived=derived,
                        )
                    )
        except sqlite3.Error as error:
            self.tell(Damage(kind="file", where=f"rows of {kind}s", expected="to be read", found=str(error)))

    def _rows(self, statement: str) -> Iterator[Row]:
        with closing(self._connection.execute(statement)) as cursor:
            yield from cursor


def file_damages(connection: sqlite3.Connection) -> list[Damage]:
    """What SQLite finds wrong with the pages and indexes of the file."""
    try:
        lines = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({LINES_MAX})")]
    except sqlite3.Error as error:
        lines = [str(error)]
    found: list[Damage] = []
    for line in lines if lines != ["ok"] else []:
        index = "from index" in line or "in index" in line
        kind = "index" if index else "file"
        found.append(
            Damage(kind=kind, where="record.db", expected="a sound database", found=line, derived=index)
        )
    return found


def look_at_rows(connection: sqlite3.Connection, path: Path) -> Rows:
    """Look at every row of every table.

    Args:
        connection: One whose `text_factory` is `tolerant_text`.
        path: For errors.

    Raises:
        CorruptError: There are no tables to look at.
    """
    found = Rows(connection)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        owners = {
            row[0]: Owner(str(row[1]), str(row[2])) for row in connection.execute("SELECT * FROM owners")
        }
    except sqlite3.Error as error:
        raise CorruptError(
            "the record is damaged", path=str(path), expected="its tables", found=str(error)
        ) from error
    look_at_sessions(found)
    look_at_items(found, owners)
    look_at_others(found, intents="intents" in tables)
    due = connection.execute("SELECT value FROM meta WHERE key = ?", (SCRUB_MARK,)).fetchone()
    if due is not None and due[0] != 0:
        found.tell(
            Damage(
                kind="erasure",
                where="free parts of the files",
                expected="no byte of what was forgotten",
                found="the clearing was not finished",
                derived=True,
            )
        )
    return found


def look_at_sessions(found: Rows) -> None:
    """Events, the sessions they are of, and their snapshots."""

    def event(row: Row) -> None:
        sequence, name, body, text, expected, owner_no, sessions_owner = row[2:]
        checked_types((sequence, name, body), int, str, bytes)
        check_sum(expected, sequence, name, body, text)
        if owner_no != sessions_owner:
            raise DamagedRowError("", expected="the owner of its session", found="another or none")

    def session(row: Row) -> None:
        checked_types(row, str, str, int, int, int, int, int, int, int)
        last, event_count, newest = row[6:9]
        if not last == event_count == newest:
            raise DamagedRowError(
                "", expected=f"events 1 to {last}", found=f"{event_count}, the last {newest}"
            )

    def count(row: Row) -> None:
        if row[2] != row[3]:
            raise DamagedRowError("", expected=f"{row[3]} messages", found=f"a count of {row[2]!r}")

    def snapshot(row: Row) -> None:
        body, sequence, expected, last = row[2:]
        checked_types((body, sequence, last), bytes, int, int)
        check_sum(expected, sequence, body)

    named = "SELECT ifnull(user, '?'), ifnull(session_id, '?')"
    joined = "LEFT JOIN sessions USING (session_no) LEFT JOIN owners ON owners.owner_no = sessions.owner_no"
    found.check(
        "event",
        f"""{named}, sequence, name, body, text, checksum, events.owner_no, sessions.owner_no
        FROM events {joined}""",
        event,
        lambda row: f"event {row[2]} of {session_name(row)}",
    )
    counts = "(SELECT count(*) FROM events WHERE events.session_no = sessions.session_no"
    found.check(
        "session",
        f"""{named}, created_ms, changed_ms, message_count, progress, last_sequence, {counts}),
        ifnull((SELECT max(sequence) FROM events WHERE events.session_no = sessions.session_no), 0)
        FROM sessions LEFT JOIN owners USING (owner_no)""",
        session,
        session_name,
    )
    found.check(
        "count",
        f"{named}, message_count, {counts} AND name <> '') FROM sessions LEFT JOIN owners USING (owner_no)",
        count,
        session_name,
    )
    found.check(
        "snapshot",
        f"{named}, body, sequence, checksum, last_sequence FROM snapshots {joined}",
        snapshot,
        session_name,
    )


def look_at_items(found: Rows, owners: dict[object, Owner]) -> None:
    """Items, and the vectors that stand for them."""

    def item(row: Row) -> None:
        number, owner_no, body, expected = row
        checked_types((number, body), int, bytes)
        check_sum(expected, number, body)
        owner = owners.get(owner_no)
        if owner is None:
            raise DamagedRowError("", expected="an item of an owner", found="none")
        assert type(number) is int
        assert type(body) is bytes
        assert type(expected) is int
        checked_item(owner, number, body, expected)

    def vector(row: Row) -> None:
        number, owner_no, body, expected, items_owner = row
        checked_types((number, body), int, bytes)
        check_sum(expected, number, body)
        assert type(body) is bytes
        if owner_no != items_owner or not body or len(body) % FLOAT_BYTES:
            raise DamagedRowError("", expected="a vector of an item", found="none")

    def name(row: Row) -> str:
        owner = owners.get(row[1])
        return f"m{row[0]} of user {owner.user if owner else '?'}"

    found.check("item", "SELECT item_no, owner_no, body, checksum FROM items", item, name)
    found.check(
        "vector",
        """SELECT vectors.item_no, vectors.owner_no, vector, vectors.checksum, items.owner_no
        FROM vectors LEFT JOIN items ON items.item_no = vectors.item_no""",
        vector,
        name,
    )


def look_at_others(found: Rows, *, intents: bool) -> None:
    """The tables that hold ids and marks alone, and what is still to be done."""

    def intent(row: Row) -> None:
        name, body, expected = row[1:]
        checked_types((name, body), str, bytes)
        check_sum(expected, name, body)

    if intents:
        found.check(
            "intent",
            "SELECT owner_no, name, body, checksum FROM intents",
            intent,
            lambda row: f"intent of owner number {row[0]}",
        )
    for table, columns, types in (
        ("meta", "key, value", (str, int)),
        ("owners", "owner_no, tenant, user", (int, str, str)),
        ("shown", "item_no, session_no, sequence, owner_no", (int, int, int, int)),
        ("tombstones", "owner_no, hash", (int, str)),
    ):

        def typed(row: Row, types: tuple[type[object], ...] = types) -> None:
            checked_types(row, *types)

        found.check(
            "row", f"SELECT {columns} FROM {table}", typed, lambda _, table=table: f"a row of {table}"
        )


def check_sum(expected: object, *parts: object) -> None:
    """Compare values of any types with the checksum they should have.

    Raises:
        DamagedRowError: They differ, or one is nothing that is stored.
    """
    for part in (expected, *parts):
        if part is not None and type(part) not in (bytes, str, int):
            raise DamagedRowError("", expected="a value that is stored", found=type(part).__name__)
    checked_types((expected,), int)
    verify(cast("int", expected), *cast("tuple[bytes | str | int | None, ...]", parts))


def tolerant_text(content: bytes) -> str:
    """Text of a damaged row, whatever its bytes are."""
    return content.decode("utf-8", "replace")


def session_name(row: Row) -> str:
    return f"session {row[1]} of user {row[0]}"
