"""The receipt of a forgetting tells what the files still hold of it: nothing, and it would say so if they did."""

import logging
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

import actormem
from actormem.core.values import Owner
from actormem.storage.record import DATABASE_NAME, open_record
from actormem.storage.scanning import PIECE_BYTES, found_in_files
from tests.runtimes import answered, opened

pytestmark = pytest.mark.anyio

STREET = "5 Zanzibar Street"
SAID = f"My new address is {STREET}."
PLANTED = "planted.bin"
LOCKED = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        print("locked")
"""


async def forget(runtime: actormem.Runtime, what: str) -> actormem.Receipt:
    if what == "session":
        return await runtime.forget_session("s", user="ada")
    if what == "user":
        return await runtime.forget_user("ada")
    item = await runtime.value("ada", "address")
    assert item is not None
    return await runtime.forget(item.id, user="ada", sources="keep" if what == "keep" else "redact")


def texts_of(folder: Path) -> int:
    """How many texts the sessions in the folder have."""
    with closing(sqlite3.connect(f"file:{folder / DATABASE_NAME}?mode=ro", uri=True)) as connection:
        count: int = connection.execute("SELECT count(*) FROM events WHERE text <> ''").fetchone()[0]
    return count


@pytest.mark.parametrize("what", ["item", "keep", "session", "user"])
async def test_a_receipt_says_how_much_was_looked_at_and_that_nothing_was_found(
    what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with opened(tmp_path) as runtime:
            await answered(await runtime.spawn("s", user="ada", system="You help."), SAID, f"At {STREET}.")
            await runtime.settle()
            texts = texts_of(tmp_path)
            receipt = await forget(runtime, what)
            assert receipt.scanned_bytes >= (tmp_path / DATABASE_NAME).stat().st_size > 0
            assert receipt.found_count == 0
            if what in ("session", "user"):
                assert receipt.text_count == texts > 2
    assert "Zanzibar" not in caplog.text


@pytest.mark.parametrize("what", ["item", "session", "user"])
@pytest.mark.parametrize("form", [STREET, f'["{SAID}"]'])
async def test_what_is_left_in_any_file_is_counted(what: str, form: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s", user="ada"), SAID)
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / PLANTED).write_text(form)
        receipt = await forget(runtime, what)
        assert receipt.found_count >= 1


async def test_what_others_said_in_the_same_words_is_not_told_and_what_the_owner_still_has_is(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s", user="bob"), SAID)
        await answered(await runtime.spawn("s", user="ada"), SAID)
        assert (await forget(runtime, "item")).found_count == 0
        await answered(await runtime.spawn("t", user="ada", system=f"Deliver to {STREET}."), "Hello.")
        await runtime.remember(SAID, user="ada", attribute="address", value=STREET)
        assert (await forget(runtime, "item")).found_count == 1, (
            "the prompt is the program's, and still says it"
        )


async def test_in_memory_there_are_no_files_to_look_at() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("s", user="ada"), SAID)
        receipt = await forget(runtime, "item")
        assert (receipt.scanned_bytes, receipt.found_count) == (0, 0)


async def test_looking_at_the_record_leaves_its_locks(tmp_path: Path) -> None:
    async with open_record(tmp_path) as record:
        await record.owners(1)
        scan = await record.scan([STREET], Owner("", "ada"))
        assert scan.scanned_bytes > 0
        asked = [sys.executable, "-c", LOCKED, str(tmp_path / DATABASE_NAME)]
        assert (await anyio.run_process(asked)).stdout == b"locked\n"


def test_a_text_across_two_pieces_is_found_and_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"." * (PIECE_BYTES - 5) + STREET.encode() + b".")
    (tmp_path / "ignored-shm").write_bytes(b"elsewhere and there")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    count, found = found_in_files(tmp_path, [STREET, "elsewhere and there"], {})
    assert (count, found) == (PIECE_BYTES + len(STREET) - 4, (STREET,))


def test_a_file_in_use_is_read_through_the_descriptor_given(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(STREET.encode())
    descriptor = os.open(path, os.O_RDONLY)
    path.write_bytes(b"")
    try:
        assert found_in_files(tmp_path, [STREET], {path: descriptor}) == (0, ())
        path.write_bytes(STREET.encode())
        assert found_in_files(tmp_path, [STREET], {path: descriptor})[1] == (STREET,)
        os.fstat(descriptor)
    finally:
        os.close(descriptor)
