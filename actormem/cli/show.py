"""Words, figures and tables for a terminal; wide characters take two columns, as terminals show them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from actormem import Trace

__all__ = [
    "LINE_COLUMNS",
    "Calls",
    "clip",
    "many_lines",
    "moment",
    "one_line",
    "percentile",
    "plain",
    "table",
    "width",
]

LINE_COLUMNS = 100  # what a line may take
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # would steer the terminal


class Calls:
    """Figures of the contexts built so far."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []

    def add(self, trace: Trace) -> None:
        """Count a context."""
        self.traces.append(trace)

    @property
    def full_tokens(self) -> int:
        """Tokens of all requests together, had each held all of the history."""
        return sum(trace.full_tokens for trace in self.traces)

    @property
    def sent_tokens(self) -> int:
        """Tokens of all contexts together."""
        return sum(trace.tokens for trace in self.traces)

    @property
    def sent_share(self) -> float:
        """Tokens sent, as a share of what all of the history would have taken."""
        return self.sent_tokens / self.full_tokens if self.full_tokens else 0.0

    @property
    def prefix_share(self) -> float:
        """The share of all tokens sent that stood, byte for byte, at the beginning of the context before."""
        stable = sum(trace.stable_prefix_tokens for trace in self.traces)
        return stable / self.sent_tokens if self.sent_tokens else 0.0

    def degraded(self) -> list[tuple[str, str]]:
        """A row for the table, where a step of some context missed its deadline or failed; else none."""
        counts = Counter(name for trace in self.traces for name in trace.degraded)
        total = len(self.traces)
        return [
            ("missed deadlines", f"{name}: {missed} of {total} contexts") for name, missed in counts.items()
        ]

    @property
    def largest_tokens(self) -> int:
        """Tokens of the largest context."""
        return max((trace.tokens for trace in self.traces), default=0)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; nearest rank, 0.0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def table(rows: Sequence[Sequence[str]]) -> str:
    """The rows in columns."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def plain(text: str) -> str:
    """The text in one line, without what would steer a terminal: a log may hold anything."""
    return UNSEEN.sub("·", " ".join(text.split()))


def many_lines(text: str) -> str:
    """The text with its own lines and tabs, without what would steer a terminal."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in "\n\t" else "·", text)


def moment(time_ms: int, offset_minutes: int = 0) -> str:
    """The moment to the minute, on the clock of who spoke, with its zone: it reads the same next year."""
    zone = timezone(timedelta(minutes=offset_minutes))
    return datetime.fromtimestamp(time_ms / 1000, UTC).astimezone(zone).isoformat(" ", "minutes")


def one_line(error: BaseException) -> str:
    """The error's words, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror.lower()}: {error.filename}" if error.filename else error.strerror.lower()
    return " ".join(str(error).split())


def width(text: str) -> int:
    """Columns a text takes in a terminal."""
    return sum(map(_columns, text))


def clip(text: str, columns: int, *, around: str = "") -> str:
    """The text in at most so many columns, with `around` in it; what is cut is marked by `…`."""
    if width(text) <= columns:
        return text
    place = text.find(around)
    first = max(0, place)
    room = columns // 4  # what stands before, to read it by
    while first > 0 and room >= _columns(text[first - 1]):
        first -= 1
        room -= _columns(text[first])
    mark = "…" if first else ""
    return mark + _beginning(text[first:], columns - len(mark))


def _beginning(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns - 1:
            return text[:place] + "…"
    return text


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
