"""What taking back a message does to the items that came from it."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.actors.retracting import Retraction, retraction
from actormem.core.facts.reconcile import current, reconcile
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner

ADA = Owner("", "ada")
Source = tuple[str, str]


class Memory:
    """A partition that is told facts, each by a message of its own, as intake tells them."""

    def __init__(self) -> None:
        self.partition = Partition(4)
        self.number = 0

    def said(
        self, id: str, value: str, *, attribute: str = "address", session: str = "s", negated: bool = False,
        time: int | None = None,
    ) -> None:  # fmt: skip
        """A message with one fact in it."""
        stated_ms = self._next() * 1_000 if time is None else time
        episode = Item(
            id=f"m{self._next()}", owner=ADA, kind="episode", text=f"I say {value}", source_ids=(id,),
            session_id=session, event_ms=stated_ms, sequence=self.number,
        )  # fmt: skip
        self.partition.put(episode)
        self.stated(
            value, attribute=attribute, session=session, sources=(id,), negated=negated, time=stated_ms
        )

    def stated(
        self, value: str, *, attribute: str = "address", session: str = "", sources: tuple[str, ...] = (),
        negated: bool = False, time: int | None = None,
    ) -> None:  # fmt: skip
        """One fact, by a message or by a caller."""
        number = self._next()
        stated_ms = number * 1_000 if time is None else time
        new = Item(
            id=f"m{number}", owner=ADA, kind="fact", text=f"The user's {attribute} is {value}", subject="user",
            attribute=attribute, value=value, cardinality="one" if attribute == "address" else "many",
            quote=f"say {value}", source_ids=sources, session_id=session, event_ms=stated_ms,
            stored_ms=stated_ms, sequence=number,
        )  # fmt: skip
        for change in reconcile(new, list(self.partition.items()), negated=negated):
            self.partition.put(change.item)

    def back(self, *sources: str | Source) -> Retraction:
        """Take messages back; those of session `s` go by their ids."""
        gone = {("s", one) if isinstance(one, str) else one for one in sources}
        found = retraction(self.partition, gone, self._from_source, self._of_subject)
        for item in found.gone:
            self.partition.remove(item.id)
        for item in found.changed:
            self.partition.put(item)
        return found

    def live(self, attribute: str = "address") -> list[str]:
        items = current(list(self.partition.items()), now_ms=0)
        return sorted(item.value for item in items if item.attribute == attribute)

    def fact(self, value: str) -> Item:
        [item] = [one for one in self.partition.items() if one.value == value and one.kind == "fact"]
        return item

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _from_source(self, source: Source) -> list[str]:
        return [item.id for item in self.partition.items() if source in item.sources]

    def _of_subject(self, subject: str, attribute: str) -> list[str]:
        items = self.partition.items()
        return [item.id for item in items if (item.subject, item.attribute) == (subject, attribute)]


def test_what_came_from_the_message_alone_goes_and_what_it_ended_is_live_again() -> None:
    memory = Memory()
    memory.said("1", "文三路 12 号")
    memory.said("2", "9 Lake Road")
    assert memory.live() == ["9 Lake Road"]
    assert len(memory.back("2").gone) == 2
    assert memory.live() == ["文三路 12 号"]
    [item] = [one for one in memory.partition.items() if one.kind == "fact"]
    assert (item.state, item.superseded_by, item.supersedes) == ("live", "", "")


def test_a_value_in_the_middle_of_the_chain_leaves_the_chain_whole() -> None:
    memory = Memory()
    for id, value in (("1", "A"), ("2", "B"), ("3", "C")):
        memory.said(id, value)
    memory.back("2")
    first, last = memory.fact("A"), memory.fact("C")
    assert (first.state, first.superseded_by) == ("superseded", last.id)
    assert (last.state, last.supersedes) == ("live", first.id)


def test_a_value_that_was_said_again_goes_back_to_when_it_was_said_before() -> None:
    memory = Memory()
    for id, value in (("1", "A"), ("2", "B"), ("3", "A")):
        memory.said(id, value)
    before = memory.fact("A")
    assert (memory.live(), before.seen_count, before.source_ids) == (["A"], 2, ("1", "3"))
    memory.back("3")
    after = memory.fact("A")
    assert memory.live() == ["B"]
    assert (after.seen_count, after.source_ids, after.event_ms) == (1, ("1",), 1_000)
    assert after.superseded_by == memory.fact("B").id


def test_many_values_lose_only_the_one_that_was_taken_back() -> None:
    memory = Memory()
    memory.said("1", "peanuts", attribute="allergy")
    memory.said("2", "walnuts", attribute="allergy")
    memory.back("1")
    assert memory.live("allergy") == ["walnuts"]


def test_a_reversal_that_is_taken_back_ends_nothing_any_more() -> None:
    memory = Memory()
    memory.said("1", "peanuts", attribute="allergy")
    memory.said("2", "peanuts", attribute="allergy", negated=True)
    assert memory.live("allergy") == []
    memory.back("2")
    assert memory.live("allergy") == ["peanuts"]


def test_what_another_session_said_too_stays_with_that_source() -> None:
    memory = Memory()
    memory.said("1", "peanuts", attribute="allergy")
    memory.said("1", "peanuts", attribute="allergy", session="other")
    assert memory.fact("peanuts").sources == (("s", "1"), ("other", "1"))
    memory.back("1")
    fact = memory.fact("peanuts")
    assert (fact.sources, fact.session_id, fact.source_sessions, fact.seen_count) == (
        (("other", "1"),), "other", (), 1,
    )  # fmt: skip
    assert memory.live("allergy") == ["peanuts"]
    memory.back(("other", "1"))
    assert list(memory.partition.items()) == []


def test_a_message_of_the_same_id_in_another_session_takes_nothing_with_it() -> None:
    memory = Memory()
    memory.said("1", "peanuts", attribute="allergy")
    found = memory.back(("other", "1"))
    assert (found.gone, found.changed) == ((), ())


def test_the_words_to_cut_out_are_those_of_a_message_that_stays() -> None:
    memory = Memory()
    memory.said("1", "peanuts", attribute="allergy")
    episode = Item(
        id="m90", owner=ADA, kind="episode", text="nuts? peanuts, yes", source_ids=("7",), session_id="other",
        event_ms=90_000, sequence=1,
    )  # fmt: skip
    memory.partition.put(episode)
    memory.stated("peanuts", attribute="allergy", session="other", sources=("7",))
    memory.back("1")
    assert memory.fact("peanuts").quote == "peanuts"


@pytest.mark.parametrize("first", ["caller", "message"])
def test_what_a_caller_stated_too_stays(first: str) -> None:
    memory = Memory()
    if first == "caller":
        memory.stated("A")
        memory.said("1", "A")
    else:
        memory.said("1", "A")
        memory.stated("A")
    assert memory.fact("A").seen_count == 2
    memory.back("1")
    fact = memory.fact("A")
    assert (memory.live(), fact.seen_count, fact.sources) == (["A"], 1, ())


def test_a_summary_goes_with_any_of_its_sources() -> None:
    memory = Memory()
    summary = Item(id="m9", owner=ADA, kind="summary", text="both", source_ids=("1", "2"), session_id="s")
    memory.partition.put(summary)
    assert memory.back("2").gone == (summary,)


def test_done_again_it_changes_nothing() -> None:
    memory = Memory()
    for id, value in (("1", "A"), ("2", "B"), ("3", "A")):
        memory.said(id, value)
    memory.back("3")
    kept = sorted(memory.partition.items(), key=lambda item: item.id)
    assert memory.back("3") == Retraction((), ())
    assert sorted(memory.partition.items(), key=lambda item: item.id) == kept


STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(("A", "B", "C")),
        st.sampled_from(("address", "allergy")),
        st.sampled_from((False, False, False, True)),
        st.sampled_from(("s", "s", "other")),
    ),
    max_size=9,
)


@settings(max_examples=80)
@given(STATEMENTS, st.integers(0, 9))
def test_the_truth_is_what_it_would_be_had_the_last_messages_never_been_said(
    statements: Sequence[tuple[str, str, bool, str]], kept_count: int
) -> None:
    all_said, fewer = Memory(), Memory()
    late: list[Source] = []
    for place, (value, attribute, negated, session) in enumerate(statements):
        stays = place < kept_count or session == "other"
        for memory in (all_said, fewer) if stays else (all_said,):
            time = (place + 1) * 100_000
            memory.said(str(place), value, attribute=attribute, negated=negated, session=session, time=time)
        if not stays:
            late.append((session, str(place)))
    all_said.back(*late)
    for attribute in ("address", "allergy"):
        assert all_said.live(attribute) == fewer.live(attribute)
    sources = sorted(item.sources for item in all_said.partition.items())
    assert sources == sorted(item.sources for item in fewer.partition.items())
