"""Learning from a provider's usage: never below what was measured, kept over a restart, shared by a runtime."""

from pathlib import Path
from typing import Any

import pytest

import actormem
from actormem import BudgetError, UsageError
from actormem.actors.calibrations import MODELS_MAX, REQUESTS_MAX, Calibrations
from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.calibration import (
    NOT_MEASURED,
    Calibration,
    Measurement,
    calibration_of,
    refusal,
    worth_changing,
)
from tests.conversations import wire_tokens
from tests.runtimes import bytes_of, opened

OTHER = ToktokTokenizer("cl100k_base")
MODEL = "somebody/deepseek-clone"
ASKED = "第{number}个问题：订单 KX-{number} 的退款什么时候到账？请说明详细的流程、时间和需要的材料。"
ANSWER = "退款会在三到五个工作日内到账，请您耐心等待。"


def measured(prompt: int, text: int, *, fixed: int = 40, **more: Any) -> Measurement:
    return Measurement(
        prompt_tokens=prompt, counted_tokens=2 * text + fixed, fixed_tokens=fixed, text_tokens=text, **more
    )


def bill(messages: list[dict[str, Any]], *, template: int = 20, factor: float = 1.0) -> int:
    """What a provider with another vocabulary, and a chat template of its own, counts for a request."""
    return template + int(factor * wire_tokens(messages, "", OTHER.count))


async def turn(session: actormem.Session, said: str, factor: float = 1.0) -> tuple[actormem.Trace, int]:
    """One turn whose reply comes as a whole completion; its trace, and what the provider counted."""
    async with session.turn(said) as turn:
        counted = bill(turn.messages, factor=factor)
        turn.reply(
            {
                "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}],
                "usage": {"prompt_tokens": counted},
            }
        )
        return turn.trace, counted


# --- what measurements say ------------------------------------------------------------------------------


def test_no_request_that_was_measured_is_counted_below_what_the_provider_counted() -> None:
    some = [measured(30, 1), measured(700, 500), measured(2_100, 1_500), measured(90, 20), measured(310, 400)]
    found = calibration_of(some)
    assert found.factor == pytest.approx(1.02 * (2_100 - 40) / 1_500)
    for one in some:
        assert one.fixed_tokens + one.text_tokens * found.factor + found.extra_tokens >= one.prompt_tokens


def test_a_short_request_measures_the_chat_template_and_not_the_vocabulary() -> None:
    assert calibration_of([measured(60, 1)]) == Calibration(0.0, False, 60 - 42)


@pytest.mark.parametrize(
    ("one", "factor"),
    [
        (measured(300, 1_000), 0.0),  # a provider that leaves out what was cached
        (measured(900, 1_000), 1.02),
        (measured(90_000, 1_000), 8 * 1.02),
        (measured(2_000, 1_000, priced=True), 0.0),
        (measured(1_060, 1_000, constant=True), 0.0),
    ],
)
def test_what_cannot_be_the_vocabularys_is_not_learned_as_its_factor(one: Measurement, factor: float) -> None:
    assert calibration_of([one]).factor == pytest.approx(factor)


def test_a_calibration_changes_when_it_differs_by_two_percent_or_knows_more() -> None:
    now = Calibration(1.2, False, 20)
    for same in (now, Calibration(1.21, False, 15), Calibration(1.19, False, 20)):
        assert not worth_changing(now, same)
    for other in (
        Calibration(1.23, False, 20),
        Calibration(1.17, False, 20),
        Calibration(1.2, True, 20),
        Calibration(1.2, False, 21),
        Calibration(1.2, False, 9),
    ):
        assert worth_changing(now, other)


def test_a_refusal_says_that_the_request_was_over_the_limit_but_not_how_far() -> None:
    asked = measured(0, 1_000)
    assert refusal(asked, 2_100).prompt_tokens == 2_143
    assert refusal(asked, 100_000).prompt_tokens == int(2_040 / 0.7) + 1
    assert refusal(asked, 10).prompt_tokens > asked.counted_tokens


def test_a_runtime_keeps_the_last_requests_of_each_model_and_the_models_used_last() -> None:
    known = Calibrations()
    for place in range(REQUESTS_MAX + 1):
        known.learn("a", measured(2_040 if place == 0 else 1_240, 1_000))
    assert known.of("a").factor == pytest.approx(1.2 * 1.02), "the first one is forgotten"
    for place in range(MODELS_MAX):
        known.learn(f"m{place}", measured(1_240, 1_000))
    assert len(known) == MODELS_MAX
    assert known.of("a") == NOT_MEASURED


def test_what_was_stored_stands_in_until_the_runtime_has_measured() -> None:
    known = Calibrations()
    known.seed("a", Calibration(1.4, True, 30))
    known.learn("a", measured(60, 1))
    assert known.of("a") == Calibration(1.4, True, 30)
    assert not known.measured("a")
    known.learn("a", measured(1_140, 1_000))
    assert known.measured("a")
    assert known.of("a").factor == pytest.approx(1.1 * 1.02)
    known.seed("a", Calibration(3.0, True, 0))
    assert known.of("a").factor < 1.2


# --- through the front door ----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_an_unknown_model_is_within_its_budget_by_the_providers_count_and_learns() -> None:
    async with opened() as runtime:
        session = await runtime.spawn(
            "s", user="ada", model=MODEL, system="你是商店的助手。", budget=actormem.Budget(context=900)
        )
        traces: list[actormem.Trace] = []
        for number in range(12):
            trace, counted = await turn(session, ASKED.format(number=number))
            assert counted <= trace.tokens + 20 * (number == 0) <= 900
            traces.append(trace)
    assert not any(trace.exact for trace in traces)
    assert traces[0].tokenizer == "o200k_base*1.5"
    assert traces[-1].tokenizer.startswith("o200k_base*1.")
    assert traces[-1].tokenizer.endswith(" measured")
    learned = next(place for place, one in enumerate(traces) if one.tokenizer.endswith("measured"))
    assert traces[learned].epoch == 1, "a better count alone ends no epoch"
    assert traces[learned].tokens < traces[learned - 1].tokens, "the bound was far above"
    assert traces[learned].stable_prefix_tokens > 0
    assert sum(section.tokens for section in traces[-1].sections) == traces[-1].tokens


@pytest.mark.anyio
async def test_a_provider_that_counts_more_and_more_is_followed_at_once() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model=MODEL, budget=actormem.Budget(context=1_500))
        for place, factor in enumerate((1.0, 1.0, 1.0, 1.6, 2.4, 2.4, 2.4, 1.0)):
            await turn(session, ASKED.format(number=place) * 2, factor)
            again = await session.context()
            assert bill(again.messages, factor=factor) <= again.trace.tokens <= 1_500


@pytest.mark.anyio
async def test_what_was_learned_serves_other_sessions_of_the_model_and_survives_a_restart(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", model=MODEL)
        for number in range(4):
            await turn(session, ASKED.format(number=number) * 3)
        learned = (await session.context()).trace
        other = await runtime.spawn("t", user="bob", model=MODEL)
        assert (await turn(other, "你好"))[0].tokenizer == learned.tokenizer
        different = await runtime.spawn("u", user="bob", model="another-model")
        assert (await turn(different, "你好"))[0].tokenizer == "o200k_base*1.5"
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        again = await session.context()
        assert (again.trace.tokenizer, again.trace.tokens) == (learned.tokenizer, learned.tokens)
        third = await runtime.spawn("v", user="cid", model=MODEL)
        assert (await turn(third, "你好"))[0].tokenizer == learned.tokenizer


@pytest.mark.anyio
async def test_a_known_vocabulary_is_calibrated_only_by_a_usage_above_its_count() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o")
        for number in range(3):
            async with session.turn(ASKED.format(number=number) * 4) as open_turn:
                open_turn.reply(ANSWER)
                usage = {"prompt_tokens": open_turn.trace.tokens - 5}
                open_turn.feed({"choices": [], "usage": usage})
        assert (await session.context()).trace.exact
        assert runtime.statistics().usage_above_count == 0
        async with session.turn("继续") as open_turn:
            before = open_turn.trace.tokens
            open_turn.feed({"choices": [], "usage": {"prompt_tokens": 2 * before}})
            open_turn.reply(ANSWER)
        trace = (await session.context()).trace
        assert runtime.statistics().usage_above_count == 1
    assert not trace.exact
    assert trace.tokenizer.startswith("o200k_base*2")
    assert trace.tokens >= 2 * before


@pytest.mark.anyio
async def test_a_few_tokens_more_than_an_exact_count_are_the_templates() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o")
        async with session.turn("hello") as open_turn:
            before = open_turn.trace
            open_turn.reply("hi")
            open_turn.feed({"choices": [], "usage": {"prompt_tokens": before.tokens + 6}})
        after = (await session.context()).trace
    assert after.exact
    assert after.sections[0].tokens == before.sections[0].tokens + 6


@pytest.mark.anyio
async def test_a_usage_reaches_the_session_with_the_next_request_of_the_turn_too() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model=MODEL)
        async with session.turn(ASKED.format(number=1) * 8) as open_turn:
            first = open_turn.trace
            open_turn.feed({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
            open_turn.feed({"choices": [], "usage": {"prompt_tokens": bill(open_turn.messages)}})
            await open_turn.add({"role": "tool", "tool_call_id": "c1", "content": "sent"})
            before = bytes_of(open_turn.messages)
            await open_turn.context()
            assert bytes_of(open_turn.messages)[: len(before)] == before
            assert (first.tokenizer, open_turn.trace.tokenizer[-8:]) == ("o200k_base*1.5", "measured")
            open_turn.reply(ANSWER)


@pytest.mark.anyio
async def test_a_system_prompt_that_a_better_count_leaves_no_room_for_is_refused_and_nothing_changes() -> (
    None
):
    async with opened() as runtime:
        system = "You sell shoes, and answer in a short and friendly way. " * 18
        session = await runtime.spawn(
            "s", user="ada", model="gpt-4o", system=system, budget=actormem.Budget(context=400)
        )
        async with session.turn("hello, is anybody there?") as open_turn:
            open_turn.reply("yes")
            open_turn.feed({"choices": [], "usage": {"prompt_tokens": 3 * open_turn.trace.tokens}})
        with pytest.raises(BudgetError) as caught:
            await turn(session, "and now?")
        assert caught.value.needed_tokens > caught.value.budget_tokens == 400
        assert [one.text for one in await session.messages()] == ["hello, is anybody there?", "yes"]
        with pytest.raises(BudgetError):
            await session.context()
        session = await runtime.spawn("s", user="ada", budget=actormem.Budget(context=4_000))
        await turn(session, "and now?")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": 0}, {"prompt_tokens": -5}, {"prompt_tokens": True}]
)
async def test_a_usage_that_says_nothing_changes_nothing(usage: Any) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model=MODEL)
        async with session.turn(ASKED * 9) as open_turn:
            message = {"role": "assistant", "content": ANSWER}
            open_turn.reply({"choices": [{"message": message}], "usage": usage})
            assert open_turn.prompt_tokens == 0
        assert (await session.context()).trace.tokenizer == "o200k_base*1.5"


@pytest.mark.anyio
async def test_a_whole_completion_can_be_said_as_the_openai_package_returns_it() -> None:
    from openai.types.chat import ChatCompletion

    message = {"role": "assistant", "content": "Hi", "refusal": None}
    completion = ChatCompletion.model_validate(
        {
            "id": "1",
            "created": 1,
            "model": "m",
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
            "usage": {"prompt_tokens": 77, "completion_tokens": 1, "total_tokens": 78},
        }
    )
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("a") as open_turn:
            for wrong in ({"choices": []}, {"choices": [{"index": 0}]}, {"choices": 7}):
                with pytest.raises(UsageError, match="a completion must have a choice with a message"):
                    open_turn.reply(wrong)
            open_turn.reply(completion)
            assert open_turn.prompt_tokens == 77
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
        async with session.turn("b") as open_turn:
            cut = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}}
            open_turn.reply({"choices": [{**cut, "finish_reason": "length"}]})
        said = await session.messages()
    assert [(one.text, one.tool_calls) for one in said] == [("a", ()), ("Hi", ()), ("b", ()), ("", ())]
