"""Caches of what may be lost: embeddings, summaries, answers. On disk (diskcache) or in memory.

The law of the file: a cache never raises and never lies. What is damaged, full or locked answers None and
stores nothing; a damaged file is set aside and begun again. Keys are hashes of (tenant, user, key) with their
lengths, and each value carries a hash over its key and itself, so that a row of one owner can never pass for
one of another.
"""

import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

import diskcache
from anyio import CancelScope, CapacityLimiter, to_thread

from actormem.core.values import Owner
from actormem.storage.aside import SetAside, removed
from actormem.storage.bytes_disk import DATABASE_NAME, BytesDatabase, open_bytes_database

__all__ = ["DiskCache", "MemoryCache"]

SIZE_BYTES_MAX: Final = 256 * 1024 * 1024  # about 100,000 embeddings of 512 float32 with their hashes
MEMORY_BYTES_MAX: Final = 32 * 1024 * 1024  # a process without a folder keeps about a tenth of that
VALUES_MIN: Final = 8  # a value larger than this part of the cache would drive out too many others
KEY_BYTES: Final = 32
SEAL_BYTES: Final = 16
# SQLite's codes for a file that is sound but out of reach: kept for the next try. Any other is damage.
OUT_OF_REACH: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)

T = TypeVar("T")
logger = logging.getLogger(__name__)


def hashed(*parts: str) -> bytes:
    """One hash of the parts with their lengths: no two divisions of the same characters agree."""
    state = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        state.update(len(content).to_bytes(8, "big"))
        state.update(content)
    return state.digest()


def sealed(key: bytes, value: bytes) -> bytes:
    """The value behind a hash over its key and itself."""
    return blake2b(key + value, digest_size=SEAL_BYTES).digest() + value


def opened(key: bytes, stored: bytes | None) -> bytes | None:
    """The value in what `sealed` gave, or None where a byte of it changed or it belongs to another key."""
    if stored is None or sealed(key, stored[SEAL_BYTES:]) != stored:
        return None
    return stored[SEAL_BYTES:]


class DiskCache:
    """A cache in a folder of its own. See `actormem.ports.Cache`.

    One thread owns the database, opened at the first use. The least recently used go first when the file
    reaches `size_bytes_max`.

    Args:
        folder: Where the file lies; made where it is missing. Nothing else may be in it.
        size_bytes_max: Size of the file, nearly: it may pass it by one value.
        aside: Takes damaged files; None: they are removed.
    """

    def __init__(
        self, folder: Path, *, size_bytes_max: int = SIZE_BYTES_MAX, aside: SetAside | None = None
    ) -> None:
        self._folder = folder.absolute()
        self._size_bytes_max = size_bytes_max
        self._limiter = CapacityLimiter(1)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="actormem-cache")
        self._database: BytesDatabase | None = None
        self._aside = aside
        self._closed = False
        self._warned = ""

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        places = [hashed(owner.tenant, owner.user, key) for key in keys]
        return await self._run(lambda: self._get(places), [None] * len(places))

    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None:
        tag = hashed(owner.tenant, owner.user).hex()
        values = {hashed(owner.tenant, owner.user, key): value for key, value in entries.items()}
        await self._run(lambda: self._put(tag, values), None)

    async def drop_owner(self, owner: Owner) -> None:
        tag = hashed(owner.tenant, owner.user).hex()
        await self._run(lambda: self._drop(tag), None)

    async def aclose(self) -> None:
        """Close the file, cancelled or not; from here on the cache is empty and stores nothing."""
        with CancelScope(shield=True):
            await self._run(self._close, None)
        self._closed = True
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], T], otherwise: T) -> T:
        # The outer thread only waits, and may be left waiting: the inner one takes one call after another,
        # and is always the same, for diskcache keeps a connection per thread.
        return await to_thread.run_sync(
            self._wait, work, otherwise, limiter=self._limiter, abandon_on_cancel=True
        )

    def _wait(self, work: Callable[[], T], otherwise: T) -> T:
        if self._closed:
            return otherwise
        try:
            future = self._thread.submit(self._guarded, work, otherwise)
        except RuntimeError:  # closed since
            return otherwise
        return future.result()

    # --- in the cache's own thread -----------------------------------------------------------------

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        try:
            if self._aside is not None:
                self._aside.expire()
            return work()
        except Exception as error:  # damaged files raise nearly anything, and a cache never raises
            self._warn("the cache failed", error)
            if damaged(error):
                self._set_aside()
            return otherwise

    def _warn(self, message: str, error: Exception) -> None:
        """Say it once in a row: a full disk fails at every call."""
        name = type(error).__name__
        if name != self._warned:
            logger.warning("%s (%s): %s", message, name, self._folder)
            self._warned = name

    def _open(self) -> BytesDatabase:
        if self._database is None:
            if self._aside is not None and misplaced(self._folder):
                self._set_aside()
            try:
                self._database = open_bytes_database(self._folder, self._size_bytes_max)
            except Exception as error:
                if not damaged(error):
                    raise
                self._warn("the cache begins anew", error)
                self._set_aside()
                self._database = open_bytes_database(self._folder, self._size_bytes_max)
        return self._database

    def _get(self, places: Sequence[bytes]) -> list[bytes | None]:
        database = self._open()
        with database.transact():
            return [opened(place, database.get(place)) for place in places]

    def _put(self, tag: str, values: Mapping[bytes, bytes]) -> None:
        database = self._open()
        with database.transact():
            for place, value in values.items():
                if len(value) > self._size_bytes_max // VALUES_MIN:
                    database.delete(place)
                else:
                    database.set(place, sealed(place, value), tag=tag)

    def _drop(self, tag: str) -> None:
        """Remove the owner's rows and what evicted ones left behind; where that fails, all there is."""
        if self._aside is not None:
            self._aside.clear()
        try:
            self._open().evict(tag)
            scrub(self._folder / DATABASE_NAME)
        except Exception:
            self._remove()
            raise

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _set_aside(self) -> None:
        """Begin anew, with what is damaged out of the way. Whatever else lies in the folder is not ours."""
        if self._aside is None:
            self._remove()
            return
        self._give_up()
        whole = self._folder.exists() and not self._folder.is_dir()
        self._aside.take([self._folder] if whole else database_files(self._folder), "cache")

    def _remove(self) -> None:
        """Forget the database and its files."""
        self._give_up()
        for path in database_files(self._folder):
            removed(path)

    def _give_up(self) -> None:
        with suppress(Exception):  # whatever it says
            self._close()
        self._database = None


def database_files(folder: Path) -> list[Path]:
    """The files that a database may have."""
    return [folder / (DATABASE_NAME + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def misplaced(folder: Path) -> bool:
    """Whether something else than a file stands where a file belongs, or a file where the folder does."""
    return (folder.exists() and not folder.is_dir()) or any(
        path.exists() and not path.is_file() for path in database_files(folder)
    )


def scrub(path: Path) -> None:
    """Write the file anew without its free parts, and empty its log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("VACUUM")
        busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise OSError("the write-ahead log is held by another program")


def damaged(error: Exception) -> bool:
    """Whether the file is not what we wrote, rather than locked, full or out of reach."""
    if isinstance(error, sqlite3.Error):
        code: int = getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR
        return code & 0xFF not in OUT_OF_REACH
    return not isinstance(error, (OSError, diskcache.Timeout))


class MemoryCache:
    """A cache in memory. See `actormem.ports.Cache`. The least recently used go first.

    Args:
        size_bytes_max: Keys and values together.
    """

    def __init__(self, *, size_bytes_max: int = MEMORY_BYTES_MAX) -> None:
        self.size_bytes = 0
        self._size_bytes_max = size_bytes_max
        self._values: OrderedDict[tuple[Owner, str], bytes] = OrderedDict()

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        return [self._get((owner, key)) for key in keys]

    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None:
        for key, value in entries.items():
            self._remove((owner, key))
            size_bytes = len(key) + len(value)
            if size_bytes <= self._size_bytes_max // VALUES_MIN:
                self._values[owner, key] = value
                self.size_bytes += size_bytes
        while self.size_bytes > self._size_bytes_max:
            self._remove(next(iter(self._values)))

    async def drop_owner(self, owner: Owner) -> None:
        for place in [place for place in self._values if place[0] == owner]:
            self._remove(place)

    async def aclose(self) -> None:
        self._values.clear()
        self.size_bytes = 0

    def _get(self, place: tuple[Owner, str]) -> bytes | None:
        value = self._values.get(place)
        if value is not None:
            self._values.move_to_end(place)
        return value

    def _remove(self, place: tuple[Owner, str]) -> None:
        value = self._values.pop(place, None)
        if value is not None:
            self.size_bytes -= len(place[1]) + len(value)
