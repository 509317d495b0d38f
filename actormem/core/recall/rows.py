"""What a partition knows of each row besides its words: a table of numbers, one column a field.

A row is the place of an item while it is in the partition; the place of a removed item is used again.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actormem.core.recall.concepts import CONCEPT_COUNT
from actormem.core.recall.cues import ANSWER_TYPES, answer_types, question_share
from actormem.core.recall.day_ranges import TOLD_DAYS, told_days
from actormem.core.recall.named_dates import day_number
from actormem.core.values import Item

__all__ = ["KINDS", "NameNumbers", "RowTable"]

KINDS: Final = ("fact", "preference", "event", "episode", "summary", "knowledge")
COLUMNS: Final = (
    "live", "stale", "superseded", "has_vector", "has_window", "assistant", "types", "kind", "day",
    "told", "concepts", "session", "speaker", "scope", "archived", "event_ms", "sequence", "expires_ms", "question",
    "importance",
)  # fmt: skip
ROWS_FIRST: Final = 64  # room to begin with; doubled when full
ROWS_STEP_MAX: Final = 8_192  # room added at once: doubling a large table would hold the loop


class RowTable:
    """Numbers of each row, as numpy columns of `capacity` places."""

    def __init__(self) -> None:
        self.capacity = 0
        self.limit = 0
        self._free: list[int] = []
        self._assistant_turns: dict[int, int] = {}
        self.live = np.zeros(0, np.bool_)
        self.stale = np.zeros(0, np.bool_)
        self.superseded = np.zeros(0, np.bool_)
        self.has_vector = np.zeros(0, np.bool_)
        self.has_window = np.zeros(0, np.bool_)
        self.assistant = np.zeros(0, np.bool_)
        self.types = np.zeros((0, ANSWER_TYPES), np.bool_)
        self.types_total = np.zeros(ANSWER_TYPES, np.int64)
        self.kind = np.zeros(0, np.int8)
        self.day = np.zeros(0, np.int32)
        self.told = np.zeros((0, TOLD_DAYS), np.int32)
        self.concepts = np.zeros((0, CONCEPT_COUNT), np.bool_)
        self.concepts_total = np.zeros(CONCEPT_COUNT, np.int64)
        self.session = np.zeros(0, np.int64)
        self.speaker = np.zeros(0, np.int64)
        self.scope = np.zeros(0, np.int64)
        self.archived = np.zeros(0, np.bool_)
        self.event_ms = np.zeros(0, np.int64)
        self.sequence = np.zeros(0, np.int64)
        self.expires_ms = np.zeros(0, np.int64)
        self.question = np.zeros(0, np.float32)
        self.importance = np.zeros(0, np.float32)

    def take_row(self) -> int:
        """A free row. The caller fills it; see `reserve` of the other columns when `capacity` has grown."""
        if self._free:
            return self._free.pop()
        if self.limit == self.capacity:
            self._grow(max(ROWS_FIRST, min(2 * self.capacity, self.capacity + ROWS_STEP_MAX)))
        self.limit += 1
        return self.limit - 1

    def free_row(self, row: int) -> None:
        """Give a row back."""
        self._count_assistant(row, -1)
        self.types_total -= self.types[row]
        self.note_concepts(row, ())
        self.assistant[row] = False
        self.live[row] = self.superseded[row] = self.archived[row] = False
        self.has_vector[row] = self.has_window[row] = self.stale[row] = False
        self.types[row] = False
        self._free.append(row)

    def fill(self, row: int, item: Item, session: int, speaker: int, scope: int) -> None:
        """Write what an item says of itself into its row."""
        types = answer_types(item.text)
        self.types_total += np.array(types, np.int64) - self.types[row]
        self.types[row] = types
        self._count_assistant(row, -1)
        self.live[row] = item.state == "live"
        self.superseded[row] = item.state == "superseded"
        self.archived[row] = item.state == "archived"
        self.assistant[row] = item.source == "assistant" or item.speaker == "assistant"
        self.kind[row] = KINDS.index(item.kind)
        day = day_number(item.event_ms, item.offset_minutes)
        self.day[row] = day
        self.told[row] = day
        told = told_days(item.text, day)
        self.told[row, : len(told)] = told
        self.session[row] = session
        self._count_assistant(row, 1)
        self.speaker[row] = speaker
        self.scope[row] = scope
        self.event_ms[row] = item.event_ms
        self.sequence[row] = item.sequence
        self.expires_ms[row] = item.expires_ms
        self.question[row] = question_share(item.text) if item.kind == "episode" else 0.0
        self.importance[row] = item.importance

    def note_concepts(self, row: int, concepts: Sequence[int]) -> None:
        """Note what a row speaks of; see `concepts_of`."""
        self.concepts_total -= self.concepts[row]
        self.concepts[row] = False
        self.concepts[row, list(concepts)] = True
        self.concepts_total += self.concepts[row]

    def mark_stale(self, row: int, stale: bool) -> None:
        """Note whether an episode states only what is no longer so."""
        self.stale[row] = stale

    def assistant_sessions(self) -> NDArray[np.int64]:
        """Numbers of the sessions in which an assistant speaks."""
        return np.fromiter(self._assistant_turns, np.int64, len(self._assistant_turns))

    def _count_assistant(self, row: int, change: int) -> None:
        if self.assistant[row]:
            session = int(self.session[row])
            turns = self._assistant_turns.get(session, 0) + change
            if turns:
                self._assistant_turns[session] = turns
            else:
                del self._assistant_turns[session]

    def _grow(self, capacity: int) -> None:
        more = capacity - self.capacity
        for name in COLUMNS:
            column: NDArray[np.generic] = getattr(self, name)
            blank = np.zeros((more, *column.shape[1:]), column.dtype)
            setattr(self, name, np.concatenate([column, blank]))
        self.capacity = capacity


class NameNumbers:
    """A number for each name in use; a name that nobody uses any more is forgotten."""

    def __init__(self) -> None:
        self._next = 0
        self._numbers: dict[str, int] = {}
        self._uses: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def use(self, name: str) -> int:
        """The number of a name, which has one more user."""
        if name not in self._numbers:
            self._numbers[name] = self._next
            self._next += 1
        self._uses[name] = self._uses.get(name, 0) + 1
        return self._numbers[name]

    def leave(self, name: str) -> None:
        """The name has one user less."""
        self._uses[name] -= 1
        if not self._uses[name]:
            del self._uses[name], self._numbers[name]
