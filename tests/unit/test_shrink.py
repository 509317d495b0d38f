"""After a provider's "context too long": smaller at each call, whole groups, the newest words, or one clear error."""

import re
from typing import Any

import msgspec
import pytest

import actormem
from actormem import BudgetError, UsageError
from actormem.adapters.bound import BoundTokenizer
from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.session.shrink import goals
from tests.conversations import CUT, check_groups, wire_tokens
from tests.runtimes import ScriptedLLM, answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "parcel"}'}}
QUESTION = "Number {number}: where is the parcel of order KX-482{number:02}, please? I have waited for days."


async def filled(runtime: actormem.Runtime, *, turns: int = 8, **options: Any) -> actormem.Session:
    """A session with some turns, one of them with a tool call."""
    options = {"model": "gpt-4o", "budget": actormem.Budget(context=2_000), **options}
    session = await runtime.spawn("s", user="ada", **options)
    for number in range(turns):
        async with session.turn(QUESTION.format(number=number)) as turn:
            if number == 3:
                turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
                await turn.add({"role": "tool", "tool_call_id": "c1", "content": '{"state": "sent"}'})
            turn.reply("It left the depot yesterday and should be with you on Friday. " * 2)
    return session


async def test_each_call_gives_a_smaller_context_until_nothing_more_can_go() -> None:
    async with opened() as runtime:
        session = await filled(runtime, system="You help.")
        async with session.turn("And now, in one word?") as turn:
            had, epochs = turn.trace.tokens, [turn.trace.epoch]
            while True:
                before = bytes_of(turn.messages), turn.trace
                try:
                    messages = await turn.shrink()
                except BudgetError as error:
                    refused = error
                    break
                assert messages == turn.messages
                assert turn.trace.tokens <= int(0.95 * had)
                assert turn.trace.epoch_end == "shrink"
                check_groups(turn.messages, ())
                assert turn.messages[0] == {"role": "system", "content": "You help."}
                assert turn.messages[-1]["content"] == "And now, in one word?"
                had = turn.trace.tokens
                epochs.append(turn.trace.epoch)
            assert (bytes_of(turn.messages), turn.trace) == before, "nothing changed"
            assert len(epochs) > 3
            assert epochs == sorted(set(epochs))
            assert refused.needed_tokens > refused.budget_tokens
            turn.reply("Friday.")
        assert [one.text for one in await session.messages()][-2:] == ["And now, in one word?", "Friday."]


async def test_seven_tenths_are_used_and_not_much_less() -> None:
    async with opened() as runtime:
        session = await filled(runtime)
        async with session.turn("And now?") as turn:
            had = turn.trace.tokens
            await turn.shrink()
            assert 0.5 * had < turn.trace.tokens <= 0.7 * had
            turn.reply("x")


async def test_the_providers_own_limit_is_kept_to_and_the_next_turn_uses_the_budget_again() -> None:
    async with opened() as runtime:
        session = await filled(runtime)
        async with session.turn("And now?") as turn:
            await turn.shrink(tokens=300)
            assert turn.trace.tokens <= 300
            again = await turn.context()
            assert again == turn.messages
            turn.reply("On Friday. " * 40)
        async with session.turn("Thanks, and what else is there? " * 8) as turn:
            assert 300 < turn.trace.tokens <= 2_000
            assert turn.trace.epoch_end in ("", "compaction")
            turn.reply("Nothing.")


async def test_a_limit_that_the_count_was_within_already_still_gives_less() -> None:
    async with opened() as runtime:
        session = await filled(runtime)
        async with session.turn("And now?") as turn:
            had = turn.trace.tokens
            await turn.shrink(tokens=100_000)
            assert turn.trace.tokens <= 0.7 * had
            turn.reply("x")
    assert goals(1_000, 0) == goals(1_000, 1_000) == (700, 850, 950)
    assert goals(1_000, 999) == (999,)


async def test_the_newest_message_is_shortened_where_it_alone_is_too_long() -> None:
    async with opened() as runtime:
        session = await filled(runtime, turns=1)
        async with session.turn("Read this: " + "the quick brown fox jumps over the lazy dog. " * 60) as turn:
            had = turn.trace.tokens
            for _ in range(3):
                await turn.shrink()
                assert turn.trace.tokens < had
                had = turn.trace.tokens
            assert str(turn.messages[-1]["content"]).startswith("Read this: ")
            assert CUT in words(turn.messages[-1:])
            turn.reply("x")


async def test_an_open_group_of_the_turn_stays_whole_and_its_results_can_follow() -> None:
    async with opened() as runtime:
        session = await filled(runtime)
        async with session.turn("Where is it?") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
            await turn.add({"role": "tool", "tool_call_id": "c1", "content": "at the depot"})
            await turn.shrink()
            assert [one["role"] for one in turn.messages][-3:] == ["user", "assistant", "tool"]
            check_groups(turn.messages, ())
            turn.reply("At the depot.")


async def test_a_summary_that_is_ready_takes_its_place_before_anything_is_cut() -> None:
    async with opened(llm=ScriptedLLM(["The user waits for order KX-48200."])) as runtime:
        session = await filled(runtime, turns=12, budget=actormem.Budget(context=1_000))
        await runtime.settle()
        async with session.turn("And now?") as turn:
            await turn.shrink()
            assert turn.trace.epoch_end == "shrink"
            turn.reply("x")


async def test_it_replays_and_wakes_as_it_was(tmp_path: Any) -> None:
    async with opened(tmp_path) as runtime:
        session = await filled(runtime)
        async with session.turn("And now?") as turn:
            await turn.shrink()
            turn.reply("x")
        before = (await session.context()).messages
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert (await session.context()).messages == before


async def test_without_usage_an_unknown_model_is_counted_higher_so_that_the_same_is_not_sent_again() -> None:
    async with opened() as runtime:
        budget = actormem.Budget(context=1_380, compact_at=0.98)
        session = await filled(runtime, turns=14, model="nobody-knows-it", budget=budget)
        async with session.turn("And now?") as turn:
            had, sent = turn.trace, turn.messages
            assert had.tokens > 0.9 * 1_380
            await turn.shrink()
            assert turn.trace.tokens <= 0.7 * had.tokens
            assert len(turn.messages) < len(sent)
            assert had.tokenizer == "o200k_base*1.5"
            factor = re.fullmatch(r"o200k_base\*([\d.]+) measured", turn.trace.tokenizer)
            assert factor is not None
            turn.reply("x")
        now = BoundTokenizer(ToktokTokenizer(), float(factor[1]), measured=True)
        assert wire_tokens(sent, "", now.count) > 1_380, "the same content is over the budget now"
        known = await filled(runtime, turns=1)
        async with known.turn("And now?" * 40) as turn:
            await turn.shrink()
            assert turn.trace.exact, "a known vocabulary is not counted otherwise for a refusal"
            turn.reply("x")


async def test_a_model_that_usage_has_measured_is_not_counted_higher_for_a_context_far_below_the_limit() -> (
    None
):
    async with opened() as runtime:
        session = await filled(
            runtime, turns=6, model="nobody-knows-it", budget=actormem.Budget(context=9_000)
        )
        for _ in range(2):
            async with session.turn("And now?") as turn:
                turn.reply("x")
                turn.feed({"choices": [], "usage": {"prompt_tokens": 700}})
        async with session.turn("And then?") as turn:
            name = turn.trace.tokenizer
            await turn.shrink()
            assert turn.trace.tokenizer == name
            turn.reply("x")


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "300"])
async def test_a_limit_that_is_no_number_of_tokens_is_refused(wrong: Any) -> None:
    async with opened() as runtime:
        session = await filled(runtime, turns=1)
        turn = session.turn("And now?")
        with pytest.raises(UsageError, match="not open"):
            await turn.shrink()
        async with turn:
            before = turn.messages
            with pytest.raises(UsageError, match=r"^tokens must be a whole number above 0"):
                await turn.shrink(tokens=wrong)
            with pytest.raises(BudgetError) as caught:
                await turn.shrink(tokens=20)
            assert (caught.value.needed_tokens, caught.value.budget_tokens) == (64, 20)
            assert turn.messages is before
            turn.reply("x")


# --- what can never be sent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["spawn", "system", "tools", "model", "budget"])
async def test_a_system_prompt_and_tools_without_room_are_refused_on_every_way_in(path: str) -> None:
    system = "你是一家鞋店的助手，回答要简短、友好。" * 6
    tools = [{"type": "function", "function": {"name": "find", "description": "Find shoes. " * 60}}]
    async with opened() as runtime:

        async def spawn(name: str, **options: Any) -> actormem.Session:
            return await runtime.spawn(name, user="ada", **options)

        await spawn("s", model="gpt-4o", system=system, budget=actormem.Budget(context=220))
        asked: dict[str, dict[str, Any]] = {
            "spawn": {"system": system * 3, "budget": actormem.Budget(context=220)},
            "system": {"system": system * 3},
            "tools": {"tools": tools},
            "model": {"model": "nobody-knows-it"},
            "budget": {"budget": actormem.Budget(context=100)},
        }
        with pytest.raises(BudgetError) as caught:
            await spawn("new" if path == "spawn" else "s", **asked[path])
        assert caught.value.needed_tokens > caught.value.budget_tokens
        assert str(caught.value.needed_tokens) in str(caught.value)
        assert str(caught.value.budget_tokens) in str(caught.value)
        trace = (await (await spawn("s")).context()).trace
        assert (trace.budget_tokens, trace.exact) == (220, True), "nothing changed"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "must have content"),
        ([], "not an empty list"),
        ({"role": "user"}, "must have content"),
        ({"role": "user", "content": None}, "must have content"),
    ],
)
async def test_a_turn_without_words_is_refused_since_every_request_with_it_would_be(
    given: Any, said: str
) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with pytest.raises(UsageError, match=said):
            session.turn(given)
        async with session.turn("") as turn:
            assert turn.messages == [{"role": "user", "content": ""}]
            turn.reply("x")
        assert [one.text for one in await session.messages()] == ["", "x"]


async def test_a_result_without_its_call_is_listed_and_never_sent() -> None:
    result = {"role": "tool", "tool_call_id": "nobody", "content": "an orphan"}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.add(result)
        assert (await answered(session, "hello")) == [{"role": "user", "content": "hello"}]
        async with session.turn("again") as turn:
            await turn.add(result)
            await turn.context()
            assert "orphan" not in words(turn.messages)
            turn.reply("x")
        kept = [msgspec.json.decode(one.wire) for one in await session.messages()]
    assert kept.count(result) == 2
