"""Words and tables for a terminal."""

import unicodedata
from collections.abc import Sequence

from actormem import Trace

__all__ = ["Calls", "clip", "percentile", "table"]


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
        return stable / self.sent_tokens if self.traces else 0.0

    @property
    def largest_tokens(self) -> int:
        """Tokens of the largest context."""
        return max((trace.tokens for trace in self.traces), default=0)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies; nearest rank, 0.0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def table(rows: Sequence[Sequence[str]]) -> str:
    """The rows in columns; wide characters count twice, as terminals show them."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def width(text: str) -> int:
    """Columns a text takes in a terminal."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def clip(text: str, around: str, columns: int) -> str:
    """The text in at most so many columns, with `around` in it."""
    place = max(0, text.find(around))
    first = max(0, place - columns // 4)
    cut = ("…" if first else "") + text[first:]
    while width(cut) > columns:
        cut = cut[:-2] + "…"
    return cut
