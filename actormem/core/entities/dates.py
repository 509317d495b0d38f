"""Dates as people write them, in Chinese and English, read as ISO 8601.

Law of the file: pure calendar arithmetic. "Today" is the day of the message in its speaker's own zone
(`local_day`), never a clock; weeks start on Monday; a date that cannot be is no date.
"""

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from actormem.core.entities.numbers import number_value

__all__ = [
    "DATE_DAY",
    "DATE_DIGITS",
    "DATE_HAN",
    "DATE_MONTH",
    "MONTH_STARTS",
    "RELATIVE_ENGLISH",
    "RELATIVE_HAN",
    "date_value",
    "local_day",
    "relative_value",
]

_HAN = "[一二三四五六七八九十]"
_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_NAMES: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)?(?![\w])"
_CLOCK: Final = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?(?!\d))?"

#: Dates that stand by themselves (a year may be missing), by how they begin.
DATE_DIGITS: Final = (
    rf"(?<![\d./-])\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}(?![\d-])(?!\.\d){_CLOCK}"
    rf"|(?<![\d./-])\d{{1,2}}/\d{{1,2}}/\d{{4}}(?![\d/])"
)
DATE_HAN: Final = (
    rf"(?<!\d)(?:\d{{4}}|[一二][零〇一二三四五六七八九]{{3}})\s?年\s?(?:\d{{1,2}}|{_HAN}{{1,2}})\s?月"
    rf"(?:份|\s?(?:\d{{1,2}}|{_HAN}{{1,3}})\s?[日号])?"
    rf"|(?<!\d)(?:\d{{1,2}}|{_HAN}{{1,2}})\s?月\s?(?:\d{{1,2}}|{_HAN}{{1,3}})\s?[日号](?![楼院])"
)
DATE_MONTH: Final = (
    rf"(?<![A-Za-z]){_MONTHS}\.?\s{{1,2}}{_ORDINAL}(?!:)(?:,?\s{{1,2}}\d{{4}}(?!\d))?"
    rf"|(?<![A-Za-z]){_MONTHS}\.?\s{{1,2}}\d{{4}}(?![\w])"
)
DATE_DAY: Final = (
    rf"(?<![\w]){_ORDINAL}\s{{1,2}}(?:of\s)?{_MONTHS}(?![A-Za-z])\.?(?:,?\s{{1,2}}\d{{4}}(?!\d))?"
)
_AMOUNT_ZH: Final = r"(?:\d{1,3}|半|[一二两三四五六七八九十]{1,3})"
_AMOUNT_EN: Final = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
#: Dates told from the day they are said.
RELATIVE_HAN: Final = (
    r"大?[前后]天|今[天晚早]|今日|今儿|明[天晚早儿]|明日|昨[天晚日儿]"
    r"|(?:上{1,2}|下{1,2}|这|本)(?:一?个)?(?:周|星期|礼拜)(?:[一二三四五六日天末](?![天个周年]))?"
    r"|(?<![每一-十第两几])(?:周|星期|礼拜)[一二三四五六日天](?![天个周年])"
    rf"|(?<![\d第])(?<!每隔){_AMOUNT_ZH}\s?(?:天|日|个?(?:周|星期|礼拜)|个月|年)(?:之?[后前]|以[后前])"
    r"|(?:上个|下个|这个|本)月(?:\s?\d{1,2}\s?[日号])?|(?:去|今|明|后|前)年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?)?"
)
RELATIVE_ENGLISH: Final = (
    r"(?<![A-Za-z])(?:(?:the\s)?day\s(?:after\stomorrow|before\syesterday)"
    r"|today|tonight|tomorrow|yesterday|last\snight"
    rf"|(?:next|last|this|coming|this\scoming)\s(?:{_DAY_NAMES}|week|month|year)|{_DAY_NAMES}"
    rf"|in\s{_AMOUNT_EN}\s(?:days?|weeks?|months?|years?)"
    rf"|(?<!\d){_AMOUNT_EN}\s(?:days?|weeks?|months?|years?)\s(?:ago|from\s(?:now|today)|later))(?![A-Za-z])"
)

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[t ](.{1,40}))?")
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_HAN_DATE = re.compile(r"(?:([^年]{4})年)?([^月]{1,3})月(?:份|([^日号]{1,3})[日号])?")
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?(?:,?\s{1,2}(\d{4}))?")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s{1,2}(?:of\s)?([a-z]{3,9})\.?(?:,?\s{1,2}(\d{4}))?")
_MONTH_YEAR = re.compile(r"([a-z]{3,9})\.?\s{1,2}(\d{4})")
_WEEK_ZH = re.compile(r"(上{1,2}|下{1,2}|这|本)?(?:一?个)?(?:周|星期|礼拜)([一二三四五六日天末])?")
_SPAN_ZH = re.compile(
    r"(\d{1,3}|[一二两三四五六七八九十半]{1,3})\s?(天|日|周|星期|礼拜|月|年|个周|个星期|个礼拜|个月)[之以]?([后前])"
)
_SPAN_EN = re.compile(r"(in\s)?(\w{1,5})\s(day|week|month|year)s?(\sago|\sfrom.{1,6}|\slater)?")
_MONTH_ZH = re.compile(r"(上个|下个|这个|本)月(?:(\d{1,2})[日号])?")
_YEAR_ZH = re.compile(r"([去今明后前])年(?:(\d{1,2})月(?:(\d{1,2})[日号])?)?")

MONTH_STARTS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY_NAMES: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAYS_AWAY: Final = {
    -3: "大前天",
    -2: "前天|day before yesterday",
    -1: "昨天|昨晚|昨日|昨儿|yesterday|last night",
    0: "今天|今晚|今早|今日|今儿|today|tonight",
    1: "明天|明晚|明早|明日|明儿|tomorrow",
    2: "后天|day after tomorrow",
    3: "大后天",
}
_NAMED_DAYS: Final = {name: days for days, names in _DAYS_AWAY.items() for name in names.split("|")}
_SMALL: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10,
}  # fmt: skip
_WEEKS_AWAY: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS_AWAY: Final = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}


def local_day(time_ms: int, offset_minutes: int) -> date | None:
    """The speaker's day at that time, or None where the calendar has no such day."""
    try:
        return (datetime.fromtimestamp(time_ms / 1000, UTC) + timedelta(minutes=offset_minutes)).date()
    except (OverflowError, ValueError, OSError):
        return None


def date_value(text: str, today: date | None = None) -> str | None:
    """The ISO date a text is.

    `3/9/2031` is read month first, as written in the United States, unless the month cannot be. Where
    the year is missing: with `today` the year that brings the date nearest to it, otherwise `--MM-DD`.

    Returns:
        `YYYY-MM-DD`, `YYYY-MM`, `YYYY-MM-DDThh:mm…` where a time stands with it, `--MM-DD`; None for no date.
    """
    text = text.strip().casefold()
    if match := _YEAR_FIRST.fullmatch(text):
        day = _iso(match[1], match[2], match[3], today)
        return f"{day}T{match[4].upper()}" if day and match[4] else day
    if match := _SLASHES.fullmatch(text):
        return _iso(match[3], match[1], match[2], today) or _iso(match[3], match[2], match[1], today)
    if match := _HAN_DATE.fullmatch(text.replace(" ", "")):
        return _iso(match[1], match[2], match[3], today)
    if match := _MONTH_FIRST.fullmatch(text):
        return _iso(match[3], match[1], match[2], today)
    if match := _MONTH_YEAR.fullmatch(text):
        return _iso(match[2], match[1], None, today)
    if match := _DAY_FIRST.fullmatch(text):
        return _iso(match[3], match[2], match[1], today)
    return None


def relative_value(text: str, today: date) -> str | None:
    """The ISO date, week (`YYYY-Www`), month or year a relative date means when said on `today`.

    Weeks are calendar weeks from Monday: `next Friday` and 下周五 are the Friday of the next one. A bare
    weekday (周三, Friday) is the first such day from today on.
    """
    text = text.strip().casefold().removeprefix("the ")
    if text in _NAMED_DAYS:
        return _shifted(today, _NAMED_DAYS[text])
    if match := _WEEK_ZH.fullmatch(text):
        place = (
            "一二三四五六日".find((match[2] or "").replace("天", "日"))
            if match[2] and match[2] != "末"
            else None
        )
        if match[2] == "末":
            place = 5
        return _of_week(today, _WEEKS_AWAY[match[1]] if match[1] else None, place)
    if match := _SPAN_ZH.fullmatch(text):
        if match[1] == "半":
            return _moved(today, 6 if match[3] == "后" else -6, "月") if match[2] == "年" else None
        number = number_value(match[1])
        if number is None:
            return None
        return _moved(today, int(number) * (1 if match[3] == "后" else -1), match[2].removeprefix("个"))
    if match := _MONTH_ZH.fullmatch(text.replace(" ", "")):
        month = _months_on(today, {"上": -1, "下": 1}.get(match[1][0], 0))
        return _iso(str(month.year), str(month.month), match[2], None) if month else None
    if match := _YEAR_ZH.fullmatch(text.replace(" ", "")):
        year = str(today.year + _YEARS_AWAY[match[1]])
        return _iso(year, match[2], match[3], None) if match[2] else year
    return _relative_english(text, today)


def _relative_english(text: str, today: date) -> str | None:
    first, _, unit = text.rpartition(" ")
    away = {"last": -1, "next": 1, "this": 0}.get(first)
    if unit[:3] in _WEEKDAY_NAMES and unit.endswith("day"):
        return _of_week(today, away, _WEEKDAY_NAMES.index(unit[:3]))
    if away is not None and unit == "week":
        return _of_week(today, away, None)
    if away is not None and unit == "month":
        month = _months_on(today, away)
        return f"{month.year:04}-{month.month:02}" if month else None
    if away is not None and unit == "year":
        return f"{today.year + away:04}"
    match = _SPAN_EN.fullmatch(text)
    if match is None or bool(match[1]) == bool(match[4]):
        return None
    number = _SMALL.get(match[2]) or (int(match[2]) if match[2].isdigit() else 0)
    return _moved(today, -number if match[4] == " ago" else number, match[3])


def _of_week(today: date, weeks: int | None, weekday: int | None) -> str | None:
    if weekday is None:
        day = _day_on(today, 7 * (weeks or 0))
        return f"{day.isocalendar().year:04}-W{day.isocalendar().week:02}" if day else None
    if weeks is None:
        return _shifted(today, (weekday - today.weekday()) % 7)
    return _shifted(today, 7 * weeks + weekday - today.weekday())


def _moved(today: date, number: int, unit: str) -> str | None:
    if unit in ("月", "month", "年", "year"):
        months = number * (1 if unit in ("月", "month") else 12)
        month = _months_on(today, months)
        return month.isoformat() if month else None
    return _shifted(today, number * (1 if unit in ("天", "日", "day") else 7))


def _months_on(today: date, months: int) -> date | None:
    """The same day so many months on, or the month's last day where it has no such day."""
    index = today.year * 12 + today.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        return None
    return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def _day_on(today: date, days: int) -> date | None:
    try:
        return today + timedelta(days=days)
    except OverflowError:
        return None


def _shifted(today: date, days: int) -> str | None:
    day = _day_on(today, days)
    return day.isoformat() if day else None


def _iso(year: str | None, month: str, day: str | None, today: date | None) -> str | None:
    month_number = MONTH_STARTS.index(month[:3]) + 1 if month[:3] in MONTH_STARTS else _small(month)
    day_number = _small(day) if day else 1
    if month_number is None or day_number is None:
        return None
    year_number = _small(year) if year else 0
    if year_number is None:
        return None
    if not year_number and today is not None:
        year_number = _nearest_year(month_number, day_number, today)
    try:
        found = date(year_number or 2000, month_number, day_number)
    except ValueError:
        return None
    if not year_number:
        return f"--{found:%m-%d}"
    return found.isoformat() if day else found.isoformat()[:7]


def _nearest_year(month: int, day: int, today: date) -> int:
    def distance(year: int) -> int:
        try:
            return abs((date(year, month, day) - today).days)
        except ValueError:
            return 10_000

    years = [year for year in (today.year, today.year + 1, today.year - 1) if 1 <= year <= 9999]
    return min(years, key=distance)


def _small(text: str) -> int | None:
    number = number_value(text)
    return None if number is None else int(number)
