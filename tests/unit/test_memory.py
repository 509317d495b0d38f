"""What the runtime remembers of a user: facts that are said, stated, edited, imported; new ones and old."""

from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest

import actormem
from actormem import Budget, NotFoundError, StoppedError, UsageError
from tests.runtimes import FakeClock, ScriptedLLM, answered, opened, words

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0
NOW_MS = 1_700_000_000_000


def at(year: int) -> datetime:
    return datetime(year, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "asked", "shown"),
    [
        ("我对花生过敏。", "推荐一道菜，别放我过敏的东西", "花生"),
        ("I'm allergic to peanuts.", "What am I allergic to?", "peanuts"),
        ("我住在杭州。", "我住在哪里？", "杭州"),
        ("My new address is 5 Hill Street.", "What is my address?", "5 Hill Street"),
    ],
)
async def test_a_fact_just_stated_is_found_at_the_next_turn_of_another_session(
    said: str, asked: str, shown: str
) -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("one", user="ada"), said)
        messages = await answered(await runtime.spawn("two", user="ada"), asked)
        assert shown in words(messages)
        [fact] = await runtime.items("ada", kinds=["fact", "preference"])
        assert shown in fact.value


async def test_recall_gives_hits_best_first_and_keeps_to_what_is_asked_for() -> None:
    async with opened() as runtime:
        await runtime.remember("The user likes jazz", user="ada", attribute="likes", kind="preference")
        await runtime.remember("用户住在杭州", user="ada", attribute="address", value="杭州")
        await answered(await runtime.spawn("s", user="ada"), "What a day!")
        await runtime.settle()
        hits = await runtime.recall("jazz", user="ada")
        assert hits[0].item.text == "The user likes jazz"
        assert list(hits) == sorted(hits, key=lambda hit: -hit.score)
        assert hits.degraded == ()
        assert hits.considered_count >= len(hits)
        assert len(await runtime.recall("jazz", user="ada", limit=1)) == 1
        assert {h.item.kind for h in await runtime.recall("杭州", user="ada", kinds=["fact"])} == {"fact"}
        assert len(await runtime.recall("jazz", user="ada", min_score=1.0)) <= 1
        assert len(await runtime.recall("", user="ada")) == 0
        assert len(await runtime.recall("jazz", user="nobody")) == 0


async def test_recall_of_an_earlier_time_finds_what_was_true_then() -> None:
    async with opened() as runtime:
        for year, city in ((2020, "Paris"), (2022, "Oslo")):
            await runtime.remember(
                f"The user lives in {city}", user="ada", attribute="address", value=city, time=at(year)
            )
        then = await runtime.recall("where does the user live", user="ada", at=at(2021))
        now = await runtime.recall("where does the user live", user="ada")
        before = await runtime.recall("where does the user live", user="ada", at=at(2019))
    assert [hit.item.value for hit in then] == ["Paris"]
    assert [hit.item.value for hit in now] == ["Oslo"]
    assert len(before) == 0


async def test_remember_keeps_what_it_was_given() -> None:
    async with opened() as runtime:
        zone = timezone(timedelta(hours=8))
        item = await runtime.remember(
            "  用户的预算是一万元  ",
            user="ada",
            tenant="t",
            attribute="budget",
            value="一万元",
            importance=0.6,
            time=datetime(2023, 1, 2, tzinfo=zone),
        )
        assert (item.text, item.value, item.attribute, item.importance) == (
            "用户的预算是一万元",
            "一万元",
            "budget",
            0.6,
        )
        assert (item.version, item.state, item.offset_minutes) == (1, "live", 480)
        assert await runtime.item(item.id, user="ada", tenant="t") == item
        assert await runtime.items("ada", tenant="t") == (item,)
        assert await runtime.items("ada") == ()
        assert await runtime.value("ada", "budget", tenant="t") == item
        assert await runtime.value("ada", "budget") is None
        again = await runtime.remember(
            "用户的预算是一万元", user="ada", tenant="t", attribute="budget", value="一万元"
        )
        assert (again.id, again.seen_count) == (item.id, 2)


async def test_a_newer_value_takes_the_place_of_the_older_and_both_can_be_read() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My new address is 5 Hill Street.")
        await answered(session, "My new address is 9 Lake Road.")
        newest = await runtime.value("ada", "address")
        assert newest is not None
        assert newest.value.startswith("9 Lake Road")
        old = await runtime.item(newest.supersedes, user="ada")
        assert (old.state, old.superseded_by) == ("superseded", newest.id)
        live = [item.id for item in await runtime.items("ada", kinds=["fact"])]
        every = {item.id for item in await runtime.items("ada", kinds=["fact"], history=True)}
        assert (live, every) == ([newest.id], {newest.id, old.id})
        assert all(message_id for message_id in newest.source_ids)


async def test_a_session_that_showed_the_old_value_is_told_what_replaces_it() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("zero", user="ada"), "My new address is 5 Hill Street.")
        first = await runtime.spawn("first", user="ada")
        shown = await answered(first, "What is my address?")
        assert "5 Hill Street" in words(shown)
        await answered(await runtime.spawn("other", user="ada"), "My new address is 9 Lake Road.")
        told = await answered(first, "Thank you, and now a joke please.")
        assert told[: len(shown)] == shown, "the past is not rewritten"
        news = words(told[len(shown) :])
        assert "9 Lake Road" in news
        assert "replaces: 5 Hill Street" in news
        later = await answered(first, "另一个笑话")
        assert "replaces" not in words(later[len(told) :]), "it is told once"


async def test_an_item_whose_time_runs_out_is_no_longer_there_and_the_session_is_told() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    async with opened(clock=clock, idle_s=1e9) as runtime:
        soon = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(days=1)
        item = await runtime.remember(
            "用户的验证码是 553311", user="ada", attribute="code", value="553311", expires=soon
        )
        session = await runtime.spawn("s", user="ada")
        shown = await answered(session, "我的验证码是多少？")
        assert "553311" in words(shown)
        await clock.advance(DAY_S + 1)
        assert await runtime.items("ada", kinds=["fact"]) == ()
        assert "553311" not in {hit.item.value for hit in await runtime.recall("验证码", user="ada")}
        assert await runtime.value("ada", "code") is None
        assert (await runtime.item(item.id, user="ada")).value == "553311"
        news = words((await answered(session, "谢谢，下一个问题。"))[len(shown) :])
        assert "已不再成立" in news


async def test_an_edit_changes_the_text_and_ends_the_epoch_where_it_was_shown() -> None:
    async with opened() as runtime:
        item = await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        session = await runtime.spawn("s", user="ada")
        other = await runtime.spawn("other", user="ada", budget=actormem.Budget(context=4_096, profile=0))
        assert "peanuts" in words(await answered(session, "What am I allergic to?"))
        await answered(other, "嗯")
        edited = await runtime.edit(item.id, "The user is allergic to walnuts", user="ada")
        assert (edited.id, edited.version, edited.text) == (item.id, 2, "The user is allergic to walnuts")
        assert await runtime.item(item.id, user="ada") == edited
        context = await session.context()
        assert "peanuts" not in words(context.messages)
        assert "edit" in context.trace.epoch_end
        assert (await other.context()).trace.epoch_end == ""
        assert "walnuts" in words(await answered(session, "What am I allergic to, again?"))


async def test_only_a_live_item_of_ones_own_can_be_edited() -> None:
    async with opened() as runtime:
        for city in ("Paris", "Oslo"):
            item = await runtime.remember(
                f"The user lives in {city}", user="ada", attribute="address", value=city
            )
        with pytest.raises(UsageError, match="superseded"):
            await runtime.edit(item.supersedes, "x", user="ada")
        with pytest.raises(NotFoundError):
            await runtime.edit(item.id, "x", user="bob")
        assert [one.text for one in await runtime.items("ada")] == ["The user lives in Oslo"]


async def test_an_import_keeps_ids_and_times_and_twice_is_once() -> None:
    log = [
        {"role": "user", "content": "I'm allergic to peanuts.", "id": "old-1", "time": at(2020)},
        {"role": "assistant", "content": "Noted.", "id": "old-2", "time": at(2020)},
        {"role": "user", "content": "我住在杭州。", "time": at(2021)},
    ]
    seen: list[tuple[int, int]] = []
    async with opened() as runtime:
        told = lambda done, total: seen.append((done, total))  # noqa: E731
        assert await runtime.import_history(log, session_id="log", user="ada", progress=told) == 5
        before = await runtime.items("ada", history=True)
        assert await runtime.import_history(log, session_id="log", user="ada") == 0
        assert await runtime.items("ada", history=True) == before
        assert seen == [(3, 3)]
        [allergy] = [item for item in before if item.attribute == "allergy"]
        assert (allergy.source_ids, allergy.event_ms) == (("old-1",), int(at(2020).timestamp() * 1000))
        assert await (await runtime.spawn("log", user="ada")).messages() == ()
        assert "peanuts" in words(
            await answered(await runtime.spawn("s", user="ada"), "What am I allergic to?")
        )


async def test_an_import_in_two_parts_takes_in_both_even_without_ids() -> None:
    first = [{"role": "user", "content": "My cat is called Tom.", "time": at(2020)}] * 2
    second = [{"role": "user", "content": "My dog is called Rex.", "time": at(2021)}]
    async with opened() as runtime:
        for part in (first, second):
            await runtime.import_history(part, session_id="log", user="ada")
        texts = [item.text for item in await runtime.items("ada", kinds=["episode"])]
        assert texts == ["My cat is called Tom.", "My cat is called Tom.", "My dog is called Rex."]
        assert await runtime.import_history([*first, *second], session_id="log", user="ada") == 0


async def test_an_import_never_takes_the_place_of_a_later_live_fact() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("s", user="ada"), "My new address is 9 Lake Road.")
        old = {"role": "user", "content": "My new address is 5 Hill Street."}
        await runtime.import_history([{**old, "time": at(2020)}], session_id="dated", user="ada")
        await runtime.import_history([old], session_id="undated", user="ada")
        newest = await runtime.value("ada", "address")
        assert newest is not None
        assert newest.value.startswith("9 Lake Road")


async def test_wrong_arguments_are_usage_errors_and_change_nothing() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    async with opened() as runtime:
        item = await runtime.remember("The user likes jazz", user="ada")
        wrong = [
            *[runtime.recall("x", user="ada", limit=limit) for limit in (0, 101, True, 2.5, "3", None)],  # type: ignore[arg-type]
            *[runtime.recall(query, user="ada") for query in (None, 7, "x" * 8_001)],  # type: ignore[arg-type]
            *[runtime.recall("x", user="ada", kinds=kinds) for kinds in ("fact", ["facts"], [7])],  # type: ignore[arg-type]
            *[runtime.recall("x", user="ada", at=moment) for moment in (naive, "2026", 7)],  # type: ignore[arg-type]
            *[runtime.recall("x", user="ada", min_score=score) for score in (-1, 2, float("nan"), "x")],  # type: ignore[arg-type]
            *[runtime.recall("x", user="ada", deadline_s=wait) for wait in (0, -1, float("inf"), "x")],  # type: ignore[arg-type]
            *[runtime.remember(text, user="ada") for text in ("", "  ", None, 7, "x" * 16_001)],  # type: ignore[arg-type]
            *[runtime.remember("x", user="ada", importance=share) for share in (-0.1, 1.1, None, "x")],  # type: ignore[arg-type]
            *[runtime.remember("x", user="ada", attribute=name) for name in ("", None, "a\nb")],  # type: ignore[arg-type]
            runtime.remember("x", user="ada", kind="song"),  # type: ignore[arg-type]
            runtime.remember("x", user="ada", value=7),  # type: ignore[arg-type]
            runtime.remember("x", user="ada", time=naive),
            runtime.remember("x", user="ada", expires=naive),
            runtime.items("ada", kinds=["song"]),  # type: ignore[list-item]
            runtime.items(""),
            runtime.edit(item.id, "", user="ada"),
            runtime.edit(7, "x", user="ada"),  # type: ignore[arg-type]
            runtime.item("m999", user="ada"),
            runtime.item(7, user="ada"),  # type: ignore[arg-type]
            runtime.forget("m999", user="ada"),
            runtime.forget(None, user="ada"),  # type: ignore[arg-type]
            runtime.forget(item.id, user="ada", sources="all"),  # type: ignore[arg-type]
            runtime.import_history([{"role": "user"}, "x"], session_id="s", user="ada"),  # type: ignore[list-item]
            runtime.import_history([], session_id="", user="ada"),
            runtime.forget_session("", user="ada"),
        ]
        for call in wrong:
            with pytest.raises(UsageError) as caught:
                await call
            assert "\n" not in str(caught.value)
        assert await runtime.items("ada", history=True) == (item,)


async def test_recall_on_a_closed_runtime_says_so() -> None:
    async with opened() as runtime:
        await runtime.remember("The user likes jazz", user="ada")
    with pytest.raises(StoppedError):
        await runtime.recall("jazz", user="ada")


async def test_a_small_context_has_room_for_a_memory() -> None:
    async with opened() as runtime:
        await runtime.remember(
            "The user is allergic to peanuts", user="ada", attribute="allergy", value="peanuts"
        )
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300))
        assert "peanuts" in words(await answered(session, "What am I allergic to?"))


async def test_what_has_ended_already_is_not_remembered() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    async with opened(clock=clock) as runtime:
        now = datetime.fromtimestamp(NOW_MS / 1000, UTC)
        for moment in (now, now - timedelta(seconds=1), now.astimezone(timezone(timedelta(hours=-9)))):
            with pytest.raises(UsageError, match="future") as caught:
                await runtime.remember("The code is 553311", user="ada", expires=moment)
            assert "\n" not in str(caught.value)
        assert await runtime.items("ada", history=True) == ()
        await runtime.remember("The code is 553311", user="ada", expires=now + timedelta(seconds=1))
        assert len(await runtime.items("ada")) == 1


async def test_only_items_that_may_be_found_are_counted_as_considered() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    async with opened(clock=clock) as runtime:
        soon = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(seconds=5)
        await runtime.remember("The user lives in Oslo", user="ada", attribute="address", value="Oslo")
        await runtime.remember("The user lives in Bergen", user="ada", attribute="address", value="Bergen")
        await runtime.remember("The code is 553311", user="ada", expires=soon)
        await runtime.remember("The user likes jazz", user="ada", kind="preference")
        assert (await runtime.recall("where", user="ada")).considered_count == 3
        assert (await runtime.recall("where", user="ada", kinds=["preference"])).considered_count == 1
        await clock.advance(6)
        assert (await runtime.recall("where", user="ada")).considered_count == 2


async def test_what_replaces_an_old_value_is_not_told_once_its_own_time_has_run_out() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    async with opened(clock=clock) as runtime:
        await runtime.remember("The user's code is 553311", user="ada", attribute="address", value="553311")
        session = await runtime.spawn("s", user="ada")
        shown = await answered(session, "What is my address?")
        assert "553311" in words(shown)
        soon = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(seconds=5)
        await runtime.remember(
            "The user's code is 887766", user="ada", attribute="address", value="887766", expires=soon
        )
        await clock.advance(6)
        news = words((await answered(session, "Thank you, and now a joke please."))[len(shown) :])
        assert "no longer true: 553311" in news
        assert "887766" not in news


async def test_a_correction_that_has_no_room_takes_the_old_words_with_it() -> None:
    async with opened() as runtime:
        old = await runtime.remember("The user lives in Oslo", user="ada", attribute="address", value="Oslo")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600, recall=60))
        assert f"[{old.id} " in words(await answered(session, "Where do I live, what is my address?"))
        await runtime.remember(
            "The user lives in Bergen, " + "up the hill and behind the old church " * 5,
            user="ada",
            attribute="address",
            value="Bergen",
        )
        async with session.turn("Thank you, and now a joke please.") as turn:
            assert "Oslo" not in words(turn.messages)
            assert "correction" in turn.trace.epoch_end
            turn.reply("No.")


async def test_what_a_cut_has_put_out_of_sight_is_recalled_in_the_same_context() -> None:
    llm = ScriptedLLM(lambda _: "never", wait_for=anyio.Event())
    async with opened(llm=llm) as runtime:
        await runtime.remember("The user lives in Oslo", user="ada", attribute="address", value="Oslo")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        assert "Oslo" in words(await answered(session, "Where do I live, what is my address?"))
        for _ in range(3):
            await session.add({"role": "assistant", "content": "A long story about trains. " * 20})
        async with session.turn("And again, where do I live, what is my address?") as turn:
            assert turn.trace.epoch_end == "the budget"
            assert "Oslo" in words(turn.messages)
            turn.reply("Oslo.")
