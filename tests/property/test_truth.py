"""Logs, live words and reversals in any order: one outcome, whole chains, first and last times kept."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actormem.core.facts.as_of import held_at
from actormem.core.facts.attributes import cardinality
from actormem.core.facts.reconcile import reconcile
from actormem.core.facts.sameness import loose
from actormem.core.values import Item, Owner

OWNER = Owner("", "ada")
VALUES = ("Turku", "turku.", "Vaasa", "$900", "$950", "花生", "花生。", "核桃")
ATTRIBUTES = ("address", "budget", "likes", "dislikes", "allergy")


class Said(msgspec.Struct, frozen=True):
    """One statement; `log` 0 is said live, any other number is an older log."""

    attribute: str
    value: str
    time: int
    negated: bool
    log: int


SAID = st.builds(
    Said,
    st.sampled_from(ATTRIBUTES),
    st.sampled_from(VALUES),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from((0, 0, 1, 2)),
)
STATED = SAID.map(lambda one: msgspec.structs.replace(one, negated=False))


def item(number: int, one: Said) -> Item:
    return Item(
        id=f"m{number}",
        owner=OWNER,
        kind="fact",
        text=f"The user: {one.attribute} {one.value}",
        subject="user",
        attribute=one.attribute,
        value=one.value,
        cardinality=cardinality(one.attribute),
        event_ms=one.time,
        sequence=number,
        source="import" if one.log else "user",
        source_ids=(f"#{number}",),
        session_id=f"log {one.log}" if one.log else "",
    )


def arrive(said: list[Said], order: list[int]) -> dict[str, Item]:
    state: dict[str, Item] = {}
    for number in order:
        for change in reconcile(
            item(number, said[number]), list(state.values()), negated=said[number].negated
        ):
            state[change.item.id] = change.item
    return state


def outcome(state: dict[str, Item]) -> set[tuple[str, str, int, int, int]]:
    live = [one for one in state.values() if one.state == "live"]
    return {(one.attribute, loose(one.value), one.since_ms, one.event_ms, one.seen_count) for one in live}


def shuffled(one: st.SearchStrategy[Said], most: int = 9) -> st.SearchStrategy[tuple[list[Said], list[int]]]:
    return st.lists(one, max_size=most).flatmap(
        lambda said: st.tuples(st.just(said), st.permutations(range(len(said))))
    )


@given(shuffled(SAID))
def test_logs_and_live_words_in_any_order_end_the_same(case: tuple[list[Said], list[int]]) -> None:
    said, order = case
    assert outcome(arrive(said, order)) == outcome(arrive(said, list(range(len(said)))))


@given(shuffled(SAID))
def test_links_lead_forward_in_time_and_never_in_a_ring(case: tuple[list[Said], list[int]]) -> None:
    state = arrive(*case)
    for one in state.values():
        assert (one.state == "live") == (not one.superseded_by) or one.confidence == 0.0
        seen = {one.id}
        while one.superseded_by:
            after = state[one.superseded_by]
            assert after.event_ms >= one.event_ms
            assert after.id not in seen
            seen.add(after.id)
            one = after  # noqa: PLW2901


@given(shuffled(STATED))
def test_a_merge_keeps_the_first_and_the_last_time_and_every_source_and_the_id(
    case: tuple[list[Said], list[int]],
) -> None:
    said, order = case
    state = arrive(said, order)
    for attribute in ATTRIBUTES:
        for form in {loose(value) for value in VALUES}:
            same = [n for n in order if said[n].attribute == attribute and loose(said[n].value) == form]
            if not same:
                continue
            [one] = [x for x in state.values() if x.attribute == attribute and loose(x.value) == form]
            assert one.id == f"m{same[0]}"
            assert (one.since_ms, one.event_ms) == (
                min(said[n].time for n in same),
                max(said[n].time for n in same),
            )
            assert sorted(one.source_ids) == sorted(f"#{n}" for n in same)


@given(shuffled(STATED))
def test_only_two_logs_of_one_time_leave_a_one_attribute_with_two_values(
    case: tuple[list[Said], list[int]],
) -> None:
    said, order = case
    state = arrive(said, order)
    for attribute in ("address", "budget"):
        live = [one for one in state.values() if one.attribute == attribute and one.state == "live"]
        if len(live) > 1:
            assert {one.source for one in live} == {"import"}
            assert len({one.event_ms for one in live}) == 1
        stated = [one for one in said if one.attribute == attribute]
        if stated:
            newest = max(one.time for one in stated)
            assert {one.event_ms for one in live} == {newest}
            if any(one.time == newest and not one.log for one in stated):
                assert all(one.source == "user" for one in live), "a log is never above what was said live"


@given(st.lists(SAID, max_size=8), st.integers(0, 6))
def test_what_held_at_a_time_is_what_was_live_had_nothing_been_said_since(said: list[Said], at: int) -> None:
    """Each value of one attribute is said once here: of more statements only the first and last time are kept."""
    once = {(one.attribute, loose(one.value), one.negated): one for one in said}
    facts = list(once.values())
    state = arrive(facts, list(range(len(facts))))
    then = arrive([one for one in facts if one.time <= at], list(range(sum(one.time <= at for one in facts))))
    held = {(state[id].attribute, loose(state[id].value)) for id in held_at(state.values(), at)}
    assert held == {(one.attribute, loose(one.value)) for one in then.values() if one.state == "live"}
