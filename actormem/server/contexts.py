"""The exact messages of the newest contexts, for whoever wants to see what a model saw. In memory alone, and bounded.

Law: what is forgotten or edited may stand in any context of its owner, so all of his go then; one that was in the
making meanwhile is not kept.
"""

from collections import Counter, OrderedDict
from typing import Any

import msgspec

from actormem import Owner, SessionKey

__all__ = ["SeenContexts"]

BYTES_MAX = 64 * 1024 * 1024
CONTEXTS_MAX = 4_096
DROPS_MAX = 100_000  # owners whose droppings are counted; beyond it all are counted anew, and nothing is kept


class SeenContexts:
    """Contexts by session and turn, the newest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[SessionKey, str], bytes] = OrderedDict()
        self._bytes = 0
        self._drops: Counter[Owner] = Counter()
        self._all_drops = 0

    def mark(self, owner: Owner) -> tuple[int, int]:
        """To be taken before a context is made, and given with it."""
        return self._all_drops, self._drops.get(owner, 0)

    def keep(
        self, key: SessionKey, turn_id: str, messages: list[dict[str, Any]], mark: tuple[int, int]
    ) -> None:
        """Keep the last context of a turn."""
        if mark != self.mark(key.owner):
            return
        body = msgspec.json.encode(messages)
        self._remove((key, turn_id))
        self._kept[key, turn_id] = body
        self._bytes += len(body)
        while self._kept and (self._bytes > BYTES_MAX or len(self._kept) > CONTEXTS_MAX):
            self._remove(next(iter(self._kept)))

    def find(self, key: SessionKey, turn_id: str) -> list[dict[str, Any]] | None:
        """The messages of a turn's last context; None where they are not held any more."""
        body = self._kept.get((key, turn_id))
        return None if body is None else msgspec.json.decode(body)

    def drop(self, owner: Owner) -> None:
        """Let go of all contexts of an owner."""
        self._drops[owner] += 1
        if len(self._drops) > DROPS_MAX:
            self.drop_all()
        for place in [one for one in self._kept if one[0].owner == owner]:
            self._remove(place)

    def drop_all(self) -> None:
        """Let go of all contexts."""
        self._all_drops += 1
        self._drops.clear()
        self._kept.clear()
        self._bytes = 0

    def _remove(self, place: tuple[SessionKey, str]) -> None:
        body = self._kept.pop(place, None)
        if body is not None:
            self._bytes -= len(body)
