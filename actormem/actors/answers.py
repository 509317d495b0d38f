"""Answers given a moment ago: who asks the same again of a memory that has not changed gets the same.

The law of the file: an answer serves for a minute at most, never past a change of the partition or the end of one
of its items, and only to questions that depend on nothing but the memory.
"""

from collections import OrderedDict
from typing import Final, TypeAlias

from actormem.actors.memory_messages import Recalled, RecallItems
from actormem.core.recall.partition import Partition
from actormem.kernel import Clock

__all__ = ["RecentAnswers"]

KEPT_S: Final = 60.0
KEPT_MAX: Final = 32  # questions of one owner
Key: TypeAlias = tuple[object, ...]


class RecentAnswers:
    """The newest answers of one owner's memory."""

    def __init__(self, partition: Partition, clock: Clock) -> None:
        self._partition = partition
        self._clock = clock
        self._version = partition.version
        self._kept: OrderedDict[Key, tuple[float, Recalled]] = OrderedDict()

    def clear(self) -> None:
        """Keep none of them: something was taken out, and is to be nowhere."""
        self._kept.clear()

    def find(self, asked: RecallItems) -> Recalled | None:
        """The answer to the same question, if there is one that still holds."""
        if self._version != self._partition.version:
            self._kept.clear()
        key = question(asked)
        until_s, answer = self._kept.get(key, (0.0, None)) if key else (0.0, None)
        return answer if self._clock.monotonic_s() < until_s else None

    def keep(self, asked: RecallItems, answer: Recalled, version: int) -> None:
        """Keep an answer, if others may be given it.

        Args:
            version: The partition's when the search began: a vector may have come while it ran.
        """
        key = question(asked)
        if key is None or asked.vectors is None or version != self._partition.version:
            return
        if self._version != self._partition.version:
            self._kept.clear()
            self._version = self._partition.version
        now_ms = self._clock.now_ms()
        ends = [hit.item.expires_ms - now_ms for hit in answer.hits if hit.item.expires_ms]
        kept_s = min(KEPT_S, min(ends, default=KEPT_S * 1000) / 1000)
        self._kept[key] = (self._clock.monotonic_s() + kept_s, answer)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)


def question(asked: RecallItems) -> Key | None:
    """What tells questions apart; None for one of a session, whose answer depends on what it has shown."""
    if asked.session_id or asked.shown or asked.profile or not asked.query:
        return None
    return (
        asked.query,
        asked.limit,
        asked.kinds,
        asked.min_score,
        asked.at_ms,
        asked.scope,
        asked.deep,
        asked.asked_ms,
        asked.offset_minutes,
    )
