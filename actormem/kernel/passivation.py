"""Which actors stay in memory: least recently used idle ones leave first.

Law of this file: it only asks an actor to rest; whether it may is decided by the actor's own loop.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from typing import Generic, Protocol, TypeVar

from actormem.kernel.clock import Clock

__all__ = ["Resident", "Residents"]

SHED_COUNT = 32
"""Actors looked at when there are too many: bounds the work a message may cause."""
SWEEP_COUNT = 64
"""Actors looked at between two checkpoints of the sweep: about 1 ms."""
RIPE_S = 1e-6
"""Rounding of float seconds: what is due within this is due now."""


class Resident(Protocol):
    """An actor in memory, as far as passivation is concerned."""

    used_s: float

    def is_idle(self) -> bool:
        """True if it could rest now."""
        ...

    def rest(self) -> None:
        """Ask it to rest."""
        ...


Member = TypeVar("Member", bound=Resident)


class Residents(Generic[Member]):
    """Actors of one kind in memory, ordered by last use, oldest first."""

    __slots__ = ("_clock", "_idle_s", "_leaving", "_limit", "_members", "get")

    def __init__(self, clock: Clock, *, idle_s: float | None, limit: int | None) -> None:
        self._clock = clock
        self._idle_s = idle_s
        self._limit = limit
        self._members: OrderedDict[Hashable, Member] = OrderedDict()
        self._leaving: set[Hashable] = set()
        self.get: Callable[[Hashable], Member | None] = self._members.get
        """The actor of a key, if it is in memory: asked for each message, so nothing stands between."""

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def enter(self, key: Hashable, member: Member) -> None:
        """A new one; it may send an idle one to rest."""
        assert key not in self._members, "one activation for each key"
        self._members[key] = member
        self.shed()

    def leave(self, key: Hashable) -> None:
        """It has ended."""
        del self._members[key]
        self._leaving.discard(key)

    def stay(self, key: Hashable) -> None:
        """It was asked to rest and did not."""
        self._leaving.discard(key)

    def touch(self, key: Hashable, member: Member) -> None:
        """It was used just now."""
        member.used_s = self._clock.monotonic_s()
        self._members.move_to_end(key)

    def shed(self) -> None:
        """Ask the least recently used idle ones to rest, if there are more than the limit."""
        if self._limit is None:
            return
        excess = len(self._members) - len(self._leaving) - self._limit
        if excess <= 0:
            return
        for key in list(islice(self._members, SHED_COUNT)):
            if excess <= 0:
                return
            if key not in self._leaving and self._ask(key, self._members[key]):
                excess -= 1

    def expire(self) -> float:
        """Ask those to rest that were idle for `idle_s`. Returns seconds until the next look."""
        assert self._idle_s is not None
        for _ in range(SWEEP_COUNT):
            if not self._members:
                return self._idle_s
            key, member = next(iter(self._members.items()))
            left_s = member.used_s + self._idle_s - self._clock.monotonic_s()
            if left_s > RIPE_S:
                return left_s
            self._ask(key, member)
        return 0.0

    async def sweep(self) -> None:
        """Expire for ever."""
        while True:
            await self._clock.sleep(self.expire())

    def _ask(self, key: Hashable, member: Member) -> bool:
        # To the end of the line in any case: one that is busy counts as used, and the line keeps its order.
        self.touch(key, member)
        if not member.is_idle():
            return False
        self._leaving.add(key)
        member.rest()
        return True
