"""Questions that ask for a list, and turns that give way to those beside them."""

import numpy as np
import pytest

from actormem.core.recall.lists import BESIDE_SHARE, SPREAD_ROWS, asks_for_list, spread_apart
from actormem.core.recall.neighbours import SIDE, WIDTH
from actormem.core.recall.partition import Partition, Query
from actormem.core.values import Item, Owner


@pytest.mark.parametrize(
    "text",
    [
        "What events has Ada been to?",
        "Which new Italian dishes did we try",
        "In what ways does Bo train?",
        "what kinds of books does she read",
        "What do both of them collect?",
        "Name several places",
        "我去过哪些城市",
        "他们一共养了几种动物",
    ],
)
def test_a_list_is_asked_for(text: str) -> None:
    assert asks_for_list(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What is her name?",
        "What does Ada do on Sundays?",
        "What motivates Bo?",
        "What class did she take?",
        "Which bus does he take",
        "When did the events begin?",
        "我住在哪里",
        "What events has she been to? " + "And then we talked about this and that. " * 20,
    ],
)
def test_one_thing_is_asked_for(text: str) -> None:
    assert not asks_for_list(text)


def beside(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int32]]":
    """Rows in one talk, each between the one before and the one after."""
    near = np.repeat(np.arange(count, dtype=np.int32)[:, None], WIDTH, 1)
    near[1:, SIDE - 1] = np.arange(count - 1)
    near[:-1, SIDE] = np.arange(1, count)
    return near


def test_a_turn_gives_way_to_the_one_beside_it_that_stands_above() -> None:
    scores = np.array([1.0, 0.99, 0.5, 0.95])
    near = beside(4)
    near[3], near[2, SIDE] = 3, 2
    given = spread_apart(scores, np.arange(4), near)
    assert np.allclose(given, [1.0, 0.99 - BESIDE_SHARE, 0.5 - BESIDE_SHARE, 0.95])
    assert scores.tolist() == [1.0, 0.99, 0.5, 0.95]


def test_a_turn_between_two_that_stand_above_gives_way_twice() -> None:
    scores = np.array([1.0, 0.8, 0.9])
    given = spread_apart(scores, np.arange(3), beside(3))
    assert np.allclose(given, [1.0, 0.8 - 2 * BESIDE_SHARE, 0.9])


def test_nothing_moves_without_neighbours_or_without_a_score() -> None:
    alone = np.repeat(np.arange(3, dtype=np.int32)[:, None], WIDTH, 1)
    scores = np.array([0.3, 0.2, 0.1])
    assert spread_apart(scores, np.arange(3), alone).tolist() == scores.tolist()
    assert spread_apart(-scores, np.arange(3), beside(3)).tolist() == (-scores).tolist()
    assert not len(spread_apart(np.zeros(0), np.arange(0), alone[:0]))


def test_only_the_best_are_looked_at() -> None:
    count = 4 * SPREAD_ROWS
    scores = np.linspace(2.0, 1.0, count)
    given = spread_apart(scores, np.arange(count), beside(count))
    assert (given[SPREAD_ROWS:] == scores[SPREAD_ROWS:]).all()
    assert (given <= scores).all()
    assert given[0] == scores[0]


def test_where_a_list_is_asked_for_a_turn_beside_a_better_one_comes_after_others() -> None:
    said = ("I went to a concert event", "That concert event was loud", "A concert event like few events")
    partition = Partition(8)
    for number, text in enumerate(said):
        partition.put(
            Item(
                id=f"i{number}", owner=Owner("", "ada"), text=text, kind="episode", speaker="ada",
                session_id="s", sequence=number, event_ms=1_000 * number + 1,
            )
        )  # fmt: skip

    def order(text: str) -> list[str]:
        return [hit.item.id for hit in partition.search(Query(text=text, now_ms=10_000))]

    assert order("Where did the events of Ada go to?") == ["i0", "i1", "i2"]
    assert order("What events did Ada go to?") == ["i0", "i2", "i1"]
