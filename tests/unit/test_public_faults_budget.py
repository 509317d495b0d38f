"""Faults of other memories, as promises of this one: the token budget (research: their public issues)."""

from collections.abc import Sequence
from typing import Any

import pytest

import actormem
from actormem import Budget
from actormem.adapters.toktok import ToktokTokenizer
from tests.conversations import wire_tokens
from tests.runtimes import ScriptedLLM, answered, bytes_of, chunk, opened, words

pytestmark = pytest.mark.anyio

COUNT = ToktokTokenizer().count
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


def counted(messages: Sequence[Any]) -> int:
    """Tokens of a request, counted without the code under test."""
    return wire_tokens(messages, "", COUNT)


async def test_the_arguments_of_a_call_are_counted_as_they_go_over_the_wire() -> None:
    """https://github.com/run-llama/llama_index/issues/21950: calls counted as nothing."""
    arguments = '{"rows": "' + "abcdefgh " * 220 + '"}'
    call = {"id": "c1", "type": "function", "function": {"name": "fill", "arguments": arguments}}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        async with session.turn("Fill the table, please.") as turn:
            turn.reply({"role": "assistant", "content": "", "tool_calls": [call]})
            await turn.add({"role": "tool", "tool_call_id": "c1", "content": "filled"})
            messages = await turn.context()
            assert counted(messages) <= turn.trace.tokens <= 400
            assert [m["role"] for m in messages] == ["user", "assistant", "tool"]
            turn.reply("Done.")
        assert (await session.messages())[1].tool_calls[0].arguments == arguments
        assert counted((await session.context()).messages) <= 400


async def test_a_message_longer_than_the_window_is_cut_visibly_and_nothing_empty_is_summarised() -> None:
    """https://github.com/langchain-ai/langmem/issues/69: the summariser was given nothing and asked for it."""
    llm = ScriptedLLM(lambda _: "They looked at a long list of trains.")
    call = {"id": "c1", "type": "function", "function": {"name": "list_trains", "arguments": "{}"}}
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300))
        for number in range(6):
            async with session.turn(f"Which trains are there, {number}?") as turn:
                turn.reply(
                    {"role": "assistant", "content": None, "tool_calls": [{**call, "id": f"c{number}"}]}
                )
                long = f"Row {number}: " + "a train to the north at noon, " * 130
                assert COUNT(long) > 900
                await turn.add({"role": "tool", "tool_call_id": f"c{number}", "content": long})
                shown = (await turn.context())[-1]
                assert counted(turn.messages) <= 300
                assert "tokens left out here by memory" in str(shown["content"])
                assert shown["tool_call_id"] == f"c{number}"
                turn.reply("Those.")
            await runtime.settle()
        assert any("Row" in words(prompt) for prompt in llm.prompts)
        for prompt in llm.prompts:
            assert '[Conversation]\n{"role"' in str(prompt[1]["content"]), "it was given nothing to summarise"


async def test_what_a_provider_counts_for_its_reply_asks_for_no_compaction() -> None:
    """https://github.com/letta-ai/letta/issues/3242: prompt and completion together were taken for the prompt."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=1_000))
        usage = {"prompt_tokens": 700, "completion_tokens": 900, "total_tokens": 1_600}
        for number in range(3):
            async with session.turn(f"Hello, {number}.") as turn:
                turn.feed(chunk("Hi.", finish="stop"))
                turn.feed({"choices": [], "usage": usage})
        await runtime.settle()
        assert runtime.statistics().summaries_extractive == 0


async def test_a_compaction_that_ran_is_not_asked_for_again_before_more_is_said() -> None:
    """https://github.com/letta-ai/letta/issues/3242: compaction fired again at each look."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        while not runtime.statistics().summaries_extractive:
            await answered(session, f"What next? {LONG}")
            await runtime.settle()
        made = runtime.statistics().summaries_extractive
        for _ in range(5):
            await session.context()
            await runtime.settle()
        assert runtime.statistics().summaries_extractive == made


async def test_a_summariser_with_a_small_window_is_given_its_span_in_parts_that_fit() -> None:
    """https://github.com/letta-ai/letta/issues/3279: an overflowed context could never be compacted."""
    llm = ScriptedLLM(lambda _: "They spoke about the weather and a train.", window_tokens=1_500)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=2_000))
        for number in range(60):
            await answered(session, f"Turn {number}. {LONG}", f"I see. {LONG}")
        await runtime.settle()
        assert runtime.statistics().summaries_llm >= 1
        assert llm.call_count > 1, "in parts"
        sizes = [counted(prompt) for prompt in llm.prompts]
        assert max(sizes) <= 1_500


async def test_an_llm_whose_window_can_never_hold_a_request_is_refused_at_the_door() -> None:
    """https://github.com/letta-ai/letta/issues/3279: what cannot work must be said at the start."""
    with pytest.raises(actormem.UsageError, match="200"):
        async with opened(llm=ScriptedLLM(window_tokens=200)):
            pass


async def test_what_recall_finds_takes_its_share_and_the_rest_is_named() -> None:
    """https://github.com/letta-ai/letta/issues/1635: found memories pushed the context over its limit."""
    async with opened() as runtime:
        for number in range(10):
            text = (
                f"The user likes restaurant number {number}, "
                + "with its fine garden and its old waiters " * 6
            )
            await runtime.remember(text, user="ada", attribute="likes", value=f"restaurant {number}")
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600, recall=150))
        for _ in range(14):
            await session.add({"role": "assistant", "content": LONG})
        assert (await session.context()).trace.tokens > 350
        async with session.turn("Which restaurants do I like?") as turn:
            notes = sum(one.tokens for one in turn.trace.sections if one.name == "notes")
            assert 0 < notes <= 150
            assert counted(turn.messages) <= turn.trace.tokens <= 600
            assert turn.trace.included
            assert any(one.reason == "no room in the note" for one in turn.trace.left_out)
            turn.reply("All of them.")


async def test_control_words_of_a_tokenizer_are_ordinary_text() -> None:
    """https://github.com/RooCodeInc/Roo-Code/issues/7539: counting them crashed."""
    text = 'print("<|endoftext|> and <|im_start|>")'
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o")
        [message] = await answered(session, text)
        assert message == {"role": "user", "content": text}
        assert (await session.messages())[0].text == text
        verbatim = {one.name: one.tokens for one in (await session.context()).trace.sections}
        assert verbatim["newest"] > COUNT("print") + 10


async def test_chinese_is_counted_by_the_vocabulary_wherever_it_stands() -> None:
    """https://github.com/k0valik/pi-blackhole/pull/108: a quarter of the characters is a third of its tokens."""
    said = "我想订一家安静的餐厅，最好靠近地铁站，价格适中，可以带孩子，周末晚上有位子。" * 27
    assert len(said) > 1_000
    async with opened() as runtime:
        await runtime.remember("用户喜欢" + "安静的小餐馆和老茶馆" * 20, user="ada", attribute="likes")
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=Budget(context=400))
        for number in range(4):
            async with session.turn(f"{number}：{said}我喜欢什么？") as turn:
                assert counted(turn.messages) <= turn.trace.tokens <= 400
                turn.reply("好的。" * 40)
            await runtime.settle()
        assert counted((await session.context()).messages) <= 400


async def test_the_system_prompt_stands_unchanged_at_the_head_of_every_context() -> None:
    """https://github.com/run-llama/llama_index/pull/23145: it was the oldest message, and evicted."""
    system = {"role": "system", "content": "Always answer in French."}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system=system["content"], budget=Budget(context=300))
        for number in range(50):
            messages = await answered(session, f"Turn {number}. {LONG}")
            assert bytes_of(messages[:1]) == bytes_of([system])
        assert [m.role for m in await session.messages()].count("system") == 0
