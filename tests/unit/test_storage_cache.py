"""The cache on disk: damage, foreign rows, and what it leaves in its files."""

import pickle
import random
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from actormem.core.values import Owner
from actormem.storage.bytes_disk import BytesDisk
from actormem.storage.cache import DiskCache, hashed

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")
CANARY = b"canary-51c9"


class Bomb:
    """Unpickling it shows that code of a stored row was run."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return (pytest.fail, ("a row of the cache was unpickled",))


async def filled(folder: Path) -> None:
    """A closed cache with one value of each owner."""
    cache = DiskCache(folder)
    await cache.put_many(ADA, {"k": b"ada's"})
    await cache.put_many(BOB, {"k": b"bob's"})
    await cache.aclose()


def alter(folder: Path, statement: str, values: tuple[object, ...] = ()) -> None:
    connection = sqlite3.connect(folder / "cache.db")
    with connection:
        connection.execute(statement, values)
    connection.close()


def has_canary(folder: Path) -> bool:
    return any(CANARY in path.read_bytes() for path in folder.iterdir())


async def values_in(folder: Path) -> list[bytes | None]:
    cache = DiskCache(folder)
    try:
        return await cache.get_many(ADA, ["k"]) + await cache.get_many(BOB, ["k"])
    finally:
        await cache.aclose()


async def test_it_keeps_its_values_over_a_restart_in_files_for_the_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "cache"
    await filled(folder)
    assert await values_in(folder) == [b"ada's", b"bob's"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "cache.db").stat().st_mode) == 0o600


async def test_a_pickled_row_is_not_run_and_reads_as_nothing(tmp_path: Path) -> None:
    await filled(tmp_path)
    alter(tmp_path, "UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(Bomb()),))
    assert await values_in(tmp_path) == [None, None]


async def test_a_row_that_names_a_file_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    (tmp_path / "secret").write_bytes(b"secret")
    await filled(folder)
    alter(folder, "UPDATE Cache SET mode = 2, value = NULL, filename = '../secret'")
    assert await values_in(folder) == [None, None]
    cache = DiskCache(folder)
    await cache.drop_owner(ADA)
    await cache.aclose()
    assert (tmp_path / "secret").exists(), "dropping removes no file of others"


async def test_a_value_moved_to_anothers_key_reads_as_nothing(tmp_path: Path) -> None:
    await filled(tmp_path)
    place = hashed(BOB.tenant, BOB.user, "k")
    alter(
        tmp_path,
        "UPDATE Cache SET value = (SELECT value FROM Cache WHERE key <> ?) WHERE key = ?",
        (place, place),
    )
    assert await values_in(tmp_path) == [b"ada's", None]


@pytest.mark.parametrize("value", [b"", b"x", b"x" * 16, b"x" * 40, "text", 7, None])
async def test_a_changed_value_reads_as_nothing(tmp_path: Path, value: object) -> None:
    await filled(tmp_path)
    alter(tmp_path, "UPDATE Cache SET value = ?", (value,))
    assert await values_in(tmp_path) == [None, None]


async def test_a_damaged_file_never_raises_and_never_lies(tmp_path: Path) -> None:
    """Over many kinds of damage: an answer is the true value or None, and the cache works after it."""
    for seed in range(25):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        await filled(folder)
        path = folder / "cache.db"
        content = bytearray(path.read_bytes())
        if seed % 3 == 0:
            content = content[: chance.randrange(len(content))]
        elif seed % 3 == 1:
            place = chance.randrange(len(content) // 512) * 512
            content[place : place + 512] = chance.randbytes(512)
        else:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        cache = DiskCache(folder)
        assert (await cache.get_many(ADA, ["k"]))[0] in (b"ada's", None)
        for _ in range(2):  # the first may find the damage, the second begins anew
            await cache.put_many(BOB, {"n": b"new"})
        assert await cache.get_many(BOB, ["n"]) == [b"new"]
        await cache.drop_owner(ADA)
        assert await cache.get_many(ADA, ["k"]) == [None]
        await cache.aclose()


@pytest.mark.parametrize("statement", ["DROP TABLE Cache", "DROP TABLE Settings", "DELETE FROM Settings"])
async def test_a_file_with_missing_tables_begins_anew(tmp_path: Path, statement: str) -> None:
    await filled(tmp_path)
    alter(tmp_path, statement)
    cache = DiskCache(tmp_path)
    for _ in range(2):
        await cache.put_many(ADA, {"n": b"new"})
    assert await cache.get_many(ADA, ["n"]) == [b"new"]
    await cache.aclose()


async def test_settings_left_in_the_file_do_not_outlive_its_opening(tmp_path: Path) -> None:
    await filled(tmp_path)
    alter(tmp_path, "UPDATE Settings SET value = 0 WHERE key = 'size_limit'")
    cache = DiskCache(tmp_path)
    await cache.put_many(ADA, {f"k{number}": b"x" for number in range(50)})
    assert None not in await cache.get_many(ADA, [f"k{number}" for number in range(50)])
    await cache.aclose()


async def test_a_path_that_cannot_be_a_folder_makes_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        cache = DiskCache(folder)
        await cache.put_many(ADA, {"k": b"value"})
        assert await cache.get_many(ADA, ["k"]) == [None]
        await cache.drop_owner(ADA)
        await cache.aclose()
    assert (tmp_path / "file").read_text() == "x"


async def test_a_path_with_a_name_of_the_environment_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELSEWHERE", "elsewhere")
    folder = tmp_path / "$ELSEWHERE"
    cache = DiskCache(folder)
    await cache.put_many(ADA, {"k": b"value"})
    assert await cache.get_many(ADA, ["k"]) == [None]
    await cache.aclose()
    assert not folder.exists()
    assert not (tmp_path / "elsewhere").exists()


async def test_a_dropped_owner_is_in_no_file_even_what_was_evicted_before(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, size_bytes_max=300_000)
    for number in range(400):
        size = number * 37 % 2_000
        await cache.put_many(ADA, {f"{number}": CANARY + b"x" * size})
        await cache.put_many(BOB, {f"{number}": b"y" * size})
    assert has_canary(tmp_path)
    await cache.drop_owner(ADA)
    assert not has_canary(tmp_path)
    assert (await cache.get_many(BOB, ["399"]))[0] is not None
    await cache.aclose()


async def test_an_owner_is_dropped_from_a_damaged_file_too(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    await cache.put_many(ADA, {f"{number}": CANARY for number in range(200)})
    await cache.aclose()
    path = tmp_path / "cache.db"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    cache = DiskCache(tmp_path)
    await cache.drop_owner(ADA)
    assert not has_canary(tmp_path)
    await cache.aclose()


@pytest.mark.parametrize("value", ["text", 7, None, bytearray(b"x"), {"a": 1}])
def test_the_disk_takes_bytes_alone(tmp_path: Path, value: object) -> None:
    disk = BytesDisk(str(tmp_path))
    with pytest.raises(TypeError):
        disk.store(value, False)
    with pytest.raises(TypeError):
        disk.put(value)
