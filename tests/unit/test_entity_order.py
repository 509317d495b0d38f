"""The order of exact values, and the kinds of them: by shape, giver and age, in both languages."""

from datetime import UTC, datetime

import pytest

from actormem.core.entities import EntityTable, find_entities, find_tool_entities
from actormem.core.entities.query import meant

WEDNESDAY_MS = int(datetime(2031, 3, 5, 15, 30, tzinfo=UTC).timestamp() * 1000)  # 23:30 in Shanghai


def tool(table: EntityTable, json_text: str, sequence: int, role: str = "tool") -> EntityTable:
    return table.seen(find_tool_entities(json_text), sequence=sequence, role=role)


def said(table: EntityTable, text: str, sequence: int, role: str = "user") -> EntityTable:
    return table.seen(find_entities(text), sequence=sequence, role=role, text=text).named(text, role=role)


def values(table: EntityTable, tokens: int = 10_000) -> list[str]:
    return [row.entity.value for row in table.shown(tokens=tokens, count=len).rows]


def test_ids_come_before_dates_before_choices_before_amounts_before_counts_before_prose() -> None:
    prose = "a long note that somebody wrote about the parcel"
    table = tool(
        EntityTable(),
        f'{{"note": "{prose}", "pieces": 2, "weight": 1250, "state": "in_transit", "day": "2031-03-02", '
        '"parcel": "SF-10293"}',
        1,
    )
    assert values(table) == ["SF-10293", "2031-03-02", "in_transit", "1250", "2", prose]


def test_what_a_tool_was_called_with_or_the_user_gave_stands_before_what_a_tool_listed() -> None:
    table = tool(EntityTable(), '{"case": "CS-11111", "desk": "CS-22222"}', 1)
    table = tool(table, '{"branch": "north_gate"}', 2, "call")
    table = said(table, "My fee was ¥35.", 3)
    assert values(table)[:2] == ["north_gate", "¥35"]


@pytest.mark.parametrize(
    ("listed", "words", "value"),
    [
        ('{"trip": "one_way", "fare": "economy"}', "One-way please.", "one_way"),
        ('{"fare": "economy", "trip": "round_trip"}', "I would like a round trip", "round_trip"),
        ('{"颜色": "沙色", "尺码": "墨绿"}', "还是要墨绿的", "墨绿"),
    ],
)
def test_a_choice_that_someone_names_in_words_counts_as_said(listed: str, words: str, value: str) -> None:
    table = tool(EntityTable(), listed, 1)
    named = table.named(words, role="user")
    (row,) = [row for row in named.rows.values() if row.from_user]
    assert row.entity.value == value
    assert (row.last_sequence, row.said) == (1, True)
    assert values(named)[0] == value
    assert table.named("yes, go on", role="user") is table


def test_a_date_as_tools_write_it_counts_as_given_where_the_user_names_its_day() -> None:
    table = tool(EntityTable(), '{"days": ["2031-05-20", "2031-05-24", "2031-05-27"]}', 1)
    table = said(table, "I leave on May 24", 2)
    assert values(table)[0] == "2031-05-24"
    assert values(table).index("May 24") > 0


def test_a_date_keeps_the_writing_that_tools_take() -> None:
    table = tool(EntityTable(), '{"day": "2031-05-24"}', 1)
    table = table.seen(find_entities("day: 2031年5月24日"), sequence=2, role="assistant")
    assert "2031-05-24" in values(table)


def test_a_long_list_given_by_the_user_never_crowds_out_the_one_budget() -> None:
    table = said(EntityTable(), "我的预算是 4310 元", 1)
    for sequence in range(2, 302):
        table = said(table, f"订单号 KX-{sequence:05d}", sequence)
    assert "4310 元" in values(table, tokens=240)


def test_one_writing_under_many_keys_is_shown_once_and_so_are_two_writings_of_one_amount() -> None:
    table = tool(
        EntityTable(),
        '{"from": "2031-03-02", "until": "2031-03-02", "code": "AB-1234", "other": "AB-1234"}',
        1,
    )
    assert sorted(values(table)) == ["2031-03-02", "AB-1234"]
    table = said(EntityTable(), "The fee is $1,000 and the total is $1000", 1)
    assert len(values(table)) == 1


def test_of_many_values_of_a_named_key_the_one_beside_the_named_id_is_meant_first() -> None:
    table = EntityTable()
    for number in range(9):
        table = said(table, f"订单号 KX-7733-{number}{number}", 10 * number + 1)
        table = tool(table, f'{{"tracking": "LC55{number}18862{number}"}}', 10 * number + 3)
    asked = "KX-7733-44 那个包裹的快递单号是多少？"
    assert meant(said(table, asked, 200).rows.values(), asked)[0].entity.value == "LC554188624"


def test_the_last_characters_of_a_value_mean_it_before_those_that_share_less() -> None:
    table = EntityTable()
    for number in range(40):
        table = said(table, f"order KX-{number:02}77-B", number + 1)
    asked = "Where is the one that ends in 0777-B?"
    assert meant(said(table, asked, 200).rows.values(), asked)[0].entity.value == "KX-0777-B"


@pytest.mark.parametrize(
    ("text", "kind", "key", "value", "normal"),
    [
        ("预算 500 到 700 元左右", "amount", "budget", "500 到 700 元", "500-700 CNY"),
        ("500-700元都行", "amount", "amount", "500-700元", "500-700 CNY"),
        ("一共三十五块五", "amount", "total", "三十五块五", "35.5 CNY"),
        ("退款港币 1,200", "amount", "refund", "港币 1,200", "1200 HKD"),
        ("上午 10 点见", "time", "time", "上午 10 点", "10:00"),
        ("我姓林，叫林知远。", "name", "name", "林知远", "林知远"),
        ("Hello, I'm Juan Carlos Díaz.", "name", "name", "Juan Carlos Díaz", "juan carlos díaz"),
        ("flight UA 882 please", "id", "flight", "UA 882", "ua 882"),
        ("会议号 882 1234 5678", "id", "meeting_id", "882 1234 5678", "882 1234 5678"),
        ("我的座位是07车12F", "id", "seat", "07车12F", "07车12f"),
        ("工单号：2031-88-1", "id", "ticket", "2031-88-1", "2031-88-1"),
        ("税号 91330106MA2K8T7X3Q", "id", "tax_id", "91330106MA2K8T7X3Q", "91330106ma2k8t7x3q"),
        ("大后天到", "date", "date", "大后天", "2031-03-08"),
        ("the day after tomorrow", "date", "date", "the day after tomorrow", "2031-03-07"),
        ("每平米 62.5 公斤", "quantity", "quantity", "62.5 公斤", "62.5 kg"),
        ("打 8.8折", "percent", "percent", "8.8折", "88%"),
    ],
)
def test_each_kind_is_found_with_its_key_and_its_value(
    text: str, kind: str, key: str, value: str, normal: str
) -> None:
    found = find_entities(text, time_ms=WEDNESDAY_MS, offset_minutes=480)
    assert (kind, key, value, normal) in [(one.kind, one.key, one.value, one.normal) for one in found]


@pytest.mark.parametrize("text", ["it was 882 1234 5678 or so", "2031-88-1", "we met 300 400 500 of them"])
def test_numbers_in_parts_that_nothing_names_are_no_values(text: str) -> None:
    assert find_entities(text) == ()
