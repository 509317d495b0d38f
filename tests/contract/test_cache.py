"""The promises of `actormem.ports.Cache`, over the cache on disk and the one in memory; and what only ours do."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from actormem.core.values import Owner
from actormem.ports import Cache
from actormem.storage.cache import DiskCache, MemoryCache
from actormem.testing import contracts
from actormem.testing.contracts.cache import MakeCache

pytestmark = pytest.mark.anyio

ADA = Owner("shop", "ada")
BOB = Owner("shop", "bob")


def memory_cache(folder: Path, size_bytes_max: int) -> Cache:
    return MemoryCache(size_bytes_max=size_bytes_max)


def disk_cache(folder: Path, size_bytes_max: int) -> Cache:
    return DiskCache(folder / "cache", size_bytes_max=size_bytes_max)


@pytest.fixture(params=[memory_cache, disk_cache])
def make(request: pytest.FixtureRequest) -> MakeCache:
    return request.param


@pytest.mark.parametrize("check", contracts.CACHE, ids=str)
async def test_a_cache_keeps(check: contracts.AsyncCheck[[MakeCache]], make: MakeCache) -> None:
    await check(make)


@asynccontextmanager
async def opened(make: MakeCache, folder: Path, size_bytes_max: int) -> AsyncGenerator[Cache, None]:
    cache = make(folder, size_bytes_max)
    yield cache
    await cache.aclose()


async def test_the_least_recently_used_go_first_when_it_is_full(make: MakeCache, tmp_path: Path) -> None:
    async with opened(make, tmp_path, 400_000) as cache:
        await cache.put_many(ADA, {"used": b"u" * 1_000, "unused": b"n" * 1_000})
        for number in range(600):
            await cache.put_many(BOB, {f"k{number}": b"x" * 1_000})
            assert await cache.get_many(ADA, ["used"]) == [b"u" * 1_000]
        assert await cache.get_many(ADA, ["unused"]) == [None]
        assert await cache.get_many(BOB, ["k0", "k599"]) == [None, b"x" * 1_000]


async def test_a_value_larger_than_the_cache_drives_nothing_out(make: MakeCache, tmp_path: Path) -> None:
    async with opened(make, tmp_path, 1_000_000) as cache:
        await cache.put_many(ADA, {"small": b"value", "large": b"old"})
        await cache.put_many(ADA, {"large": b"x" * 5_000_000})
        assert await cache.get_many(ADA, ["small", "large"]) == [b"value", None]
