"""JSON as lines: nothing is lost, names stand once, what is no JSON is left alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.context.shorten import fit_message, shortened
from actormem.core.context.tables import table_text
from actormem.core.wire import parse_message

TOKENIZER = ToktokTokenizer()
ROOMS = [
    {"room_id": f"RM-{n:03}", "beds": n % 3 + 1, "floor": 4, "price": {"week": 310 + n, "weekend": 390.50},
     "view": None, "open": n % 2 == 0, "note": "海景 | 带阳台"}
    for n in range(12)
]  # fmt: skip


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]  # pyright: ignore
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]  # pyright: ignore
    return [value] if isinstance(value, str) else [json.dumps(value)]


def test_objects_of_one_kind_are_a_table_and_what_they_share_is_said_once() -> None:
    text = table_text(json.dumps({"hotel": "H-9", "rooms": ROOMS[:2]}, ensure_ascii=False))
    assert text is not None
    assert text.splitlines() == [
        "hotel: H-9",
        'rooms: floor: 4; price.weekend: 390.50; view: null; note: "海景 | 带阳台"'.replace(
            "390.50", "390.5"
        ),
        "room_id|beds|price.week|open",
        "RM-000|1|310|true",
        "RM-001|2|311|false",
    ]


def test_objects_under_names_of_their_own_are_rows_that_begin_with_them() -> None:
    text = table_text(
        '{"cards": {"c_1": {"id": "c_1", "last": "0042"}, "c_2": {"id": "c_2", "last": "7711"}}}'
    )
    assert text == "cards: id|last\nc_1|0042\nc_2|7711"


def test_numbers_stay_as_they_were_written() -> None:
    assert table_text('{"price": 1284.50, "big": 12345678901234567890, "e": 1E+4}') == (
        "price: 1284.50; big: 12345678901234567890; e: 1E+4"
    )


@pytest.mark.parametrize("text", ["", "no JSON", '"one"', "12", "{broken", "[" * 9_000])
def test_what_is_no_object_or_list_is_left_alone(text: str) -> None:
    assert table_text(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON, max_size=4) | st.dictionaries(st.text(max_size=6), JSON, max_size=4))
def test_no_scalar_is_ever_lost(value: object) -> None:
    text = table_text(json.dumps(value, ensure_ascii=False))
    assert text is not None
    for leaf in leaves(value):
        written = (
            leaf,
            json.dumps(leaf, ensure_ascii=False),
            json.dumps(json.dumps(leaf, ensure_ascii=False))[1:-1],
        )
        nested = json.dumps(json.dumps(leaf, ensure_ascii=False), ensure_ascii=False)[1:-1]
        assert any(one in text for one in (*written, nested)), leaf


def test_a_long_result_is_shown_whole_as_lines_where_they_fit_and_else_cut_with_a_mark() -> None:
    body = json.dumps(ROOMS, ensure_ascii=False)
    message = parse_message({"role": "tool", "tool_call_id": "c", "content": body})
    whole = TOKENIZER.count(body)
    form = fit_message(message, 3, whole // 2 + 20, TOKENIZER)
    shown = json.loads(shortened(message, form))["content"]
    assert (form.tabled, form.dropped_tokens) == (True, 0)
    assert form.tokens < whole * 0.6
    assert "by memory" not in shown
    assert all(room["room_id"] in shown for room in ROOMS)
    cut = fit_message(message, 3, 90, TOKENIZER)
    shown = json.loads(shortened(message, cut))["content"]
    assert cut.tokens <= 90
    assert "tokens left out here by memory" in shown
    assert "RM-011" in shown or "RM-005" in shown, "exact values of what was cut stand behind the mark"


def test_words_of_people_are_never_written_as_lines() -> None:
    body = json.dumps(ROOMS, ensure_ascii=False)
    message = parse_message({"role": "user", "content": body})
    form = fit_message(message, 3, 120, TOKENIZER)
    assert not form.tabled
    assert json.loads(shortened(message, form))["content"].startswith(body[:40])
