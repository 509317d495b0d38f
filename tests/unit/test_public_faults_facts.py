"""Public faults of other memories in how they keep facts, as tests of ours: duplicates, updates, lost dates."""

from datetime import UTC, datetime

import anyio
import msgspec
import pytest

from tests.runtimes import answered, opened

pytestmark = pytest.mark.anyio


def at(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def ms(year: int) -> int:
    return int(at(year).timestamp() * 1000)


@pytest.mark.parametrize("text", ["The user drinks oat milk", "用户喝燕麦奶"])
async def test_the_same_fact_stated_twice_at_once_is_one_item_seen_twice(text: str) -> None:
    """https://github.com/mem0ai/mem0/issues/6515: both passed the check and both were stored."""
    async with opened() as runtime:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(lambda: runtime.remember(text, user="ada", attribute="likes"))
        [item] = await runtime.items("ada", history=True)
        assert (item.seen_count, item.state) == (2, "live")


async def test_the_same_fact_stated_twice_in_a_row_keeps_its_id_and_its_text() -> None:
    """https://github.com/mem0ai/mem0/issues/1674: the second one deleted the first."""
    async with opened() as runtime:
        first = await runtime.remember("The user drinks oat milk", user="ada", attribute="likes")
        again = await runtime.remember("The user drinks oat milk.", user="ada", attribute="likes")
        assert (again.id, again.text, again.seen_count) == (first.id, first.text, 2)


@pytest.mark.parametrize(
    ("old", "new", "asked", "left"),
    [
        ("I prefer a window seat.", "I prefer an aisle seat.", "Which seat do I prefer?", "aisle seat"),
        ("我喜欢靠窗的座位。", "我喜欢靠过道的座位。", "我喜欢坐哪个座位？", "靠过道的座位"),
    ],
)
async def test_a_contradicting_fact_takes_the_place_of_the_old_one_and_there_is_always_one(
    old: str, new: str, asked: str, left: str
) -> None:
    """https://github.com/mem0ai/mem0/pull/4580: the old one was deleted and the new one dropped."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, old)
        assert await runtime.value("ada", "seat") is not None
        await answered(session, new)
        kept = await runtime.value("ada", "seat")
        assert kept is not None
        assert kept.value == left
        facts = await runtime.recall(asked, user="ada", kinds=["fact", "preference"])
        assert [hit.item.value for hit in facts] == [left]
        before = await runtime.item(kept.supersedes, user="ada")
        assert before.superseded_by == kept.id


async def test_only_what_the_user_says_becomes_a_fact() -> None:
    """https://github.com/mem0ai/mem0/issues/4573: prompts and recalled memories were stored as facts."""
    async with opened() as runtime:
        await runtime.remember("The user likes tea", user="ada", attribute="likes", value="tea")
        prompt = "You are Shopkeeper. My name is Shopkeeper. I live in Turku. 我住在临沂。"
        session = await runtime.spawn("s", user="ada", system=prompt)
        await answered(session, "What do I like?", reply="You like tea. I live in Vaasa and I love jazz.")
        await answered(session, "thanks")
        facts = await runtime.items("ada", kinds=["fact", "preference", "event"], history=True)
        assert [(one.value, one.seen_count) for one in facts] == [("tea", 1)]


async def test_many_wordings_of_five_facts_are_five_items() -> None:
    """https://github.com/mem0ai/mem0/issues/5850: 5 facts in 3 wordings became 13 rows."""
    wordings = [
        ["I'm allergic to peanuts.", "I am allergic to peanut!", "I have an allergy to peanuts."],
        ["I live in Turku.", "I'm living in Turku.", "My address is Turku."],
        ["My budget is $1,500.", "My budget is $1500.", "The budget is $1,500."],
        ["我对核桃过敏。", "我对 核桃 过敏", "核桃我吃了就过敏，我对核桃过敏。"],
        ["我喜欢爵士乐。", "我爱听爵士乐，我喜欢爵士乐。", "我特别喜欢爵士乐！"],
    ]
    async with opened() as runtime:
        for number in range(3):
            session = await runtime.spawn(f"s{number}", user="ada")
            for lines in wordings:
                await answered(session, lines[number])
        facts = await runtime.items("ada", kinds=["fact", "preference"])
        expected = {"peanuts", "Turku", "$1,500", "核桃", "爵士乐"}
        assert expected <= {one.value for one in facts}
        assert all(one.seen_count == 3 for one in facts if one.value in expected)
        assert len(facts) <= 6


async def test_an_edit_of_the_text_keeps_everything_else() -> None:
    """https://github.com/mem0ai/mem0/issues/5160: an update dropped what was stored with it."""
    async with opened() as runtime:
        item = await runtime.remember(
            "The user eats no pork",
            user="ada",
            attribute="avoids",
            value="pork",
            importance=0.9,
            kind="preference",
        )
        edited = await runtime.edit(item.id, "The user eats no pork or beef", user="ada")
        assert edited == msgspec.structs.replace(item, text="The user eats no pork or beef", version=2)


async def test_a_fact_is_one_item_whichever_way_it_came() -> None:
    """https://github.com/redis/agent-memory-server/issues/110: one way in skipped the check."""
    said = "I'm allergic to peanuts."
    async with opened() as runtime:
        await answered(await runtime.spawn("s", user="ada"), said)
        await runtime.remember(
            "The user is allergic to peanuts", user="ada", attribute="allergy", value="peanuts"
        )
        log = [{"role": "user", "content": said, "time": at(2020)}]
        await runtime.import_history(log, session_id="log", user="ada")
        [item] = await runtime.items("ada", kinds=["fact"], history=True)
        assert (item.seen_count, item.since_ms) == (3, ms(2020))


async def test_a_fact_from_two_sessions_has_both_as_its_sources() -> None:
    """https://github.com/vectorize-io/hindsight/issues/3249: they stayed siblings."""
    async with opened() as runtime:
        for name in ("one", "two"):
            await answered(await runtime.spawn(name, user="ada"), "我对花生过敏。")
        [item] = await runtime.items("ada", kinds=["fact"])
        assert [session for session, _ in item.sources] == ["one", "two"]


async def test_a_merge_of_dated_facts_keeps_the_first_and_the_last_date() -> None:
    """https://github.com/vectorize-io/hindsight/issues/3477: merging lost the dates."""
    async with opened() as runtime:
        for year in (2021, 2019, 2022):
            await runtime.remember(
                "The user likes chess", user="ada", attribute="likes", value="chess", time=at(year)
            )
        [item] = await runtime.items("ada")
        assert (item.since_ms, item.event_ms, item.seen_count) == (ms(2019), ms(2022), 3)
        before = await runtime.recall("chess", user="ada", at=at(2018))
        between = await runtime.recall("chess", user="ada", at=at(2020))
        assert (len(before), len(between)) == (0, 1)


async def test_a_memory_that_was_edited_thrice_never_stands_for_itself() -> None:
    """https://github.com/rohitg00/agentmemory/pull/1044: it listed itself as what it superseded."""
    async with opened() as runtime:
        item = await runtime.remember(
            "The user lives in Turku", user="ada", attribute="address", value="Turku"
        )
        for city in ("Vaasa", "Oulu", "Kuopio"):
            item = await runtime.edit(item.id, f"The user lives in {city}", user="ada")
        assert (item.version, item.value, item.supersedes, item.superseded_by) == (4, "Kuopio", "", "")
        for city in ("Rauma", "Salo"):
            item = await runtime.remember(f"Lives in {city}", user="ada", attribute="address", value=city)
        every = {one.id: one for one in await runtime.items("ada", history=True)}
        seen: list[str] = []
        while item.id not in seen:
            seen.append(item.id)
            item = every.get(item.supersedes, item)
        assert len(seen) == len(every) == 3
