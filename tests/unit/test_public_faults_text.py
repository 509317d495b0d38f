"""Faults of other memories, as promises of this one: text, language, time (research: public issues)."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from actormem import Budget
from tests.runtimes import FakeClock, ScriptedLLM, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

LONG = "我们聊了天气、北上的火车，还有路上吃什么，聊了很久。"


@pytest.mark.parametrize("query", ["订单", "Python", "你知道我的订单吗", "python 写的系统"])
async def test_chinese_inside_a_run_and_latin_inside_chinese_are_found(query: str) -> None:
    """https://github.com/google/adk-python/issues/5601: such queries matched nothing."""
    async with opened() as runtime:
        await runtime.remember("我用Python写了订单系统", user="ada")
        await runtime.remember("周末常去爬山", user="ada")
        hits = await runtime.recall(query, user="ada")
        assert hits[0].item.text == "我用Python写了订单系统"
        assert hits[0].why.get("lexical", 0) > 0


async def test_two_shared_characters_put_a_chinese_memory_first_by_its_words() -> None:
    """https://github.com/vectorize-io/hindsight/issues/3892: the lexical arm was dead for Chinese."""
    places = "杭州 苏州 南京 成都 重庆 西安 青岛 大连 厦门 福州"
    async with opened() as runtime:
        for number in range(99):
            place = places.split()[number % 10]
            await runtime.remember(f"第{number}次去{place}出差，住在车站旁边", user="ada")
        wanted = await runtime.remember("阳台上种了三盆茉莉", user="ada")
        hits = await runtime.recall("茉莉怎么养", user="ada")
        assert hits[0].item.id == wanted.id
        assert max(hits, key=lambda hit: hit.why.get("lexical", 0) * hit.score).item.id == wanted.id


async def test_chinese_names_are_stored_as_they_were_said_whatever_the_model_answers() -> None:
    """https://github.com/mem0ai/mem0/issues/3206: names came out as odd English."""
    llm = ScriptedLLM(lambda _: "The user is called Ouyang and works at a technology company.")
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        await answered(session, "我叫欧阳澄，在澄海科技工作。", "好的。")
        for number in range(12):
            await answered(session, f"第{number}句。{LONG}", "好的。")
            await runtime.settle()
        kept = " ".join(one.text for one in await runtime.items("ada", kinds=["fact", "preference"]))
        assert "欧阳澄" in kept
        assert "澄海科技" in kept
        assert "Ouyang" not in words((await session.context()).messages)


@pytest.mark.parametrize(
    "content",
    [
        [
            {"type": "text", "text": "I hike"},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        ],
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
        None,
        "",
        [],
    ],
)
async def test_content_of_any_shape_is_taken_and_given_back_as_it_came(content: Any) -> None:
    """https://github.com/mem0ai/mem0/issues/4799: a list, or nothing, crashed it."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=3_000))
        message = {"role": "user", "content": content}
        await session.add(message)
        context = await session.context()
        assert bytes_of(context.messages) == bytes_of([message])
        pictures = sum(part["type"] == "image_url" for part in content or ())
        assert (context.trace.tokens > 1_000) is (pictures > 0)
        await runtime.settle()
        assert [one.text for one in await runtime.items("ada", kinds=["episode"])] == (
            ["I hike"] if pictures and len(content) == 2 else []
        )


async def test_dates_are_those_of_the_speakers_clock() -> None:
    """https://github.com/mem0ai/mem0/issues/4402: local time was read as UTC, and days shifted."""
    moment = datetime(2031, 5, 2, 0, 30, tzinfo=timezone(timedelta(hours=8)))
    clock = FakeClock(now_ms=int(moment.timestamp() * 1000))
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn(
            "s", user="ada", timezone="Asia/Shanghai", budget=Budget(context=300, recall=0)
        )
        await answered(session, "我昨天晚上 20:00 到的家，房号是 R-2051。", "好的。")
        [first, _] = await session.messages()
        assert datetime.fromtimestamp(first.time_ms / 1000, UTC) == datetime(2031, 5, 1, 16, 30, tzinfo=UTC)
        assert first.time == moment
        for number in range(12):
            await answered(session, f"第{number}句。{LONG}")
            await runtime.settle()
        shown = words((await session.context()).messages)
        assert "2031-05-01" in shown
        assert "2031-04-30" not in shown
        other = await runtime.spawn("t", user="ada", timezone="Asia/Shanghai")
        await runtime.remember("用户住在杭州", user="ada", attribute="city", time=moment)
        assert "2031-05-02] 用户住在杭州" in words(await answered(other, "我住在哪个城市？"))


async def test_what_comes_at_the_same_moment_keeps_its_order() -> None:
    """https://github.com/google/adk-python/issues/3717: equal times were judged stale."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(6):
            await session.add({"role": "user", "content": f"My new address is {number + 1} Hill Street."})
        kept = await session.messages()
        assert len({m.time_ms for m in kept}) == 1
        assert [m.text for m in kept] == [f"My new address is {n + 1} Hill Street." for n in range(6)]
        await runtime.settle()
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "6 Hill Street"
