"""Newer values supersede, restatements merge, reversals close, late arrivals find their place."""

import msgspec
import pytest

from actormem.core.facts.reconcile import Change, current, reconcile, rivals, same_fact
from actormem.core.facts.sameness import loose
from actormem.core.values import Item, Owner
from tests.said_facts import fact_item


def item(number: int, attribute: str, value: str, *, at: int = 0, one: bool = False, **more: object) -> Item:
    made = fact_item(number, attribute, value, at)
    return msgspec.structs.replace(made, cardinality="one" if one else "many", **more)


def store(state: dict[str, Item], new: Item, *, negated: bool = False) -> tuple[Change, ...]:
    changes = reconcile(new, list(state.values()), negated=negated)
    state.update({change.item.id: change.item for change in changes})
    return changes


def told(*facts: Item | tuple[Item, bool]) -> dict[str, Item]:
    state: dict[str, Item] = {}
    for fact in facts:
        if isinstance(fact, tuple):
            store(state, fact[0], negated=fact[1])
        else:
            store(state, fact)
    return state


def live(state: dict[str, Item]) -> list[str]:
    return sorted(one.value for one in current(tuple(state.values()), now_ms=10**13))


def test_a_newer_value_of_a_one_attribute_supersedes_the_older_and_the_chain_is_readable() -> None:
    state: dict[str, Item] = {}
    store(state, item(1, "seat", "window seat", at=1, one=True))
    first, second = store(state, item(2, "seat", "aisle seat", at=2, one=True))
    assert (first.reason, second.reason) == ("added", "superseded")
    assert live(state) == ["aisle seat"]
    assert state["m2"].supersedes == "m1"
    assert state["m1"].superseded_by == "m2"


def test_a_late_arrival_is_stored_superseded_in_the_middle_of_the_chain() -> None:
    state = told(item(1, "address", "Porto", at=10, one=True), item(2, "address", "Oslo", at=30, one=True))
    changes = store(state, item(3, "address", "Ghent", at=20, one=True, source="import"))
    assert changes[0].reason == "superseded"
    assert live(state) == ["Oslo"]
    assert [state[id].superseded_by for id in ("m1", "m3", "m2")] == ["m3", "m2", ""]
    assert [state[id].supersedes for id in ("m1", "m3", "m2")] == ["", "m1", "m3"]


def test_values_of_a_many_attribute_live_side_by_side() -> None:
    state = told(item(1, "allergy", "peanuts"), item(2, "allergy", "shrimps"))
    assert live(state) == ["peanuts", "shrimps"]


def test_a_restatement_merges_keeps_the_id_and_counts() -> None:
    state = told(item(1, "likes", "oat milk", at=1))
    (change,) = store(state, item(2, "likes", "Oat Milk!", at=5))
    assert change.reason == "restated"
    assert len(state) == 1
    merged = state["m1"]
    assert (merged.seen_count, merged.version, merged.event_ms) == (2, 1, 5)
    assert merged.source_ids == ("#1", "#2")
    assert merged.text == "The user: likes oat milk"


def test_the_same_fact_from_two_sessions_has_two_sources() -> None:
    state = told(
        item(1, "likes", "jazz", session_id="a", source_ids=("#7",)),
        item(2, "likes", "jazz", session_id="b", source_ids=("#7",)),
    )
    assert state["m1"].source_ids == ("#7", "#7")


def test_the_same_message_read_twice_changes_nothing() -> None:
    state = told(item(1, "likes", "jazz", at=3))
    (change,) = store(state, item(2, "likes", "jazz", at=3, source_ids=("#1",)))
    assert change == Change(state["m1"], "ignored")
    assert state["m1"].seen_count == 1


def test_going_back_to_an_old_value_revives_its_item() -> None:
    state = told(
        *(
            item(number, "address", place, at=number, one=True)
            for number, place in enumerate(["Porto", "Oslo", "Porto"], 1)
        )
    )
    assert live(state) == ["Porto"]
    assert set(state) == {"m1", "m2"}
    assert (state["m1"].supersedes, state["m2"].superseded_by, state["m2"].supersedes) == ("m2", "m1", "")


def test_a_reversal_closes_its_value_alone() -> None:
    state = told(item(1, "allergy", "peanuts", at=1), item(2, "allergy", "shrimp", at=2))
    marker, closed = store(state, item(3, "allergy", "peanut", at=3), negated=True)
    assert (marker.reason, closed.reason) == ("closed", "closed")
    assert live(state) == ["shrimp"]
    assert state["m1"].superseded_by == "m3"
    assert state["m3"].supersedes == "m1"
    assert state["m3"].state == "superseded"


def test_a_reversal_of_another_value_of_a_one_attribute_changes_nothing_live() -> None:
    state = told(
        item(1, "address", "Oslo", at=1, one=True), (item(2, "address", "Porto", at=2, one=True), True)
    )
    assert live(state) == ["Oslo"]


def test_a_reversal_that_ended_nothing_stands_apart_from_the_chain() -> None:
    state = told(
        item(1, "address", "Oslo", at=1, one=True),
        (item(2, "address", "Porto", at=2, one=True), True),
        item(3, "address", "Ghent", at=3, one=True),
    )
    assert (state["m2"].supersedes, state["m2"].superseded_by) == ("", "")
    assert (state["m3"].supersedes, state["m1"].superseded_by) == ("m1", "m3")


def test_a_reversal_that_names_the_town_closes_the_street_address() -> None:
    state = told(
        item(1, "address", "12 Larch Road, Porto", at=1, one=True),
        (item(2, "address", "Porto", at=2, one=True), True),
    )
    assert live(state) == []


def test_a_reversal_without_a_value_closes_what_a_one_attribute_has() -> None:
    state = told(
        item(1, "employer", "Orchid Ltd", at=1, one=True), (item(2, "employer", "", at=2, one=True), True)
    )
    assert live(state) == []


@pytest.mark.parametrize(
    ("attribute", "value", "taken_back", "left"),
    [
        ("contact_preference", "call me by phone", "打电话给我", []),
        ("contact_preference", "发邮件", "e-mailing me", []),
        ("contact_preference", "e-mail me", "打电话", ["e-mail me"]),
        ("contact_preference", "text me", "calling me", ["text me"]),
        ("delivery", "放在门口", "leave parcels at the door", []),
        ("delivery", "放快递柜", "放门口", ["放快递柜"]),
    ],
)
def test_taking_a_way_back_closes_it_in_whatever_words_and_no_other(
    attribute: str, value: str, taken_back: str, left: list[str]
) -> None:
    state = told(
        item(1, attribute, value, at=1, one=True), (item(2, attribute, taken_back, at=2, one=True), True)
    )
    assert live(state) == left


def test_a_late_value_does_not_outlive_the_reversal_said_after_it() -> None:
    state = told(
        (item(1, "diet", "vegetarian", at=5, one=True), True), item(2, "diet", "vegetarian", at=3, one=True)
    )
    assert live(state) == []
    assert state["m2"].superseded_by == "m1"


def test_a_value_stated_again_after_its_reversal_is_live() -> None:
    state = told(
        item(1, "diet", "vegetarian", at=1, one=True),
        (item(2, "diet", "vegetarian", at=2, one=True), True),
        item(3, "diet", "vegetarian", at=3, one=True),
    )
    assert live(state) == ["vegetarian"]
    assert state["m1"].seen_count == 2


def test_liking_and_disliking_the_same_thing_end_one_another() -> None:
    state = told(
        item(1, "likes", "coffee", at=1), item(2, "likes", "tea", at=1), item(3, "dislikes", "coffee", at=2)
    )
    assert live(state) == ["coffee", "tea"]
    assert state["m1"].state == "superseded"
    assert state["m3"].supersedes == "m1"
    assert "dislikes" in rivals("likes")


def test_no_longer_using_a_thing_closes_the_taste_for_it() -> None:
    state = told(
        item(1, "likes", "coffee", at=1),
        (item(2, "uses", "coffee", at=2), True),
        item(3, "uses", "tea", at=2),
    )
    assert live(state) == ["tea"]


def test_other_owners_subjects_and_attributes_are_left_alone() -> None:
    others = [
        msgspec.structs.replace(item(1, "address", "Oslo", one=True), owner=Owner("", "bob")),
        item(2, "address", "Oslo", one=True, subject="friend"),
        item(3, "hometown", "Oslo", one=True),
    ]
    (change,) = reconcile(item(9, "address", "Porto", at=9, one=True), others)
    assert change.reason == "added"


def test_equal_times_are_ordered_by_sequence() -> None:
    assert live(told(item(1, "budget", "$500", one=True), item(2, "budget", "$600", one=True))) == ["$600"]
    assert live(told(item(2, "budget", "$600", one=True), item(1, "budget", "$500", one=True))) == ["$600"]


def test_an_edit_of_a_memory_three_times_makes_a_chain_of_four() -> None:
    state = told(
        *(item(number, "address", f"{number} Larch Road", at=number, one=True) for number in range(1, 5))
    )
    seen: list[str] = []
    id = next(one.id for one in state.values() if one.state == "live")
    while id:
        assert id not in seen
        seen.append(id)
        id = state[id].supersedes
    assert seen == ["m4", "m3", "m2", "m1"]


def test_a_value_ended_by_one_since_forgotten_does_not_come_back() -> None:
    state = told(item(1, "address", "Porto", at=1, one=True), item(2, "address", "Oslo", at=5, one=True))
    del state["m2"]
    store(state, item(3, "address", "Ghent", at=0, one=True))
    assert live(state) == []


def test_items_without_an_attribute_merge_when_their_text_is_the_same() -> None:
    notes = [
        item(number, "", "", text=text)
        for number, text in enumerate(["Likes oat milk", "likes oat milk.", "Likes tea"], 1)
    ]
    state = told(*notes)
    assert set(state) == {"m1", "m3"}
    assert state["m1"].seen_count == 2


def test_expiry_holds_to_the_second() -> None:
    items = (item(1, "note", "x", expires_ms=5_000),)
    assert current(items, now_ms=4_999) == items
    assert current(items, now_ms=5_000) == ()
    assert current((item(1, "note", "x"),), now_ms=5_000) != ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Peanuts", "peanut"),
        ("the window seat", "window seats"),
        ("shrimps", "Shrimp."),
        ("$1,500", "$1500"),
        ("2,000-3,000元", "2000-3000元"),
        ("3，200 元", "3200元"),
        ("五千元", "5000元"),
        ("５０００元", "5000元"),
        ("靠窗的座位", "靠窗座位"),
        ("吃辣", "辣"),
        ("strawberries", "Strawberry"),
        ("用 Python", "用Python"),
        ("KX-48210", "kx-48210"),
    ],
)
def test_loosely_equal_values_are_the_same_fact(one: str, other: str) -> None:
    assert same_fact(item(1, "note", one), item(2, "note", other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("room 5", "room 6"),
        ("$1.5", "$15"),
        ("2,000-3,000元", "2,000-3,500元"),
        ("KX-482", "KX-483"),
        ("KX-4-82", "KX-48-2"),
        ("007", "7"),
        ("2029-01-01", "2030-01-01"),
        ("O+", "O-"),
        ("C", "C++"),
        ("C#", "C++"),
        ("$500", "¥500"),
        ("dQw4w9", "DQW4W9"),
        ("花生", "花"),
        ("-5", "5"),
        ("三月五日", "三月六日"),
        ("iPhone 5s", "iPhone 5"),
        ("v1.2.3", "v1.2.4"),
        ("50%", "50"),
        ("🍕", "🍔"),
        ("glass", "glas s"),
        ("10:30", "1030"),
    ],
)
def test_differing_numbers_ids_and_dates_veto_a_merge(one: str, other: str) -> None:
    assert not same_fact(item(1, "note", one), item(2, "note", other))


@pytest.mark.parametrize("value", ["", " ", "。。。", "!!!", "的", "a", "the", "\ud800"])
def test_odd_values_have_a_compared_form(value: str) -> None:
    assert isinstance(loose(value), str)
