"""Dates read as ISO 8601, absolute and relative, in the speaker's own zone."""

from datetime import UTC, date, datetime

import pytest

from actormem.core.entities import find_entities
from actormem.core.entities.dates import date_value, local_day, relative_value

FRIDAY = date(2031, 5, 2)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2031-03-09", "2031-03-09"), ("2031/3/9", "2031-03-09"), ("2031.3.9", "2031-03-09"),
        ("3/9/2031", "2031-03-09"),
        ("25/12/2031", "2031-12-25"), ("2031年3月9日", "2031-03-09"), ("2031 年 3 月 9 日", "2031-03-09"),
        ("二〇三一年三月九号", "2031-03-09"), ("2031年3月", "2031-03"), ("March 9th 2031", "2031-03-09"),
        ("March 9, 2031", "2031-03-09"), ("9th of March, 2031", "2031-03-09"), ("Mar 2031", "2031-03"),
        ("2031-03-09T14:30:00Z", "2031-03-09T14:30:00Z"), ("3月9日", "--03-09"), ("May 20th", "--05-20"),
    ],
)  # fmt: skip
def test_a_date_is_read_however_it_is_written(text: str, iso: str) -> None:
    assert date_value(text) == iso


@pytest.mark.parametrize("text", ["2031-02-30", "2031年13月1日", "May 41st", "hello", ""])
def test_a_day_that_cannot_be_is_no_date(text: str) -> None:
    assert date_value(text) is None


def test_a_missing_year_is_the_one_nearest_to_the_day_of_the_message() -> None:
    assert date_value("12月25日", date(2031, 1, 3)) == "2030-12-25"
    assert date_value("Jan 2nd", date(2031, 12, 28)) == "2032-01-02"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("昨天", "2031-05-01"), ("大后天", "2031-05-05"), ("今晚", "2031-05-02"),
        ("下周三", "2031-05-07"),
        ("上周五", "2031-04-25"), ("这周日", "2031-05-04"), ("周三", "2031-05-07"),
        ("下下周一", "2031-05-12"),
        ("三天后", "2031-05-05"),
        ("两周前", "2031-04-18"), ("2个月后", "2031-07-02"), ("半年后", "2031-11-02"),
        ("下个月3号", "2031-06-03"), ("去年5月3日", "2030-05-03"), ("明年", "2032"), ("下周", "2031-W19"),
        ("yesterday", "2031-05-01"), ("the day after tomorrow", "2031-05-04"), ("next Friday", "2031-05-09"),
        ("last Monday", "2031-04-21"), ("this Sunday", "2031-05-04"), ("Friday", "2031-05-02"),
        ("in 3 days", "2031-05-05"), ("two weeks ago", "2031-04-18"), ("a month from now", "2031-06-02"),
        ("next month", "2031-06"), ("last year", "2030"),
    ],
)  # fmt: skip
def test_a_relative_date_is_told_from_the_day_it_is_said(text: str, iso: str) -> None:
    assert relative_value(text, FRIDAY) == iso


def test_a_month_without_that_day_gives_its_last_one() -> None:
    assert relative_value("一个月后", date(2031, 1, 31)) == "2031-02-28"


def test_yesterday_is_the_speakers_yesterday_not_that_of_utc() -> None:
    half_past_midnight_in_shanghai = int(datetime(2031, 5, 1, 16, 30, tzinfo=UTC).timestamp() * 1000)
    found = find_entities("yesterday it arrived", time_ms=half_past_midnight_in_shanghai, offset_minutes=480)
    assert [entity.normal for entity in found] == ["2031-05-01"]
    found = find_entities("yesterday it arrived", time_ms=half_past_midnight_in_shanghai, offset_minutes=0)
    assert [entity.normal for entity in found] == ["2031-04-30"]


def test_a_time_outside_the_calendar_gives_no_day() -> None:
    assert local_day(10**18, 0) is None
    assert relative_value("in 999 years", date(9500, 1, 1)) is None
    assert relative_value("明天", date.max) is None
