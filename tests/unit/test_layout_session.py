"""Layouts through the front door: set at spawn, kept in the folder, with real recall and compactions."""

import json
from pathlib import Path
from typing import Any

import pytest

import actormem
from actormem import Budget, Layout, UsageError
from actormem.adapters.toktok import ToktokTokenizer
from tests.conversations import wire_tokens
from tests.layouts import LAYOUTS, tools_template
from tests.runtimes import ScriptedLLM, answered, bytes_of, opened, settle, words

pytestmark = pytest.mark.anyio

TEA = "The user is allergic to jasmine tea."
ASK = "Which tea am I allergic to?"
COUNT = ToktokTokenizer("o200k_base").count


async def asked_twice(layout: Layout) -> list[list[dict[str, Any]]]:
    """What the model sees of two turns that ask for the same memory."""
    async with opened() as runtime:
        await runtime.remember(TEA, user="ada", attribute="allergy", value="jasmine tea")
        session = await runtime.spawn("s", user="ada", layout=layout, system="Hi.")
        return [await answered(session, ASK), await answered(session, ASK)]


async def test_an_appended_note_says_a_thing_once_and_a_volatile_one_at_each_turn() -> None:
    _, appended = await asked_twice(Layout())
    assert words(appended).count(TEA) == 1
    assert TEA in words(appended[1:3])
    _, volatile = await asked_twice(Layout(notes="volatile"))
    assert words(volatile).count(TEA) == 1
    assert TEA in words(volatile[-2:])
    _, head = await asked_twice(Layout(notes="head"))
    assert words(head).count(TEA) == 1
    assert TEA in words(head[1:2])


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: f"{one.notes}-{one.join}")
async def test_whatever_the_layout_a_conversation_with_tools_and_compactions_fits(layout: Layout) -> None:
    budget = Budget(context=500)
    llm = ScriptedLLM(lambda _: "They spoke of orders.")
    async with opened(llm=llm) as runtime:
        await runtime.remember(TEA, user="ada", attribute="allergy", value="jasmine tea")
        session = await runtime.spawn(
            "s", user="ada", model="gpt-4o", budget=budget, layout=layout, system="Hi."
        )
        for number in range(12):
            async with session.turn(f"{ASK} 订单 KX-{number:05d}。" + " word" * 20) as turn:
                call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
                if number % 3 == 0:
                    turn.reply({"role": "assistant", "content": None, "tool_calls": [call]})
                    await turn.add({"role": "tool", "tool_call_id": "c1", "content": "on its way"})
                    before = turn.messages
                    await turn.context()
                    if not turn.trace.epoch_end:
                        assert bytes_of(turn.messages)[: len(before)] == bytes_of(before)
                checked(turn, layout)
                if number % 4:
                    turn.reply("On its way.")
            await settle()
        await runtime.settle()
        assert runtime.statistics().summaries_llm > 0


def checked(turn: actormem.Turn, layout: Layout) -> None:
    """The context of a turn fits by a count of its own, and its strict templates take it."""
    counted = wire_tokens(turn.messages, "", COUNT)
    assert counted <= turn.trace.tokens <= turn.trace.budget_tokens
    assert turn.trace.tokens == sum(section.tokens for section in turn.trace.sections)
    assert turn.cache_breakpoints[-1] == len(turn.messages) - 1
    if layout.join == "all":
        tools_template(turn.messages)
    for message in turn.messages[1:]:
        assert message["role"] != "system"


async def test_a_layout_is_kept_in_the_folder_until_another_is_given(tmp_path: Path) -> None:
    layout = Layout(join="all")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", layout=layout)
        await session.add_many([{"role": "user", "content": "甲"}, {"role": "user", "content": "乙"}])
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        joined = await session.context()
        assert [message["role"] for message in joined.messages] == ["user"]
        assert joined.messages[0]["content"] == "甲\n\n乙"
        session = await runtime.spawn("s", user="ada", layout=Layout())
        apart = await session.context()
        assert len(apart.messages) == 2
        assert apart.trace.epoch_end == "a changed layout"


async def test_another_model_counts_what_is_joined_anew() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", layout=Layout(join="all"))
        await session.add_many([{"role": "user", "content": "订单号是 KX-48210-77，请发到杭州市。"}] * 4)
        newer = await session.context()
        session = await runtime.spawn("s", user="ada", model="gpt-4")
        older = await session.context()
        count = ToktokTokenizer("cl100k_base").count
        assert older.messages == newer.messages
        assert newer.trace.tokens < wire_tokens(older.messages, "", count) <= older.trace.tokens


async def test_a_wrong_layout_changes_nothing() -> None:
    async with opened() as runtime:
        for wrong in ("volatile", {"notes": "head"}, None):
            with pytest.raises(UsageError, match=r"layout must be an actormem\.Layout"):
                await runtime.spawn("s", user="ada", system="Hi.", layout=wrong)  # type: ignore[arg-type]
        assert not await runtime.sessions("ada")


async def test_the_places_of_a_turn_take_the_mark_of_a_cache_that_is_told() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="Hi.")
        async with session.turn("Where is my parcel?") as turn:
            assert turn.cache_breakpoints == (0, 1)
            turn.reply("On its way.")
        async with session.turn([{"type": "text", "text": "And the other?"}]) as turn:
            assert turn.cache_breakpoints == (0, 1, 3)
            for place in turn.cache_breakpoints:
                content: Any = turn.messages[place]["content"]
                parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
                parts[-1]["cache_control"] = {"type": "ephemeral"}
                turn.messages[place]["content"] = parts
            assert json.dumps(turn.messages).count("cache_control") == 3
        assert "cache_control" not in words((await session.context()).messages), "a caller's copy is its own"
