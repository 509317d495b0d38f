"""Memory around `responses.create` of the real `openai` package, and items that come back as they went in."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncStream
from openai.types.responses import Response

from actormem import UsageError
from actormem.integrations.openai_items import items_of, messages_of, only_chat
from tests.edge.scripted_openai import Provider, call, result, text_item
from tests.edge.test_openai_client import ADA, outcomes, remembering, told, user

pytestmark = [
    pytest.mark.anyio,
    # On trio the openai package itself leaves generators of a stream to be collected, also where it is read to its end.
    pytest.mark.filterwarnings("ignore:Async generator '(openai|httpx2):ResourceWarning"),
]

REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed"}
CALL = {
    "id": "fc_1", "type": "function_call", "call_id": "c1", "name": "track", "arguments": "{}", "status": "completed"
}  # fmt: skip
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sent"}


async def test_text_goes_in_and_the_conversation_goes_out() -> None:
    provider = Provider("早！", "On its way.")
    provider.prompt_tokens = 3_000
    async with remembering(provider) as (client, runtime):
        first = await client.responses.create(input="早上好", instructions="You help.", **ADA)
        assert type(first) is Response
        assert first.output_text == "早！"
        await client.responses.create(input=[user("My parcel?")], **ADA)
        assert provider.bodies[-1] == {
            "model": "gpt-4o",
            "instructions": "You help.",
            "input": [user("早上好"), {"role": "assistant", "content": "早！"}, user("My parcel?")],
        }
        assert await told(runtime) == [
            ("user", "早上好"), ("assistant", "早！"), ("user", "My parcel?"), ("assistant", "On its way.")
        ]  # fmt: skip
        assert await outcomes(runtime) == ["complete", "complete"]
        assert runtime.statistics().usage_above_count == 2


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_in_a_tool_loop_the_models_own_items_go_back_as_they_came(whole: bool, streamed: bool) -> None:
    provider = Provider([REASONING, CALL], "Sent.", "Welcome.")
    async with remembering(provider) as (client, runtime):
        history: list[Any] = [user("Track it.")]
        response = await answered(client, history, streamed)
        history += [*response.output, OUTPUT]
        response = await answered(client, history if whole else [OUTPUT], streamed)
        assert provider.bodies[-1]["input"] == [user("Track it."), REASONING, CALL, OUTPUT]
        history += [*response.output, user("Thanks")]
        await answered(client, history if whole else "Thanks", streamed)
        assert [one.get("type", one.get("role")) for one in provider.bodies[-1]["input"]] == [
            "user", "function_call", "function_call_output", "assistant", "user"
        ]  # fmt: skip
        assert await told(runtime) == [
            ("user", "Track it."), ("assistant", "c1"), ("tool", "sent"), ("assistant", "Sent."),
            ("user", "Thanks"), ("assistant", "Welcome."),
        ]  # fmt: skip
        assert await outcomes(runtime) == ["complete", "complete"]


async def answered(client: Any, given: Any, streamed: bool) -> Response:
    if not streamed:
        return await client.responses.create(input=given, **ADA)
    stream = await client.responses.create(input=given, stream=True, **ADA)
    assert isinstance(stream, AsyncStream)
    return [event async for event in stream][-1].response


async def test_a_stream_of_events_that_is_left_early_records_the_part() -> None:
    provider = Provider("The parcel is on its way.", "Whole.")
    async with remembering(provider) as (client, runtime):
        async with await client.responses.create(input="q", stream=True, **ADA) as stream:
            for _ in range(3):
                await anext(stream)
        assert await told(runtime) == [("user", "q"), ("assistant", "The parc")]
        assert await outcomes(runtime) == ["partial"]
        await client.responses.create(input="q", **ADA)
        assert await told(runtime) == [("user", "q"), ("assistant", "Whole.")]


async def test_both_ways_of_asking_speak_of_one_session() -> None:
    provider = Provider([CALL], "Sent.", call("c2"), "Sent again.")
    async with remembering(provider) as (client, _):
        await client.responses.create(input="Track it.", **ADA)
        await client.chat.completions.create(messages=[result("c1")], **ADA)
        await client.chat.completions.create(messages=[user("And again.")], **ADA)
        await client.responses.create(input=[{**OUTPUT, "call_id": "c2"}], **ADA)
        assert len(provider.bodies[-1]["input"]) == 7


@pytest.mark.parametrize("name", ["previous_response_id", "conversation", "prompt", "background"])
async def test_a_conversation_kept_elsewhere_does_not_go_with_a_session(name: str) -> None:
    provider = Provider()
    async with remembering(provider) as (client, runtime):
        with pytest.raises(UsageError, match=name):
            await client.responses.create(input="q", **{name: "x"}, **ADA)
        assert await told(runtime) == []


@pytest.mark.parametrize("wrong", [None, 3, [3], [], [{"role": "assistant", "content": "x"}]])
async def test_wrong_input_is_refused_in_a_line(wrong: Any) -> None:
    async with remembering(Provider()) as (client, runtime):
        with pytest.raises(UsageError):
            await client.responses.create(input=wrong, **ADA)
        assert await told(runtime) == []


async def test_parts_are_told_in_the_words_of_each_interface() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}
    parts = [{"type": "input_text", "text": "这是什么？"}, picture]
    provider = Provider("A cat.", "Still a cat.")
    async with remembering(provider) as (client, _):
        await client.responses.create(input=[{"role": "user", "content": parts}], **ADA)
        assert provider.bodies[-1]["input"] == [{"role": "user", "content": parts}]
        await client.chat.completions.create(messages=[user("Sure?")], **ADA)
        assert provider.sent[0]["content"][1] == {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"},
        }


# --- items and messages -------------------------------------------------------------------------------

word = st.sampled_from(["", "好", "ok", "two words"])
status = st.sampled_from(["completed", "incomplete"])


def shape(optional: dict[str, Any] | None = None, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Items with these fields; what is no strategy is always so."""
    fixed = {key: one if isinstance(one, st.SearchStrategy) else st.just(one) for key, one in fields.items()}
    return st.fixed_dictionaries(fixed, optional=optional or {})


def items() -> st.SearchStrategy[dict[str, Any]]:
    """Items of every kind, with fields there and not there."""
    marked = {"id": word, "status": status}
    ids = st.sampled_from(["c1", "c2"])
    cited = st.sampled_from([[], [{"type": "url_citation", "url": "http://x"}]])
    text = shape({"annotations": cited, "logprobs": st.just([])}, type="output_text", text=word)
    content = st.lists(text | shape(type="refusal", refusal=word), max_size=2)
    roles = st.sampled_from(["user", "assistant", "system", "developer"])
    typed = {"type": st.just("message")}
    part = st.sampled_from([
        {"type": "input_text", "text": "好"}, {"type": "input_text", "text": "x", "cache": 1},
        {"type": "input_image", "image_url": "data:x"}, {"type": "input_image", "file_id": "f", "detail": "auto"},
        {"type": "input_image", "image_url": "data:x", "detail": "low", "file_id": None},
        {"type": "input_file", "file_id": "f"}, {"type": "input_file", "file_url": "http://x"},
    ])  # fmt: skip
    outputs = st.sampled_from(["function_call_output", "custom_tool_call_output", "computer_call_output"])
    shown = st.sampled_from(
        [[{"type": "input_text", "text": "t"}], {"type": "computer_screenshot", "image_url": "x"}]
    )
    hosted = st.sampled_from([
        REASONING, {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search"}},
        {"type": "mcp_approval_request", "id": "ap", "name": "n", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "ap", "approve": True},
        {"type": "tool_search_call", "call_id": None, "arguments": {}}, {"type": "item_reference", "id": "m"},
    ])  # fmt: skip
    return st.one_of(
        shape(marked, type="message", role="assistant", content=content),
        shape(typed, role=roles, content=word),
        shape(typed, role="user", content=st.lists(part, max_size=2)),
        shape({**marked, "namespace": word}, type="function_call", call_id=ids, name="f", arguments=word),
        shape(type="custom_tool_call", call_id=ids, name="g", input=word),
        shape(marked, type=outputs, call_id=ids, output=word | shown),
        hosted,
    )


@given(st.lists(items(), max_size=8))
def test_items_come_back_field_by_field(found: list[dict[str, Any]]) -> None:
    messages = messages_of(found)
    assert items_of(messages) == found
    assert all(set(only_chat(one)) <= {"role", "content", "tool_calls", "tool_call_id"} for one in messages)


def test_what_is_usual_takes_next_to_no_room() -> None:
    [said, called, output] = messages_of([text_item("好"), user("x"), CALL, OUTPUT])[::2][:1] + messages_of(
        [CALL, OUTPUT]
    )
    assert said == {
        "role": "assistant", "content": "好",
        "items": [{"lifted": "text", "id": "msg_1", "type": "message", "content": {"type": "output_text"}}],
    }  # fmt: skip
    assert called["items"] == [{"lifted": "call", "id": "fc_1", "type": "function_call"}]
    assert output == result("c1")
