"""What a place knows of its shards, over a folder."""

from pathlib import Path

import pytest

from actormem import StorageError, UsageError
from actormem.distributed.notes import FolderNotes, PostgresNotes, notes_of


def test_the_first_to_note_a_number_has_chosen(tmp_path: Path) -> None:
    notes = notes_of(str(tmp_path / "m"))
    assert not notes.is_noted()
    notes.check(4)
    notes.check(4)
    assert notes.is_noted()
    with pytest.raises(UsageError, match="the place has 4 shards, not 8"):
        notes.check(8)
    assert [one.name for one in (tmp_path / "m").iterdir()] == ["cluster.json"]


def test_a_record_that_was_noted_must_be_there(tmp_path: Path) -> None:
    notes = FolderNotes(tmp_path)
    notes.check_record(3)
    notes.made(3)
    with pytest.raises(StorageError, match="shard 003 had a record and has none"):
        notes.check_record(3)
    Path(notes.path(3)).mkdir()
    (Path(notes.path(3)) / "record.db").touch()
    notes.check_record(3)


def test_a_place_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="the path is a file"):
        FolderNotes(tmp_path / "file").check(2)
    with pytest.raises(UsageError, match="cannot be used"):
        FolderNotes(tmp_path / "file" / "below").check(2)
    (tmp_path / "record.db").touch()
    with pytest.raises(UsageError, match="a memory by itself"):
        FolderNotes(tmp_path).check(2)


@pytest.mark.parametrize("said", [b"", b"{}", b"\xff", b'{"format": "1", "shards": 2}'])
def test_a_damaged_note_is_told(tmp_path: Path, said: bytes) -> None:
    (tmp_path / "cluster.json").write_bytes(said)
    with pytest.raises(StorageError, match="damaged"):
        FolderNotes(tmp_path).check(2)


def test_a_note_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_bytes(b'{"format": 2, "shards": 2}')
    with pytest.raises(UsageError, match="format 2, here 1"):
        FolderNotes(tmp_path).check(2)


def test_a_url_s_schema_is_what_the_shards_schemas_begin_with() -> None:
    notes = notes_of("postgresql://ada@localhost:5432/app?schema=memory&sslmode=require")
    assert notes.path(7) == "postgresql://ada@localhost:5432/app?sslmode=require&schema=memory_007"
    spaced = notes_of("postgres://localhost/app?options=-c%20a%3D1+2")
    assert spaced.path(0) == "postgres://localhost/app?options=-c%20a%3D1+2&schema=actormem_000"
    assert notes_of("postgres://localhost/app").path(0) == "postgres://localhost/app?schema=actormem_000"


def test_a_database_that_does_not_answer_is_told() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'actormem[postgres]'")
    with pytest.raises(StorageError, match="the database cannot be asked") as raised:
        PostgresNotes("postgresql://ada:secret@127.0.0.1:1/app").check(2)
    assert "secret" not in str(raised.value)


def test_a_url_goes_on_as_libpq_reads_it() -> None:
    assert (
        notes_of("postgresql:///app?host=/run/pg").path(0)
        == "postgresql:///app?host=/run/pg&schema=actormem_000"
    )
    assert notes_of("postgresql://ada:a#b@h/app").path(0) == "postgresql://ada:a#b@h/app?schema=actormem_000"


@pytest.mark.parametrize("schema", ["Upper", "pg_mine", "", "a" * 60, "1st", "a%22b", "caf%C3%A9"])
def test_a_schema_that_no_shard_could_have_is_refused_before_it_is_made(schema: str) -> None:
    with pytest.raises(UsageError, match="schema in the URL must be"):
        notes_of(f"postgresql://localhost/app?schema={schema}")
