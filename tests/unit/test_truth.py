"""One live truth as sessions see it: what is told when it changes, what is found, what is counted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

import actormem
from tests.runtimes import FakeClock, answered, opened, words

pytestmark = pytest.mark.anyio

NOW_MS = 1_700_000_000_000
HOME = [
    ("I live in Turku, in a red house.", "I moved to Vaasa.", "Turku", "Vaasa"),
    ("我住在临沂，房子是红色的。", "我搬到潍坊了。", "临沂", "潍坊"),
]
JOKES = ("Tell me a joke about trains, please.", "讲一个关于火车的笑话吧。")
both = pytest.mark.parametrize(("first", "second", "old", "new"), HOME)


def at(year: int) -> datetime:
    return datetime(year, 5, 1, tzinfo=UTC)


def log(text: str, year: int) -> list[dict[str, object]]:
    return [{"role": "user", "content": text, "time": at(year)}]


def told(messages: list[dict[str, object]], before: list[dict[str, object]]) -> str:
    """What the newest context says beyond the one before, which it must extend."""
    assert messages[: len(before)] == before, "the past is not rewritten"
    return words(messages[len(before) :])  # type: ignore[arg-type]


@both
async def test_a_session_whose_own_words_are_out_of_date_is_told_once_what_holds_since_when(
    first: str, second: str, old: str, new: str
) -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        said = await answered(one, first)
        await answered(await runtime.spawn("two", user="ada"), second)
        news = await answered(one, JOKES[0])
        newest = await runtime.value("ada", "address")
        assert newest is not None
        line = told(news, said)  # type: ignore[arg-type]
        assert f"[{newest.id} 2023-11-14]" in line
        assert f"replaces: {old}" in line
        assert new in line
        later = await answered(one, JOKES[0])
        assert "replaces" not in told(later, news)  # type: ignore[arg-type]


async def test_several_old_values_of_one_thing_are_told_in_one_line() -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        await answered(one, "I live in Turku.")
        said = await answered(one, "I live in Oulu.")
        two = await runtime.spawn("two", user="ada")
        await answered(two, "I moved to Vaasa.")
        news = await answered(one, JOKES[0])
        line = told(news, said)  # type: ignore[arg-type]
        assert line.count("Vaasa") == 1
        assert all(old in line for old in ("Turku", "Oulu"))
        await answered(two, "I moved to Kemi.")
        last = told(await answered(one, JOKES[0]), news)  # type: ignore[arg-type]
        assert "replaces: Vaasa" in last
        assert "Turku" not in last, "each value is told once"


@both
async def test_a_session_that_said_the_change_itself_needs_no_telling(
    first: str, second: str, old: str, new: str
) -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        for said in (first, second):
            before = await answered(one, said)
        line = told(await answered(one, JOKES[0]), before)  # type: ignore[arg-type]
        assert old not in line
        assert "replaces" not in line


async def test_a_session_is_told_of_a_value_that_was_taken_back_elsewhere() -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        said = await answered(one, "我对花生过敏，也喜欢爵士乐。")
        await answered(await runtime.spawn("two", user="ada"), "我对花生不再过敏了。")
        line = told(await answered(one, JOKES[1]), said)  # type: ignore[arg-type]
        assert "已不再成立：花生" in line
        assert "爵士乐" not in line


async def test_words_that_a_summary_block_took_the_place_of_are_corrected_too() -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada", budget=actormem.Budget(context=600, profile=0))
        await answered(one, "I live in Turku.")
        for number in range(12):
            await answered(one, f"Story {number}, please.", reply="A long story about trains and rain. " * 6)
            await runtime.settle()
        before = words((await one.context()).messages)
        assert "Turku" in before
        assert not any("I live in Turku" in str(m["content"]) for m in (await one.context()).messages[1:])
        await answered(await runtime.spawn("two", user="ada"), "I moved to Vaasa.")
        async with one.turn("Another story about boats, please.") as turn:
            assert "replaces: Turku" in words(turn.messages)
            turn.reply("No.")


@both
async def test_a_message_that_states_an_old_value_is_recalled_with_what_took_its_place(
    first: str, second: str, old: str, new: str
) -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("one", user="ada"), first)
        await answered(await runtime.spawn("two", user="ada"), second)
        newest = await runtime.value("ada", "address")
        assert newest is not None
        hits = await runtime.recall("red house 红色的房子", user="ada")
        [stale] = [hit for hit in hits if hit.item.text == first]
        assert [(one.value, one.replacement) for one in stale.outdated] == [(old, newest)]
        assert stale.item.text == first, "the words stay as they were said"
        assert all(not hit.outdated for hit in hits if hit.item.text != first)
        asked = "What colour is my house?" if first.isascii() else "我的房子是什么颜色的？"
        note = words(await answered(await runtime.spawn("three", user="ada"), asked))
        assert "red" in note or "红色" in note
        mark = f"{old} is out of date" if first.isascii() else f"“{old}”已过时"
        assert note.count(mark) == 1
        assert "2023-11-14" in note[note.index(mark) :]


async def test_a_message_that_names_both_values_needs_no_mark() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("one", user="ada")
        await answered(session, "I live in Turku.")
        await answered(session, "My address used to be in Turku, my new address is 4 Birch Lane.")
        hits = await runtime.recall("Turku", user="ada", kinds=["episode"])
        assert [len(hit.outdated) for hit in hits if "Birch" in hit.item.text] == [0]
        [first] = [hit for hit in hits if hit.item.text == "I live in Turku."]
        assert [one.value for one in first.outdated] == ["Turku"]


async def test_words_that_no_longer_was_said_of_are_outdated_only_when_it_is_so_again() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("one", user="ada")
        await answered(session, "I like jazz.")
        await answered(session, "I don't like jazz any more.")

        async def marks() -> dict[str, list[str]]:
            hits = await runtime.recall("jazz", user="ada", kinds=["episode"])
            return {
                hit.item.text: [one.value for one in hit.outdated] for hit in hits if "jazz" in hit.item.text
            }

        assert await marks() == {"I like jazz.": ["jazz"], "I don't like jazz any more.": []}
        await answered(session, "I like jazz again, and I like chess.")
        assert (await marks())["I don't like jazz any more."] == ["jazz"]


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("I like coffee.", "I hate coffee.", "coffee"), ("我喜欢香菜。", "我讨厌香菜。", "香菜")],
)
async def test_words_whose_opposite_holds_now_are_told_with_it(first: str, second: str, value: str) -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        said = await answered(one, first)
        await answered(await runtime.spawn("two", user="ada"), second)
        hits = await runtime.recall(value, user="ada", kinds=["episode"])
        [stale] = [hit for hit in hits if hit.item.text == first]
        [mark] = stale.outdated
        assert mark.replacement is not None
        assert (mark.value, mark.replacement.attribute) == (value, "dislikes")
        line = told(await answered(one, JOKES[0]), said)  # type: ignore[arg-type]
        assert mark.replacement.text in line


async def test_an_edited_item_marks_the_words_it_came_from_and_gives_the_edited_value() -> None:
    async with opened() as runtime:
        one = await runtime.spawn("one", user="ada")
        await answered(one, "我对花生过敏。")
        item = await runtime.value("ada", "allergy")
        assert item is not None
        edited = await runtime.edit(item.id, "用户对核桃过敏", user="ada")
        assert edited.value == "核桃"
        [hit] = [hit for hit in await runtime.recall("过敏", user="ada") if hit.item.text == "我对花生过敏。"]
        assert [one.replacement for one in hit.outdated] == [edited]
        async with one.turn("推荐一道菜吧。") as turn:
            assert "核桃" in words(turn.messages)
            turn.reply("好的。")


async def test_what_is_forgotten_goes_out_of_the_marks_too() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("one", user="ada"), HOME[0][0])
        await answered(await runtime.spawn("two", user="ada"), HOME[0][1])
        three = await runtime.spawn("three", user="ada")
        assert "Vaasa" in words(await answered(three, "What colour is my house?"))
        newest = await runtime.value("ada", "address")
        assert newest is not None
        await runtime.forget(newest.id, user="ada")
        shown = words((await three.context()).messages)
        assert "Vaasa" not in shown
        assert "Turku" not in shown


@pytest.mark.parametrize("reverse", [False, True])
async def test_two_logs_that_disagree_at_one_time_are_both_shown_with_their_dates_until_someone_says(
    reverse: bool,
) -> None:
    logs = [("a", "My address is 4 Birch Lane."), ("b", "My address is 9 Elm Row.")]
    async with opened() as runtime:
        for name, text in reversed(logs) if reverse else logs:
            await runtime.import_history(log(text, 2021), session_id=name, user="ada")
        live = await runtime.items("ada", kinds=["fact"])
        assert sorted(one.value for one in live) == ["4 Birch Lane", "9 Elm Row"]
        session = await runtime.spawn("s", user="ada")
        shown = words(await answered(session, "What is my address?"))
        assert all(f"[{one.id} 2021-05-01]" in shown for one in live)
        await answered(session, "I moved to 2 Fir Street.")
        [kept] = await runtime.items("ada", kinds=["fact"])
        assert kept.value == "2 Fir Street"
        gone = await runtime.forget(kept.id, user="ada")
        assert gone.item_count == 3, "all its versions, of both logs"


async def test_a_log_never_takes_the_place_of_what_was_said_later_live_whatever_its_dates() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    async with opened(clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "我住在潍坊。")
        for year in (2020, 2031):
            await runtime.import_history(log("我住在临沂。", year), session_id=f"log {year}", user="ada")
        now = datetime.fromtimestamp(NOW_MS / 1000, UTC)
        undated = [
            {"role": "user", "content": "我住在济宁。"},
            {"role": "user", "content": "我住在菏泽。", "time": now},
        ]
        await runtime.import_history(undated, session_id="log", user="ada")
        assert [one.value for one in await runtime.items("ada", kinds=["fact"])] == ["潍坊"]


async def test_corrections_and_supersessions_are_counted() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for said in (
            "My budget is $900.",
            "No, it's $950.",
            "I'm allergic to walnuts.",
            "Sorry, I meant cashews.",
        ):
            await answered(session, said)
        await answered(session, "我住在临沂。不对，是潍坊。")
        await runtime.settle()
        counts = runtime.statistics()
        assert (counts.corrections, counts.supersessions) == (3, 3)  # budget, allergy, address
        values = {one.value for one in await runtime.items("ada", kinds=["fact"])}
        assert values == {"$950", "cashews", "潍坊"}
        await answered(session, "It rains again today, doesn't it?")
        await runtime.settle()
        assert runtime.statistics().corrections == 3


async def test_a_correction_is_read_after_a_restart_too(tmp_path: Path) -> None:
    async with opened(tmp_path / "memory") as runtime:
        await answered(await runtime.spawn("s", user="ada"), "我的预算是900元。")
    async with opened(tmp_path / "memory") as runtime:
        await answered(await runtime.spawn("s", user="ada"), "不对，是950元。")
        kept = await runtime.value("ada", "budget")
        assert kept is not None
        assert kept.value == "950元"


async def test_said_in_many_sessions_at_once_one_value_is_live_and_the_chain_is_whole() -> None:
    places = ["Turku", "Vaasa", "Oulu", "Rauma", "Salo", "Kemi"]
    async with opened() as runtime:

        async def say(number: int, place: str) -> None:
            await answered(await runtime.spawn(f"s{number}", user="ada"), f"I live in {place}.")

        async with anyio.create_task_group() as tasks:
            for number, place in enumerate(places * 2):
                tasks.start_soon(say, number, place)
        every = await runtime.items("ada", kinds=["fact"], history=True)
        assert sorted(one.value for one in every) == sorted(places)
        assert sum(one.seen_count for one in every) == 2 * len(places)
        [live] = [one for one in every if one.state == "live"]
        newest = max(every, key=lambda one: (one.event_ms, one.sequence))
        assert live == newest == await runtime.value("ada", "address")


async def test_mentioning_the_same_matter_retires_nothing() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for said in (
            "I'm allergic to peanuts. My cat is called Otto.",
            "Peanut butter is on sale today.",
            "I'm allergic to shrimp.",
            "My friend is allergic to nothing, and my friend lives in Oulu.",
            "Do cats like peanuts?",
        ):
            await answered(session, said)
        live = {one.value for one in await runtime.items("ada", kinds=["fact"]) if one.subject == "user"}
        assert {"peanuts", "shrimp"} <= live


async def test_what_expires_is_gone_without_a_sweep_and_only_that() -> None:
    clock = FakeClock(now_ms=NOW_MS)
    soon = datetime.fromtimestamp(NOW_MS / 1000, UTC) + timedelta(hours=1)
    async with opened(clock=clock, idle_s=1e9) as runtime:
        await runtime.remember(
            "The user parks in bay 7", user="ada", attribute="bay", value="7", expires=soon
        )
        await runtime.remember("The user likes chess", user="ada", attribute="likes", value="chess")
        await clock.advance(3_599)
        assert await runtime.value("ada", "bay") is not None
        await clock.advance(1)
        assert await runtime.value("ada", "bay") is None
        assert [one.value for one in await runtime.items("ada")] == ["chess"]
        then = await runtime.recall("bay", user="ada", at=soon - timedelta(seconds=1))
        assert "7" in {hit.item.value for hit in then}, "what held then is still known"
