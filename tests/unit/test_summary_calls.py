"""Calls to the model that writes summaries: within its window, within a day's tokens, counted, never for nothing."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import actormem
from actormem import Budget, BudgetError, UsageError
from actormem.adapters.toktok import ToktokTokenizer
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, opened, words

pytestmark = pytest.mark.anyio

one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # long, and nothing in it differs by loop
BUDGET = Budget(context=300, recall=0)
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."
DAY_S = 86_400.0
TOKENIZER = ToktokTokenizer()


def told(_: Sequence[Wire]) -> str:
    return "Needs:\n- user: wants to travel north by train"


async def talk(runtime: actormem.Runtime, session: actormem.Session, turns: int, first: str = "") -> None:
    for number in range(turns):
        await answered(session, f"{first}Turn {number}. {LONG}", f"I see, {number}.")
        await runtime.settle()


def tokens_of(prompt: Sequence[Wire]) -> int:
    return sum(TOKENIZER.count(str(message["content"])) + 4 for message in prompt)


async def test_a_span_of_many_windows_is_summarised_part_by_part() -> None:
    llm = ScriptedLLM(told, window_tokens=500)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=2_000, recall=0))
        await talk(runtime, session, 45)
        after = runtime.statistics()
        assert after.summaries_llm >= 1
        assert after.summaries_extractive == 0
        assert llm.call_count >= 3 * after.summaries_llm
        assert max(map(tokens_of, llm.prompts)) < 500
        assert "wants to travel north" in words((await session.context()).messages)


@pytest.mark.parametrize("window", [0, 100, 399])
async def test_a_window_that_can_never_work_is_refused_at_start_with_both_numbers(
    tmp_path: Path, window: int
) -> None:
    with pytest.raises(BudgetError, match=rf"{window}.*400") as refused:
        async with opened(tmp_path, llm=ScriptedLLM(told, window_tokens=window)):
            raise AssertionError("it was opened")
    assert (refused.value.needed_tokens, refused.value.budget_tokens) == (400, window)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "many"])
async def test_a_daily_limit_that_is_no_count_is_refused(limit: object) -> None:
    with pytest.raises(UsageError, match="daily_llm_tokens"):
        async with opened(daily_llm_tokens=limit):
            raise AssertionError("it was opened")


@one_loop
async def test_over_the_tokens_of_a_day_summaries_are_extractive_and_counted_and_a_new_day_begins_anew() -> (
    None
):
    clock, llm = FakeClock(), ScriptedLLM(told)
    async with opened(llm=llm, clock=clock, daily_llm_tokens=1_500) as runtime:
        ada = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, ada, 16)
        after = runtime.statistics()
        assert after.summaries_llm >= 1
        assert after.summaries_over_daily_tokens >= 1
        assert after.summaries_extractive >= 1
        assert after.llm_prompt_tokens + after.llm_reply_tokens <= 1_500
        calls = llm.call_count
        await talk(runtime, await runtime.spawn("s", user="bob", budget=BUDGET), 16)
        assert calls < llm.call_count <= 2 * calls, "each owner has tokens of his own"
        calls = llm.call_count
        await talk(runtime, ada, 8)
        assert llm.call_count == calls
        await clock.advance(DAY_S)
        await talk(runtime, ada, 10, "Next day. ")
        assert llm.call_count > calls


@one_loop
async def test_tokens_of_a_day_are_kept_over_a_restart(tmp_path: Path) -> None:
    for start in range(2):
        llm = ScriptedLLM(told)
        async with opened(tmp_path, llm=llm, daily_llm_tokens=1_200) as runtime:
            await talk(runtime, await runtime.spawn("s", user="ada", budget=BUDGET), 12, f"Day {start}. ")
            assert (llm.call_count > 0) is (start == 0)


async def test_without_a_limit_or_without_a_model_nothing_is_held_back_and_nothing_called() -> None:
    async with opened() as runtime:
        await talk(runtime, await runtime.spawn("s", user="ada", budget=BUDGET), 12)
        after = runtime.statistics()
        assert after.summaries_extractive >= 1
        assert (after.llm_prompt_tokens, after.llm_reply_tokens, after.llm_failures) == (0, 0, 0)
        assert after.summaries_over_daily_tokens == 0


@one_loop
async def test_tokens_of_calls_are_counted_as_they_were_sent() -> None:
    llm = ScriptedLLM(told)
    async with opened(llm=llm) as runtime:
        await talk(runtime, await runtime.spawn("s", user="ada", budget=BUDGET), 12)
        after = runtime.statistics()
        assert after.llm_reply_tokens == llm.call_count * TOKENIZER.count(told(()))
        sent = sum(map(tokens_of, llm.prompts))
        assert sent <= after.llm_prompt_tokens <= sent + 3 * llm.call_count


@one_loop
@pytest.mark.parametrize(
    "reply",
    [
        "Please give me the conversation you would like me to summarize.",
        "请您先提供需要总结的对话内容。",
        "There is no conversation to summarize.",
    ],
)
async def test_a_request_for_the_conversation_never_becomes_a_summary(reply: str) -> None:
    llm = ScriptedLLM(lambda _: reply)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 10)
        assert llm.call_count >= 1
        assert runtime.statistics().summaries_llm == 0
        assert reply not in words((await session.context()).messages)
        for prompt in llm.prompts:
            rows = [line for line in str(prompt[1]["content"]).splitlines() if line.startswith("{")]
            assert rows, "it is never asked about nothing"


@one_loop
async def test_a_merging_summary_is_made_from_the_earlier_ones_and_the_new_messages() -> None:
    llm = ScriptedLLM(told)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 40)
        merging = [prompt for prompt in llm.prompts if "wants to travel north" in words(prompt[1:])]
        assert merging
        for prompt in merging:
            rows = [line for line in str(prompt[1]["content"]).splitlines() if line.startswith("{")]
            assert rows, "with the messages said since"
        shown = words((await session.context()).messages)
        assert 1 <= shown.count("wants to travel north") <= 4


@one_loop
async def test_long_texts_are_counted_and_summaries_made_off_the_loop() -> None:
    loop = threading.get_ident()
    counted: list[tuple[bool, int]] = []

    class Watched:
        name, exact = TOKENIZER.name, True
        truncate = staticmethod(TOKENIZER.truncate)

        def count(self, text: str) -> int:
            counted.append((threading.get_ident() == loop, len(text)))
            return TOKENIZER.count(text)

    for llm in (None, ScriptedLLM(told)):
        counted.clear()
        async with opened(llm=llm, tokenizer=Watched()) as runtime:
            session = await runtime.spawn("s", user="ada", budget=Budget(context=2_400))
            await answered(session, f"{LONG} " * 50, "Long indeed.")
            await talk(runtime, session, 32)
            after = runtime.statistics()
            assert after.summaries_llm + after.summaries_extractive >= 1
        elsewhere = [size for on_loop, size in counted if not on_loop]
        assert max(elsewhere) >= len(LONG) * 50
        assert max(size for on_loop, size in counted if on_loop) < 4_096
        assert len(elsewhere) > 10


@pytest.mark.full
@one_loop
async def test_summaries_of_two_hundred_turns_cost_at_most_one_and_a_half_times_the_conversation() -> None:
    def full_length(prompt: Sequence[Wire]) -> str:
        most = int(str(prompt[0]["content"]).split("at most ")[1].split(" tokens")[0])
        return TOKENIZER.truncate(
            "Needs:\n" + "- user: wants to travel north by the night train\n" * 200, most
        )

    async with opened(llm=ScriptedLLM(full_length)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=6_000))
        await talk(runtime, session, 200)
        after = runtime.statistics()
        own = (await session.context()).trace.full_tokens
        assert after.summaries_extractive == 0
        assert 0 < after.llm_prompt_tokens + after.llm_reply_tokens <= 1.5 * own
