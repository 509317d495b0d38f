"""Which exact values matter most: the one order in which they are shown and brought back.

Law of the file: what a value looks like, who gave it, how long ago and how often decide; never what it is about.
"""

import re
from collections.abc import Iterable
from math import log2
from typing import Final

from actormem.core.entities.keys import key_stem
from actormem.core.entities.rows import EntityRow
from actormem.core.values import Entity

__all__ = ["ranked"]

FIELD_CHARS: Final = 24  # a longer field is prose: it costs as much as several ids and is less exact
PROSE: Final = 5.0
NUMBER_DIGITS: Final = 3  # a number with fewer is a count of something
GIVEN: Final = 3.0  # places that a value gains because the user gave it,
USED: Final = 3.5  # because a tool was called with it: tools are called with it again,
TOLD_IN_FULL: Final = 1.0  # lost by a date in words, where another value tells the same day as machines do
SAID: Final = 0.5  # because the assistant told it
TURN: Final = 0.25  # places lost with each doubling of the values of a key: a long list yields to a short one
FIRST: Final = 2.0  # gained by the best given value of a key: no list crowds out what is rare
AGE: Final = 0.1  # with each doubling of the messages since it was last seen
SEEN: Final = 0.05  # gained with each doubling of the messages that held it

_PLACE_OF_KIND: Final = {
    "id": 0.0, "hash": 0.0, "name": 0.5, "date": 1.0, "file": 1.5, "amount": 2.0, "email": 1.25, "phone": 1.25,
    "url": 2.0, "version": 1.0, "address": 2.5, "percent": 2.5, "time": 3.0, "duration": 3.0, "quantity": 3.0,
}  # fmt: skip
_STAMP: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}")
_STAMP_PLACE: Final = 3.5  # when something was written: machines note it, nobody asks for it
_NUMBER: Final = re.compile(r"[-+]?[\d.,]+")
_NUMBERED: Final = re.compile(
    r"(?:.*_)?(?:id|no|num|number|code)"
)  # fields whose number is the name of a thing
#: What a field of a tool looks like whose kind nothing tells, the first that fits: a code (`SFO`), a choice
#: (`round_trip`, 已发货), a name.
_PLACE_OF_FIELD: Final = (
    (re.compile(r"[A-Z]{2,6}"), 0.5),
    (re.compile(r"[a-z]+(?:[_-][a-z]+){0,3}|[一-龥]{1,6}"), 1.25),
    (re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?"), 1.5),
)


def ranked(rows: Iterable[EntityRow], among: Iterable[EntityRow] = ()) -> list[EntityRow]:
    """Rows by the stated rule, most relevant first.

    Each has a place by what it looks like: ids, names and codes before dates and choices, those before amounts
    and contacts, those before times, measures and counts, prose last. What the user gave or a tool was called
    with stands well before what only a tool listed, what the assistant told a little. A date as machines write it
    counts as given where the user named its day in words. The second, the fourth, the eighth best value of a key
    each stand a little further back, so that no long list crowds out a short one, and the best of those that were
    given stands in front; values not seen for long stand a little further back too.

    Args:
        among: All rows of the session, where `rows` are only some of them.

    Returns:
        All of `rows`; equal ones, the most recently seen first.

    Cost:
        O(n log n); about 2 µs a row.
    """
    given = list(rows)
    known = list(among) or given
    newest = max((row.last_sequence for row in known), default=0)
    dates = [row for row in known if row.entity.kind == "date"]
    days = {_day(row.entity) for row in dates if row.from_user}
    full = {_day(row.entity) for row in dates if _is_full(row.entity)}
    placed = [(_place(row, newest, days, full), -row.last_sequence, index) for index, row in enumerate(given)]
    placed.sort()
    taken: dict[str, int] = {}
    stems: dict[str, str] = {}
    spread: list[tuple[float, int, int]] = []
    for place, age, index in placed:
        key = given[index].entity.key
        stem = stems[key] if key in stems else stems.setdefault(key, key_stem(key))
        turn = taken[stem] = taken.get(stem, 0) + 1
        first = FIRST if turn == 1 and (given[index].from_user or given[index].used) else 0.0
        spread.append((place + TURN * log2(turn) - first, age, index))
    spread.sort()
    return [given[index] for _, _, index in spread]


def _place(row: EntityRow, newest: int, days: set[str], full: set[str]) -> float:
    entity = row.entity
    place = _shape(entity)
    is_date = entity.kind == "date"
    if is_date and _day(entity) in full and not _is_full(entity):
        place += TOLD_IN_FULL
    elif place < PROSE:
        given = row.from_user or (is_date and _day(entity) in days and _is_full(entity))
        place -= USED if row.used else GIVEN if given else SAID if row.said else 0.0
    return place + AGE * log2(1 + newest - row.last_sequence) - SEEN * log2(row.seen_count)


def _is_full(entity: Entity) -> bool:
    """Whether a date is written as machines do."""
    return entity.value == entity.normal


def _day(entity: Entity) -> str:
    """Month and day of a date: what a date without its year shares with the one that is meant."""
    return entity.normal[:10][-5:]


def _shape(entity: Entity) -> float:
    value = entity.value
    if entity.kind == "date" and _STAMP.match(value):
        return _STAMP_PLACE
    if entity.kind != "value":
        return _PLACE_OF_KIND.get(entity.kind, PROSE - 1)
    if _NUMBER.fullmatch(value):
        digits = sum(letter.isdigit() for letter in value)
        if digits >= NUMBER_DIGITS and _NUMBERED.fullmatch(entity.key):
            return _PLACE_OF_KIND["id"]
        return _PLACE_OF_KIND["percent"] if digits >= NUMBER_DIGITS else _STAMP_PLACE
    if len(value) > FIELD_CHARS:
        return PROSE
    return next((place for shape, place in _PLACE_OF_FIELD if shape.fullmatch(value)), _PLACE_OF_KIND["time"])
