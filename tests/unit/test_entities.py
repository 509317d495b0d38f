"""Exact values in words and in JSON: what is found, what is not, and what counts as the same."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from re import _constants, _parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actormem.core.entities import find_entities, find_tool_entities, same_value
from actormem.core.entities.fields import DEPTH_MAX, FIELD_ENTITIES_MAX
from actormem.core.entities.patterns import AT_DIGITS, PATTERNS
from actormem.core.entities.text import HEAD_CHARS, TAIL_CHARS, TEXT_ENTITIES_MAX, clip

NOON = int(datetime(2031, 5, 2, 4, 0, tzinfo=UTC).timestamp() * 1000)


def found(text: str) -> set[tuple[str, str, str]]:
    entities = find_entities(text, time_ms=NOON, offset_minutes=480)
    return {(entity.kind, entity.key, entity.value) for entity in entities}


def fields(text: str) -> set[tuple[str, str, str]]:
    return {(entity.kind, entity.key, entity.value) for entity in find_tool_entities(text)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("订单号是 KX-48210-77，谢谢", ("id", "order", "KX-48210-77")),
        ("订单KX-3也要退", ("id", "order", "KX-3")),
        ("my user ID is ada_moss_3668.", ("id", "user_id", "ada_moss_3668")),
        ("your flight QRT136 is late", ("id", "flight", "QRT136")),
        ("QRT136 航班晚点了", ("id", "flight", "QRT136")),
        ("快递单号SF1234567890123", ("id", "tracking", "SF1234567890123")),
        ("order no. 77120 please", ("id", "order", "77120")),
        ("尾号7447的卡", ("id", "card", "7447")),
        ("验证码 8842", ("id", "code", "8842")),
        ("车牌号 京A12345", ("id", "plate", "京A12345")),
        ("身份证号11010119900307123X", ("id", "id_card", "11010119900307123X")),
        ("commit 9f3c2ab1 broke it", ("hash", "commit", "9f3c2ab1")),
        ("共 ¥1,284.50", ("amount", "amount", "¥1,284.50")),
        ("退款1284.5元", ("amount", "refund", "1284.5元")),
        ("预算3万", ("amount", "budget", "3万")),
        ("预算改成五千。", ("amount", "budget", "五千")),
        ("大概一万二千块", ("amount", "amount", "一万二千块")),
        ("my budget is about 500", ("amount", "budget", "500")),
        ("it is 100 USD", ("amount", "amount", "100 USD")),
        ("a deposit of €20", ("amount", "deposit", "€20")),
        ("CNY 300 in all", ("amount", "amount", "CNY 300")),
        ("15% off", ("percent", "discount", "15%")),
        ("涨了百分之十五", ("percent", "percent", "百分之十五")),
        ("2031年3月9日出发", ("date", "departure", "2031年3月9日")),
        ("on March 9th 2031", ("date", "date", "March 9th 2031")),
        ("下周三见", ("date", "date", "下周三")),
        ("生日是4月5日", ("date", "birthday", "4月5日")),
        ("下午3点半开会", ("time", "meeting", "下午3点半")),
        ("at 14:30 sharp", ("time", "time", "14:30")),
        ("by 3pm", ("time", "time", "3pm")),
        ("要等48小时", ("duration", "duration", "48小时")),
        ("保修两年", ("duration", "warranty", "两年")),
        ("5 to 7 business days", ("duration", "duration", "5 to 7 business days")),
        ("我的手机号是13912345678", ("phone", "phone", "13912345678")),
        ("call +86 139-1234-5678", ("phone", "phone", "+86 139-1234-5678")),
        ("call (415) 555-0199 now", ("phone", "phone", "(415) 555-0199")),
        ("座机010-62345678", ("phone", "phone", "010-62345678")),
        ("写信给 li.lei+a@example.com.cn。", ("email", "email", "li.lei+a@example.com.cn")),
        ("寄到杭州市西湖区文三路90号3幢502室", ("address", "address", "杭州市西湖区文三路90号3幢502室")),
        ("ship to 12 Oak Street, Apt 4B, Austin, TX 78750.",
         ("address", "address", "12 Oak Street, Apt 4B, Austin, TX 78750")),
        ("see https://example.test/a?b=1, ok", ("url", "url", "https://example.test/a?b=1")),
        ("打开 report_v2.pdf", ("file", "file", "report_v2.pdf")),
        ("upgrade to v1.2.3", ("version", "version", "v1.2.3")),
        ("a 15 inch screen", ("quantity", "quantity", "15 inch")),
        ("买 3 件", ("quantity", "quantity", "3 件")),
        ("with 256GB", ("quantity", "quantity", "256GB")),
        ("我叫欧阳澄,在澄海科技工作", ("name", "name", "欧阳澄")),
        ("My name is Ada Lovelace.", ("name", "name", "Ada Lovelace")),
        ("at 10.0.0.12:8080", ("id", "id", "10.0.0.12:8080")),
    ],
)  # fmt: skip
def test_a_value_is_found_with_its_kind_its_key_and_its_very_characters(
    text: str, wanted: tuple[str, str, str]
) -> None:
    assert wanted in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "a well-known, state-of-the-art thing",
        "万一下雨就一起走，千万别忘",
        "我知道3号开会",
        "GPT-4, covid-19, iPhone15, mp3, UTF-8, B2B and the 1990s",
        "I have one question and two answers",
        "谢谢，好的，那就这样吧",
        "这三个人，有一天，两点建议",
        "Friday without a clock",
    ],
)
def test_ordinary_words_are_no_values(text: str) -> None:
    assert find_entities(text) == ()


def test_values_come_in_order_of_appearance_and_none_twice() -> None:
    text = "订单 KX-48210，¥30，2031-03-09；again order KX-48210 on 2031年3月9日"
    assert [entity.value for entity in find_entities(text)] == ["KX-48210", "¥30", "2031-03-09"]


def test_a_list_goes_on_with_the_key_of_its_first() -> None:
    keys = {entity.key for entity in find_entities("orders 48210, 48211 and 48212")}
    assert keys == {"order"}


def test_a_noun_names_only_values_of_its_kind_and_only_the_first_of_them() -> None:
    text = "the refund for order KX-1 is $30, KX-2 costs $40 on 2031-03-09"
    assert {(entity.key, entity.value) for entity in find_entities(text)} >= {
        ("order", "KX-1"), ("refund", "$30"), ("date", "2031-03-09"),
    }  # fmt: skip
    assert ("refund", "$40") not in {(entity.key, entity.value) for entity in find_entities(text)}


def test_the_longer_of_two_overlapping_matches_wins() -> None:
    assert [entity.kind for entity in find_entities("https://example.test/2031-03-09/KX-48210")] == ["url"]


def test_both_addresses_of_a_move_are_found_apart() -> None:
    text = "把地址从上海市浦东新区世纪大道100号改成北京市海淀区中关村大街27号"
    assert [entity.value for entity in find_entities(text)] == [
        "上海市浦东新区世纪大道100号", "北京市海淀区中关村大街27号",
    ]  # fmt: skip


def test_wide_digits_are_read_and_kept_as_they_stood() -> None:
    (entity,) = find_entities("订单：２０３１０３０９００１２")
    assert (entity.value, entity.normal) == ("２０３１０３０９００１２", "203103090012")


def test_a_relative_date_without_a_time_is_left_out() -> None:
    assert find_entities("明天 tomorrow 下周三") == ()


def test_a_weekday_beside_a_date_is_not_a_second_date() -> None:
    assert {value for _, _, value in found("5月9日（周五）")} == {"5月9日"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("一万", "10,000"), ("1万", "10k"), ("一万", "1万"), ("¥1,284.50", "1284.5元"), ("$30", "30"),
        ("2031-03-09", "March 9, 2031"), ("2031-03-09", "2031年3月9日"), ("+86 139-1234-5678", "13912345678"),
        ("三天", "3 days"), ("15%", "百分之十五"), ("3pm", "15:00"), ("KX-1", "kx-1"), ("Blue", "blue"),
    ],
)  # fmt: skip
def test_two_writings_of_one_value_are_the_same(one: str, other: str) -> None:
    assert same_value(one, other)
    assert same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("$30", "€30"), ("KX-1", "KX-2"), ("0.15", "15%"), ("2031-03-09", "2031-03-10"), ("red", "blue"),
     ("3 days", "3 weeks")],
)  # fmt: skip
def test_different_values_are_not_the_same(one: str, other: str) -> None:
    assert not same_value(one, other)


def test_entities_are_compared_as_the_texts_they_are() -> None:
    (one,), (other,) = find_entities("¥1,284.50"), find_entities("1284.5元")
    assert same_value(one, other)
    assert same_value(one, "1,284.5")


def test_json_fields_are_values_under_their_names() -> None:
    text = json.dumps(
        {
            "orderId": "KX-1",
            "items": [{"sku": "AB-99", "qty": 2}],
            "tags": ["red", "blue"],
            "payment_methods": {"credit_card_1": {"last_four": "7447"}},
            "when": "2031-03-09",
            "email": "a@example.test",
            "ok": True,
            "note": None,
        }
    )
    assert fields(text) == {
        ("id", "order_id", "KX-1"), ("id", "sku", "AB-99"), ("value", "qty", "2"), ("value", "tags", "red"),
        ("value", "tags", "blue"), ("id", "payment_methods", "credit_card_1"), ("value", "last_four", "7447"),
        ("date", "when", "2031-03-09"), ("email", "email", "a@example.test"),
    }  # fmt: skip


def test_digits_of_a_json_number_stay_as_they_were_written() -> None:
    assert ("value", "price", "1284.50") in fields('{"price": 1284.50, "id": 12345678901234567890123}')
    assert ("value", "id", "12345678901234567890123") in fields('{"id": 12345678901234567890123}')


def test_codes_and_labels_that_an_object_maps_are_values() -> None:
    assert ("value", "prices", "economy") in fields('{"prices": {"economy": 121, "first": 239}}')
    assert ("value", "airports", "QQA") in fields(
        '{"airports": {"QQA": "Alba", "QQB": "Brux", "QQC": "Corvo"}}'
    )


def test_a_numbered_field_name_is_no_value() -> None:
    assert "address1" not in {value for _, _, value in fields('{"address1": "12 Oak Street", "line_2": "x"}')}


def test_prose_in_json_is_searched_and_not_kept_whole() -> None:
    prose = "the parcel for order KX-777 was sent " + "and it is on its way " * 4
    assert fields(json.dumps({"text": prose})) == {("id", "order", "KX-777")}


@pytest.mark.parametrize("text", ['{"a": ', "no order KX-48210 here", "[" * 50_000, "", "null"])
def test_what_is_not_json_is_read_as_words(text: str) -> None:
    assert find_tool_entities(text) == find_entities(text)


def test_a_deep_or_long_result_is_read_to_its_bounds() -> None:
    deep = '{"a":' * (DEPTH_MAX + 5) + '"KX-1"' + "}" * (DEPTH_MAX + 5)
    assert find_tool_entities(deep) == ()
    assert (
        len(find_tool_entities(json.dumps([f"KX-{number}" for number in range(3_000)]))) == FIELD_ENTITIES_MAX
    )
    assert len(find_entities(" ".join(f"KX-{number}99" for number in range(3_000)))) == TEXT_ENTITIES_MAX


def test_of_a_very_long_text_the_head_and_the_tail_are_read() -> None:
    text = "KX-11111 " + "x" * 200_000 + " KX-22222"
    assert len(clip(text)) == HEAD_CHARS + TAIL_CHARS + 1
    assert {entity.value for entity in find_entities(text)} == {"KX-11111", "KX-22222"}


def repeats(pattern: object) -> Iterator[int]:
    for op, argument in pattern:  # type: ignore[attr-defined]
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            yield argument[1]
            yield from repeats(argument[2])
        elif op is _constants.BRANCH:
            for branch in argument[1]:
                yield from repeats(branch)
        elif op is _constants.SUBPATTERN:
            yield from repeats(argument[3])
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from repeats(argument[1])
        elif op is _constants.ATOMIC_GROUP:
            yield from repeats(argument)


@pytest.mark.parametrize(
    "pattern", [*PATTERNS, *AT_DIGITS], ids=lambda pattern: f"{pattern.kind}-{pattern.rank}"
)
def test_every_quantifier_of_a_pattern_is_bounded(pattern: object) -> None:
    search: re.Pattern[str] = pattern.search  # type: ignore[attr-defined]
    bounds = list(repeats(_parser.parse(search.pattern, search.flags)))
    assert max(bounds, default=0) <= 512


@given(st.text(max_size=200))
def test_any_text_gives_values_that_stand_in_it(text: str) -> None:
    for entity in find_entities(text, time_ms=NOON):
        assert entity.value in text
        assert all((entity.kind, entity.key, entity.normal))


@given(st.text(alphabet="订单预算 KX-0123456789,.元万号路区市年月日天周@/:$%a", max_size=120))
def test_texts_made_of_the_pieces_of_values_are_read_without_fault(text: str) -> None:
    values = [(entity.kind, entity.normal, entity.key) for entity in find_entities(text, time_ms=NOON)]
    assert len(values) == len(set(values))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=20,
    )
)
def test_any_json_is_read_without_fault(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert all(entity.value for entity in find_tool_entities(text))
