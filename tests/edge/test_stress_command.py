"""`actormem stress`: the dialogue plays, the table tells the truth, and the floor can be fallen through."""

import json

import pytest

from actormem.cli import main as command
from actormem.cli import stress
from actormem.cli.stress import Mistake, Truth, judged
from actormem.core.facts.extraction import extract
from actormem.core.values import Item, Owner

OWNER = Owner("", "x")


def item(number: int, text: str, attribute: str, subject: str = "user") -> Item:
    return Item(id=f"m{number}", owner=OWNER, kind="fact", text=text, attribute=attribute, subject=subject)


TRUTH = [
    Truth("address", ["address"], ["菱塘路"], ["柳桥弄"]),
    Truth("taste", ["likes"], [], ["mint"]),
    Truth("code", [], ["7731"], []),
]


def test_what_is_right_is_no_mistake() -> None:
    items = [item(1, "用户从柳桥弄搬到菱塘路", "address"), item(2, "code 7731", "note")]
    assert judged("x", TRUTH, items) == []


def test_missed_stale_and_junk_are_told_apart_and_others_are_let_be() -> None:
    items = [
        item(1, "用户住在柳桥弄", "address"),
        item(2, "The user likes MINT tea", "likes"),
        item(3, "The user likes penguins", "likes"),
        item(4, "用户的邻居住在柳桥弄", "address", subject="邻居"),
    ]
    assert judged("x", TRUTH, items) == [
        Mistake("x", "missed", "address"),
        Mistake("x", "stale", "address", "用户住在柳桥弄"),
        Mistake("x", "stale", "taste", "The user likes MINT tea"),
        Mistake("x", "missed", "code"),
        Mistake("x", "junk", "likes", "The user likes penguins"),
    ]


def test_the_dialogue_is_remembered_no_worse_than_its_floor(capsys: pytest.CaptureFixture[str]) -> None:
    code = command.main(["stress", "--json"])
    body = json.loads(capsys.readouterr().out)
    assert (code, body["passes"]) == (0, True)
    assert body["truth_count"] >= 40
    assert body["right_count"] >= 0.7 * body["truth_count"]
    assert {one["kind"] for one in body["mistakes"]} <= {"missed", "stale", "junk"}


def test_below_the_floor_it_ends_with_one_and_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stress, "RIGHT_SHARE_MIN", 1.1)
    assert command.main(["stress"]) == 1
    out = capsys.readouterr().out
    assert "remembered rightly (the floor is 110%" in out


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("我已经不在青禾设计院上班了。", [("employer", "青禾设计院", True)]),
        ("我不在远舟厂干了。", [("employer", "远舟厂", True)]),
        ("我不在绍兴了。", [("address", "绍兴", True)]),
        ("我在青禾设计院当结构工程师。", [("employer", "青禾设计院", False), ("job", "结构工程师", False)]),
        ("我现在在远舟造船厂做项目经理。", [("employer", "远舟造船厂", False), ("job", "项目经理", False)]),
        ("我在家做饭。", []),
        ("我在操场当裁判的时候下雨了。", []),
    ],
)
def test_where_somebody_works_is_no_address(said: str, facts: list[tuple[str, str, bool]]) -> None:
    assert [(one.attribute, one.value, one.negated) for one in extract(said)] == facts
