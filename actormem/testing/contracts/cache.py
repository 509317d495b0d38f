"""The promises of `actormem.ports.Cache`, over any cache: `await check(make)`.

`make` gives an empty cache of at most so many bytes, which keeps its files, if it has any, in the folder it is given.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from actormem.core.values import Owner
from actormem.ports import Cache
from actormem.testing.contracts.checks import AsyncCheck, promised, require, same
from actormem.testing.contracts.places import files_holding, own_folder
from actormem.testing.corpus import OWNERS

__all__ = ["CACHE", "MakeCache"]

MakeCache: TypeAlias = Callable[[Path, int], Cache]
ADA: Final = Owner("shop", "ada")
BOB: Final = Owner("shop", "bob")
SIZE_BYTES: Final = 1_000_000
CANARY: Final = "canary-7f3a"


@asynccontextmanager
async def opened(
    make: MakeCache, size_bytes_max: int = SIZE_BYTES
) -> AsyncGenerator[tuple[Cache, Path], None]:
    with own_folder() as folder:
        cache = make(folder, size_bytes_max)
        try:
            yield cache, folder
        finally:
            await cache.aclose()


@promised("Cache", 1)
async def what_was_put_last_is_given_and_nothing_else(make: MakeCache) -> None:
    """What `get_many` gives for a key is what `put_many` last stored under that owner and key, or None."""
    async with opened(make) as (cache, _):
        same(await cache.get_many(ADA, ["k", "l"]), [None, None], "what an empty cache gives")
        await cache.put_many(ADA, {"k": b"one", "empty": b"", "键": "值".encode()})
        await cache.put_many(ADA, {"k": b"two", "\ud800": b"lone"})
        found = await cache.get_many(ADA, ["k", "none", "empty", "键", "k", "\ud800"])
        same(found, [b"two", None, b"", "值".encode(), b"two", b"lone"], "what is given for six keys")
        same(await cache.get_many(ADA, []), [], "what is given for no keys")
        await cache.put_many(ADA, {})


@promised("Cache", 2)
async def owners_and_keys_that_only_look_alike_share_nothing(make: MakeCache) -> None:
    """Nothing of one owner is ever given to another, nor of one key for another."""
    places = [(owner, "k") for owner in OWNERS]
    places += [(Owner("", "a"), "b"), (Owner("a", ""), "b"), (Owner("", ""), "ab")]
    places += [(Owner("u1", "a"), "bk"), (Owner("t", "1"), "1.0"), (Owner("t", "1"), "1"), (ADA, "../../x")]
    async with opened(make) as (cache, _):
        for number, (owner, key) in enumerate(places):
            await cache.put_many(owner, {key: b"%d" % number})
        for number, (owner, key) in enumerate(places):
            same(
                await cache.get_many(owner, [key]), [b"%d" % number], f"what is given to {owner} for {key!r}"
            )


@promised("Cache", 3)
async def after_dropping_an_owner_nothing_of_it_is_given_and_others_stay(make: MakeCache) -> None:
    """After `drop_owner` nothing of that owner is given, and all of the others."""
    keys = [f"k{number}" for number in range(300)]
    async with opened(make) as (cache, _):
        for owner in (ADA, BOB):
            await cache.put_many(owner, dict.fromkeys(keys, b"value"))
        await cache.drop_owner(ADA)
        await cache.drop_owner(Owner("no", "one"))
        same(await cache.get_many(ADA, keys), [None] * 300, "what is given of the owner that was dropped")
        same(await cache.get_many(BOB, keys), [b"value"] * 300, "what is given of another owner")


@promised("Cache", 3)
async def after_dropping_an_owner_nothing_of_it_is_in_the_files(make: MakeCache) -> None:
    """After `drop_owner` nothing of that owner is left in the cache's files."""
    async with opened(make) as (cache, folder):
        for number in range(200):  # of many sizes, so that rows move and spill over
            value = f"{CANARY} {number} ".encode() + b"w" * (number * 37 % 3_000)
            await cache.put_many(ADA, {f"{CANARY}-key-{number}": value})
            await cache.put_many(BOB, {f"k{number}": b"value"})
        await cache.drop_owner(ADA)
        same(files_holding(folder, CANARY), [], "the files that still hold it")


@promised("Cache", 4)
async def a_value_larger_than_the_cache_never_raises(make: MakeCache) -> None:
    """A value that cannot be stored is not there afterwards, nor is the older one of its key."""
    async with opened(make) as (cache, _):
        await cache.put_many(ADA, {"large": b"old"})
        await cache.put_many(ADA, {"large": b"x" * (5 * SIZE_BYTES)})
        [found] = await cache.get_many(ADA, ["large"])
        require(found != b"old", "the value before it is given")


@promised("Cache", 4)
async def a_full_cache_never_raises_and_gives_no_wrong_bytes(make: MakeCache) -> None:
    """A full cache answers None for what it could not keep, and never raises."""
    async with opened(make, 400_000) as (cache, _):
        for number in range(600):
            await cache.put_many(BOB, {f"k{number}": b"%d " % number * 200})
        found = await cache.get_many(BOB, [f"k{number}" for number in range(600)])
        wrong = [number for number, value in enumerate(found) if value not in (None, b"%d " % number * 200)]
        same(wrong, [], "the keys with bytes of others")


@promised("Cache", 4)
async def a_closed_cache_is_empty_and_stores_nothing(make: MakeCache) -> None:
    """A closed cache answers None and stores nothing; it never raises."""
    async with opened(make) as (cache, _):
        await cache.put_many(ADA, {"k": b"value"})
        await cache.aclose()
        for _ in range(2):
            same(await cache.get_many(ADA, ["k"]), [None], "what a closed cache gives")
            await cache.put_many(ADA, {"k": b"value"})
            await cache.drop_owner(ADA)
            await cache.aclose()


CACHE: Final[tuple[AsyncCheck[[MakeCache]], ...]] = (
    what_was_put_last_is_given_and_nothing_else,
    owners_and_keys_that_only_look_alike_share_nothing,
    after_dropping_an_owner_nothing_of_it_is_given_and_others_stay,
    after_dropping_an_owner_nothing_of_it_is_in_the_files,
    a_value_larger_than_the_cache_never_raises,
    a_full_cache_never_raises_and_gives_no_wrong_bytes,
    a_closed_cache_is_empty_and_stores_nothing,
)
"""One check for each promise. That a damaged cache answers None is yours to check: only you know its files."""
