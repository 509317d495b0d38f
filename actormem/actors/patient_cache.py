"""The cache as actors see it: one that fails or hangs costs the time to find out, and what it held.

The law of the file: what is read or kept may be lost, and is made anew; what was to be dropped may not, and is told.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from actormem.core.values import Owner
from actormem.errors import StorageError
from actormem.kernel import Clock
from actormem.ports import Cache

__all__ = ["PatientCache"]

WAIT_S: Final = 5.0  # a healthy disk needs milliseconds
DROP_WAIT_S: Final = 60.0  # of an owner with a large cache


class PatientCache:
    """A cache behind which another one stands. See `actormem.ports.Cache`; `drop_owner` alone may raise.

    Args:
        cache: Does the work; whatever it does.
        clock: Time of the waits.
    """

    def __init__(self, cache: Cache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        """What is kept, and None for the rest; in time."""
        with self._clock.deadline(WAIT_S):
            try:
                return await self._cache.get_many(owner, keys)
            except Exception:
                return [None for _ in keys]
        return [None for _ in keys]

    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None:
        """Keep it if that can be done in time."""
        with self._clock.deadline(WAIT_S):
            try:
                await self._cache.put_many(owner, entries)
            except Exception:
                return

    async def drop_owner(self, owner: Owner) -> None:
        """Drop all of the owner.

        Raises:
            StorageError: It is not known to be gone: the erasure that asked for it has not ended.
        """
        with self._clock.deadline(DROP_WAIT_S):
            try:
                await self._cache.drop_owner(owner)
            except Exception as error:
                raise StorageError(f"the cache failed ({type(error).__name__})", path="cache") from error
            return
        raise StorageError(f"the cache does not answer within {DROP_WAIT_S:g} s", path="cache")

    async def aclose(self) -> None:
        """Close the one behind it."""
        await self._cache.aclose()
