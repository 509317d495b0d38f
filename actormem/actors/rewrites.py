"""The newest rewrites of queries, and how the calls for them went: the memory behind `rewriting`.

The law of the file: rewrites serve their owner alone, for a minute at most, and are only ever in this process's
memory. Who waits less than the LLM has just taken three times in a row does not ask it for a while.
"""

from collections import OrderedDict
from typing import Final

from actormem.actors.resting import Resting
from actormem.core.values import Owner
from actormem.kernel import Clock
from actormem.limits import LLM_REST_S, LLM_TRIES

__all__ = ["Rewrites"]

KEPT_S: Final = 60.0
KEPT_MAX: Final = 1_024  # queries of all owners


class Rewrites:
    """What one runtime's LLM gave for queries.

    Attributes:
        resting: How its calls went.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[Owner, str], tuple[float, tuple[str, ...]]] = OrderedDict()
        self.resting = Resting(clock, tries=LLM_TRIES, rest_s=LLM_REST_S)

    def find(self, owner: Owner, query: str) -> tuple[str, ...] | None:
        """The rewrites of the query, None where there are none from the last minute; empty where none would help."""
        until_s, found = self._kept.get((owner, query), (0.0, None))
        return found if self._clock.monotonic_s() < until_s else None

    def keep(self, owner: Owner, query: str, found: tuple[str, ...]) -> None:
        """Keep rewrites for a minute; what is older goes."""
        now_s = self._clock.monotonic_s()
        self._kept[owner, query] = (now_s + KEPT_S, found)
        self._kept.move_to_end((owner, query))
        while len(self._kept) > KEPT_MAX or next(iter(self._kept.values()))[0] <= now_s:
            self._kept.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Keep none of an owner's."""
        for place in [place for place in self._kept if place[0] == owner]:
            del self._kept[place]
