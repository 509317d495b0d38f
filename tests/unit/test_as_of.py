"""What held in May: values left and taken up again, closed, restated, forgotten since."""

import msgspec

from actormem.core.facts.as_of import held_at
from actormem.core.facts.edited import edited_value
from actormem.core.facts.reconcile import reconcile
from actormem.core.values import Item
from tests.said_facts import fact_item


def told(*facts: tuple[str, str, int] | tuple[str, str, int, bool]) -> dict[str, Item]:
    """Attribute, value, time, and whether it takes back."""
    state: dict[str, Item] = {}
    for number, (attribute, value, time, *negated) in enumerate(facts, 1):
        new = fact_item(number, attribute, value, time)
        for change in reconcile(new, list(state.values()), negated=bool(negated)):
            state[change.item.id] = change.item
    return state


def held(state: dict[str, Item], at_ms: int) -> list[str]:
    return sorted(state[id].value for id in held_at(state.values(), at_ms))


def test_each_time_has_its_own_value() -> None:
    state = told(("address", "Turku", 10), ("address", "Vaasa", 20), ("address", "Oulu", 30))
    assert [held(state, at) for at in (9, 10, 19, 20, 29, 30, 99)] == [
        [], ["Turku"], ["Turku"], ["Vaasa"], ["Vaasa"], ["Oulu"], ["Oulu"]
    ]  # fmt: skip


def test_a_value_that_was_said_again_held_from_its_first_time_on() -> None:
    state = told(("allergy", "peanuts", 10), ("allergy", "Peanut!", 50))
    assert (state["m1"].first_ms, state["m1"].event_ms) == (10, 50)
    assert [held(state, at) for at in (5, 10, 30, 60)] == [[], ["peanuts"], ["peanuts"], ["peanuts"]]


def test_a_value_that_was_left_and_taken_up_again_has_a_gap() -> None:
    state = told(("address", "Turku", 10), ("address", "Vaasa", 20), ("address", "Turku", 30))
    assert [held(state, at) for at in (15, 25, 35)] == [["Turku"], ["Vaasa"], ["Turku"]]


def test_a_closed_value_held_until_it_was_closed_and_from_when_it_was_said_again() -> None:
    state = told(
        ("likes", "jazz", 10), ("likes", "jazz", 20, True), ("likes", "jazz", 30), ("likes", "chess", 15)
    )
    assert [held(state, at) for at in (12, 17, 25, 35)] == [
        ["jazz"],
        ["chess", "jazz"],
        ["chess"],
        ["chess", "jazz"],
    ]


def test_an_opposite_ends_what_it_speaks_of_from_its_own_time_on() -> None:
    state = told(("likes", "coffee", 10), ("dislikes", "coffee", 20))
    assert [held(state, at) for at in (15, 25)] == [["coffee"], ["coffee"]]
    assert held_at(state.values(), 15) == {"m1"}
    assert held_at(state.values(), 25) == {"m2"}


def test_what_was_ended_by_something_forgotten_since_stays_ended() -> None:
    state = told(("address", "Turku", 10), ("address", "Vaasa", 20))
    del state["m2"]
    assert held(state, 15) == []


def test_an_item_stored_before_first_times_were_kept_can_be_read() -> None:
    item = told(("address", "Turku", 10))["m1"]
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(item), type=dict[str, object])
    del stored["first_ms"]
    old = msgspec.msgpack.decode(msgspec.msgpack.encode(stored), type=Item)
    assert old == item
    assert old.since_ms == 10


def test_an_edited_text_gives_the_value_that_stands_in_the_old_ones_place() -> None:
    def edited(text: str, value: str, attribute: str, new: str) -> str:
        item = msgspec.structs.replace(told((attribute, value, 1))["m1"], text=text)
        return edited_value(item, new)

    cases = [
        (
            "The user is allergic to peanuts",
            "peanuts",
            "allergy",
            "The user is allergic to walnuts",
            "walnuts",
        ),
        ("The user lives in Turku", "Turku", "address", "The user lives in Turku, by the river", "Turku"),
        ("The user lives at 5 Elm Row", "5 Elm Row", "address", "The user lives at 15 Elm Row", "15 Elm Row"),
        ("The user lives in Turku", "Turku", "address", "These days the user is living in Vaasa", "Vaasa"),
        ("用户住在临沂", "临沂", "address", "用户住在潍坊", "潍坊"),
        ("用户对花生过敏", "花生", "allergy", "用户现在对核桃过敏", "核桃"),
        ("likes tea", "likes tea", "note", "likes coffee", "likes coffee"),
        ("用户的预算是900元", "900元", "budget", "用户的预算是1900元", "1900元"),
    ]
    for text, value, attribute, new, expected in cases:
        assert edited(text, value, attribute, new) == expected, new
    assert len(edited("The code: 12", "12", "code", "x y " * 400)) <= 120
