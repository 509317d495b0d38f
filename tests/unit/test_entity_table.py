"""The values of one session: what is kept, what takes whose place, what a model is shown."""

import msgspec
import pytest

from actormem.core.entities import EntityTable, find_entities, find_tool_entities
from actormem.core.entities.query import meant
from actormem.core.values import Entity
from actormem.limits import ENTITIES_MAX


def said(table: EntityTable, text: str, sequence: int, role: str = "user") -> EntityTable:
    return table.seen(find_entities(text), sequence=sequence, role=role, text=text)


def words(text: str) -> int:
    return len(text.split())


def ids(*values: str) -> list[Entity]:
    return [Entity(kind="id", key="order", value=value, normal=value.casefold()) for value in values]


def live(table: EntityTable, key: str) -> set[str]:
    return {row.entity.value for row in table.rows.values() if row.live and row.entity.key == key}


def test_a_repeated_value_is_one_row_that_remembers_when_and_by_whom() -> None:
    table = said(EntityTable(), "order KX-48210", 1)
    table = said(table, "Your order KX-48210 is on its way", 4, "assistant")
    table = table.seen(find_tool_entities('{"order_id": "KX-48210"}'), sequence=5, role="call")
    (row,) = table.rows.values()
    assert (row.first_sequence, row.last_sequence, row.seen_count) == (1, 5, 3)
    assert (row.from_user, row.used, row.said) == (True, True, True)
    assert row.entity.key == "order"


def test_a_value_seen_twice_in_one_message_counts_once() -> None:
    table = EntityTable().seen(ids("KX-1", "KX-1"), sequence=3, role="user")
    assert [row.seen_count for row in table.rows.values()] == [1]


def test_a_table_is_not_changed_by_the_one_that_follows() -> None:
    first = said(EntityTable(), "order KX-48210", 1)
    second = said(first, "order KX-99999", 2)
    assert len(first.rows) == 1
    assert len(second.rows) == 2
    assert first.seen((), sequence=3, role="user") is first


def test_a_full_table_lets_the_least_recently_seen_go() -> None:
    table = EntityTable().seen(
        ids(*(f"KX-{number}" for number in range(ENTITIES_MAX))), sequence=1, role="tool"
    )
    table = table.seen(ids("KX-0"), sequence=2, role="user")
    table = table.seen(ids("NEW-1"), sequence=3, role="user")
    values = {row.entity.value for row in table.rows.values()}
    assert len(values) == ENTITIES_MAX
    assert {"KX-0", "NEW-1"} <= values
    assert "KX-1" not in values


@pytest.mark.parametrize(
    ("before", "after", "key", "value"),
    [
        ("地址是杭州市西湖区文三路90号", "新地址：北京市海淀区中关村大街27号", "address",
         "北京市海淀区中关村大街27号"),
        ("my address is 12 Oak Street", "change my address to 7 Elm Road.", "address", "7 Elm Road"),
        ("预算3万", "预算改成五千。", "budget", "五千"),
        ("My phone is 13912345678", "my new phone is 13800001111", "phone", "13800001111"),
    ],
)  # fmt: skip
def test_a_new_value_of_a_key_that_holds_one_takes_the_place_of_the_old(
    before: str, after: str, key: str, value: str
) -> None:
    table = said(said(EntityTable(), before, 1), after, 2)
    assert live(table, key) == {value}
    (line,) = table.lines(tokens=99, count=words)
    old = next(row.entity.value for row in table.rows.values() if not row.live)
    assert line == f"{key}: {value} (was: {old})"


def test_in_a_change_from_one_to_another_the_other_is_the_live_one() -> None:
    table = said(EntityTable(), "把地址从上海市浦东新区世纪大道100号改成北京市海淀区中关村大街27号", 1)
    assert live(table, "address") == {"北京市海淀区中关村大街27号"}
    table = said(EntityTable(), "ship to the address 7 Elm Road instead of 12 Oak Street", 1)
    assert live(table, "address") == {"7 Elm Road"}


def test_another_value_beside_the_first_takes_no_place() -> None:
    table = said(said(EntityTable(), "我的电话 13912345678", 1), "备用电话 13800001111", 2)
    assert live(table, "phone") == {"13912345678", "13800001111"}
    table = said(said(EntityTable(), "order KX-1", 1), "order KX-2", 2)
    assert live(table, "order") == {"KX-1", "KX-2"}


def test_only_the_user_takes_the_place_of_what_the_user_gave() -> None:
    table = said(said(EntityTable(), "my budget is $500", 1), "your budget is $900", 2, "assistant")
    assert live(table, "budget") == {"$500", "$900"}


def test_a_value_the_user_states_again_is_live_again() -> None:
    table = EntityTable()
    for sequence, text in enumerate(("my budget is $500", "my budget is $900", "my budget is $500")):
        table = said(table, text, sequence)
    assert live(table, "budget") == {"$500"}


def test_lines_group_by_key_and_show_first_what_the_user_gave_or_a_tool_was_called_with() -> None:
    table = EntityTable().seen(ids("KX-100", "KX-200"), sequence=1, role="tool")
    table = table.seen(find_tool_entities('{"seat_class": "window"}'), sequence=2, role="call")
    table = said(table, "order KX-300, ¥20", 3)
    lines = table.lines(tokens=99, count=words)
    assert lines == ("order: KX-300, KX-100, KX-200", "seat_class: window", "amount: ¥20")
    assert table.lines(tokens=2, count=words) == ("order: KX-300",)


def test_a_long_list_does_not_crowd_out_a_short_one() -> None:
    many = [Entity(kind="id", key="offer", value=f"OF-{n:04}", normal=f"of-{n:04}") for n in range(200)]
    table = (
        EntityTable().seen(ids("KX-1", "KX-2"), sequence=1, role="tool").seen(many, sequence=2, role="tool")
    )
    shown = " ".join(table.lines(tokens=20, count=words))
    assert "KX-1" in shown
    assert "KX-2" in shown


@pytest.mark.parametrize("tokens", [0, 1, 3, 7, 20, 60, 400])
def test_lines_keep_to_their_tokens_and_never_cut_a_value(tokens: int) -> None:
    table = EntityTable().seen(ids(*(f"KX-{number}" for number in range(300))), sequence=1, role="tool")
    table = said(table, "my address is 12 Oak Street, Apt 4, Austin, TX 78750", 2)
    result = table.shown(tokens=tokens, count=len)
    text = "\n".join(result.lines)
    assert len(text) <= tokens
    assert all(row.entity.value in text for row in result.rows)
    assert text.count("KX-") == sum(row.entity.value.startswith("KX-") for row in result.rows)


def test_only_rows_out_of_sight_are_shown() -> None:
    table = said(said(EntityTable(), "order KX-1", 1), "order KX-2", 9)
    assert table.lines(hidden=lambda row: row.last_sequence < 5, tokens=99, count=words) == ("order: KX-1",)


def test_a_date_without_its_year_is_shown_with_the_day_it_means() -> None:
    table = EntityTable().seen(find_entities("昨天", time_ms=1_935_590_400_000), sequence=1, role="user")
    assert table.lines(tokens=99, count=words) == ("date: 昨天 (2031-05-02)",)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("我的订单到哪了", "KX-48210-77"),
        ("where is my order?", "KX-48210-77"),
        ("what about 48210", "KX-48210-77"),
        ("尾号 5678 那个号码", "13912345678"),
        ("寄到哪个地址", "杭州市西湖区文三路90号"),
        ("which seat class was it", "window"),
        ("was it the WINDOW one", "window"),
    ],
)
def test_a_query_finds_values_by_their_key_or_by_a_part_of_them(query: str, value: str) -> None:
    table = said(EntityTable(), "订单 KX-48210-77，电话 13912345678，地址杭州市西湖区文三路90号", 1)
    table = table.seen(find_tool_entities('{"seat_class": "window"}'), sequence=2, role="call")
    assert value in [row.entity.value for row in meant(table.rows.values(), query)]


def test_a_query_that_names_nothing_finds_nothing() -> None:
    table = said(EntityTable(), "订单 KX-48210-77", 1)
    assert meant(table.rows.values(), "hi there, how are you?") == ()
    assert meant(table.rows.values(), "") == ()


def test_a_shared_value_comes_before_a_named_key() -> None:
    table = said(EntityTable(), "orders 48210001, 48219999", 1)
    assert meant(table.rows.values(), "order 9999")[0].entity.value == "48219999"


def test_a_table_is_read_back_as_it_was_written() -> None:
    table = said(said(EntityTable(), "预算3万, order KX-1", 1), "预算改成五千。", 2)
    for encode, decode in (
        (msgspec.json.encode, msgspec.json.decode),
        (msgspec.msgpack.encode, msgspec.msgpack.decode),
    ):
        again = decode(encode(table), type=EntityTable)
        assert again == table
        assert list(again.rows) == list(table.rows)
