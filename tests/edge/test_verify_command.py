"""`actormem verify` on a folder: what it finds, what it repairs, what it refuses."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem.cli import main as command
from actormem.testing.fakes import ScriptedEmbedder

WORD = "zanzibar"


def lived(folder: Path, *, killed: Path | None = None) -> None:
    """A folder with two users; with `killed`, a copy as it was before it was closed."""

    async def fill() -> None:
        async with actormem.open(folder, embedder=ScriptedEmbedder(), durability="process") as runtime:
            for user in ("ada", "bob"):
                session = await runtime.spawn("s-1", user=user)
                for number in range(3):
                    async with session.turn(f"I like {WORD} number {number}. 我喜欢{WORD}。") as turn:
                        turn.reply("I see.")
            await runtime.settle()
            if killed is not None:
                shutil.copytree(
                    folder, killed, ignore=shutil.ignore_patterns("*-journal")
                )  # one of the cache may go

    anyio.run(fill)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once") / "memory"
    lived(folder)
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    """A folder with two users, of this test alone."""
    return Path(shutil.copytree(once, tmp_path / "memory"))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = command.main(["verify", *map(str, arguments)])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    assert WORD not in printed.out + printed.err
    return code, printed.out, printed.err


def found(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code, out, err = run(capsys, *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


def alter(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / "record.db")
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount
    connection.close()


def works(folder: Path, user: str = "ada") -> None:
    async def look() -> None:
        async with actormem.open(folder, embedder=ScriptedEmbedder()) as runtime:
            assert len(await (await runtime.spawn("s-1", user=user)).messages()) == 6
            assert await runtime.items(user)
            await runtime.settle()

    anyio.run(look)


def test_a_sound_folder_is_sound_and_is_left_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "record.db").read_bytes()
    code, out, _ = run(capsys, folder)
    assert (code, out.endswith("sound.\n")) == (0, True)
    code, told = found(capsys, folder, "--repair")
    assert (code, told["damage_count"], told["damages"]) == (0, 0, [])
    assert told["row_count"] > 30
    assert (folder / "record.db").read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE vectors SET vector = zeroblob(length(vector))", "vector"),
        ("UPDATE vectors SET owner_no = 77 WHERE item_no = 1", "vector"),
        ("UPDATE snapshots SET body = x'00'", "snapshot"),
        ("UPDATE sessions SET message_count = 99", "count"),
        ("INSERT OR REPLACE INTO meta (key, value) VALUES ('scrub_due', 1)", "erasure"),
    ],
)
def test_what_is_derived_is_repaired(
    folder: Path, capsys: pytest.CaptureFixture[str], statement: str, kind: str
) -> None:
    alter(folder, statement)
    before = (folder / "record.db").read_bytes()
    code, told = found(capsys, folder)
    assert (code, {one["kind"] for one in told["damages"]}) == (1, {kind})
    assert (folder / "record.db").read_bytes() == before, "looking changes nothing"
    code, out, _ = run(capsys, folder, "--repair")
    assert code == 0
    assert "0 not repaired" in out
    assert found(capsys, folder)[0] == 0
    works(folder)


@pytest.mark.parametrize(
    ("statement", "kind", "where"),
    [
        (
            f"UPDATE events SET text = 'the {WORD}' WHERE session_no = 1 AND sequence = 2",
            "event",
            "event 2 of session s-1",
        ),
        (
            "UPDATE events SET text = CAST(x'fffe' AS TEXT) WHERE session_no = 1 AND sequence = 2",
            "event",
            "user ada",
        ),
        ("DELETE FROM events WHERE session_no = 1 AND sequence = 3", "session", "session s-1 of user ada"),
        ("UPDATE items SET body = x'81' WHERE item_no = 1", "item", "m1 of user ada"),
        ("UPDATE items SET checksum = 'x' WHERE item_no = 1", "item", "m1 of user ada"),
        ("INSERT INTO shown VALUES (1, 1, 'x', 1)", "row", "shown"),
        ("UPDATE owners SET user = CAST('ada' AS BLOB) WHERE owner_no = 1", "row", "owners"),
    ],
)
def test_what_is_lost_is_told_and_stays(
    folder: Path, capsys: pytest.CaptureFixture[str], statement: str, kind: str, where: str
) -> None:
    alter(folder, statement)
    for _ in range(2):
        code, told = found(capsys, folder, "--repair")
        assert code == 1
        assert any(one["kind"] == kind and where in one["where"] for one in told["damages"]), told
        assert told["open_count"] > 0


def test_a_damaged_index_is_built_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connection = sqlite3.connect(folder / "record.db", isolation_level=None)
    connection.execute("PRAGMA writable_schema=ON")
    sql = "CREATE INDEX items_owner ON items (owner_no)"
    connection.execute(
        "UPDATE sqlite_master SET sql = ? WHERE name = 'items_owner'", (f"{sql} WHERE item_no = 1",)
    )
    connection.execute("PRAGMA writable_schema=RESET")
    connection.execute("REINDEX items_owner")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'items_owner'", (sql,))
    connection.close()
    code, told = found(capsys, folder)
    assert (code, {one["kind"] for one in told["damages"]}) == (1, {"index"})
    with pytest.raises(actormem.CorruptError, match="items_owner"):
        works(folder)
    assert found(capsys, folder, "--repair")[0] == 0
    works(folder)


def test_a_log_damaged_in_its_middle_is_cut_back_and_a_copy_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "killed"
    lived(tmp_path / "memory", killed=folder)
    log = folder / "record.db-wal"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 4
    log.write_bytes(content)
    code, told = found(capsys, folder)
    assert (code, told["damages"][0]["kind"]) == (1, "log")
    assert log.read_bytes() == content
    code, told = found(capsys, folder, "--repair")
    assert (code, told["open_count"]) == (0, 0)
    [copy] = (folder / "damaged").rglob("record.db-wal*")
    assert copy.read_bytes() == content

    async def look() -> None:
        async with actormem.open(folder, embedder=ScriptedEmbedder()) as runtime:
            assert await (await runtime.spawn("s-1", user="ada")).messages()

    anyio.run(look)


def test_a_damaged_cache_is_set_aside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cache" / "cache.db").write_bytes(b"notes" * 900)
    assert found(capsys, folder)[1]["damages"][0]["kind"] == "cache"
    assert found(capsys, folder, "--repair")[0] == 0
    assert any((folder / "damaged").iterdir())
    assert found(capsys, folder)[0] == 0
    works(folder)


@pytest.mark.parametrize("cut", [0, 10, 200, 20_000])
def test_a_file_that_is_cut_off_is_told(folder: Path, capsys: pytest.CaptureFixture[str], cut: int) -> None:
    path = folder / "record.db"
    content = path.read_bytes()[:cut]
    path.write_bytes(content)
    code, told = found(capsys, folder, "--repair")
    assert code == 1
    assert told["damages"][0]["kind"] == "file"
    assert path.read_bytes() == content, "nothing is written to a file that cannot be trusted"


def test_a_wrong_call_is_one_line_and_changes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, tmp_path / "nowhere")
    assert (code, err.count("\n"), "no memory" in err) == (2, 1, True)
    assert not (tmp_path / "nowhere").exists()
    assert run(capsys)[0] == 2
    alter(folder, "INSERT INTO meta VALUES ('x', 1)")
    connection = sqlite3.connect(folder / "record.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    code, _, err = run(capsys, folder)
    assert (code, "99" in err) == (2, True)


def test_a_folder_in_use_is_refused(folder: Path) -> None:
    async def both() -> None:
        async with actormem.open(folder, embedder=ScriptedEmbedder()):
            with pytest.raises(actormem.FolderInUseError):
                await actormem.verify(folder)

    anyio.run(both)
