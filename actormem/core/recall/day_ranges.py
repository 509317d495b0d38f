"""Stretches of days that a text means when it is said on a certain day: "last week", "两天前", "in the past month".

Queries ask for them, and statements tell of them: who said "yesterday" on the 13th spoke of the 12th. Days are
counted as in `named_dates`. The law of the file: what says no day gives none; a guess is as wide as it is vague.
"""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actormem.core.entities.dates import (
    DATE_DAY,
    DATE_DIGITS,
    DATE_HAN,
    DATE_MONTH,
    RELATIVE_ENGLISH,
    RELATIVE_HAN,
    date_value,
    relative_value,
)
from actormem.core.entities.numbers import number_value
from actormem.core.needles import Cue

__all__ = ["TOLD_DAYS", "DayRange", "asked_ranges", "range_nearness", "told_days"]

DayRange = tuple[int, int]

TOLD_DAYS: Final = 2  # of which one statement tells, at most
TEXT_CHARS_MAX: Final = 600  # a longer text tells of many things
QUERY_CHARS_MAX: Final = 400
NEAR_DAYS: Final = 2  # beside a range: people misremember days
NEAR: Final = 0.4
EPOCH: Final = date(1970, 1, 1)
UNIT_DAYS: Final = {
    "day": 1, "week": 7, "month": 30, "year": 365,
    "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365,
}  # fmt: skip
SMALL: Final = {
    "few": 3, "couple": 2, "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "几": 3,
}  # fmt: skip

RELATIVE: Final = Cue(f"{RELATIVE_HAN}|{RELATIVE_ENGLISH}")
ABSOLUTE: Final = re.compile(f"{DATE_DIGITS}|{DATE_HAN}|{DATE_MONTH}|{DATE_DAY}", re.IGNORECASE)
# The same in a text of ASCII alone, quicker; and what every absolute date has.
RELATIVE_ASCII: Final = Cue(RELATIVE_ENGLISH)
ABSOLUTE_ASCII: Final = re.compile(f"{DATE_DIGITS}|{DATE_MONTH}|{DATE_DAY}", re.IGNORECASE)
ABSOLUTE_HINT: Final = re.compile(r"[\d月]")
PAST_EN: Final = re.compile(
    r"\b(?:in|over|during|within|for)? ?(?:the )?(?:last|past|previous) "
    r"(?:(?P<number>\d{1,3}|few|couple of|one|two|three|four|five|six) )?(?P<unit>day|week|month|year)s\b",
    re.IGNORECASE,
)
PAST_ZH: Final = re.compile(
    r"(?:最近|近|过去|这|前)(?P<number>\d{1,3}|[一二两三四五六七八九十几]{1,3})个?(?P<unit>天|日|周|星期|礼拜|月|年)(?!前)"
)
AGO: Final = re.compile(r"(?:week|month|year)s? ago$|(?:周|星期|礼拜|月|年)[之以]?前$", re.IGNORECASE)
DAY_HINT: Final = re.compile(
    r"\d|day\b|days\b|week|month|year|tonight|last night|tomorrow|[天日周月年号]|今晚|今早|今儿|昨晚|星期|礼拜",
    re.IGNORECASE,
)


def asked_ranges(text: str, today: int) -> tuple[DayRange, ...]:
    """The stretches of days a query asks for, counted from the day it is asked; absolute dates are not among them.

    Nor is today, or this week: who asks for the opening hours of today does not ask for what was said today.

    Returns:
        First and last day of each; none for a long text.
    """
    said_on = day_of(today)
    if said_on is None or len(text) > QUERY_CHARS_MAX or not DAY_HINT.search(text):
        return ()
    found: list[DayRange] = []
    for pattern in (PAST_EN, PAST_ZH):
        for match in pattern.finditer(text):
            found.append((today - count(match["number"]) * UNIT_DAYS[match["unit"].lower()], today))
        text = pattern.sub(" ", text)
    for match in RELATIVE.pattern.finditer(text):
        days = days_of(relative_value(match.group(), said_on))
        if days is not None and not days[0] <= today <= days[1]:
            found.append(widened(match.group(), days, today))
    return tuple(dict.fromkeys(found))


def told_days(text: str, said: int) -> tuple[int, ...]:
    """The single days of which a statement tells that was said on a day: yesterday's, and dates it names.

    Cost:
        Nothing for a text without digits or words for days; about 0.03 ms for others.
    """
    said_on = day_of(said)
    if said_on is None or len(text) > TEXT_CHARS_MAX:
        return ()
    found: list[int] = []
    ascii_only = text.isascii()
    relative = RELATIVE_ASCII if ascii_only else RELATIVE
    for match in relative.pattern.finditer(text) if relative.possible_in(text.casefold()) else ():
        days = days_of(relative_value(match.group(), said_on))
        if days is not None and days[0] == days[1] and not AGO.search(match.group()):
            found.append(days[0])
    absolute = ABSOLUTE_ASCII if ascii_only else ABSOLUTE
    for match in absolute.finditer(text) if ABSOLUTE_HINT.search(text) else ():
        days = days_of(date_value(match.group(), said_on))
        if days is not None and days[0] == days[1]:
            found.append(days[0])
    return tuple(dict.fromkeys(day for day in found if day != said))[:TOLD_DAYS]


def range_nearness(ranges: Sequence[DayRange], days: NDArray[np.int32], today: int) -> NDArray[np.float64]:
    """How near each day is to the nearest of the ranges: 1 inside, less just beside it, 0 elsewhere.

    Today is beside none: nobody takes it for another day.
    """
    near = np.zeros(days.shape)
    for first, last in ranges:
        inside = (days >= first) & (days <= last)
        beside = (days >= first - NEAR_DAYS) & (days <= last + NEAR_DAYS) & (days != today)
        near = np.maximum(near, np.where(inside, 1.0, np.where(beside, NEAR, 0.0)))
    return near


def widened(words: str, days: DayRange, today: int) -> DayRange:
    """A range as wide as its words are vague: three months ago is not a day."""
    if not AGO.search(words):
        return days
    slack = abs(today - days[0]) // 6 + 1
    return days[0] - slack, days[1] + slack


def days_of(iso: str | None) -> DayRange | None:
    """First and last day of an ISO date, week, month or year; None for a text that is none of them."""
    if not iso or iso.startswith("--"):
        return None
    parts = iso[:10].split("-")
    try:
        if len(parts) == 1:
            first, last = date(int(iso), 1, 1), date(int(iso), 12, 31)
        elif parts[1].startswith("W"):
            first = date.fromisocalendar(int(parts[0]), int(parts[1][1:]), 1)
            last = first + timedelta(days=6)
        elif len(parts) == 2:
            first = date(int(parts[0]), int(parts[1]), 1)
            last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        else:
            first = last = date.fromisoformat(iso[:10])
    except (ValueError, OverflowError):
        return None
    return (first - EPOCH).days, (last - EPOCH).days


def day_of(number: int) -> date | None:
    try:
        return EPOCH + timedelta(days=number)
    except OverflowError:
        return None


def count(words: str | None) -> int:
    """How many a number word says; one where there is none."""
    if not words:
        return 1
    first = words.lower().split()[0]
    known = SMALL.get(first)
    if known is None:
        value = number_value(first)
        known = 1 if value is None else int(value)
    return known
