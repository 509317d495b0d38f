"""The hits of a query and of its rewrites as one answer."""

from collections.abc import Sequence
from typing import Any

from actormem.core.recall.expansion import REWRITE, REWRITE_HITS_MAX, REWRITE_SHARE, expanded
from actormem.core.recall.words import Words
from actormem.core.values import Hit, Item, Owner

WORDS = Words()
ADA = Owner("", "ada")
TEXTS = ("The ferry leaves at noon.", "Nora bakes bread in Porto.", "The cat is called Biscuit.")


def hit(place: int, score: float, text: str = "", **fields: Any) -> Hit:
    words = text or TEXTS[place]
    item = Item(id=f"m{place}", owner=ADA, kind="fact", text=words, source_ids=(f"u-{place}",), **fields)
    return Hit(item=item, score=score, why={"lexical": 0.75, "vector": 0.25})


def fused(own: Sequence[Hit], *rewritten: Sequence[Hit], limit: int = 10, **options: Any) -> tuple[Hit, ...]:
    found = [(f"way {number}", hits) for number, hits in enumerate(rewritten)]
    return expanded(own, found, query="boat", words=WORDS, limit=limit, **options)


def shape(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(one.item.id, round(one.score, 3)) for one in hits]


def test_what_only_a_rewrite_finds_comes_in_with_less_than_its_score() -> None:
    hits = fused([hit(0, 0.5)], [hit(1, 0.9), hit(2, 0.6)])
    assert shape(hits) == [("m1", 0.63), ("m0", 0.5), ("m2", 0.42)]
    assert dict(hits[0].why) == {REWRITE: 1.0}
    assert dict(hits[1].why) == {"lexical": 0.75, "vector": 0.25}


def test_a_surer_query_stands_above_a_rewrite_as_sure() -> None:
    assert shape(fused([hit(0, 0.9)], [hit(1, 0.9)])) == [("m0", 0.9), ("m1", 0.63)]
    assert 0 < REWRITE_SHARE < 1


def test_a_hit_of_both_keeps_the_better_score_and_why_tells_what_the_rewrite_added() -> None:
    assert fused([hit(0, 0.8)], [hit(0, 0.9)]) == (hit(0, 0.8),)
    [raised] = fused([hit(0, 0.21)], [hit(0, 0.6)])
    assert round(raised.score, 3) == 0.42
    assert dict(raised.why) == {REWRITE: 0.5, "lexical": 0.375, "vector": 0.125}
    [again] = fused([hit(0, 0.21)], [hit(0, 0.6)], [hit(0, 1.0)])
    assert round(again.score, 3) == 0.7
    assert dict(again.why) == {REWRITE: 0.7, "lexical": 0.225, "vector": 0.075}


def test_limit_and_floor_hold_for_what_comes_of_it() -> None:
    hits = fused([hit(0, 0.5)], [hit(1, 0.28), hit(2, 0.3)], min_score=0.2)
    assert shape(hits) == [("m0", 0.5), ("m2", 0.21)]
    assert shape(fused([hit(0, 0.5)], [hit(1, 0.9)], limit=1)) == [("m1", 0.63)]
    many = [hit(place, 0.9, f"Number {place} is word{place}.") for place in range(40)]
    assert len(fused([], many, limit=100)) == REWRITE_HITS_MAX


def test_what_says_the_same_is_one_hit_and_a_source_has_no_more_than_its_share() -> None:
    assert shape(fused([hit(0, 0.5)], [hit(7, 0.9, TEXTS[0])])) == [("m7", 0.63)]
    passages = [hit(place, 0.5, f"Passage {place} of word{place}.", session_id="d") for place in range(3)]
    alike = [
        Hit(
            item=Item(id=one.item.id, owner=ADA, kind="fact", text=one.item.text, source_ids=("doc",)),
            score=0.5,
        )
        for one in passages
    ]
    assert len(fused(alike[:1], alike[1:], source_max=2)) == 2


def test_of_two_statements_that_conflict_the_newer_stands_first() -> None:
    old = hit(1, 0.9, "The deposit of the boat is 300 euros.", event_ms=1_000)
    new = hit(2, 0.6, "The deposit of the boat is 450 euros.", event_ms=2_000)
    old, new = (Hit(item=as_said(one.item), score=one.score) for one in (old, new))
    hits = expanded([new], [("boat deposit", [old])], query="boat", words=WORDS, limit=10)
    assert [one.item.id for one in hits] == ["m2", "m1"]
    assert hits[0].score >= hits[1].score


def as_said(item: Item) -> Item:
    return Item(id=item.id, owner=ADA, kind="episode", text=item.text, event_ms=item.event_ms, speaker="ada")


def test_what_was_said_before_a_hit_is_not_told_where_it_is_a_hit_itself() -> None:
    first, second = hit(0, 0.9), hit(1, 0.8)
    led = Hit(item=second.item, score=0.8, before=first.item)
    assert [one.before for one in fused([led], [hit(2, 0.5)])] == [first.item, None]
    assert [one.before for one in fused([led], [first])] == [None, None]
