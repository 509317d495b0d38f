"""Facts found by an LLM beside the rules: when it is called, what is taken from its answer, and what never is."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem import UsageError
from actormem.actors.extracting import BATCH_MESSAGES, ELSEWHERE_S, QUIET_S
from actormem.errors import ProviderError
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, files_holding, opened, settle, until, words

pytestmark = pytest.mark.anyio

one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # long, and nothing in it differs by loop
CABIN = "Every winter we drive up to my cabin near Bergen."
BERGEN = ("my cabin near Bergen", "Bergen", "cabin_place")
TOLD = [
    "My cabin stands near Bergen since my grandfather built it.",
    "Our dog Biscuit sleeps in the boat shed every night.",
    "我女儿小雨每周三晚上学钢琴。",
    "My sister Nora is starting a bakery in Porto next spring.",
]


def row(quote: str, value: str, attribute: str, **fields: Any) -> dict[str, Any]:
    return {
        "message": 1, "quote": quote, "value": value, "subject": "user", "attribute": attribute,
        "text": f"The user says so: {value}.", "kind": "fact", "importance": 0.6, "confidence": 0.9,
        "negated": False, "valid_from": None, "valid_until": None, **fields,
    }  # fmt: skip


def told(*rows: dict[str, Any]) -> str:
    return json.dumps({"facts": rows}, ensure_ascii=False)


def asked(prompt: Sequence[Wire]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in str(prompt[1]["content"]).splitlines() if line.startswith("{")]


def echo(messages: Sequence[Wire]) -> str:
    """One fact for each message: its first word."""
    found: list[dict[str, Any]] = []
    for one in asked(messages):
        first = re.findall(r"\w+", one["text"])[0]
        found.append(row(one["text"], first, "first_word", message=one["message"]))
    return told(*found)


async def values(runtime: actormem.Runtime, attribute: str, user: str = "ada") -> list[str]:
    return [item.value for item in await runtime.items(user) if item.attribute == attribute]


async def talk(session: actormem.Session, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        await answered(session, f"Cabin{number} is where we spend every winter since {1990 + number}.")


# --- when it is called -------------------------------------------------------------------------------------


async def test_a_batch_of_messages_is_read_in_exactly_one_call() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada")
        await talk(session, BATCH_MESSAGES - 1)
        await settle()
        assert llm.call_count == 0
        await talk(session, 1, BATCH_MESSAGES - 1)
        await until(lambda: done(runtime, BATCH_MESSAGES))
        assert llm.call_count == 1
        assert [one["text"].split()[0] for one in asked(llm.prompts[0])] == [
            f"Cabin{n}" for n in range(BATCH_MESSAGES)
        ]
        assert llm.schemas[0] is not None
        after = runtime.statistics()
        assert (after.extractions, after.extractions_failed, after.extracted_facts) == (1, 0, BATCH_MESSAGES)
        assert after.llm_reply_tokens > 0 < after.llm_prompt_tokens


async def done(runtime: actormem.Runtime, count: int, attribute: str = "first_word") -> bool:
    return len(await values(runtime, attribute)) == count


async def test_fewer_are_read_once_the_owner_is_quiet() -> None:
    llm, clock = ScriptedLLM(echo), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await talk(session, 2)
        await clock.advance(QUIET_S - 1)
        await talk(session, 1, 2)
        await clock.advance(QUIET_S - 1)
        assert llm.call_count == 0, "somebody still speaks"
        await clock.advance(1.5)
        await until(lambda: done(runtime, 3))
        assert llm.call_count == 1


async def test_a_minute_between_two_messages_does_not_have_each_read_by_itself() -> None:
    llm, clock = ScriptedLLM(echo), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(BATCH_MESSAGES):
            assert llm.call_count == 0
            await talk(session, 1, number)
            await clock.advance(60)
        await until(lambda: done(runtime, BATCH_MESSAGES))
        assert llm.call_count == 1


@pytest.mark.parametrize("by", ["a session", "a caller"])
async def test_what_somebody_asks_for_who_did_not_hear_it_is_read_sooner(by: str) -> None:
    llm, clock = ScriptedLLM(echo), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await talk(session, 2)
        await runtime.recall("Where is the cabin?", user="bob")
        await clock.advance(ELSEWHERE_S + 1)
        assert llm.call_count == 0, "nobody of this owner asked"
        if by == "a caller":
            await runtime.recall("Where is the cabin?", user="ada")
        else:
            await answered(await runtime.spawn("t", user="ada"), "Where is the cabin that I spoke of?")
        await until(lambda: done(runtime, 2))
        assert llm.call_count == 1
        await talk(session, 1, 2)
        await clock.advance(ELSEWHERE_S + 1)
        assert llm.call_count == 1, "what is said after it waits as ever"


async def test_settle_waits_until_what_waits_is_read() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True) as runtime:
        await talk(await runtime.spawn("s", user="ada"), 3)
        await runtime.settle()
        assert (llm.call_count, await values(runtime, "first_word")) == (1, ["Cabin0", "Cabin1", "Cabin2"])
        await runtime.settle()
        assert llm.call_count == 1


async def test_a_wish_that_the_rules_could_not_read_goes_at_once() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "Keep in mind the blue one was a gift.")
        await until(lambda: done(runtime, 1))


@one_loop
async def test_greetings_questions_and_what_the_rules_read_whole_cost_no_call() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada")
        for said in (
            "Hello there.",
            "你好！",
            "What is the weather like in Oslo?",
            "My name is Ada.",
            "好的，谢谢。",
        ):
            await answered(session, said)
        await runtime.settle()
        assert llm.call_count == 0


@one_loop
async def test_calls_of_one_owner_go_one_at_a_time_and_those_of_all_are_bounded() -> None:
    llm = ScriptedLLM(echo, wait_for=anyio.Event())
    async with opened(llm=llm, extract=True, summaries_at_once=2) as runtime:
        for user in ("ada", "bob", "cy"):
            await talk(await runtime.spawn("s", user=user), 16)
        await until(lambda: in_flight(llm, 2))
        await settle()
        assert llm.in_flight_count == 2
        assert llm.wait_for is not None
        llm.wait_for.set()
        await runtime.settle()
        assert llm.in_flight_max_count == 2
        assert llm.call_count == 6
        for user in ("ada", "bob", "cy"):
            assert len(await values(runtime, "first_word", user)) == 16


async def in_flight(llm: ScriptedLLM, count: int) -> bool:
    return llm.in_flight_count >= count


@one_loop
async def test_who_wants_summaries_only_turns_it_off() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=False) as runtime:
        await talk(await runtime.spawn("s", user="ada"), 9)
        await runtime.settle()
        assert llm.call_count == 0
    with pytest.raises(UsageError, match="extract"):
        async with opened(extract="yes"):  # type: ignore[arg-type]
            raise AssertionError("it was opened")


@one_loop
async def test_a_small_window_leaves_facts_to_the_rules() -> None:
    llm = ScriptedLLM(echo, window_tokens=1_999)
    async with opened(llm=llm, extract=True) as runtime:
        await talk(await runtime.spawn("s", user="ada"), 9)
        await runtime.settle()
        assert llm.call_count == 0


# --- what is asked, and what is believed ------------------------------------------------------------------------


async def test_only_the_users_words_and_the_reply_before_them_are_sent() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada", system="You are the clerk of the SECRET shop.")
        await answered(session, "I'm allergic to sesame.", "Noted. And where do you spend your winters?")
        async with session.turn("Near Bergen.") as turn:
            call = {"id": "c-1", "type": "function", "function": {"name": "find_cabin", "arguments": "{}"}}
            await turn.add({"role": "assistant", "content": None, "tool_calls": [call]})
            await turn.add(
                {"role": "tool", "tool_call_id": "c-1", "content": "The user owns a castle in Kent."}
            )
            turn.reply("A fine place.")
        await answered(session, CABIN)
        await runtime.settle()
        [prompt] = llm.prompts
        first, second = asked(prompt)
        assert (first["text"], first["before"]) == (
            "Near Bergen.",
            "Noted. And where do you spend your winters?",
        )
        assert (second["text"], second["before"]) == (CABIN, "A fine place.")
        for unsent in ("SECRET", "castle", "find_cabin", "<memory"):
            assert unsent not in words(prompt)


@one_loop
async def test_what_the_system_prompt_or_a_tool_says_becomes_no_memory() -> None:
    llm = ScriptedLLM(
        lambda _: told(
            row("You are the clerk of the SECRET shop", "SECRET shop", "employer"),
            row("The user owns a castle in Kent", "Kent", "castle_place"),
        )
    )
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada", system="You are the clerk of the SECRET shop.")
        await answered(session, CABIN)
        await runtime.settle()
        assert llm.call_count == 1
        assert [item.kind for item in await runtime.items("ada")] == ["episode", "episode"]
        assert runtime.statistics().extracted_facts_refused == 2


async def test_chinese_names_stay_as_they_were_said_when_the_model_answers_in_english() -> None:
    llm = ScriptedLLM(
        lambda _: told(
            row("我叫欧阳澄", "Ouyang Cheng", "name", text="The user is called Ouyang Cheng."),
            row("Works at Chenghai Technology", "Chenghai Technology", "employer"),
            row("每年冬天都住山里的木屋", "山里的木屋", "winter_home", text="用户每年冬天住山里的木屋。"),
        )
    )
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "我叫欧阳澄，在澄海科技工作。我们一家每年冬天都住山里的木屋。", "好的。")
        await runtime.settle()
        assert llm.call_count == 1
        assert await values(runtime, "name") == ["欧阳澄"]
        assert await values(runtime, "employer") == ["澄海科技"]
        assert await values(runtime, "winter_home") == ["山里的木屋"]
        assert "Ouyang" not in words([{"all": [item.text for item in await runtime.items("ada")]}])
        assert runtime.statistics().extracted_facts_refused == 2


async def test_what_the_rules_found_in_the_same_message_merges_and_is_not_doubled() -> None:
    said = "I'm allergic to sesame, and every winter we drive up to my cabin near Bergen."
    llm = ScriptedLLM(lambda _: told(row("allergic to sesame", "Sesame", "allergy"), row(*BERGEN)))
    async with opened(llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), said)
        await runtime.settle()
        assert await values(runtime, "allergy") == ["sesame"]
        assert await values(runtime, "cabin_place") == ["Bergen"]
        assert runtime.statistics().extracted_facts == 1
        [item] = [one for one in await runtime.items("ada") if one.attribute == "cabin_place"]
        assert (item.source, item.quote, item.session_id) == ("user", "my cabin near Bergen", "s")
        assert [
            one.text
            for one in await (await runtime.spawn("s", user="ada")).messages()
            if one.id in item.source_ids
        ]


async def test_what_was_said_later_is_never_overridden_by_what_was_found_later() -> None:
    llm = ScriptedLLM(lambda _: told(row("we settled down for good at Hill Farm", "Hill Farm", "address")))
    async with opened(llm=llm, extract=True) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "Since the wedding we settled down for good at Hill Farm, us two.")
        await answered(session, "My new address is 9 Lake Road.")
        await runtime.settle()
        assert llm.call_count == 1
        assert await values(runtime, "address") == ["9 Lake Road"]
        every = [one for one in await runtime.items("ada", history=True) if one.attribute == "address"]
        assert {one.value: one.state for one in every} == {"Hill Farm": "superseded", "9 Lake Road": "live"}


@one_loop
async def test_a_fact_below_the_write_threshold_is_not_kept() -> None:
    llm = ScriptedLLM(lambda _: told(row(*BERGEN, importance=0.2)))
    async with opened(llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), CABIN)
        await runtime.settle()
        assert llm.call_count == 1
        assert await values(runtime, "cabin_place") == []


# --- when it fails ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply", [ProviderError("down", provider="scripted"), RuntimeError("bug"), "no json", "  "]
)
async def test_with_a_failing_llm_the_rules_go_on_and_it_is_counted(reply: Any) -> None:
    llm, clock = ScriptedLLM(lambda _: reply), FakeClock()
    tries = 1 if reply == "no json" else 3
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), f"I'm allergic to sesame. {CABIN}")
        await settled(runtime, clock, llm, tries)
        assert await values(runtime, "allergy") == ["sesame"]
        after = runtime.statistics()
        assert (after.extractions, after.extractions_failed) == (0, 1)
        assert after.extractions_dropped == 0, "it waits for another call"
        await runtime.settle()
        assert llm.call_count == tries, "which is not made at once"
        await clock.advance(61)
        await settled(runtime, clock, llm, tries)
        after = runtime.statistics()
        assert (after.extractions_failed, after.extractions_dropped) == (2, 1)
        await clock.advance(61)
        await runtime.settle()
        assert llm.call_count == 2 * tries


async def settled(runtime: actormem.Runtime, clock: FakeClock, llm: ScriptedLLM, calls: int) -> None:
    """Settle while so many calls are made, with the pauses between tries."""
    before = llm.call_count
    async with anyio.create_task_group() as group:
        group.start_soon(runtime.settle)
        for number in range(calls):
            await until(partial(called, llm, before + number + 1))
            await clock.advance(3.1)


async def called(llm: ScriptedLLM, count: int) -> bool:
    return llm.call_count >= count


async def test_a_model_that_is_back_reads_what_waited() -> None:
    replies: list[str | Exception] = [ProviderError("down", provider="scripted")] * 3 + [told(row(*BERGEN))]
    llm, clock = ScriptedLLM(replies), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), CABIN)
        await settled(runtime, clock, llm, 3)
        assert await values(runtime, "cabin_place") == []
        await clock.advance(61)
        await runtime.settle()
        assert await values(runtime, "cabin_place") == ["Bergen"]


@one_loop
async def test_a_dead_llm_keeps_nobody_in_memory_and_what_waits_is_read_at_the_next_waking() -> None:
    replies: list[str | Exception] = [ProviderError("down", provider="scripted")] * 3 + [told(row(*BERGEN))]
    llm, clock = ScriptedLLM(replies), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock, idle_s=100) as runtime:
        await answered(await runtime.spawn("s", user="ada"), CABIN)
        await settled(runtime, clock, llm, 3)
        await clock.advance(250)
        await until(partial(resident, runtime, 0))
        assert await values(runtime, "cabin_place") == []
        await runtime.settle()
        assert await values(runtime, "cabin_place") == ["Bergen"]


async def resident(runtime: actormem.Runtime, count: int) -> bool:
    return runtime.statistics().longterm.residents == count


@one_loop
async def test_over_the_tokens_of_a_day_messages_wait() -> None:
    llm = ScriptedLLM(echo)
    async with opened(llm=llm, extract=True, daily_llm_tokens=50) as runtime:
        await answered(await runtime.spawn("s", user="ada"), CABIN)
        await runtime.settle()
        after = runtime.statistics()
        assert (llm.call_count, after.extractions_over_daily_tokens, after.extractions_dropped) == (0, 1, 0)


@one_loop
async def test_what_waits_is_bounded_and_the_oldest_gives_way() -> None:
    llm, clock = ScriptedLLM(lambda _: ProviderError("down", provider="scripted")), FakeClock()
    async with opened(llm=llm, extract=True, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await talk(session, 1)
        await settled(runtime, clock, llm, 3)
        await talk(session, 66, 1)
        assert runtime.statistics().extractions_dropped == 3


# --- restarts, and what is forgotten meanwhile ---------------------------------------------------------------------


async def test_what_waited_is_read_after_a_restart_once(tmp_path: Path) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(echo), extract=True) as runtime:
        await talk(await runtime.spawn("s", user="ada"), 3)
    async with opened(tmp_path, extract=True) as runtime:
        assert await values(runtime, "first_word") == [], "without an LLM it goes on waiting"
    llm, clock = ScriptedLLM(echo), FakeClock()
    async with opened(tmp_path, llm=llm, extract=True, clock=clock) as runtime:
        assert runtime.statistics().longterm.residents == 1, "it is awake before anybody speaks"
        assert await values(runtime, "first_word") == []
        await clock.advance(QUIET_S + 1)
        await until(lambda: done(runtime, 3))
        assert [one["text"].split()[0] for one in asked(llm.prompts[0])] == ["Cabin0", "Cabin1", "Cabin2"]
        await runtime.settle()
    async with opened(tmp_path, llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "Hello there.")
        await runtime.settle()
        assert llm.call_count == 1
        assert len(await values(runtime, "first_word")) == 3


async def test_a_call_that_a_restart_cut_off_is_made_again_without_doubles(tmp_path: Path) -> None:
    llm = ScriptedLLM(echo, wait_for=anyio.Event())
    async with opened(tmp_path, llm=llm, extract=True) as runtime:
        await talk(await runtime.spawn("s", user="ada"), BATCH_MESSAGES)
        await until(lambda: in_flight(llm, 1))
    llm = ScriptedLLM(echo)
    async with opened(tmp_path, llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "Hello there.")
        await runtime.settle()
        assert (llm.call_count, len(await values(runtime, "first_word"))) == (1, BATCH_MESSAGES)


async def forget_item(runtime: actormem.Runtime) -> None:
    [item] = [one for one in await runtime.items("ada") if one.attribute == "allergy"]
    await runtime.forget(item.id, user="ada")


async def keep_transcript(runtime: actormem.Runtime) -> None:
    [item] = [one for one in await runtime.items("ada") if one.attribute == "allergy"]
    await runtime.forget(item.id, user="ada", sources="keep")


async def forget_session(runtime: actormem.Runtime) -> None:
    await runtime.forget_session("s", user="ada")


async def forget_user(runtime: actormem.Runtime) -> None:
    await runtime.forget_user("ada")


async def rewind(runtime: actormem.Runtime) -> None:
    session = await runtime.spawn("s", user="ada")
    await session.rewind((await session.messages())[0].id)


ERASURES = [forget_item, keep_transcript, forget_session, forget_user, rewind]
WHILE = [
    *((erase, True) for erase in ERASURES),
    (forget_item, False),
    *(pytest.param(erase, False, marks=pytest.mark.full) for erase in ERASURES[1:]),
]


@one_loop
@pytest.mark.parametrize(("erase", "in_flight_too"), WHILE)
async def test_what_is_forgotten_while_it_waits_or_is_read_is_never_written(
    tmp_path: Path, erase: Callable[[actormem.Runtime], Any], in_flight_too: bool
) -> None:
    said = f"I'm allergic to sesame. {CABIN}"
    llm = ScriptedLLM(
        lambda _: told(row("allergic to sesame", "sesame", "cannot_stand"), row(*BERGEN)),
        wait_for=anyio.Event(),
    )
    clock = FakeClock()
    async with opened(tmp_path, llm=llm, extract=True, clock=clock) as runtime:
        await answered(await runtime.spawn("s", user="ada"), said)
        await answered(await runtime.spawn("t", user="ada"), "Hello there.")
        await until(lambda: done(runtime, 1, "allergy"))
        if in_flight_too:
            await clock.advance(ELSEWHERE_S + 1)
            await until(lambda: in_flight(llm, 1))
        await erase(runtime)
        assert llm.wait_for is not None
        llm.wait_for.set()
        await runtime.settle()
        assert llm.call_count == int(in_flight_too)
        found = {item.attribute for item in await runtime.items("ada", history=True)}
        assert not found & {"cannot_stand", "cabin_place", "allergy"}
        if erase not in (keep_transcript, rewind):
            assert files_holding(tmp_path, "allergic to sesame") == []
        assert files_holding(tmp_path, "extract:m") == [] or erase in (keep_transcript, rewind)
    async with opened(tmp_path, llm=llm, extract=True, clock=clock) as runtime:
        await answered(await runtime.spawn("t", user="ada"), "Hello there.")
        await runtime.settle()
        assert llm.call_count == int(in_flight_too), "and never asked for again"


@one_loop
async def test_forgetting_a_user_leaves_no_byte_of_what_waited(tmp_path: Path) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(echo), extract=True) as runtime:
        session = await runtime.spawn("zanzibar-session", user="zanzibarian")
        await answered(session, CABIN)
        await runtime.recall("cabin", user="zanzibarian")
        await runtime.forget_user("zanzibarian")
        assert files_holding(tmp_path, "zanzibar") == files_holding(tmp_path, "Bergen") == []


@one_loop
async def test_a_fact_whose_sentence_tells_of_a_forgotten_one_goes_with_it(tmp_path: Path) -> None:
    said = "I'm allergic to sesame. Because of that our kitchen has never seen tahini since we married."
    quote = "our kitchen has never seen tahini since we married"
    llm = ScriptedLLM(
        lambda _: told(
            row(quote, "tahini", "banned", text="The kitchen has never seen tahini because of sesame."),
            row("since we married", "married", "marriage", text="The user is married."),
        )
    )
    async with opened(tmp_path, llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), said)
        await runtime.settle()
        assert await values(runtime, "banned") == ["tahini"]
        await forget_item(runtime)
        assert await values(runtime, "banned") == []
        assert await values(runtime, "marriage") == ["married"]
        assert files_holding(tmp_path, "sesame") == []


@one_loop
async def test_an_edited_fact_stays_as_it_was_edited() -> None:
    llm = ScriptedLLM(lambda _: told(row("My new address is 9 Lake Road", "9 Lake Road", "address")))
    async with opened(llm=llm, extract=True) as runtime:
        await answered(await runtime.spawn("s", user="ada"), f"My new address is 9 Lake Road. {CABIN}")
        item = await runtime.value("ada", "address")
        assert item is not None
        await runtime.edit(item.id, "5 Hill Street", user="ada")
        await runtime.settle()
        assert llm.call_count == 1
        assert await values(runtime, "address") == ["5 Hill Street"]
