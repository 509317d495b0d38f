"""Exact values as a model reads them: one line a key, within an allowance of tokens.

Law of the file: rows come in the order of one stated rule (`order.ranked`); a value is shown whole or not at all,
and once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.entities.keys import key_stem
from actormem.core.entities.rows import HAS_YEAR, EntityRow
from actormem.core.values import Entity

__all__ = ["EntityLines", "fitted"]

SAME_AS_NUMBERS: Final = frozenset({"amount", "percent", "phone"})  # two writings of one are shown once
MISFITS_MAX: Final = 12  # values too long for what is left; after so many nothing shorter is looked for


class EntityLines(msgspec.Struct, frozen=True):
    """Lines for a model, and the rows they show. Iterating and `len` are of the lines."""

    lines: tuple[str, ...] = ()
    rows: tuple[EntityRow, ...] = ()


def fitted(
    rows: Sequence[EntityRow],
    older: Mapping[tuple[str, str], EntityRow],
    tokens: int,
    count: Callable[[str], int],
) -> EntityLines:
    """The lines that fit an allowance: one a key, values in the order of the rows, none of them cut.

    Of one writing under several keys only the first is shown: the others would say it again.
    """
    groups: dict[str, list[tuple[EntityRow, str]]] = {}
    used = misfits = 0
    said: set[str] = set()
    for row in rows:
        if misfits >= MISFITS_MAX or used >= tokens:
            break
        value = row.entity.normal if row.entity.kind in SAME_AS_NUMBERS else row.entity.value
        if value in said or (row.entity.kind == "date" and row.entity.normal in said):
            continue
        stem = key_stem(row.entity.key)
        before = older.get((row.entity.kind, row.entity.key))
        shown = _written(row.entity)
        if before is not None and stem not in groups:
            shown = f"{shown} (was: {_written(before.entity)})"
        cost = count(f"; {shown}") if stem in groups else count(f"\n{row.entity.key}: {shown}")
        if used + cost > tokens:
            misfits += 1
            continue
        used += cost
        said.add(value)
        groups.setdefault(stem, []).append((row, shown))
    lines = _joined(groups)
    while groups and count("\n".join(lines)) > tokens:
        last = list(groups)[-1]
        groups[last].pop()
        if not groups[last]:
            del groups[last]
        lines = _joined(groups)
    return EntityLines(lines, tuple(row for group in groups.values() for row, _ in group))


def _joined(groups: Mapping[str, Sequence[tuple[EntityRow, str]]]) -> tuple[str, ...]:
    lines: list[str] = []
    for group in groups.values():
        values = [shown for _, shown in group]
        between = "; " if any("," in value for value in values) else ", "
        lines.append(f"{group[0][0].entity.key}: {between.join(values)}")
    return tuple(lines)


def _written(entity: Entity) -> str:
    """A value as a line shows it; a date that does not tell its year is followed by the day it means."""
    value = " ".join(entity.value.split())
    if entity.kind == "date" and not entity.normal.startswith("--") and not HAS_YEAR.search(value):
        return f"{value} ({entity.normal})"
    return value
