"""Corrections and reversals: what they end, what they set, and what only looks like one."""

import pytest

from actormem.core.facts.corrections import corrects
from actormem.core.facts.extraction import extract
from actormem.core.facts.reading import Stated
from actormem.core.values import Fact


def told(*messages: str) -> list[Fact]:
    """The facts of the last of the user's messages, read after those before it."""
    stated: list[Stated] = []
    found: tuple[Fact, ...] = ()
    for text in messages:
        found = extract(text, stated=stated if corrects(text) else ())
        stated = [
            Stated(one.attribute, one.value, one.cardinality)
            for one in found
            if one.subject == "user" and not one.negated
        ]
    return list(found)


def short(facts: list[Fact]) -> list[str]:
    return [("-" if one.negated else "") + f"{one.attribute}: {one.value}" for one in facts]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("I live in Turku.", "No, it's Vaasa.", ["address: Vaasa"]),
        ("I live in Turku.", "Oops, I meant Vaasa.", ["address: Vaasa"]),
        ("My phone number is 555 010 2233.", "Sorry, I meant 555 010 2244.", ["phone: 555 010 2244"]),
        ("My phone number is 555 010 2233.", "No. It's 555 010 2244.", ["phone: 555 010 2244"]),
        ("My budget is $900.", "Actually, make that $950.", ["budget: $950"]),
        ("My budget is $900.", "Actually my budget is $950.", ["budget: $950"]),
        ("I live in Turku.", "No, I live in Vaasa.", ["address: Vaasa"]),
        ("我住在临沂。", "不对，我住在潍坊。", ["address: 潍坊"]),
        ("我的预算是900元。", "No, it's $950.", ["budget: $950"]),
        ("My budget is $900.", "不对，是950元。", ["budget: 950元"]),
        ("My shoe size is 41.", "That's wrong, it should be 42.", ["shoe_size: 42"]),
        ("My birthday is 3 May 1990.", "My mistake, it's 4 May 1990.", ["birthday: 4 May 1990"]),
        ("My name is Priya Nair.", "Typo, it's Priya Nayar.", ["name: Priya Nayar"]),
        ("My favorite color is teal.", "No, I meant navy.", ["favorite_color: navy"]),
        ("I prefer window seats.", "Sorry, I meant aisle seats.", ["seat: aisle seats"]),
        ("I'm allergic to walnuts.", "No, I meant cashews.", ["-allergy: walnuts", "allergy: cashews"]),
        (
            "I'm allergic to walnuts.",
            "No, it's cashews, not walnuts.",
            ["-allergy: walnuts", "allergy: cashews"],
        ),
        ("My phone is 555 010 2233 and my budget is $900.", "No, it's $950, not $900.", ["budget: $950"]),
        ("我住在临沂。", "不对，是潍坊。", ["address: 潍坊"]),
        ("我的预算是900元。", "说错了，应该是950元。", ["budget: 950元"]),
        ("我的预算是900元。", "不是900元，是950元。", ["budget: 950元"]),
        ("我的预算是900元。", "换成950元吧。", ["budget: 950元"]),
        ("我的手机号是13900001111。", "写错了，是13900002222。", ["phone: 13900002222"]),
        ("我的生日是5月3日。", "抱歉，是5月4日。", ["birthday: 5月4日"]),
        ("我穿41码的鞋。", "不对，是42码。", ["shoe_size: 42"]),
        ("我叫林知夏，预算900元。", "不对，是950元。", ["budget: 950元"]),
        ("我叫林知夏。", "写错了，是林之夏。", ["name: 林之夏"]),
        ("我最喜欢的颜色是青色。", "不对，是蓝色。", ["favorite_color: 蓝色"]),
        ("我对核桃过敏。", "不对，是腰果。", ["-allergy: 核桃", "allergy: 腰果"]),
        ("我对核桃过敏。", "不是核桃，是腰果。", ["-allergy: 核桃", "allergy: 腰果"]),
    ],
)
def test_a_correction_of_the_message_before_is_read(first: str, second: str, expected: list[str]) -> None:
    facts = told(first, second)
    assert short(facts) == expected
    assert all(one.correction for one in facts)


def test_a_correction_may_itself_be_corrected() -> None:
    assert short(told("My budget is $900.", "No, it's $950.", "Wait, I meant $975.")) == ["budget: $975"]
    assert short(told("我的预算是900元。", "不对，是950元。", "错了，是975元。")) == ["budget: 975元"]


def test_a_correction_in_the_same_message_takes_back_one_of_many_values_and_only_that() -> None:
    english = "I'm allergic to walnuts and sesame, no wait, I meant cashews."
    assert short(told(english))[-2:] == ["-allergy: sesame", "allergy: cashews"]
    assert short(told("我对核桃过敏，不对，是腰果。")) == ["allergy: 核桃", "-allergy: 核桃", "allergy: 腰果"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Turku.", "No, it's fine."),
        ("I live in Turku.", "No, it's broken."),
        ("I live in Turku.", "No, it's Monday."),
        ("I live in Turku.", "Sorry, I meant the parcel."),
        ("I like jazz.", "Actually, it's great."),
        ("My budget is $900.", "No, it's Vaasa."),
        ("I'm allergic to walnuts.", "Actually, I meant to ask about delivery."),
        ("I have a cat called Otto.", "Oops, make it quick please."),
        ("我住在临沂。", "不对，是你算错了。"),
        ("我的预算是900元。", "不是我的错，是快递的问题。"),
        ("我喜欢爵士乐。", "不对，是客服说的。"),
        ("我住在临沂。", "换成950元吧。"),
        ("我住在临沂。", "不对，是明天。"),
    ],
)
def test_what_only_looks_like_a_correction_changes_nothing(first: str, second: str) -> None:
    assert told(first, second) == []


def test_what_only_begins_as_a_correction_is_a_statement_and_no_correction() -> None:
    for first, second in (
        ("I live in Turku.", "Actually my budget is $950."),
        ("I live in Turku.", "No, I live in Turku."),
        ("I'm allergic to walnuts.", "Actually I'm allergic to cashews too."),
        ("我住在临沂。", "其实我的预算是950元。"),
    ):
        facts = told(first, second)
        assert len(facts) == 1, second
        assert not facts[0].correction, second


def test_nothing_is_corrected_where_nothing_was_stated() -> None:
    assert told("No, it's 950.", "不对，是950元。") == []
    assert short(told("I live in Turku. Actually it's great.")) == ["address: Turku"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I no longer like jazz.", ["-likes: jazz"]),
        ("I don't like jazz any more.", ["-likes: jazz"]),
        ("I no longer live there.", ["-address: "]),
        ("I don't work there any more.", ["-employer: "]),
        ("I can eat gluten again.", ["-avoids: gluten"]),
        ("I'm not allergic to peanuts any more.", ["-allergy: peanuts"]),
        ("I switched from Vim to Helix.", ["-uses: Vim", "uses: Helix"]),
        ("Change my address to 4 Birch Lane.", ["address: 4 Birch Lane"]),
        ("我不再喜欢爵士乐了。", ["-likes: 爵士乐"]),
        ("我不住那儿了。", ["-address: "]),
        ("我不在那里上班了。", ["-employer: "]),
        ("我现在又吃香菜了。", ["-avoids: 香菜"]),
        ("其实我对花生不过敏。", ["-allergy: 花生"]),
        ("付款方式换成微信支付。", ["payment: 微信支付"]),
        ("以后换成靠过道的座位。", ["seat: 靠过道的座位"]),
        ("邮箱换成 b@x.test。", ["email: b@x.test"]),
    ],
)
def test_reversals_close_what_they_speak_of(said: str, expected: list[str]) -> None:
    assert short(told(said)) == expected


@pytest.mark.parametrize(
    "said",
    [
        "I used to live in Turku.",
        "Turku is a nice town, isn't it?",
        "我以前住在临沂。",
        "临沂的天气怎么样？",
        "我现在吃饭了。",
    ],
)
def test_a_mention_of_the_matter_states_nothing(said: str) -> None:
    assert told(said) == []
