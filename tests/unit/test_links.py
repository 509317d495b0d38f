"""The threads between an owner's items: which of them a new fact has to be compared with."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actormem.actors.links import Links
from actormem.core.facts import reconcile
from actormem.core.facts.reconcile import closing, competes
from actormem.core.recall.partition import Partition
from actormem.core.values import Item, Owner
from tests.runtimes import opened

OWNER = Owner("", "ada")
ATTRIBUTES = {"likes": "many", "dislikes": "many", "allergy": "many", "address": "one"}


@st.composite
def facts(draw: st.DrawFn, number: int = 0) -> Item:
    attribute = draw(st.sampled_from(sorted(ATTRIBUTES)))
    value = draw(st.sampled_from(["peanuts", "the Peanut!", "room 5", "room 6", "花生", ""]))
    one = Item(
        id=f"m{number}",
        owner=OWNER,
        kind=draw(st.sampled_from(["fact", "preference", "event"])),
        text=f"It is {value}.",
        value=value,
        subject=draw(st.sampled_from(["user", "wife"])),
        attribute=attribute,
        cardinality=ATTRIBUTES[attribute],  # type: ignore[arg-type]
        scope=draw(st.sampled_from(["", "work"])),
        sequence=number,
        event_ms=number,
        source_ids=(f"s{number}",),
        session_id="s",
    )
    return closing(one) if draw(st.booleans()) else one


@given(data=st.data(), negated=st.booleans())
def test_competitors_are_all_that_a_fact_competes_with(data: st.DataObject, negated: bool) -> None:
    partition = Partition(4)
    links = Links(partition)
    stored = [data.draw(facts(number)) for number in range(1, 9)]

    def put(item: Item) -> None:
        partition.put(item)
        links.add(item)

    def check() -> None:
        new = data.draw(facts(99))
        told = closing(new) if negated else new
        wanted = {one.id for one in links.rivals(new) if competes(told, one)}
        assert {one.id for one in links.competitors(new, negated=negated)} == wanted

    for item in stored:
        put(item)
    check()
    put(msgspec.structs.replace(stored[0], value="room 6", text="It is room 6.", version=2))
    put(closing(stored[1]))
    links.drop(stored[2])
    partition.remove(stored[2].id)
    check()


@pytest.mark.anyio
async def test_what_is_remembered_is_brought_into_its_form_once_and_not_at_every_later_fact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[str] = []
    loose = reconcile.loose
    monkeypatch.setattr(reconcile, "loose", lambda value: (counts.append(value), loose(value))[1])
    async with opened() as runtime:
        for number in range(40):
            await runtime.remember(f"The cabin number {number} is blue.", user="ada")
        assert len(await runtime.items("ada")) == 40
    assert len(counts) < 40 * 8
