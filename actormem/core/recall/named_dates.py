"""Dates that a query names, in English and Chinese, and how near a day is to them.

"What did she say in May 2023" is a filter in words. It is used as a strong bonus, not as a filter, since
people misremember days and speak of yesterday.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["DAY_MS", "NamedDate", "date_nearness", "day_number", "named_dates"]

DAY_MS: Final = 86_400_000
MINUTE_MS: Final = 60_000
QUERY_CHARS_MAX: Final = 400  # a longer query is a pasted text, whose dates are content
DAYS_AFTER: Final = 1  # what happened on a day is often told the day after
DAYS_NEAR: Final = 7
NEAR: Final = 0.4
SAME_MONTH: Final = 0.1

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        ["january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"],
        start=1,
    )
    for name in names.split()
}  # fmt: skip
MAY_BEFORE: Final = ("in ", "of ", "on ", "since ", "by ", "until ", "during ", "last ", "this ")
MONTH: Final = (
    r"(?P<month>january|february|march|april|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec|may(?=,?\s+\d)|"
    + "|".join(rf"(?<=\b{word})may" for word in MAY_BEFORE)
    + r"|(?<=\d )may|(?<=\d(?:st|nd|rd|th) )may)\b\.?"
)
DAY: Final = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
CHINESE_NUMERALS: Final = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
CHINESE_MONTHS: Final = {name: number for number, name in enumerate(CHINESE_NUMERALS, start=1)}
PATTERNS: Final = (
    re.compile(rf"\b{YEAR}[-/.](?P<month>1[0-2]|0?[1-9])(?:[-/.]{DAY})?\b"),
    re.compile(
        rf"(?:{YEAR}\s*年\s*)?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*月份?"
        r"(?:\s*(?P<day>[12]\d|3[01]|0?[1-9])\s*[日号號])?"
    ),
    re.compile(rf"\b{DAY}\s+(?:of\s+)?{MONTH}(?:,?\s+{YEAR})?\b"),
    re.compile(rf"\b{MONTH}\s+{DAY}\b(?:,?\s+{YEAR})?"),
    re.compile(rf"\b{MONTH},?\s+{YEAR}\b"),
    re.compile(rf"\b{MONTH}"),
)


class NamedDate(msgspec.Struct, frozen=True):
    """A month that a text names, with its year and day where they are said; 0 where not."""

    month: int
    year: int = 0
    day: int = 0


def named_dates(text: str) -> tuple[NamedDate, ...]:
    """The dates a query names, in no particular order; none for a long text."""
    if len(text) > QUERY_CHARS_MAX:
        return ()
    rest = text.lower()
    found: list[NamedDate] = []
    for pattern in PATTERNS:
        for match in pattern.finditer(rest):
            parts = match.groupdict()
            month = parts["month"]
            number = CHINESE_MONTHS.get(month) or MONTHS.get(month) or int(month)
            found.append(NamedDate(number, int(parts.get("year") or 0), int(parts.get("day") or 0)))
        rest = pattern.sub(lambda match: " " * len(match.group()), rest)
    return tuple(dict.fromkeys(found))


def day_number(time_ms: int, offset_minutes: int) -> int:
    """The day of the speaker's calendar, counted from 1970-01-01."""
    return (time_ms + offset_minutes * MINUTE_MS) // DAY_MS


def date_nearness(dates: Sequence[NamedDate], days: NDArray[np.int32]) -> NDArray[np.float64]:
    """How near each day (`day_number`) is to the nearest of the dates: 0 to 1.

    A date without a day is its whole month; without a year, that of any year.
    """
    near = np.zeros(len(days))
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    years = months // 12 + 1970
    for date in dates:
        year = np.full(len(days), date.year) if date.year else years
        month = (year - 1970) * 12 + date.month - 1
        in_month = months == month
        if not date.day:
            near = np.maximum(near, in_month)
            continue
        first = month.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        after = days - (first + date.day - 1)
        told = (after >= 0) & (after <= DAYS_AFTER)
        around = np.where(np.abs(after) <= DAYS_NEAR, NEAR, np.where(in_month, SAME_MONTH, 0.0))
        near = np.maximum(near, np.where(told, 1.0, around))
    return near
