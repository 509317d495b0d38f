"""The index of exact values finds what a scan of the table finds."""

import random

import pytest

from actormem.core.entities import EntityTable, find_entities
from actormem.core.entities.index import KEY_ROWS, ValueIndex
from actormem.core.entities.query import meant

SENTENCES = (
    "My order number is {}.",
    "订单号是 {}。",
    "Send it to 12 {} Street, budget is $450.",
    "预算是 {} 元",
    "My booking code is {}",
    "快递单号 {}",
)
QUERIES = (
    "where is my order?",
    "订单到哪了",
    "what about AB12",
    "预算多少",
    "hello there",
    "tell me about 9931 and KX-48",
    "booking ZZ99-88 please",
    "12",
)


def table_of(count: int, seed: int) -> tuple[EntityTable, list[EntityTable]]:
    chance = random.Random(seed)
    table, tables = EntityTable(), []
    for sequence in range(1, count + 1):
        code = "".join(chance.choices("ABKXZ", k=2)) + f"-{chance.randrange(100, 99_999)}"
        text = chance.choice(SENTENCES).format(code)
        table = table.seen(find_entities(text, time_ms=0), sequence=sequence, role="user", text=text)
        tables.append(table)
    return table, tables


@pytest.mark.parametrize("seed", range(6))
def test_the_index_finds_what_a_scan_finds_while_the_table_grows(seed: int) -> None:
    index = ValueIndex()
    _, tables = table_of(KEY_ROWS, seed)
    for table in tables:
        for query in QUERIES:
            assert set(map(id, index.find(table, query))) == set(map(id, meant(table.rows.values(), query)))


def test_the_index_follows_a_table_that_was_read_anew_without_some_rows() -> None:
    index = ValueIndex()
    table, _ = table_of(30, 1)
    index.find(table, "order")
    smaller = EntityTable(dict(list(table.rows.items())[5:20]))
    for query in QUERIES:
        assert set(map(id, index.find(smaller, query))) == set(map(id, meant(smaller.rows.values(), query)))


def test_a_named_key_of_thousands_of_values_gives_the_newest() -> None:
    table = EntityTable()
    for sequence in range(1, 3_001):
        text = f"My order number is QW-{sequence:06d}."
        table = table.seen(find_entities(text, time_ms=0), sequence=sequence, role="user", text=text)
    found = ValueIndex().find(table, "where is my order?")
    assert [row.entity.value for row in found[:2]] == ["QW-003000", "QW-002999"]
    assert len(found) == KEY_ROWS
    [older] = ValueIndex().find(table, "what was it with 1117 at the end")[:1]
    assert older.entity.value == "QW-001117"
