"""Whatever is said, in whatever order: one live truth, a whole chain, no number merged into another."""

import re

from hypothesis import given
from hypothesis import strategies as st

from actormem.core.facts.attributes import cardinality
from actormem.core.facts.reconcile import current, reconcile, same_fact
from actormem.core.values import Item
from tests.said_facts import fact_item

ATTRIBUTES = ("address", "budget", "likes", "dislikes", "allergy")
VALUES = (
    "Porto",
    "porto.",
    "12 Larch Road, Porto",
    "$500",
    "$5,000",
    "5000元",
    "peanuts",
    "Peanut",
    "花生",
    "KX-1",
    "KX-2",
)

Said = tuple[str, str, int, bool]  # attribute, value, time, negated
said = st.tuples(st.sampled_from(ATTRIBUTES), st.sampled_from(VALUES), st.integers(0, 6), st.booleans())
stated = st.tuples(st.sampled_from(ATTRIBUTES), st.sampled_from(VALUES), st.integers(0, 6), st.just(False))


def item(number: int, fact: Said) -> Item:
    attribute, value, time, _ = fact
    return fact_item(number, attribute, value, time)


def arrive(facts: list[Said], order: list[int]) -> dict[str, Item]:
    state: dict[str, Item] = {}
    for number in order:
        for change in reconcile(item(number, facts[number]), list(state.values()), negated=facts[number][3]):
            state[change.item.id] = change.item
    return state


def live(state: dict[str, Item]) -> set[tuple[str, str, int, int]]:
    """Live values as compared, with when they were last stated and how often."""
    now = current(tuple(state.values()), now_ms=10**12)
    representative = {
        one.id: min((v for v in VALUES if same_fact(one, item_like(one, v))), key=VALUES.index) for one in now
    }
    return {(one.attribute, representative[one.id], one.event_ms, one.seen_count) for one in now}


def item_like(one: Item, value: str) -> Item:
    return item(0, (one.attribute, value, 0, False))


@given(
    st.lists(said, max_size=10).flatmap(
        lambda facts: st.tuples(st.just(facts), st.permutations(range(len(facts))))
    )
)
def test_any_order_of_arrival_ends_in_the_same_live_set(case: tuple[list[Said], list[int]]) -> None:
    facts, order = case
    assert live(arrive(facts, order)) == live(arrive(facts, list(range(len(facts)))))


@given(
    st.lists(stated, min_size=1, max_size=12).flatmap(
        lambda facts: st.tuples(st.just(facts), st.permutations(range(len(facts))))
    )
)
def test_a_one_attribute_once_stated_has_exactly_one_live_value_and_it_is_the_newest(
    case: tuple[list[Said], list[int]],
) -> None:
    facts, order = case
    state = arrive(facts, order)
    for attribute in {fact[0] for fact in facts if cardinality(fact[0]) == "one"}:
        (kept,) = (one for one in current(tuple(state.values()), now_ms=10**12) if one.attribute == attribute)
        newest = max((fact[2], number) for number, fact in enumerate(facts) if fact[0] == attribute)
        assert (kept.event_ms, kept.sequence) == newest


@given(
    st.lists(stated, min_size=1, max_size=12).flatmap(
        lambda facts: st.tuples(st.just(facts), st.permutations(range(len(facts))))
    )
)
def test_the_chain_of_a_one_attribute_holds_every_distinct_value_once(
    case: tuple[list[Said], list[int]],
) -> None:
    facts, order = case
    state = arrive(facts, order)
    for attribute in {fact[0] for fact in facts if cardinality(fact[0]) == "one"}:
        items = [one for one in state.values() if one.attribute == attribute]
        (head,) = (one for one in items if one.state == "live")
        seen: list[str] = []
        link = head.id
        while link:
            assert link not in seen
            seen.append(link)
            below = state[link].supersedes
            assert not below or state[below].superseded_by == link
            link = below
        assert sorted(seen) == sorted(one.id for one in items)
        assert all(not same_fact(a, b) for a in items for b in items if a.id < b.id)
        assert sum(one.seen_count for one in items) == sum(fact[0] == attribute for fact in facts)


@given(st.lists(said, max_size=12))
def test_links_never_form_a_ring_and_never_point_nowhere(facts: list[Said]) -> None:
    state = arrive(facts, list(range(len(facts))))
    for one in state.values():
        assert one.superseded_by in ("", *state)
        assert one.supersedes in ("", *state)
        assert (one.state == "live") <= (one.superseded_by == "")
        if one.superseded_by:
            after = state[one.superseded_by]
            assert (after.event_ms, after.sequence) > (one.event_ms, one.sequence)


@given(st.sampled_from(VALUES), st.sampled_from(VALUES))
def test_a_merge_never_joins_values_with_differing_numbers(one: str, other: str) -> None:
    def digits(text: str) -> list[str]:
        return re.findall(r"\d+", text.replace(",", ""))

    if same_fact(item(1, ("likes", one, 0, False)), item(2, ("likes", other, 0, False))):
        assert digits(one) == digits(other)


@given(st.text(max_size=12), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_number_in_a_value_is_never_lost_by_the_comparison(words: str, first: int, second: int) -> None:
    a = item(1, ("likes", f"{words} {first}", 0, False))
    b = item(2, ("likes", f"{words} {second}", 0, False))
    assert same_fact(a, b) == (first == second)
