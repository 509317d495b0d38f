"""Stretches of days that queries ask for and statements tell of, in Chinese and English."""

from datetime import date

import numpy as np
import pytest

from actormem.core.recall.day_ranges import asked_ranges, range_nearness, told_days

TODAY = (date(2031, 3, 12) - date(1970, 1, 1)).days  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I say yesterday?", -1, -1),
        ("我昨天说了什么", -1, -1),
        ("last week", -9, -3),
        ("上周的会", -9, -3),
        ("What did we decide last Friday?", -5, -5),
        ("两天前", -2, -2),
        ("two days ago", -2, -2),
        ("in the past 3 weeks", -21, 0),
        ("over the last few days", -3, 0),
        ("最近三天", -3, 0),
        ("过去两个月", -60, 0),
        ("last month", -39, -12),
        ("去年的旅行", -435, -71),
        ("what is on tomorrow", 1, 1),
    ],
)
def test_a_query_asks_for_a_stretch_of_days(text: str, first: int, last: int) -> None:
    assert asked_ranges(text, TODAY) == ((TODAY + first, TODAY + last),)


def test_what_lies_long_ago_is_as_wide_as_it_is_vague() -> None:
    ((first, last),) = asked_ranges("three months ago", TODAY)
    assert first < TODAY - 95
    assert TODAY - 85 < last < TODAY - 30


@pytest.mark.parametrize(
    "text", ["hello", "你好", "my first order", "x" * 500 + " yesterday", "", "the Weeknd"]
)
def test_other_words_ask_for_no_days(text: str) -> None:
    assert asked_ranges(text, TODAY) == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I went to the lake yesterday.", (-1,)),
        ("我明天去看牙医", (1,)),
        ("We meet on March 20", (8,)),
        ("我们3月10日签的约", (-2,)),
        ("today was fine", ()),
        ("two years ago we moved", ()),
        ("last month we moved", ()),
        ("call me", ()),
        ("yesterday, tomorrow and on March 20", (-1, 1)),
    ],
)
def test_a_statement_tells_of_days(text: str, days: tuple[int, ...]) -> None:
    assert told_days(text, TODAY) == tuple(TODAY + day for day in days)


@pytest.mark.parametrize("day", [-10_000_000, 10_000_000, 0])
def test_days_outside_the_calendar_are_no_days(day: int) -> None:
    assert told_days("yesterday", day) in ((), (day - 1,))
    assert len(asked_ranges("last week", day)) <= 1


def test_days_inside_a_range_are_near_and_those_beside_it_a_little() -> None:
    days = np.array([9, 10, 12, 14, 16, 17], np.int32)
    assert range_nearness([(10, 14)], days, 20).tolist() == [0.4, 1.0, 1.0, 1.0, 0.4, 0.0]
    assert range_nearness([(10, 14)], days, 16).tolist() == [0.4, 1.0, 1.0, 1.0, 0.0, 0.0]
    assert range_nearness([], days, 20).tolist() == [0.0] * 6
