"""A turn's messages: their order on the wire, the reply that is streamed or said, the tool loop."""

import json
from pathlib import Path

import pytest

import actormem
from actormem import UsageError
from tests.runtimes import FakeClock, answered, bytes_of, chunk, opened, words

pytestmark = pytest.mark.anyio

CALL = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"b": 1,  "a": 2}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": '{"state": "sent"}'}


async def test_a_context_begins_with_the_system_prompt_and_ends_with_the_users_message() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        await answered(session, "早上好", "早！")
        messages = await answered(session, "我的快递呢？")
    assert messages == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "早上好"},
        {"role": "assistant", "content": "早！"},
        {"role": "user", "content": "我的快递呢？"},
    ]


async def test_a_note_stays_where_its_turn_put_it_and_is_not_said_twice() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("old", user="ada"), "I'm allergic to peanuts.")
        session = await runtime.spawn("new", user="ada")
        first = await answered(session, "What am I allergic to?")
        second = await answered(session, "And now something else entirely, please.")
    assert "The user is allergic to peanuts" in words(first)
    assert bytes_of(second)[: len(first)] == bytes_of(first)
    assert "The user is allergic to peanuts" not in words(second[len(first) :])


async def test_multimodal_parts_and_unknown_keys_go_to_the_wire_as_they_came() -> None:
    parts = [
        {"type": "text", "text": "这是什么？"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
    ]
    whole = {"x_key": None, "content": "第二句", "role": "user", "name": "ada"}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn(parts) as turn:
            assert turn.messages == [{"role": "user", "content": parts}]
            turn.reply({"role": "assistant", "content": None, "refusal": "no"})
        async with session.turn(whole) as turn:
            assert turn.messages[1] == {"role": "assistant", "content": None, "refusal": "no"}
            assert json.dumps(turn.messages[2]) == json.dumps(whole)
            turn.reply("好")


async def test_a_streamed_reply_is_put_together_and_its_first_word_is_timed() -> None:
    clock = FakeClock()
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("讲个故事") as turn:
            assert turn.first_token_ms is None
            clock.hold(0.2)
            turn.feed({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
            assert turn.first_token_ms is None, "an empty chunk is no word"
            clock.hold(0.3)
            turn.feed(chunk("从前"))
            clock.hold(1)
            turn.feed(chunk("有座山。"))
            turn.feed(chunk(finish="stop"))
            turn.feed({"choices": [], "usage": {"prompt_tokens": 12}})
        assert turn.first_token_ms == pytest.approx(500)
        assert turn.prompt_tokens == 12
        assert [m.text for m in await session.messages()] == ["讲个故事", "从前有座山。"]


async def test_openai_objects_can_be_fed_and_said() -> None:
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessage

    piece = ChatCompletionChunk.model_validate(
        {
            "id": "1",
            "created": 1,
            "model": "m",
            "object": "chat.completion.chunk",
            **chunk("Hi", finish="stop"),
        }
    )
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("a") as turn:
            turn.feed(piece)
        async with session.turn("b") as turn:
            turn.reply(ChatCompletionMessage(role="assistant", content="Ho"))
        assert [m.text for m in await session.messages()] == ["a", "Hi", "b", "Ho"]


async def test_a_tool_loop_extends_the_context_byte_for_byte_and_keeps_the_arguments() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("Where is my parcel?") as turn:
            first = bytes_of(turn.messages)
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
            await turn.add(RESULT)
            second = bytes_of(await turn.context())
            turn.reply("On its way.")
        third = bytes_of(await answered(session, "Thanks"))
    assert second[: len(first)] == first
    assert json.loads(second[-2]) == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert json.loads(second[-1]) == RESULT
    assert third[: len(second)] == second


async def test_tool_calls_may_be_streamed_in_pieces() -> None:
    begun = {"index": 0, "id": "call_1", "function": {"name": "track", "arguments": '{"b": 1,'}}
    ended = {"index": 0, "function": {"arguments": '  "a": 2}'}}
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("Where is it?") as turn:
            turn.feed(chunk("Let me see.", calls=[begun]))
            turn.feed(chunk(calls=[ended]))
            turn.feed(chunk(finish="tool_calls"))
            await turn.add(RESULT)
            assert (await turn.context())[1] == {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [CALL],
            }
            assert turn.messages[2] == RESULT
            turn.feed(chunk("Sent.", finish="stop"))
        assert [m.role for m in await session.messages()] == ["user", "assistant", "tool", "assistant"]


async def test_the_note_is_frozen_at_the_first_context_of_the_turn() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("What am I allergic to?") as turn:
            first = bytes_of(turn.messages)
            await runtime.remember("The user is allergic to peanuts", user="ada", attribute="allergy")
            again = bytes_of(await turn.context())
            turn.reply("I do not know.")
        later = await answered(session, "What am I allergic to now?")
    assert again == first
    assert "peanuts" in words(later)


async def test_a_call_left_open_is_closed_with_a_mark_and_a_late_result_changes_nothing() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("Where is it?") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
        seen = await answered(session, "Never mind.")
        await session.add(RESULT)
        after = (await session.context()).messages
        kept = await session.messages()
    assert [m["role"] for m in seen] == ["user", "assistant", "tool", "user"]
    assert "no result" in words(seen[2:3])
    assert bytes_of(after)[: len(seen)] == bytes_of(seen)
    assert "sent" not in words(after)
    assert kept[-1].text == RESULT["content"], "it is listed all the same"


async def test_a_result_that_comes_after_opening_again_changes_nothing_either(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("Where is it?") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
        seen = await answered(session, "Never mind.")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.add(RESULT)
        after = await answered(session, "Anything else?")
        assert bytes_of(after)[: len(seen)] == bytes_of(seen)
        assert "sent" not in words(after)
        assert RESULT["content"] in [message.text for message in await session.messages()]


async def test_a_retry_with_other_words_resumes_the_turn_with_those_it_began_with() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("first words", id="t"):
            pass
        async with session.turn("other words", id="t") as turn:
            assert turn.messages == [{"role": "user", "content": "first words"}]
            turn.reply("a")
        assert [m.text for m in await session.messages()] == ["first words", "a"]


async def test_the_trace_adds_up_and_names_what_recall_found() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("old", user="ada"), "我对花生过敏。")
        session = await runtime.spawn("new", user="ada", system="You help.")
        turn = session.turn("推荐一道菜，不要有我过敏的东西")
        with pytest.raises(UsageError, match="no context yet"):
            turn.trace  # noqa: B018
        async with turn:
            trace = turn.trace
            turn.reply("好")
        [fact] = await runtime.items("ada", kinds=["fact"])
    assert sum(section.tokens for section in trace.sections) == trace.tokens <= trace.budget_tokens
    assert [one.id for one in trace.included] == [fact.id]
    assert trace.turn_id == turn.id
    assert fact.id in str(trace)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (7, "content"),
        ({"role": "assistant", "content": "x"}, "user message"),
        ({"content": "x"}, "role"),
        ([7], "part"),
    ],
)
async def test_a_turn_begins_with_a_user_message_or_not_at_all(content: object, said: str) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with pytest.raises(UsageError, match=said):
            async with session.turn(content):  # type: ignore[arg-type]
                pass
        assert await session.messages() == ()


async def test_what_is_no_reply_and_no_chunk_is_refused_and_changes_nothing() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("hi") as turn:
            for wrong in ({"role": "user", "content": "x"}, 7, None, {"role": "assistant", "content": {}}):
                with pytest.raises(UsageError):
                    turn.reply(wrong)
            for wrong in ("text", 7, None, {"delta": {}}):
                with pytest.raises(UsageError):
                    turn.feed(wrong)
            for wrong in ({"role": "tool", "content": "x"}, "x", {"role": "bot", "content": "x"}):
                with pytest.raises(UsageError):
                    await turn.add(wrong)  # type: ignore[arg-type]
            turn.reply("fine")
        assert [m.text for m in await session.messages()] == ["hi", "fine"]


async def test_messages_are_the_callers_own_and_memory_does_not_change_with_them() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn([{"type": "text", "text": "keep"}]) as turn:
            turn.messages[0]["content"][0]["text"] = "changed"  # type: ignore[index]
            turn.messages.append({"role": "user", "content": "mine"})
            assert await turn.context() == [{"role": "user", "content": [{"type": "text", "text": "keep"}]}]
            reply = {"role": "assistant", "content": "said"}
            turn.reply(reply)
            reply["content"] = "changed"
        assert [m.text for m in await session.messages()] == ["keep", "said"]
        assert isinstance(turn, actormem.Turn)
