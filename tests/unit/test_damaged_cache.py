"""A damaged cache: set aside and begun again, while the memory goes on; what was set aside does not stay."""

import logging
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from actormem.storage.aside import KEPT_MAX, SetAside
from tests.runtimes import FakeClock, answered, files_holding, opened, words

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0


async def lived(folder: Path) -> None:
    async with opened(folder) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "My new address is 5 Hill Street.")
        await runtime.settle()


async def lives_on(folder: Path, clock: FakeClock | None = None) -> None:
    """A turn that recalls, and embeds something new."""
    async with opened(folder, clock=clock) as runtime:
        seen = await answered(await runtime.spawn("new", user="ada"), "What is my address?")
        assert "5 Hill Street" in words(seen)
        await runtime.settle()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5_000])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[20] ^= 255  # of the header
    path.write_bytes(content)


def torn(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[512:1_024] = random.Random(7).randbytes(512)
    content[0:512] = bytes(512)
    path.write_bytes(content)


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("notes")


def whole_replaced_by_a_file(path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    path.parent.write_text("notes")


@pytest.mark.parametrize("damage", [cut, flipped, torn, replaced_by_a_folder, whole_replaced_by_a_file])
async def test_it_is_set_aside_with_one_warning_and_the_memory_goes_on(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    await lived(tmp_path)
    damage(tmp_path / "cache" / "cache.db")
    with caplog.at_level(logging.WARNING):
        await lives_on(tmp_path)
    told = [one for one in caplog.records if "set aside" in one.message]
    assert len(told) == 1
    [place] = (tmp_path / "damaged").iterdir()
    assert place.name.startswith("20231114T")
    assert any(place.iterdir())
    caplog.clear()
    await lives_on(tmp_path)
    assert not caplog.records, "it has begun anew"
    assert (tmp_path / "cache" / "cache.db").is_file()


async def test_what_was_set_aside_goes_after_a_week(tmp_path: Path) -> None:
    clock = FakeClock()
    await lived(tmp_path)
    cut(tmp_path / "cache" / "cache.db")
    await lives_on(tmp_path, clock)
    await clock.advance(6.9 * DAY_S)
    await lives_on(tmp_path, clock)
    assert any((tmp_path / "damaged").iterdir())
    await clock.advance(0.2 * DAY_S)
    await lives_on(tmp_path, clock)
    assert not any((tmp_path / "damaged").iterdir())


async def test_it_goes_after_a_week_of_a_memory_that_stays_open_too(tmp_path: Path) -> None:
    clock = FakeClock()
    await lived(tmp_path)
    cut(tmp_path / "cache" / "cache.db")
    async with opened(tmp_path, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "Where do I live?")
        await runtime.settle()
        assert any((tmp_path / "damaged").iterdir())
        await clock.advance(7.1 * DAY_S)
        await answered(session, "I bought a green bicycle.")
        await runtime.settle()
        assert not any((tmp_path / "damaged").iterdir())


@pytest.mark.parametrize("what", ["item", "session", "user"])
async def test_it_goes_with_whatever_is_forgotten(tmp_path: Path, what: str) -> None:
    await lived(tmp_path)
    path = tmp_path / "cache" / "cache.db"
    path.write_bytes(b"5 Hill Street, " * 400)
    async with opened(tmp_path) as runtime:
        await runtime.settle()
        await answered(await runtime.spawn("t", user="ada"), "I like green tea.")
        await runtime.settle()
        assert any(name.startswith("damaged") for name in files_holding(tmp_path, "Hill Street"))
        if what == "item":
            [item] = [one for one in await runtime.items("ada") if one.value == "5 Hill Street"]
            await runtime.forget(item.id, user="ada")
        elif what == "session":
            await runtime.forget_session("s", user="ada")
        else:
            await runtime.forget_user("ada")
        assert files_holding(tmp_path, "Hill Street") == []


def test_the_oldest_goes_where_too_many_are_damaged(tmp_path: Path) -> None:
    now_ms = [1_700_000_000_000]
    aside = SetAside(tmp_path, lambda: now_ms[0])
    for number in range(KEPT_MAX + 3):
        now_ms[0] += 1_000
        (tmp_path / "file").write_text(str(number))
        aside.take([tmp_path / "file", tmp_path / "none"], "file")
    kept = sorted((tmp_path / "damaged").iterdir())
    assert [(place / "file").read_text() for place in kept] == [
        str(number) for number in range(3, KEPT_MAX + 3)
    ]
    now_ms[0] -= 10 * 86_400_000  # the clock was wrong: nothing stays for longer than a week by either
    aside.expire()
    aside.clear()
    assert not (tmp_path / "damaged").exists()
    aside.take([tmp_path / "none"], "none")
    assert not (tmp_path / "damaged").exists(), "nothing is made before something is damaged"


def test_where_nothing_can_be_moved_it_is_removed(tmp_path: Path) -> None:
    (tmp_path / "damaged").write_text("a file")
    (tmp_path / "file").write_text("x")
    SetAside(tmp_path, lambda: 1_700_000_000_000).take([tmp_path / "file"], "file")
    assert not (tmp_path / "file").exists()
