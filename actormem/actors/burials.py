"""When something of an owner was last forgotten, at the latest: what was said after that may be remembered.

The law of the file: a time that is told is never too early, or words that were forgotten would come back; and where
nothing was forgotten since the folder was opened it is that moment, so that what is said then counts.
"""

from typing import Final

from actormem.core.values import Owner

__all__ = ["Burials"]

OWNERS_MAX: Final = 10_000  # beyond them all are taken to have forgotten something just now


class Burials:
    """The newest forgetting of each owner in this process.

    Args:
        opened_ms: When the folder was opened, UTC milliseconds: what is forgotten in it was so before.
    """

    def __init__(self, opened_ms: int) -> None:
        self._floor_ms = opened_ms - 1  # what is said in the moment of opening was not there before
        self._latest_ms: dict[Owner, int] = {}

    def note(self, owner: Owner, now_ms: int) -> None:
        """Something of the owner is forgotten now."""
        if len(self._latest_ms) >= OWNERS_MAX:
            self._latest_ms.clear()
            self._floor_ms = now_ms
        self._latest_ms[owner] = now_ms

    def last_ms(self, owner: Owner) -> int:
        """Before or at which all that is forgotten of the owner was forgotten."""
        return self._latest_ms.get(owner, self._floor_ms)
