"""Attributes a program declares: honoured whoever states the fact, and asked for in its own words."""

from pathlib import Path

import pytest

from actormem import UsageError
from actormem.core.facts.declared import NONE_DECLARED, declared
from actormem.core.values import Fact
from tests.runtimes import answered, opened, words

pytestmark = pytest.mark.anyio


def fact(attribute: str, subject: str = "user") -> Fact:
    return Fact(
        subject=subject,
        attribute=attribute,
        cardinality="many",
        value="x",
        text="x",
        quote="",
        kind="fact",
        importance=0.5,
    )


async def test_what_is_declared_comes_before_the_table_and_the_rest_is_as_it_was() -> None:
    found = declared({"seat": "many", "desk": "one"})
    assert [found.cardinality(name) for name in ("seat", "desk", "address", "hobby", "favorite_tree")] == [
        "many", "one", "one", "many", "one"
    ]  # fmt: skip
    assert declared(None) is NONE_DECLARED
    assert found.applied(fact("desk")).cardinality == "one"
    assert found.applied(fact("desk", "wife")).cardinality == "one"
    assert found.applied(fact("desk", "friend")).cardinality == "many", "one has several friends"
    assert found.applied(fact("other")) == fact("other")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Which desk is mine?", ("desk",)),
        ("list my desks", ("desk",)),
        ("我的工位在哪？", ("desk",)),
        ("What is my locker code?", ("locker_code",)),
        ("the desktop is broken", ()),
        ("Where do I live?", ("address",)),
    ],
)
async def test_a_query_names_a_declared_attribute_by_its_name_or_its_words(
    query: str, expected: tuple[str, ...]
) -> None:
    found = declared({"desk": ("one", "desk", "工位"), "locker_code": "one"})
    assert found.names(query) == expected


@pytest.mark.parametrize(
    "given",
    [
        7,
        ["desk"],
        {"desk": "two"},
        {"desk": 1},
        {"desk": ()},
        {"desk": ("one", "")},
        {"desk": ("one", "x" * 41)},
        {"desk": ("one", 7)},
        {"desk": ("one", *("x" * 17))},
        {"": "one"},
        {"a\nb": "one"},
        {7: "one"},
        {f"a{number}": "one" for number in range(129)},
    ],
)
async def test_a_wrong_declaration_is_refused_in_one_line(given: object) -> None:
    with pytest.raises(UsageError) as caught:
        async with opened(attributes=given):
            raise AssertionError("opened")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "asked", "old", "new"),
    [
        ("The user sits at desk {}", "Which desk is mine?", "B-12", "C-07"),
        ("用户的工位是 {}", "我的工位在哪？", "B-12", "C-07"),
    ],
)
async def test_a_declared_one_attribute_has_one_value_and_is_found_by_its_words(
    said: str, asked: str, old: str, new: str
) -> None:
    async with opened(attributes={"desk": ("one", "desk", "工位")}) as runtime:
        for value in (old, new):
            await runtime.remember(said.format(value), user="ada", attribute="desk", value=value)
        kept = await runtime.value("ada", "desk")
        assert kept is not None
        assert (kept.value, kept.cardinality) == (new, "one")
        shown = words(await answered(await runtime.spawn("s", user="ada"), asked))
        assert new in shown
        assert old not in shown


async def test_a_rule_honours_what_is_declared_many_and_a_reversal_still_closes_one() -> None:
    async with opened(attributes={"seat": "many", "likes": "one"}) as runtime:
        session = await runtime.spawn("s", user="ada")
        for said in ("I prefer a window seat.", "我喜欢靠过道的座位。", "I like jazz.", "I like chess."):
            await answered(session, said)
        live = [(one.attribute, one.value) for one in await runtime.items("ada", kinds=["preference"])]
        assert sorted(live) == [("likes", "chess"), ("seat", "window seat"), ("seat", "靠过道的座位")]


async def test_what_was_stored_before_a_declaration_ends_with_the_next_statement(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    async with opened(folder) as runtime:
        for team in ("red", "blue"):
            await runtime.remember(f"The user is in team {team}", user="ada", attribute="team", value=team)
    async with opened(folder, attributes={"team": "one"}) as runtime:
        assert len(await runtime.items("ada")) == 2
        await runtime.remember("The user is in team green", user="ada", attribute="team", value="green")
        assert [one.value for one in await runtime.items("ada")] == ["green"]
