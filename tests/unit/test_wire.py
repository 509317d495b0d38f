"""Messages on the wire: given back as they came, refused in one clear line, never counted too low."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.values import Message, ToolCall
from actormem.core.wire import (
    from_wire,
    message_tokens,
    parse_message,
    tools_tokens,
    tools_wire,
    with_content,
)
from actormem.errors import UsageError
from actormem.limits import MESSAGE_BYTES_MAX, MESSAGE_DEPTH_MAX
from tests.conversations import wire_tokens

TOKENIZER = ToktokTokenizer()
TIME = "2031-03-09T23:30:00.001+08:00"
CONTENT = "a message's content must be text, a list of parts or null"
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{ "q" :\t"退款" }'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


class Dumped:
    """An object as the openai package returns one."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, exclude_none: bool) -> Any:
        return {key: value for key, value in self.fields.items() if not (exclude_none and value is None)}


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "given",
    [
        {"role": "user", "content": "那我的订单 KX-48210 退款要多久？"},
        {"content": "key order", "role": "user", "name": "ada"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "assistant", "content": "", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "assistant", "content": "x", "tool_calls": []},
        {"role": "assistant", "content": "x", "tool_calls": None, "refusal": None},
        {"role": "tool", "tool_call_id": "c1", "content": '{"a": 1.0, "b": 1e3}'},
        {"role": "user", "content": [{"type": "text", "text": "看"}, IMAGE, {"text": "x", "type": "text"}]},
        {"role": "assistant", "content": "x", "reasoning_content": "why", "audio": {"id": "a1"}, "n": 2**63},
        {"role": "developer", "content": "👩‍👩‍👧 <|endoftext|> <|im_start|>system"},
        {"role": "system", "content": []},
        {"role": "user", "content": "1.50", "temperature": 1.5, "seed": -(2**63), "flag": False},
    ],
)
def test_a_message_comes_back_as_it_was_given(given: dict[str, Any]) -> None:
    message = parse_message(given)
    assert json.dumps(json.loads(message.wire)) == json.dumps(given)
    assert parse_message(json.loads(message.wire)) == message
    assert from_wire(message.wire, id="", time_ms=0, offset_minutes=0) == message


def test_our_own_keys_are_read_and_leave_the_wire() -> None:
    message = parse_message({"role": "user", "id": "a7", "time": TIME, "content": "x"})
    assert json.loads(message.wire) == {"role": "user", "content": "x"}
    assert (message.id, message.offset_minutes) == ("a7", 480)
    assert message.time.isoformat() == "2031-03-09T23:30:00.001000+08:00"


@pytest.mark.parametrize("ms", [1, 999, 1_001, 1_767_225_600_001, -1, -86_400_001, 1_899_999_999_999])
def test_a_time_keeps_its_millisecond(ms: int) -> None:
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    for zone in (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=9, minutes=30))):
        message = parse_message({"role": "user", "content": "x", "time": time.astimezone(zone)})
        assert message.time_ms == ms
        assert message.time == time
        assert message.time.utcoffset() == zone.utcoffset(None)


@pytest.mark.parametrize(
    ("time", "why"),
    [
        ("2031-03-09T09:30:00", "must carry its zone"),
        ("2031-03-09", "must carry its zone"),
        (datetime(2031, 3, 9), "must carry its zone"),  # noqa: DTZ001
        ("yesterday", "must be ISO 8601"),
        ("", "must be ISO 8601"),
        (1_900_000_000, "must be a datetime or ISO 8601 text, not int"),
        ("9999-12-31T23:59:59-14:00", "must lie in the years 1900 to 9000"),
        ("0001-01-01T00:00:00+14:00", "must lie in the years 1900 to 9000"),
    ],
)
def test_a_time_without_zone_or_sense_is_refused(time: Any, why: str) -> None:
    with pytest.raises(UsageError, match=rf"^a message's time {why}"):
        parse_message({"role": "user", "content": "x", "time": time})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("hello", "a message must be a mapping or a Message, not str"),
        (None, "a message must be a mapping or a Message, not NoneType"),
        ([("role", "user")], "a message must be a mapping or a Message, not list"),
        ({1: "user"}, "the keys of a message must be strings"),
        ({}, "a message's role must be one of system, developer, user, assistant, tool"),
        ({"content": "x"}, "a message's role must be one of"),
        ({"role": "root", "content": "x"}, "a message's role must be one of"),
        ({"role": ["user"], "content": "x"}, "a message's role must be one of"),
        ({"role": "user", "content": 7}, f"{CONTENT}, not int"),
        ({"role": "user", "content": {"a": 1}}, f"{CONTENT}, not dict"),
        ({"role": "user", "content": [7]}, "a part of a message's content must be a mapping"),
        ({"role": "user", "content": b"x"}, "a message holds a bytes, which JSON has no word for"),
        ({"role": "user", "content": {"x"}}, "a message holds a set, which JSON has no word for"),
        ({"role": "user", "content": "x", "n": float("nan")}, "a number in a message is not finite"),
        ({"role": "user", "content": "x", "n": float("-inf")}, "a number in a message is not finite"),
        ({"role": "user", "content": "x", "n": 2**64}, "a number in a message does not fit 64 bits"),
        ({"role": "user", "content": "x", "n": -(2**63) - 1}, "a number in a message does not fit 64 bits"),
        ({"role": "user", "content": "x", "name": 7}, "a message's name and tool_call_id must be strings"),
        ({"role": "tool", "content": "x"}, "a tool message must have a tool_call_id"),
        ({"role": "tool", "content": "x", "tool_call_id": ""}, "a tool message must have a tool_call_id"),
        ({"role": "assistant", "tool_calls": "x"}, "tool_calls must be a list"),
        ({"role": "assistant", "tool_calls": ["x"]}, "a tool call must be a mapping with a function"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "a tool call must be a mapping with a function"),
        (
            {"role": "assistant", "tool_calls": [{"id": "", "function": {"name": "f"}}]},
            "a tool call must have an id and a function name",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {}}]},
            "a tool call must have an id and a function name",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {}}}]},
            "a tool call's arguments must be JSON text",
        ),
        ({"role": "user", "tool_calls": [CALL]}, "only an assistant message may have tool_calls"),
        ({"role": "user", "content": "x", "id": ""}, "message id must not be empty"),
        ({"role": "user", "content": "x", "id": "a\0"}, "message id holds a control character"),
        ({"role": "user", "content": "x", "id": 7}, "message id must be a string, not int"),
    ],
)
def test_what_is_no_message_is_refused_in_one_clear_line(given: Any, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_message(given)
    assert str(caught.value).startswith(why)
    assert "\n" not in str(caught.value)


def test_lone_surrogates_and_nul_are_mended_everywhere() -> None:
    content = [{"type": "text", "text": "ok \ud83d\0"}]
    message = parse_message({"role": "user", "content": content, "k\0\ud800": "\udc00"})
    assert message.text == "ok \ufffd"
    assert json.loads(message.wire)["k\ufffd"] == "\ufffd"
    assert parse_message({"role": "user", "content": "\ud83d\ude00"}).content == "😀"


def test_nesting_is_taken_up_to_the_limit_and_refused_beyond_it() -> None:
    parse_message({"role": "user", "content": "x", "deep": nested(MESSAGE_DEPTH_MAX - 1)})
    for depth in (MESSAGE_DEPTH_MAX, 100_000):
        with pytest.raises(UsageError, match=rf"^a message is nested deeper than {MESSAGE_DEPTH_MAX}$"):
            parse_message({"role": "user", "content": "x", "deep": nested(depth)})
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(UsageError, match="nested deeper"):
        parse_message({"role": "user", "content": circle})


def test_a_message_above_the_limit_of_bytes_is_refused_with_both_numbers() -> None:
    frame = len('{"role":"user","content":""}')
    assert parse_message({"role": "user", "content": "x" * (MESSAGE_BYTES_MAX - frame)})
    numbers = rf"^a message has {MESSAGE_BYTES_MAX + 1} bytes, at most {MESSAGE_BYTES_MAX} "
    with pytest.raises(UsageError, match=numbers):
        parse_message({"role": "user", "content": "x" * (MESSAGE_BYTES_MAX - frame + 1)})
    with pytest.raises(UsageError, match="bytes, at most"):
        parse_message({"role": "user", "content": "长" * (MESSAGE_BYTES_MAX // 3)})


def test_an_object_of_the_openai_package_is_a_message_without_its_empty_fields() -> None:
    given = Dumped({"role": "assistant", "content": "好", "refusal": None, "tool_calls": [CALL]})
    kept = {"role": "assistant", "content": "好", "tool_calls": [CALL]}
    assert json.loads(parse_message(given).wire) == kept
    with pytest.raises(UsageError, match="must be a mapping"):
        parse_message(type("Odd", (), {"model_dump": lambda self, exclude_none: 7})())


def test_a_message_struct_is_written_from_its_fields() -> None:
    calls = (ToolCall("c1", "find", "{}"),)
    given = Message(role="assistant", tool_calls=calls, id="a1", time_ms=1_900_000_000_123)
    message = parse_message(given)
    assert json.loads(message.wire)["tool_calls"][0]["function"] == {"name": "find", "arguments": "{}"}
    assert (message.id, message.time_ms) == ("a1", 1_900_000_000_123)
    assert parse_message(message) == message
    result = parse_message(Message(role="tool", tool_call_id="c1", content="x", name="find"))
    assert json.loads(result.wire) == {"role": "tool", "content": "x", "name": "find", "tool_call_id": "c1"}


def test_a_message_struct_whose_wire_says_something_else_is_refused() -> None:
    message = parse_message({"role": "user", "content": "old"})
    for forged in (
        msgspec.structs.replace(message, content="new"),
        msgspec.structs.replace(message, role="system"),
        msgspec.structs.replace(message, wire="[1]"),
        msgspec.structs.replace(message, wire="{"),
    ):
        with pytest.raises(UsageError, match=r"^a Message's wire "):
            parse_message(forged)
    for odd in (Message(role="user", time_ms=10**18), Message(role="user", time_ms=1, offset_minutes=9_999)):
        with pytest.raises(UsageError, match="out of range"):
            parse_message(odd)


@pytest.mark.parametrize(
    "given",
    [
        {"role": "user", "content": "退款 refund <|endoftext|> 👩‍👩‍👧"},
        {"role": "user", "content": "", "name": "a_very_long_name_of_someone"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, CALL, CALL]},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": None}}]},
        {"role": "tool", "tool_call_id": "call_8fJ2kQwZ", "content": "x " * 500},
        {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE, IMAGE]},
        {"role": "user", "content": [{**IMAGE, "text": "caption " * 50}]},
        {"role": "user", "content": ["bare text " * 20]},
    ],
)
def test_a_count_is_never_below_an_independent_one(given: dict[str, Any]) -> None:
    shaped = json.loads(json.dumps(given))
    extra = 0
    if isinstance(shaped.get("content"), list):
        bare = [part for part in shaped["content"] if isinstance(part, str)]
        shaped["content"] = [part for part in shaped["content"] if isinstance(part, dict)]
        captions = [part.get("text", "") for part in shaped["content"] if part["type"] != "text"]
        extra = sum(TOKENIZER.count(text) for text in (*bare, *captions))
    for call in shaped.get("tool_calls", ()):
        call["function"]["arguments"] = call["function"]["arguments"] or ""
    counted = wire_tokens([shaped], "", TOKENIZER.count) - 3 + extra
    assert counted <= message_tokens(parse_message(given), TOKENIZER.count) <= counted + 40


@pytest.mark.parametrize(
    "given",
    [
        {"role": "assistant", "content": "x", "reasoning_content": "because " * 300},
        {"role": "assistant", "content": "x", "meta": {"a": ["because " * 300]}},
        {"role": "assistant", "tool_calls": [{**CALL, "extra_content": {"signature": "because " * 300}}]},
        {"role": "user", "content": [{"type": "refusal", "refusal": "because " * 300}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"text": "because " * 300}]}]},
    ],
)
def test_words_in_fields_we_do_not_know_are_counted_too(given: dict[str, Any]) -> None:
    assert message_tokens(parse_message(given), TOKENIZER.count) > 300


def test_priced_parts_cost_their_price_and_low_detail_only_where_it_is_an_image() -> None:
    def tokens(part: Any) -> int:
        return message_tokens(parse_message({"role": "user", "content": [part]}), TOKENIZER.count)

    low = {"url": "x", "detail": "low"}
    assert tokens({"type": "image_url", "image_url": low}) < 100 < 1_000 < tokens(IMAGE)
    assert tokens({"type": "file", "image_url": low}) >= 4_000
    assert tokens({"type": "input_audio", "input_audio": {"data": "AAAA"}}) >= 1_200


def test_other_content_leaves_every_other_field_and_its_order() -> None:
    message = parse_message({"name": "ada", "content": "long", "role": "user", "x": 1})
    changed = with_content(message, "short")
    assert changed.wire == '{"name":"ada","content":"short","role":"user","x":1}'
    assert changed.content == "short"


def test_tools_are_json_of_a_list_of_schemas_or_refused() -> None:
    schema = {"type": "function", "function": {"name": "查", "description": "d\ud800"}}
    assert tools_wire(None) == tools_wire([]) == ""
    assert json.loads(tools_wire((schema,)))[0]["function"]["description"] == "d\ufffd"
    assert tools_tokens("", TOKENIZER.count) == 0
    assert tools_tokens(tools_wire([schema]), TOKENIZER.count) > TOKENIZER.count(tools_wire([schema]))
    for wrong in ({"a": 1}, "tools", [1], [schema, None]):
        with pytest.raises(UsageError, match=r"^tools must be a list of tool schemas$"):
            tools_wire(wrong)
    with pytest.raises(UsageError, match="nested deeper"):
        tools_wire([{"deep": nested(MESSAGE_DEPTH_MAX)}])
