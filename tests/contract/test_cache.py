"""The promises of `actormem.ports.Cache`, over the cache on disk and the one in memory."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from actormem.core.values import Owner
from actormem.ports import Cache
from actormem.storage.cache import DiskCache, MemoryCache

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")

Open: TypeAlias = Callable[[int], AbstractAsyncContextManager[Cache]]


@pytest.fixture(params=["memory", "disk"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens an empty cache of so many bytes."""

    @asynccontextmanager
    async def open_cache(size_bytes_max: int) -> AsyncGenerator[Cache, None]:
        cache: Cache
        if request.param == "memory":
            cache = MemoryCache(size_bytes_max=size_bytes_max)
        else:
            cache = DiskCache(tmp_path / "cache", size_bytes_max=size_bytes_max)
        try:
            yield cache
        finally:
            await cache.aclose()

    return open_cache


async def test_what_was_put_last_is_given_and_nothing_else(opened: Open) -> None:
    async with opened(1_000_000) as cache:
        assert await cache.get_many(ADA, ["k", "l"]) == [None, None]
        await cache.put_many(ADA, {"k": b"one", "empty": b"", "键": "值".encode()})
        await cache.put_many(ADA, {"k": b"two", "\ud800": b"lone"})
        assert await cache.get_many(ADA, ["k", "none", "empty", "键", "k", "\ud800"]) == [
            b"two",
            None,
            b"",
            "值".encode(),
            b"two",
            b"lone",
        ]
        assert await cache.get_many(ADA, []) == []
        await cache.put_many(ADA, {})


async def test_owners_and_keys_that_only_look_alike_share_nothing(opened: Open) -> None:
    places = [
        (Owner("", "a"), "b"),
        (Owner("a", ""), "b"),
        (Owner("", ""), "ab"),
        (Owner("u1:a", "b"), "k"),
        (Owner("u1", "a:b"), "k"),
        (Owner("u1", "a"), "bk"),
        (Owner("t", "é"), "k"),
        (Owner("t", "e\u0301"), "k"),
        (Owner("t", "A"), "k"),
        (Owner("t", "a"), "k"),
        (Owner("t", "1"), "1.0"),
        (Owner("t", "1"), "1"),
        (Owner("t", "../../x"), "$HOME"),
    ]
    async with opened(1_000_000) as cache:
        for number, (owner, key) in enumerate(places):
            await cache.put_many(owner, {key: b"%d" % number})
        for number, (owner, key) in enumerate(places):
            assert await cache.get_many(owner, [key]) == [b"%d" % number]


async def test_after_dropping_an_owner_nothing_of_it_is_given_and_others_stay(opened: Open) -> None:
    async with opened(1_000_000) as cache:
        for owner in (ADA, BOB):
            await cache.put_many(owner, {f"k{number}": b"value" for number in range(300)})
        await cache.drop_owner(ADA)
        await cache.drop_owner(Owner("no", "one"))
        keys = [f"k{number}" for number in range(300)]
        assert await cache.get_many(ADA, keys) == [None] * 300
        assert await cache.get_many(BOB, keys) == [b"value"] * 300


async def test_the_least_recently_used_go_first_when_it_is_full(opened: Open) -> None:
    async with opened(400_000) as cache:
        await cache.put_many(ADA, {"used": b"u" * 1_000, "unused": b"n" * 1_000})
        for number in range(600):
            await cache.put_many(BOB, {f"k{number}": b"x" * 1_000})
            assert await cache.get_many(ADA, ["used"]) == [b"u" * 1_000]
        assert await cache.get_many(ADA, ["unused"]) == [None]
        assert await cache.get_many(BOB, ["k0", "k599"]) == [None, b"x" * 1_000]


async def test_a_value_larger_than_the_cache_is_not_stored_and_drives_nothing_out(opened: Open) -> None:
    async with opened(1_000_000) as cache:
        await cache.put_many(ADA, {"small": b"value", "large": b"old"})
        await cache.put_many(ADA, {"large": b"x" * 5_000_000})
        assert await cache.get_many(ADA, ["small", "large"]) == [b"value", None]


async def test_a_closed_cache_is_empty_and_stores_nothing(opened: Open) -> None:
    async with opened(1_000_000) as cache:
        await cache.put_many(ADA, {"k": b"value"})
    assert await cache.get_many(ADA, ["k"]) == [None]
    await cache.put_many(ADA, {"k": b"value"})
    await cache.drop_owner(ADA)
    await cache.aclose()
    assert await cache.get_many(ADA, ["k"]) == [None]
