"""Archived items are out of recall's reach, and back in it when asked for; how often memories are shown and used."""

from pathlib import Path

import numpy as np
import pytest

import actormem
from actormem import NotFoundError, UsageError
from actormem.core.health.usage import used_count
from actormem.core.recall.partition import Partition, Query
from actormem.core.recall.words import Words
from actormem.core.values import Item, Owner
from tests.runtimes import FakeClock, answered, opened, words

pytestmark = pytest.mark.anyio

ADA = Owner("", "ada")


async def remembered(runtime: actormem.Runtime, text: str, **more: str) -> Item:
    return await runtime.remember(text, user="ada", **more)  # type: ignore[arg-type]


async def test_an_archived_item_is_reached_by_a_deep_recall_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        item = await remembered(runtime, "用户喜欢爬山", attribute="likes", value="爬山")
        archived = await runtime.archive(item.id, user="ada")
        assert archived.state == "archived"
        assert await runtime.archive(item.id, user="ada") == archived, "twice is once"
    async with opened(tmp_path) as runtime:
        assert len(await runtime.recall("爬山", user="ada")) == 0
        assert await runtime.items("ada") == ()
        assert await runtime.value("ada", "likes") is None
        assert "爬山" not in words(
            await answered(await runtime.spawn("s", user="ada"), "你好，推荐一下周末活动")
        )
        [hit] = await runtime.recall("爬山", user="ada", deep=True, kinds=["fact"])
        assert hit.item.id == item.id
        assert [one.id for one in await runtime.items("ada", history=True, kinds=["fact"])] == [item.id]
        back = await runtime.archive(item.id, user="ada", archived=False)
        assert back.state == "live"
        assert [one.item.id for one in await runtime.recall("爬山", user="ada", kinds=["fact"])] == [item.id]


async def test_stating_an_archived_fact_again_brings_it_back() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "I'm allergic to walnuts.")
        await runtime.settle()
        [fact] = await runtime.items("ada", kinds=["fact"])
        await runtime.archive(fact.id, user="ada")
        await answered(session, "Please note that I'm allergic to walnuts.")
        await runtime.settle()
        assert [one.id for one in await runtime.items("ada", kinds=["fact"])] == [fact.id]


async def test_only_an_item_of_the_user_that_holds_is_archived() -> None:
    async with opened() as runtime:
        old = await remembered(runtime, "The address is Rome", attribute="address", value="Rome")
        await remembered(runtime, "The address is Bern", attribute="address", value="Bern")
        with pytest.raises(UsageError, match="archived"):
            await runtime.archive(old.id, user="ada")
        with pytest.raises(UsageError, match="archived must be True or False"):
            await runtime.archive(old.id, user="ada", archived="yes")  # type: ignore[arg-type]
        for id, user in ((old.id, "bob"), ("m999", "ada")):
            with pytest.raises(NotFoundError):
                await runtime.archive(id, user=user)
        with pytest.raises(UsageError, match="deep"):
            await runtime.recall("x", user="ada", deep=1)  # type: ignore[arg-type]


class OneRow:
    """An index that gives the same row to every query."""

    def search(self, vector: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0]), np.array([1.0], np.float32)


def test_the_vector_of_an_archived_item_is_in_no_index_until_it_is_back() -> None:
    partition = Partition(4)
    item = Item(id="m1", owner=ADA, kind="fact", text="likes tea")
    partition.put(item)
    partition.set_vectors(["m1"], np.eye(4, dtype=np.float32)[:1])
    assert len(partition.labelled_vectors()[0]) == 1
    archived = Item(id="m1", owner=ADA, kind="fact", text="likes tea", state="archived")
    partition.put(archived)
    assert len(partition.labelled_vectors()[0]) == 0
    query = Query(text="tea", now_ms=1, vector=np.eye(4, dtype=np.float32)[0])
    assert partition.search(query, OneRow()) == ()
    deep = Query(text="tea", now_ms=1, vector=query.vector, deep=True)
    assert [hit.item.id for hit in partition.search(deep, OneRow())] == ["m1"]
    assert partition.without_vectors() == ()
    partition.put(item)
    assert partition.without_vectors() == ("m1",), "an index has to take it in again"


async def test_items_tell_how_often_they_were_shown_and_when_last(tmp_path: Path) -> None:
    clock = FakeClock()
    async with opened(tmp_path, clock=clock) as runtime:
        item = await remembered(runtime, "用户住在杭州", attribute="address", value="杭州")
        await runtime.recall("杭州", user="ada")
        session = await runtime.spawn("s", user="ada")
        await answered(session, "我的地址是哪里？", "您住在杭州。")
        await session.context(query="杭州")
        await runtime.settle()
        shown = await runtime.item(item.id, user="ada")
        assert (shown.shown_count, shown.last_shown_ms) == (2, clock.now_ms())
        assert shown.version == item.version
    async with opened(tmp_path) as runtime:
        assert (await runtime.item(item.id, user="ada")).shown_count == 2
        assert (await runtime.item(item.id, user="ada")).last_shown_ms == shown.last_shown_ms


async def test_counts_tell_what_memory_was_good_for() -> None:
    async with opened(embedder=None) as runtime:
        await remembered(runtime, "The user's shoe size is 43", attribute="shoe_size", value="43")
        session = await runtime.spawn("s", user="ada", budget=actormem.Budget(context=4_096, profile=0))
        await answered(session, "What is my shoe size?", "It is 43.")
        other = await runtime.spawn("o", user="ada", budget=actormem.Budget(context=4_096, profile=0))
        await answered(other, "What is my shoe size?", "No idea, sorry.")
        await answered(other, "好的，谢谢")
        await answered(other, "My shoe size is 44.")
        await runtime.settle()
        [fact] = await runtime.items("ada", kinds=["fact"])
        await runtime.edit(fact.id, "The user's shoe size is 45", user="ada")
        counts = runtime.statistics()
        assert counts.hits_shown >= 2
        assert 1 <= counts.hits_used < counts.hits_shown
        assert counts.gate_skips >= 1
        assert (counts.supersessions, counts.corrections) == (1, 1)


@pytest.mark.parametrize(
    ("text", "value", "reply", "used"),
    [
        ("The user's budget is 5,000 yuan", "5,000 yuan", "Within 5000 yuan there are two.", 1),
        ("用户对花生过敏", "花生", "这道菜里没有花生。", 1),
        ("用户计划下周去昆明看花展", "", "昆明的花展下周开幕。", 1),
        ("用户计划下周去昆明看花展", "", "好的，没有问题。", 0),
        ("The user plans a hiking trip near Lake Como", "", "A hiking trip near Como sounds great.", 1),
        ("The user plans a hiking trip near Lake Como", "", "Your parcel is on its way.", 0),
        ("The user is called X", "X", "The exit is there.", 0),
        ("?!", "", "?!", 0),
    ],
)
def test_a_memory_is_used_where_its_value_or_half_its_words_stand_in_the_reply(
    text: str, value: str, reply: str, used: int
) -> None:
    item = Item(id="m1", owner=ADA, kind="fact", text=text, value=value)
    assert used_count([item], reply, Words()) == used
    assert used_count([item], "", Words()) == used_count([], reply, Words()) == 0
