"""What an epoch begins with of its user, what a note may say again, and what no note says."""

import re
from collections import Counter
from typing import Any

import msgspec
import pytest

import actormem
from actormem import Budget
from actormem.core.context.assembly import note
from actormem.core.context.fitting import restart
from actormem.core.context.profile import PROFILE_ITEMS_MAX, profile_items
from actormem.core.recall.partition import FACT_ATTRIBUTES, FACTS_EACH, Partition
from actormem.core.session.decide import Draft
from actormem.core.values import Item, Owner
from tests.conversations import Driver
from tests.runtimes import FakeClock, ScriptedEmbedder, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

NOW_MS = 1_930_000_000_000


def fact(id: str, attribute: str, **fields: Any) -> Item:
    made = Item(
        id=id,
        owner=Owner("", "ada"),
        kind="fact",
        text=f"The user has {attribute} {id}",
        subject="user",
        attribute=attribute,
        event_ms=NOW_MS + int(id[1:]),
    )
    return msgspec.structs.replace(made, **fields)


def ids(messages: list[dict[str, Any]]) -> Counter[str]:
    """How often each memory stands in what memory adds."""
    return Counter(re.findall(r"\[(m\d+) ", words(messages)))


def tokens(trace: actormem.Trace, name: str) -> int:
    return sum(section.tokens for section in trace.sections if section.name == name)


def test_attributes_come_before_notes_and_the_vital_and_the_new_before_the_rest() -> None:
    items = [
        fact("m1", "note", importance=0.9),
        fact("m2", "likes", importance=0.6),
        fact("m3", "allergy", importance=0.9),
        fact("m4", "name", importance=0.8),
        fact("m5", "allergy", importance=0.9),
        fact("m6", "favorite_color", importance=0.6),
    ]
    assert [one.id for one in profile_items(items, NOW_MS)] == ["m5", "m3", "m4", "m6", "m2", "m1"]


def test_many_values_of_one_attribute_do_not_hide_the_others() -> None:
    items = [fact(f"m{number}", "allergy", importance=0.9) for number in range(1, 41)]
    chosen = profile_items([*items, fact("m50", "name", importance=0.8)], NOW_MS)
    assert [one.id for one in chosen[:4]] == ["m40", "m39", "m38", "m50"]
    assert len(chosen) == PROFILE_ITEMS_MAX


def test_only_what_holds_now_of_the_user_himself_belongs_to_the_profile() -> None:
    items = [
        fact("m1", "likes", kind="episode"),
        fact("m2", "likes", kind="event"),
        fact("m3", "likes", kind="summary"),
        fact("m4", "likes", kind="knowledge"),
        fact("m5", "likes", state="superseded"),
        fact("m6", "likes", expires_ms=NOW_MS),
        fact("m7", "likes", subject="sister"),
        fact("m8", "likes"),
    ]
    assert profile_items(items, NOW_MS, exclude={"m8"}) == ()
    kept = [*items, fact("m9", "diet", kind="preference", importance=0.4, expires_ms=NOW_MS + 1)]
    assert [one.id for one in profile_items(kept, NOW_MS)] == ["m8", "m9"]


def test_an_owner_of_many_facts_is_not_read_whole_for_a_profile() -> None:
    partition = Partition(4)
    for number in range(1, 301):
        partition.put(fact(f"m{number}", "note" if number % 3 else f"thing_{number}"))
        partition.put(fact(f"m{number + 1_000}", "allergy", state="live" if number > 2 else "superseded"))
    found = list(partition.facts())
    assert len(found) == 2 * FACTS_EACH + 100, (
        "each attribute's newest, and the hundred that have one fact each"
    )
    newest = {one.id for one in found if one.attribute == "allergy"}
    assert newest == {f"m{number}" for number in range(1_285, 1_301)}
    for number in range(400):
        partition.put(fact(f"m{number + 2_000}", f"other_{number}"))
    found = list(partition.facts())
    assert len({one.attribute for one in found}) == FACT_ATTRIBUTES
    assert "allergy" in {one.attribute for one in found}, "the most important ones stay"


async def test_a_greeting_gets_the_profile_and_no_hits_and_each_epoch_gets_it_once() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        session = await runtime.spawn("s", user="ada")
        async with session.turn("hi") as turn:
            assert words(turn.messages).count("peanuts") == 1
            assert turn.trace.included == ()
            assert turn.trace.gate == "small talk"
            assert 0 < tokens(turn.trace, "profile") <= Budget(context=4_096).profile_tokens
            assert sum(section.tokens for section in turn.trace.sections) == turn.trace.tokens
            turn.reply("Hello!")
        async with session.turn("What am I allergic to?") as turn:
            assert words(turn.messages).count("allergic to peanuts") == 1, "said once"
            turn.reply("Peanuts.")
        again = await runtime.spawn("s", user="ada", system="Be brief.")
        assert words(await answered(again, "hello")).count("allergic to peanuts") == 1


async def test_an_owner_without_facts_pays_nothing() -> None:
    contexts: list[tuple[list[bytes], int]] = []
    for budget in (Budget(context=2_000), Budget(context=2_000, profile=0)):
        async with opened() as runtime:
            session = await runtime.spawn("s", user="ada", budget=budget)
            for said in ("hi", "Tell me about lakes, please.", "ok"):
                context = await answered(session, said)
            contexts.append((bytes_of(context), (await session.context()).trace.tokens))
    assert contexts[0] == contexts[1]


async def test_a_query_on_a_turn_that_has_the_profile_shows_it_too_and_leaves_the_turns_note() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        await runtime.remember("The user likes jasmine tea", user="ada", attribute="likes")
        session = await runtime.spawn("s", user="ada")
        await session.task.set("Order dinner")
        async with session.turn("hi") as turn:
            asked = words((await session.context(query="tea")).messages)
            for told in ("peanuts", "jasmine", "Order dinner"):
                assert asked.count(told) == 1
            assert bytes_of(await turn.context()) == bytes_of(turn.messages)
            turn.reply("Hello.")


async def test_the_profile_keeps_to_its_share_and_comes_before_hits() -> None:
    async with opened() as runtime:
        for number in range(30):
            await runtime.remember(f"The user likes tea number {number}", user="ada", attribute="likes")
        budget = Budget(context=2_000, profile=50)
        async with (await runtime.spawn("s", user="ada", budget=budget)).turn("Which tea number 7?") as turn:
            assert 20 < tokens(turn.trace, "profile") <= 50
            assert max(ids(turn.messages).values()) == 1
            assert turn.trace.included
            turn.reply("7")


async def test_a_profile_asks_for_no_embedding_and_none_at_a_share_of_zero() -> None:
    embedder = ScriptedEmbedder()
    async with opened(embedder=embedder) as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        await runtime.settle()
        session = await runtime.spawn("s", user="ada")
        async with session.turn("hi") as turn:
            assert "peanuts" in words(turn.messages)
            assert len(embedder.texts) == 1, "that of the memory"
            turn.reply("Hello.")
        off = await runtime.spawn("off", user="ada", budget=Budget(context=2_000, profile=0))
        assert "peanuts" not in words(await answered(off, "hi"))


async def test_what_the_profile_showed_is_corrected_when_it_changes() -> None:
    async with opened() as runtime:
        await runtime.remember(
            "The user lives at 1 Elm Way", user="ada", attribute="address", value="1 Elm Way"
        )
        session = await runtime.spawn("s", user="ada")
        assert "1 Elm Way" in words(await answered(session, "hi"))
        await runtime.remember(
            "The user lives at 2 Oak Way", user="ada", attribute="address", value="2 Oak Way"
        )
        assert "2 Oak Way (replaces: 1 Elm Way)" in words(await answered(session, "thanks"))


async def test_what_the_conversation_shows_verbatim_is_not_in_the_profile_until_it_is_out_of_sight() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500))
        await answered(session, "I am allergic to peanuts.")
        await runtime.settle()
        assert await runtime.value("ada", "allergy") is not None
        session = await runtime.spawn("s", user="ada", system="Be brief.")
        async with session.turn("hello") as turn:
            assert tokens(turn.trace, "profile") == 0
            turn.reply("Hi.")
        shown: list[int] = []
        for number in range(12):
            async with session.turn(f"Tell me about lake {number} in the north. " + "Please. " * 6) as turn:
                shown.append(tokens(turn.trace, "profile"))
                assert turn.trace.tokens <= 500
                turn.reply("It is deep and cold there. " * 3)
            await runtime.settle()
        assert any(shown)


def test_a_profile_that_did_not_come_is_asked_for_again_and_an_empty_one_is_not() -> None:
    driver = Driver()
    driver.take(("configure", Budget(context=2_000), "", "", "gpt-4o"))
    for profile, profiled in ((None, False), ([], True), (None, True)):
        driver.take(("message", "user", "hi"))
        draft = Draft(driver.state)
        draft.emit(note(draft.state, [], driver.counter, profile=profile))
        driver.state = draft.state
        assert driver.state.profiled is profiled
    draft.emit(*restart(draft.state, "a test", driver.counter, NOW_MS))
    assert not draft.state.profiled, "an epoch begins with it"


@pytest.mark.parametrize("said", ["hi", "qqqqzz"])
async def test_what_has_nothing_to_do_with_a_hundred_memories_recalls_none_and_says_why(said: str) -> None:
    async with opened(embedder=None) as runtime:
        for number in range(100):
            await runtime.remember(f"The user owns a lamp of kind {number}", user="ada", attribute="note")
        await runtime.settle()
        async with (await runtime.spawn("s", user="ada")).turn(said) as turn:
            assert turn.trace.included == ()
            assert turn.trace.gate in (
                "small talk",
                "a new session; none of 100 memories is relevant and not in sight",
            )
            assert turn.trace.degraded == ()
            turn.reply("?")


async def test_a_pure_reference_recalls_what_the_last_answer_named() -> None:
    async with opened() as runtime:
        await runtime.remember("订单 KX-22222 是一盏绿色的灯", user="ada")
        await runtime.remember("订单 KX-33333 是一张桌子", user="ada")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=2_000, profile=0))
        await answered(session, "你们今天几点关门，周末也开吗？", "今天晚上九点。您还有一个单号 KX-22222。")
        async with session.turn("那个呢？") as turn:
            assert "绿色的灯" in words(turn.messages)
            assert "桌子" not in words(turn.messages)
            assert turn.trace.gate == "short message, asked with those before"
            turn.reply("在路上。")


async def test_twenty_turns_of_recall_write_nothing_into_the_transcript_and_show_each_memory_once() -> None:
    async with opened(clock=FakeClock()) as runtime:
        for number in range(12):
            await runtime.remember(f"The user owns lamp {number} of order KX-{number:04d}", user="ada")
        budget = Budget(context=1_200)
        session = await runtime.spawn("s", user="ada", budget=budget)
        said: list[str] = []
        for number in range(20):
            said += [f"Which lamp was in order KX-{number % 12:04d}, please?", "That one."]
            async with session.turn(said[-2]) as turn:
                assert max(ids(turn.messages).values(), default=0) <= 1
                assert turn.trace.tokens <= budget.context
                turn.reply(said[-1])
            await runtime.settle()
        assert [message.text for message in await session.messages()] == said
        assert not any("lamp" in one.text and "<memory" in one.text for one in await runtime.items("ada"))


async def test_an_item_is_shown_again_only_after_so_many_tokens_of_conversation() -> None:
    async with opened() as runtime:
        await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
        for repeat, expected in ((300, 2), (100_000, 1), (0, 4)):
            budget = Budget(context=4_000, profile=0, repeat_after_tokens=repeat)
            session = await runtime.spawn(f"s{repeat}", user="ada", budget=budget)
            shown: list[int] = []
            for number in range(4):
                messages = await answered(session, "What am I allergic to?", "Let me tell you a story. " * 30)
                assert (await session.context()).trace.epoch == 1
                shown.append(words(messages).count("The user is allergic to peanuts"))
                assert number == 0 or shown[-1] in (shown[-2], shown[-2] + 1)
            assert shown[0] == 1
            assert shown[-1] == expected, shown


async def test_no_item_stands_twice_within_the_distance_in_a_long_epoch() -> None:
    distance = 250
    async with opened() as runtime:
        for number in range(6):
            await runtime.remember(f"The user owns lamp {number} of order KX-{number:04d}", user="ada")
        budget = Budget(context=30_000, profile=0, repeat_after_tokens=distance)
        session = await runtime.spawn("s", user="ada", budget=budget)
        said_tokens = 0
        at: dict[str, int] = {}
        repeats = 0
        before: Counter[str] = Counter()
        for number in range(24):
            async with session.turn(f"And lamp {number % 6} of order KX-{number % 6:04d}? ") as turn:
                said_tokens = turn.trace.full_tokens
                now = ids(turn.messages)
                for id in now - before:
                    assert said_tokens - at.get(id, -distance - 1) > distance, "too soon"
                    repeats += id in at
                    at[id] = said_tokens
                before = now
                assert turn.trace.epoch == 1
                turn.reply("It is on its way, as you can see on the page. " * 2)
        assert repeats
