"""Exact values as a model reads them: one line a key, within an allowance of tokens.

Law of the file: the order is one stated rule (`ranked`), the same for every caller; a value is shown whole or
not at all.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from actormem.core.entities.keys import key_stem
from actormem.core.entities.rows import EntityRow
from actormem.core.values import Entity

__all__ = ["EntityLines", "fitted", "ranked"]

MISFITS_MAX: Final = 12  # values too long for what is left; after so many nothing shorter is looked for
FIELD_CHARS: Final = 24  # a longer field is prose: it costs as much as several ids and is less exact
PROSE_PLACE: Final = 4

_PLACE_OF_KIND: Final = {
    "id": 0, "hash": 0, "phone": 0, "email": 0, "address": 0, "name": 0, "url": 1,
    "file": 1, "amount": 1, "percent": 1,
    "date": 1, "time": 2, "version": 2, "duration": 2, "quantity": 2,
}  # fmt: skip
_HAS_YEAR: Final = re.compile(r"\d{4}|[一二][零〇一二三四五六七八九]{3}")


class EntityLines(msgspec.Struct, frozen=True):
    """Lines for a model, and the rows they show. Iterating and `len` are of the lines."""

    lines: tuple[str, ...] = ()
    rows: tuple[EntityRow, ...] = ()


def ranked(rows: Iterable[EntityRow]) -> list[EntityRow]:
    """Rows by the stated rule, most relevant first.

    First what the user gave or a tool was called with. Then ids and contacts before amounts and dates before
    measures before short fields before prose; what was said in words before what only a tool listed. Then
    the newest of each key, the second newest of each and so on, so that no long list crowds out a short
    one; then the most recently seen, then the most often seen.
    """
    taken: dict[tuple[int, int, int, str], int] = {}
    stems: dict[str, str] = {}
    ranked: list[tuple[tuple[int, ...], EntityRow]] = []
    for row in sorted(rows, key=lambda row: (-row.last_sequence, -row.seen_count)):
        place = _place(row.entity)
        given = (row.from_user or row.used) and place < PROSE_PLACE
        key = row.entity.key
        stem = stems[key] if key in stems else stems.setdefault(key, key_stem(key))
        group = int(not given), place, int(not row.said), stem
        turn = taken[group] = taken.get(group, 0) + 1
        ranked.append(((*group[:3], turn, -row.last_sequence, -row.seen_count), row))
    ranked.sort(key=lambda one: one[0])
    return [row for _, row in ranked]


def _place(entity: Entity) -> int:
    if entity.kind == "value" and len(entity.value) > FIELD_CHARS:
        return PROSE_PLACE
    return _PLACE_OF_KIND.get(entity.kind, PROSE_PLACE - 1)


def fitted(
    rows: Sequence[EntityRow],
    older: Mapping[tuple[str, str], EntityRow],
    tokens: int,
    count: Callable[[str], int],
) -> EntityLines:
    """The lines that fit an allowance: one a key, values in the order of the rows, none of them cut."""
    groups: dict[str, list[tuple[EntityRow, str]]] = {}
    used = misfits = 0
    for row in rows:
        if misfits >= MISFITS_MAX or used >= tokens:
            break
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
    if entity.kind == "date" and not entity.normal.startswith("--") and not _HAS_YEAR.search(value):
        return f"{value} ({entity.normal})"
    return value
