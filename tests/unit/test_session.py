"""A session outside its turns: messages that are added, contexts that are looked at, all that was said."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

import actormem
from actormem import Budget, Message, UsageError
from tests.runtimes import FakeClock, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

SHANGHAI = timezone(timedelta(hours=8))


async def test_a_message_gets_an_id_and_the_time_or_keeps_its_own() -> None:
    async with opened(clock=FakeClock(now_ms=1_750_000_000_000)) as runtime:
        session = await runtime.spawn("s", user="ada", timezone="Asia/Shanghai")
        drawn = await session.add({"role": "user", "content": "一"})
        moment = datetime(2026, 1, 31, 9, 30, tzinfo=SHANGHAI)
        given = await session.add({"role": "user", "content": "二", "id": "u-2", "time": moment})
        texted = await session.add({"role": "user", "content": "三", "time": "2026-02-01T00:00:00-05:30"})
        whole = await session.add(
            Message(role="assistant", content="四", id="a-4", time_ms=1, offset_minutes=60)
        )
        kept = await session.messages()
    assert drawn.id
    assert drawn.time == datetime.fromtimestamp(1_750_000_000, UTC)
    assert drawn.offset_minutes == 480, "the session's zone says what is today"
    assert (given.id, given.time, given.offset_minutes) == ("u-2", moment, 480)
    assert (texted.time.isoformat(), texted.offset_minutes) == ("2026-02-01T00:00:00-05:30", -330)
    assert (whole.id, whole.time_ms, whole.offset_minutes) == ("a-4", 1, 60)
    assert kept == (drawn, given, texted, whole)
    assert "time" not in json.loads(kept[1].wire)


async def test_the_same_id_is_stored_once_and_the_first_one_stays() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        first = await session.add({"role": "user", "content": "first", "id": "u-1"})
        await session.add({"role": "user", "content": "changed", "id": "u-1"})
        await session.add_many([{"role": "user", "content": word, "id": "u-2"} for word in ("two", "zwei")])
        await session.add(first)
        assert [m.text for m in await session.messages()] == ["first", "two"]
        assert len((await session.context()).messages) == 2


async def test_none_at_all_may_be_added_and_one_wrong_message_stops_all() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        assert await session.add_many([]) == ()
        good = {"role": "user", "content": "good"}
        wrong: list[object] = [
            {"role": "bot", "content": "x"},
            {"content": "x"},
            {"role": "user", "content": "x", "id": ""},
            {"role": "user", "content": "x", "id": "a\nb"},
            {"role": "user", "content": "x", "time": "yesterday"},
            {"role": "user", "content": "x", "time": datetime(2026, 1, 1)},  # noqa: DTZ001
            {"role": "user", "content": "x" * 300_000},
            {"role": "tool", "content": "x"},
            "x",
            None,
        ]
        for one in wrong:
            with pytest.raises(UsageError):
                await session.add_many([good, one])  # type: ignore[list-item]
            with pytest.raises(UsageError):
                await session.add(one)  # type: ignore[arg-type]
        assert await session.messages() == ()


async def test_ids_of_another_session_may_be_added_again_without_harm() -> None:
    async with opened() as runtime:
        first = await runtime.spawn("first", user="ada")
        for number in range(8):
            await first.add({"role": "user", "content": f"message {number}"})
        copy = await runtime.spawn("copy", user="ada")
        await copy.add_many((await first.messages())[4:])
        for number in range(20):
            await copy.add({"role": "user", "content": f"more {number}"})
        texts = [m.text for m in await copy.messages()]
    assert texts == [f"message {one}" for one in range(4, 8)] + [f"more {one}" for one in range(20)]


async def test_a_context_without_a_turn_is_what_the_model_would_see() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        assert (await session.context()).messages == [{"role": "system", "content": "You help."}]
        await session.add({"role": "user", "content": "hi"})
        context = await session.context()
        assert [m["content"] for m in context.messages] == ["You help.", "hi"]
        assert context.trace.turn_id == ""
        assert context.trace.tokens == sum(section.tokens for section in context.trace.sections)


async def test_a_context_is_looked_at_and_never_stored() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        session = await runtime.spawn("s", user="ada")
        await session.add({"role": "user", "content": "What am I allergic to?", "id": "u-1"})
        before = await session.messages()
        items = await runtime.items("ada", history=True)
        contexts = [await session.context() for _ in range(3)]
        assert "peanuts" in words(contexts[0].messages)
        assert (
            bytes_of(contexts[0].messages) == bytes_of(contexts[1].messages) == bytes_of(contexts[2].messages)
        )
        contexts[0].messages.clear()
        contexts[1].messages[0]["content"] = "changed"
        assert await session.messages() == before
        assert await runtime.items("ada", history=True) == items
        assert bytes_of((await session.context()).messages) == bytes_of(contexts[2].messages)


async def test_a_query_recalls_for_that_context_alone() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        await runtime.remember("用户喜欢爬山", user="ada", attribute="likes")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=4_096, profile=0))
        await answered(session, "thanks")
        await session.add({"role": "user", "content": "好的"})
        before = await session.context()
        asked = await session.context(query="What am I allergic to?")
        assert "peanuts" not in words(before.messages[-1:])
        assert "peanuts" in words(asked.messages[-1:])
        assert asked.trace.included
        assert asked.trace.tokens <= asked.trace.budget_tokens
        after = await session.context()
        assert bytes_of(after.messages) == bytes_of(before.messages)
        assert after.trace.epoch == before.trace.epoch


async def test_a_query_says_nothing_again_that_an_earlier_note_shows() -> None:
    async with opened() as runtime:
        item = await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        session = await runtime.spawn("s", user="ada")
        assert "peanuts" in words(await answered(session, "What am I allergic to?"))
        await session.add({"role": "user", "content": "And what else am I allergic to?"})
        asked = await session.context(query="What am I allergic to?")
        assert words(asked.messages).count(f"[{item.id} ") == 1


async def test_a_query_of_a_message_without_a_note_does_not_take_the_notes_place() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        await runtime.remember("用户喜欢爬山", user="ada", attribute="likes")
        session = await runtime.spawn("s", user="ada", budget=actormem.Budget(context=4_096, profile=0))
        await session.add({"role": "user", "content": "我喜欢做什么？"})
        assert "peanuts" in words((await session.context(query="What am I allergic to?")).messages)
        own = words((await session.context()).messages)
    assert "爬山" in own
    assert "peanuts" not in own


@pytest.mark.parametrize("query", ["x" * 8_001, 7, ["x"], b"x"])
async def test_a_query_that_is_no_query_is_refused(query: object) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.add({"role": "user", "content": "hi"})
        with pytest.raises(UsageError):
            await session.context(query=query)  # type: ignore[arg-type]
        assert await session.context()


async def test_all_messages_are_there_in_order_after_compactions() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300))
        said: list[str] = []
        for number in range(30):
            said += [
                f"第 {number} 句：今天的订单是 AB-{10_000 + number}，请查一下进度。",
                f"Answer {number}.",
            ]
            await answered(session, said[-2], said[-1])
            await runtime.settle()
        trace = (await session.context()).trace
        assert trace.tokens <= 300
        assert trace.full_tokens > 1_000
        assert [m.text for m in await session.messages()] == said
        assert runtime.statistics().summaries_extractive > 1


async def test_two_handles_of_one_key_are_one_session() -> None:
    async with opened() as runtime:
        one, two = await runtime.spawn("s", user="ada"), await runtime.spawn("s", user="ada")
        await one.add({"role": "user", "content": "from one"})
        await two.add({"role": "user", "content": "from two"})
        assert await one.messages() == await two.messages()
        assert [m.text for m in await one.messages()] == ["from one", "from two"]
        assert one.key == two.key
