"""When something of an owner was last forgotten, at the latest: what was said after that may be remembered.

The law of the file: a time that is told is never too early, or words that were forgotten would come back; and where
nothing was forgotten since the folder was opened it is that moment, so that what is said then counts.
"""

from collections.abc import Iterable
from typing import Final

from actormem.actors.moments import Moments
from actormem.core.facts.remember import text_hash
from actormem.core.values import Message, Owner

__all__ = ["Burials", "BuriedTexts"]

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


class BuriedTexts:
    """Texts of one owner that are not to be taken in again, unless the user says them anew."""

    def __init__(self, owner: Owner, burials: Burials, moments: Moments) -> None:
        self._owner = owner
        self._burials = burials
        self._moments = moments
        self._buried_ms: dict[str, int] = {}  # by hash, and at the latest

    def __contains__(self, text: str) -> bool:
        return text_hash(text) in self._buried_ms

    def load(self, hashes: Iterable[str]) -> None:
        """Take in what was buried before, as the record has it."""
        self._buried_ms.update(dict.fromkeys(hashes, self._burials.last_ms(self._owner)))

    def bury(self, hashes: Iterable[str]) -> None:
        """These are forgotten now."""
        now_ms = self._moments.now_ms()
        self._burials.note(self._owner, now_ms)
        self._buried_ms.update(dict.fromkeys(hashes, now_ms))

    def raise_up(self, text: str) -> None:
        """A caller states it again."""
        self._buried_ms.pop(text_hash(text), None)

    def covers(self, text: str, message: Message, *, imported: bool) -> bool:
        """Whether the text was forgotten, and this message does not say it anew since."""
        buried_ms = self._buried_ms.get(text_hash(text))
        return buried_ms is not None and (imported or message.time_ms <= buried_ms)
