"""Figures and their spread: medians over repeats, percentiles, and the tables they are shown in."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, TypeAlias

import msgspec

__all__ = [
    "Column",
    "Found",
    "Spread",
    "columns_of",
    "over_repeats",
    "percentile",
    "single",
    "spread",
    "spread_table",
    "spreads",
    "table",
    "tables_of",
]

COLUMNS_MAX = 13  # side by side


class Spread(msgspec.Struct, frozen=True):
    """The median of repeats of one measurement, and the least and the greatest of them."""

    median: float
    least: float
    greatest: float


class Column(msgspec.Struct, frozen=True):
    """A figure as it is shown.

    Attributes:
        figure: Its name in the JSON file.
        form: How a number of it is written.
        better: Which way it is better; empty where neither is: then it is not judged against an older run.
    """

    title: str
    figure: str
    form: str = "{:,.1f}"
    better: Literal["less", "more", ""] = ""

    def title_among(self, others: Sequence["Column"]) -> str:
        """Its title; the words of the figure's name where another column of a table has the same title."""
        alike = sum(other.title == self.title for other in others)
        words = self.figure.replace("_times_", " × ").replace("_per_", " / ").replace("_", " ")
        return words if alike > 1 else self.title

    def cell(self, value: float | None) -> str:
        """The number as it is written; `-` where there is none."""
        return "-" if value is None else self.form.format(value)


Found: TypeAlias = Mapping[str, Mapping[str, Spread]]
"""Spreads by row and figure."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: In any order; at least one.
        share: 0 to 1.
    """
    ordered = sorted(values)
    return next(value for place, value in enumerate(ordered, 1) if place >= share * len(ordered))


def spread(values: Sequence[float]) -> Spread:
    """Median, least and greatest of one or more values."""
    return Spread(float(median(values)), float(min(values)), float(max(values)))


def single(found: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Spread]]:
    """Figures that were measured once, as spreads of one value."""
    return {row: {name: spread([value]) for name, value in figures.items()} for row, figures in found.items()}


def spreads(runs: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """The spreads of figures that every repeat has."""
    return {name: spread([one[name] for one in runs]) for name in runs[0]}


def over_repeats(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, dict[str, Spread]]:
    """The same for each row."""
    return {row: spreads(each) for row, each in runs.items()}


def columns_of(found: Found) -> tuple[Column, ...]:
    """A column for every figure, for a benchmark that names none."""
    names = dict.fromkeys(name for figures in found.values() for name in figures)
    return tuple(Column(name.replace("_", " "), name, "{:,.3g}") for name in names)


def tables_of(columns: Sequence[Column], found: Found) -> list[tuple[list[Column], Found]]:
    """The tables that show it: one; where there are more columns than fit, one for each set of rows that has them."""
    if len(columns) <= COLUMNS_MAX:
        return [(list(columns), found)]
    parts: dict[tuple[str, ...], list[Column]] = {}
    for column in columns:
        rows = tuple(row for row, figures in found.items() if column.figure in figures)
        parts.setdefault(rows, []).append(column)
    return [(each, {row: found[row] for row in rows}) for rows, each in parts.items() if rows]


def spread_table(title: str, columns: Sequence[Column], found: Found) -> str:
    """A row of medians for each row, and below it the least and the greatest where they differ."""
    rows: list[list[str]] = []
    for row, figures in found.items():
        given = [(column, figures.get(column.figure)) for column in columns]
        rows.append([row, *(column.cell(one.median if one else None) for column, one in given)])
        if any(one and one.least < one.greatest for _, one in given):
            rows.append(["", *(_range(column, one) for column, one in given)])
    return table([title, *(column.title for column in columns)], rows)


def _range(column: Column, one: Spread | None) -> str:
    return f"{column.cell(one.least)}–{column.cell(one.greatest)}" if one and one.least < one.greatest else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows below the header, words in the first column to the left and figures to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(size) if column else cell.ljust(size)
            for column, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
