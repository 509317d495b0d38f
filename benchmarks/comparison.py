"""Are figures worse than they were? Ratios of two runs, and which of them are beyond a tolerance.

Judged are our own rows alone, of them the figures whose column says which way is better, and of these what has a
measured spread only where the two spreads say the same. What an older run had and the new one lacks is worse, too;
results of other settings are not compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.figures import Spread
from benchmarks.report import Result, table

__all__ = ["Change", "Measured", "changes", "differences", "read_results", "shown", "uncompared"]

LOAD_APART = 1.0  # tasks that run or wait, as many as a core does
OF_THE_CODE = ("actormem", "commit")  # what is compared, and no circumstance of it


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the JSON file of a whole set holds; `not_run` says why, by name."""

    results: tuple[Result, ...]
    not_run: dict[str, str] = {}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the old run and what became of it.

    Attributes:
        old, new: Medians; None of a whole row or benchmark, and where nothing was measured now.
        ratio: New to old.
        worse: Beyond the tolerance, or not measured now.
    """

    where: str
    old: float | None = None
    new: float | None = None
    ratio: float | None = None
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


def changes(
    old: Sequence[Result], new: Sequence[Result], tolerance: float, not_run: Mapping[str, str] | None = None
) -> list[Change]:
    """Every judged figure of the old results whose benchmark was run again, in their order.

    Args:
        tolerance: 0.2 lets a figure be a fifth worse: 1.2 times as slow, or as many a second divided by 1.2.
        not_run: Names of those that were to be run again and could not.
    """
    again, found = {one.name: one for one in new}, list[Change]()
    for one in old:
        if one.name in (not_run or {}):
            found.append(Change(where=one.name, worse=True))
        elif one.name in again and again[one.name].settings == one.settings:
            found += _changes(one, again[one.name], tolerance)
    return found


def _changes(old: Result, new: Result, tolerance: float) -> Iterator[Change]:
    ways = {column.figure: column.better for column in (*old.columns, *new.columns) if column.better}
    for row, figures in old.figures.items():
        if row in (*old.peers, *new.peers):
            continue
        if row not in new.figures:
            yield Change(where=f"{new.name} · {row}", worse=True)
            continue
        for figure, was in figures.items():
            if figure in ways:
                now = new.figures[row].get(figure)
                yield _change(f"{new.name} · {row} · {figure}", was, now, ways[figure], tolerance)


def _change(where: str, was: Spread, now: Spread | None, better: str, tolerance: float) -> Change:
    if now is None:
        return Change(where=where, old=was.median, worse=True)
    return Change(
        where=where,
        old=was.median,
        new=now.median,
        ratio=_ratio(was.median, now.median),
        worse=_is_worse(was, now, better, tolerance),
    )


def _is_worse(was: Spread, now: Spread, better: str, tolerance: float) -> bool:
    """By the medians; where both were repeated, the spreads lie apart as well, or each end of them is worse."""

    def beyond(old: float, new: float) -> bool:
        ratio = _ratio(old, new) if better == "less" else _ratio(new, old)
        return ratio > 1 + tolerance

    if not beyond(was.median, now.median):
        return False
    if was.least == was.greatest or now.least == now.greatest:
        return True
    apart = now.least > was.greatest if better == "less" else now.greatest < was.least
    return apart or (beyond(was.least, now.least) and beyond(was.greatest, now.greatest))


def _ratio(old: float, new: float) -> float:
    if old == new:
        return 1.0
    return new / old if old else math.inf


def uncompared(old: Sequence[Result], new: Sequence[Result]) -> list[str]:
    """A line for each new result that has nothing to be compared with, whole or a row of ours."""
    before, lines = {one.name: one for one in old}, list[str]()
    for one in new:
        was = before.get(one.name)
        if was is None:
            lines.append(f"{one.name}: not in the old file, not compared")
        elif was.settings != one.settings:
            lines.append(f"{one.name}: other settings, not compared")
        else:
            rows = [row for row in one.figures if row not in was.figures and row not in one.peers]
            lines += [f"{one.name} · {row}: not in the old file, not compared" for row in rows]
    return lines


def differences(old: Sequence[Result], new: Sequence[Result]) -> list[str]:
    """What else than the code has changed, a line each: machine, Python, a version of what both had, the load."""
    before, lines = {one.name: one for one in old}, dict[str, None]()
    for one in new:
        was = before.get(one.name)
        if was is None:
            continue
        apart = _apart(was.machine, one.machine, without=("load",))
        apart |= _apart(was.versions, one.versions, without=OF_THE_CODE)
        lines |= dict.fromkeys(f"another {name}: {then}, now {now}" for name, (then, now) in apart.items())
        then, now = (result.load["before"][0] for result in (was, one))
        if abs(then - now) > LOAD_APART:
            lines[f"{one.name}: another load before it: {then:.1f}, now {now:.1f}"] = None
    return list(lines)


def _apart(
    old: Mapping[str, str], new: Mapping[str, str], without: Sequence[str]
) -> dict[str, tuple[str, str]]:
    both = {name: (old[name], new[name]) for name in old if name in new and name not in without}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def shown(found: Sequence[Change], tolerance: float) -> str:
    """The table of ratios, and what it means."""

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else form.format(value)

    rows = [
        [
            one.where,
            number(one.old, "{:,.4g}"),
            "not measured" if one.new is None else number(one.new, "{:,.4g}"),
            number(one.ratio, "{:.2f}"),
            "WORSE" if one.worse else "",
        ]
        for one in found
    ]
    count = sum(one.worse for one in found)
    told = f"{count} of {len(found)} are worse by more than {tolerance:.0%}, or not measured any more"
    return f"{table(['figure', 'old', 'new', 'ratio', ''], rows)}\n\n{told}"
