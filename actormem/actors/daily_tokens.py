"""How many tokens of background LLM calls each owner may have in a day, and has had.

The law of the file: what is taken never exceeds the limit of one UTC day by the runtime's clock, as we count. What
was taken is kept in the cache, so that a restart does not forget it; a cache may be lost, and then the day begins
anew.
"""

from collections import OrderedDict

from actormem.core.values import Owner
from actormem.kernel import Clock
from actormem.ports import Cache

__all__ = ["DailyTokens"]

DAY_MS = 86_400_000
OWNERS_MAX = 10_000  # whose figures are in memory; those of others are read from the cache again


class DailyTokens:
    """The daily allowance of every owner.

    Args:
        limit: Tokens an owner may have in a day; None for no limit, and then nothing is kept.
    """

    def __init__(self, cache: Cache, clock: Clock, limit: int | None) -> None:
        self._cache = cache
        self._clock = clock
        self._limit = limit
        self._taken: OrderedDict[Owner, tuple[int, int]] = OrderedDict()

    async def take(self, owner: Owner, tokens: int) -> bool:
        """Take so many tokens of what the owner has left of today; False, and nothing taken, where it is too few."""
        if self._limit is None:
            return True
        day, taken = await self._today(owner)
        if taken + tokens > self._limit:
            return False
        await self._keep(owner, day, taken + tokens)
        return True

    async def give_back(self, owner: Owner, tokens: int) -> None:
        """Give back what was taken and not used; less than 0 where more was used."""
        if self._limit is not None and tokens:
            day, taken = await self._today(owner)
            await self._keep(owner, day, max(0, taken - tokens))

    async def _today(self, owner: Owner) -> tuple[int, int]:
        day = self._clock.now_ms() // DAY_MS
        if self._taken.get(owner, (0, 0))[0] != day:
            [stored] = await self._cache.get_many(owner, [cache_key(day)])
            if self._taken.get(owner, (0, 0))[0] != day:  # nobody else has read it meanwhile
                self._taken[owner] = (day, number_of(stored))
        self._taken.move_to_end(owner)
        while len(self._taken) > OWNERS_MAX:
            self._taken.popitem(last=False)
        return self._taken[owner]

    async def _keep(self, owner: Owner, day: int, taken: int) -> None:
        self._taken[owner] = (day, taken)
        await self._cache.put_many(owner, {cache_key(day): str(taken).encode()})


def cache_key(day: int) -> str:
    return f"llm_tokens:{day}"


def number_of(stored: bytes | None) -> int:
    """The number; 0 where there is none, or it is none of ours."""
    return int(stored) if stored is not None and stored.isdigit() else 0
