"""Are figures worse than they were? Ratios of two runs, and which of them are beyond a tolerance.

Only figures whose name says which way is better are judged; results of other settings are not compared.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.report import Result, table

__all__ = ["Change", "Measured", "better", "changes", "read_results", "shown", "uncompared"]

MORE = (
    "_per_s",
    "prefix",
    "answered",
    "survived",
    "mrr",
    "recall_at_1",
    "recall_at_5",
    "recall_at_10",
    "graph_recall",
)
LESS = (
    "_ms",
    "_us",
    "_s",
    "_bytes",
    "sent",
    "over",
    "degraded_count",
    "foreign_count",
    "_tokens",
    "times_queue",
)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the JSON file of a whole set holds; `not_run` says why, by name."""

    results: tuple[Result, ...]
    not_run: dict[str, str] = {}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A figure in both runs; `ratio` is new to old, and `worse` says that it is beyond the tolerance."""

    where: str
    old: float
    new: float
    ratio: float
    worse: bool


def read_results(path: Path) -> tuple[Result, ...]:
    """The results in a file of one benchmark or of a set.

    Raises:
        ValueError: It is neither.
        OSError: It cannot be read.
    """
    raw = path.read_bytes()
    try:
        return msgspec.json.decode(raw, type=Measured).results
    except msgspec.DecodeError:
        pass
    try:
        return (msgspec.json.decode(raw, type=Result),)
    except msgspec.DecodeError as wrong:
        raise ValueError(f"{path} holds no results of benchmarks: {wrong}") from None


def better(figure: str) -> int:
    """1 where more is better, -1 where less is, 0 where the name does not say."""
    if figure.endswith(MORE):
        return 1
    return -1 if figure.endswith(LESS) else 0


def changes(old: Sequence[Result], new: Sequence[Result], tolerance: float) -> list[Change]:
    """Every judged figure that both have, in the order of the new ones.

    Args:
        tolerance: 0.2 lets a figure be a fifth worse: 1.2 times as slow, or as many a second divided by 1.2.
    """
    before = {one.name: one for one in old}
    return [
        change
        for one in new
        if one.name in before and one.settings == before[one.name].settings
        for change in _changes(before[one.name], one, tolerance)
    ]


def _changes(old: Result, new: Result, tolerance: float) -> Iterator[Change]:
    for row, figures in new.figures.items():
        for figure, one in figures.items():
            was, way = old.figures.get(row, {}).get(figure), better(figure)
            if was is None or not way:
                continue
            ratio = _ratio(was.median, one.median)
            harm = ratio if way < 0 else 1 / ratio if ratio else math.inf
            yield Change(
                where=f"{new.name} · {row} · {figure}",
                old=was.median,
                new=one.median,
                ratio=ratio,
                worse=harm > 1 + tolerance,
            )


def _ratio(old: float, new: float) -> float:
    if old == new:
        return 1.0
    return new / old if old else math.inf


def uncompared(old: Sequence[Result], new: Sequence[Result]) -> list[str]:
    """A line for each new result that has nothing to be compared with."""
    before = {one.name: one for one in old}
    return [
        f"{one.name}: {'other settings' if one.name in before else 'not in the old file'}, not compared"
        for one in new
        if one.name not in before or one.settings != before[one.name].settings
    ]


def shown(found: Sequence[Change], tolerance: float) -> str:
    """The table of ratios, and what it means."""
    rows = [
        [one.where, f"{one.old:,.4g}", f"{one.new:,.4g}", f"{one.ratio:.2f}", "WORSE" if one.worse else ""]
        for one in found
    ]
    count = sum(one.worse for one in found)
    told = f"{count} of {len(found)} figures are worse by more than {tolerance:.0%}"
    return f"{table(['figure', 'old', 'new', 'ratio', ''], rows)}\n\n{told}"
