"""Models that fail at the call you choose, for tests of your own agents: each stands before one that works.

Law: one call fails, every other is passed on; so a test that fails the first call, then the second, until none is
left to fail, has seen every place in which a model can fail. `FailingRecord` does the same for the disk.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import anyio
import numpy as np

from actormem.core.values import JsonValue, Owner
from actormem.errors import ProviderError
from actormem.kernel.clock import Clock
from actormem.ports import LLM, Cache, Embedder, Vectors
from actormem.testing.failing_record import DiskFault, FailingRecord

__all__ = ["DiskFault", "FailingCache", "FailingEmbedder", "FailingLLM", "FailingRecord", "ModelFault"]

ModelFault: TypeAlias = Literal["error", "bug", "hang", "drip", "garbage"]
"""`error`: a ProviderError. `bug`: an exception that the port does not allow. `hang`: no answer until it is cancelled.
`drip`: the answer, when nearly all of the deadline has passed. `garbage`: an answer that is none."""

DRIP_SHARE: Final = 0.9  # of the deadline
DRIP_S: Final = 30.0  # where no deadline is given
GARBAGE: Final = '\ufffd\x00{"facts": [[["\x1b[2J'


class Failing:
    """Which call fails, and how.

    Attributes:
        call_count: Calls so far.
        hanging_count: Calls that hang or drip now: let the fake clock go on while there is one.
    """

    def __init__(self, name: str, *, at: int, fault: ModelFault, clock: Clock) -> None:
        self.call_count = 0
        self.hanging_count = 0
        self._at = at
        self._fault = fault
        self._clock = clock
        self._name = name

    @property
    def failed(self) -> bool:
        """Whether the call that was to fail has come."""
        return self.call_count >= self._at

    async def suffered(self, deadline_s: float) -> bool:
        """Count a call and let it fail; True where its answer is to be garbage."""
        self.call_count += 1
        if self.call_count != self._at:
            return False
        if self._fault == "error":
            raise ProviderError("fails as it was told to", provider=self._name)
        if self._fault == "bug":
            raise RuntimeError("fails as it was told to")
        if self._fault == "garbage":
            return True
        self.hanging_count += 1
        try:
            if self._fault == "hang":
                await anyio.sleep_forever()
            await self._clock.sleep(deadline_s * DRIP_SHARE)
        finally:
            self.hanging_count -= 1
        return False


class FailingLLM(Failing):
    """A chat model whose n-th call fails.

    Args:
        llm: Answers all other calls.
        at: Which call fails, from 1.
        fault: How; see `ModelFault`.
        clock: What `drip` is slept by.
    """

    def __init__(self, llm: LLM, *, at: int, fault: ModelFault, clock: Clock) -> None:
        super().__init__(llm.name, at=at, fault=fault, clock=clock)
        self._llm = llm

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def window_tokens(self) -> int:
        return self._llm.window_tokens

    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        tokens_max: int,
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """The answer of the model behind it, or the fault."""
        if await self.suffered(deadline_s):
            return GARBAGE
        return await self._llm.complete(messages, tokens_max=tokens_max, deadline_s=deadline_s, schema=schema)

    async def aclose(self) -> None:
        """Close the model behind it."""
        await self._llm.aclose()


class FailingCache(Failing):
    """A cache whose n-th call fails, be it to read, to keep or to drop; garbage is what it gives for every key.

    It breaks the promise of the port that a cache never raises: who uses it must outlive that too.

    Args:
        cache: Answers all other calls.
        at: Which call fails, from 1.
        fault: How; see `ModelFault`.
        clock: What `drip` is slept by.
    """

    def __init__(self, cache: Cache, *, at: int, fault: ModelFault, clock: Clock) -> None:
        super().__init__("cache", at=at, fault=fault, clock=clock)
        self._cache = cache

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]:
        """What the cache behind it has, or the fault."""
        if await self.suffered(DRIP_S):
            return [GARBAGE.encode() for _ in keys]
        return await self._cache.get_many(owner, keys)

    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None:
        """Kept by the cache behind it, or the fault."""
        if not await self.suffered(DRIP_S):
            await self._cache.put_many(owner, entries)

    async def drop_owner(self, owner: Owner) -> None:
        """Dropped by the cache behind it, or the fault."""
        await self.suffered(DRIP_S)
        await self._cache.drop_owner(owner)

    async def aclose(self) -> None:
        """Close the cache behind it."""
        await self._cache.aclose()


class FailingEmbedder(Failing):
    """An embedder whose n-th call of `embed` fails; garbage is a row too many, and no number in it.

    Args:
        embedder: Answers all other calls.
        at: Which call fails, from 1.
        fault: How; see `ModelFault`.
        clock: What `drip` is slept by.
    """

    def __init__(self, embedder: Embedder, *, at: int, fault: ModelFault, clock: Clock) -> None:
        super().__init__(embedder.name, at=at, fault=fault, clock=clock)
        self._embedder = embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def start(self) -> None:
        """Start the embedder behind it."""
        await self._embedder.start()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the embedder behind it, or the fault."""
        if await self.suffered(DRIP_S):
            return np.full((len(texts) + 1, self.dimensions), np.nan, np.float32)
        return await self._embedder.embed(texts)

    async def aclose(self) -> None:
        """Close the embedder behind it."""
        await self._embedder.aclose()
