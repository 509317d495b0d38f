"""Messages on the wire: read at the door, counted once, given back as they came.

A `Message` keeps its JSON text in `wire`, so that what the model sees tomorrow is, byte for byte, what it
saw today.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

import msgspec

from actormem import limits
from actormem.core.ids import checked_id
from actormem.core.prices import DEFAULT_PRICES, Prices, part_tokens
from actormem.core.text import clean
from actormem.core.values import JsonValue, Message, ToolCall
from actormem.errors import UsageError

__all__ = [
    "content_text",
    "from_wire",
    "has_parts",
    "message_tokens",
    "parse_message",
    "tools_tokens",
    "tools_wire",
    "wire_tokens",
    "with_content",
]

ROLES = ("system", "developer", "user", "assistant", "tool")
OUR_KEYS = ("id", "time")  # read by us, never part of the wire
COUNTED_OF_CALL = ("id", "type", "function")  # what a call always has; anything else in it is counted as JSON
TIME_YEARS = (1900, 9000)  # dates near the ends of the calendar overflow when a zone is applied
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Count = Callable[[str], int]


def parse_message(given: object) -> Message:
    """The message that a caller handed in.

    Args:
        given: An OpenAI-style mapping (optionally with our `id` and `time`), a `Message`, or an object
            with `model_dump()` such as the openai package returns.

    Returns:
        The message; its `time_ms` is 0 where it says no time, its `id` empty where it says none.

    Raises:
        UsageError: It is not one; says which field and why, without its words.
    """
    fields = _fields(given) if isinstance(given, Message) else _mapping(given)
    time_ms, offset = _time(fields.get("time"))
    id = fields.get("id")
    message_id = "" if id is None else checked_id(id, "message id")
    body = {key: value for key, value in fields.items() if key not in OUR_KEYS}
    cleaned = cast("dict[str, JsonValue]", _clean(body, 0))
    wire = msgspec.json.encode(cleaned).decode()
    size_bytes = len(wire.encode())
    if size_bytes > limits.MESSAGE_BYTES_MAX:
        raise UsageError(f"a message has {size_bytes} bytes, at most {limits.MESSAGE_BYTES_MAX} are allowed")
    return _message(cleaned, wire, message_id, time_ms, offset)


def from_wire(wire: str, *, id: str = "", time_ms: int = 0, offset_minutes: int = 0) -> Message:
    """The message that `parse_message` made this wire text of."""
    fields = cast("dict[str, JsonValue]", msgspec.json.decode(wire, type=dict[str, object]))
    return _message(fields, wire, id, time_ms, offset_minutes)


def message_tokens(message: Message, count: Count, prices: Prices = DEFAULT_PRICES) -> int:
    """Tokens the message takes in a request, its overhead included.

    Source: OpenAI cookbook, "How to count tokens with tiktoken": 3 a message, 1 for the role, 1 for a name;
    tool calls are counted by their names, arguments and ids and a fixed overhead, which is not published.
    Parts that are no text cost what the model's price list says.
    """
    tokens = limits.MESSAGE_OVERHEAD_TOKENS + _content_tokens(message.content, count, prices)
    fields = cast("dict[str, JsonValue]", msgspec.json.decode(message.wire))
    for key, value in fields.items():
        match key:
            case "role" | "content":
                pass
            case "name":
                tokens += limits.NAME_OVERHEAD_TOKENS + count(str(value))
            case "tool_calls":
                tokens += sum(_call_tokens(call, count) for call in message.tool_calls)
                tokens += sum(_extra_tokens(call, count) for call in cast("Sequence[JsonValue]", value or ()))
            case _ if value is not None:
                tokens += count(value if isinstance(value, str) else msgspec.json.encode(value).decode())
            case _:
                pass
    return tokens


def wire_tokens(wire: str, count: Count, prices: Prices = DEFAULT_PRICES) -> int:
    """`message_tokens` of a wire message; 0 for none."""
    return message_tokens(from_wire(wire), count, prices) if wire else 0


def tools_tokens(tools: str, count: Count) -> int:
    """Tokens that tool schemas take, counted on their JSON: an upper bound of what providers make of them."""
    return limits.TOOLS_OVERHEAD_TOKENS + count(tools) if tools else 0


def tools_wire(tools: object) -> str:
    """The JSON of a list of tool schemas; empty for none.

    Raises:
        UsageError: It is not a list of mappings.
    """
    if not tools:
        return ""
    if isinstance(tools, (list, tuple)):
        schemas = cast("Sequence[object]", tools)
        if all(isinstance(one, Mapping) for one in schemas):
            return msgspec.json.encode(_clean(schemas, 0)).decode()
    raise UsageError("tools must be a list of tool schemas")


def content_text(content: JsonValue) -> str:
    """The words of a message's content: text parts joined by newlines."""
    return Message(role="user", content=content).text


def has_parts(message: Message) -> bool:
    """Whether its content has parts that are no text: pictures, sound, files."""
    if not isinstance(message.content, Sequence) or isinstance(message.content, str):
        return False
    return any(
        isinstance(part, Mapping) and not isinstance(part.get("text"), str) for part in message.content
    )


def with_content(message: Message, content: JsonValue) -> Message:
    """The same message with other content; every other field and the order of keys stay."""
    fields = cast("dict[str, JsonValue]", msgspec.json.decode(message.wire))
    fields["content"] = content
    return msgspec.structs.replace(message, content=content, wire=msgspec.json.encode(fields).decode())


def _fields(message: Message) -> dict[str, object]:
    fields = _wire_fields(message) if message.wire else _own_fields(message)
    if message.id:
        fields["id"] = message.id
    if message.time_ms:
        try:
            fields["time"] = message.time
        except (OverflowError, ValueError):
            raise UsageError("a Message's time_ms or offset_minutes is out of range") from None
    return fields


def _wire_fields(message: Message) -> dict[str, object]:
    """What the wire text says, where the fields beside it say the same."""
    try:
        fields = msgspec.json.decode(message.wire, type=dict[str, object])
        same = from_wire(message.wire)
    except ValueError:
        raise UsageError("a Message's wire must be its JSON text") from None
    names = ("role", "content", "name", "tool_calls", "tool_call_id")
    if any(getattr(same, name) != getattr(message, name) for name in names):
        raise UsageError("a Message's wire and its fields differ", hint="leave wire empty to change fields")
    return fields


def _own_fields(message: Message) -> dict[str, object]:
    fields: dict[str, object] = {"role": message.role, "content": message.content}
    if message.name is not None:
        fields["name"] = message.name
    if message.tool_calls:
        fields["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _mapping(given: object) -> dict[str, object]:
    dump = getattr(given, "model_dump", None)
    if callable(dump):
        given = dump(exclude_none=True)
    if not isinstance(given, Mapping):
        raise UsageError(f"a message must be a mapping or a Message, not {type(given).__name__}")
    fields = cast("Mapping[object, object]", given)
    if not all(isinstance(key, str) for key in fields):
        raise UsageError("the keys of a message must be strings")
    return dict(cast("Mapping[str, object]", fields))


def _message(fields: Mapping[str, JsonValue], wire: str, id: str, time_ms: int, offset: int) -> Message:
    role = fields.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise UsageError(f"a message's role must be one of {', '.join(ROLES)}")
    content = fields.get("content")
    if content is not None and not isinstance(content, (str, list)):
        raise UsageError(
            f"a message's content must be text, a list of parts or null, not {type(content).__name__}"
        )
    if isinstance(content, list) and not all(isinstance(part, (dict, str)) for part in content):
        raise UsageError("a part of a message's content must be a mapping")
    name, call_id = fields.get("name"), fields.get("tool_call_id")
    if not isinstance(name, (str, type(None))) or not isinstance(call_id, (str, type(None))):
        raise UsageError("a message's name and tool_call_id must be strings")
    if role == "tool" and not call_id:
        raise UsageError("a tool message must have a tool_call_id")
    calls = _calls(fields.get("tool_calls"))
    if calls and role != "assistant":
        raise UsageError(f"only an assistant message may have tool_calls, not one of role {role}")
    return Message(
        role=role,
        content=content,
        name=name,
        tool_calls=calls,
        tool_call_id=call_id,
        id=id,
        time_ms=time_ms,
        offset_minutes=offset,
        wire=wire,
    )


def _calls(given: JsonValue) -> tuple[ToolCall, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise UsageError("tool_calls must be a list")
    calls: list[ToolCall] = []
    for call in given:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(function, Mapping):
            raise UsageError("a tool call must be a mapping with a function")
        id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        if not isinstance(id, str) or not id or not isinstance(name, str):
            raise UsageError("a tool call must have an id and a function name")
        if arguments is not None and not isinstance(arguments, str):
            raise UsageError("a tool call's arguments must be JSON text")
        calls.append(ToolCall(id, name, arguments or ""))
    return tuple(calls)


def _call_tokens(call: ToolCall, count: Count) -> int:
    return limits.TOOL_CALL_OVERHEAD_TOKENS + count(call.id) + count(call.name) + count(call.arguments)


def _extra_tokens(call: JsonValue, count: Count) -> int:
    assert isinstance(call, Mapping)
    extra = {key: value for key, value in call.items() if key not in COUNTED_OF_CALL}
    return count(msgspec.json.encode(extra).decode()) if extra else 0


def _content_tokens(content: JsonValue, count: Count, prices: Prices) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return count(content)
    assert isinstance(content, Sequence)
    return sum(_part_tokens(part, count, prices) for part in content)


def _part_tokens(part: JsonValue, count: Count, prices: Prices) -> int:
    if isinstance(part, str):
        return count(part)
    assert isinstance(part, Mapping)
    text, price = part.get("text"), part_tokens(part, prices)
    words = count(text) + 1 if isinstance(text, str) else 0
    if price is not None:
        return words + price
    return words or count(msgspec.json.encode(part).decode())


def _time(given: object) -> tuple[int, int]:
    if given is None:
        return 0, 0
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise UsageError("a message's time must be ISO 8601, such as 2026-01-31T09:30:00+08:00") from None
    if not isinstance(given, datetime):
        raise UsageError(f"a message's time must be a datetime or ISO 8601 text, not {type(given).__name__}")
    offset = given.utcoffset()
    if offset is None:
        raise UsageError("a message's time must carry its zone, such as +08:00 or Z")
    if not TIME_YEARS[0] <= given.year <= TIME_YEARS[1]:
        raise UsageError(f"a message's time must lie in the years {TIME_YEARS[0]} to {TIME_YEARS[1]}")
    return (given - EPOCH) // timedelta(milliseconds=1), int(offset.total_seconds() // 60)


def _clean(value: object, depth: int) -> JsonValue:
    if depth > limits.MESSAGE_DEPTH_MAX:
        raise UsageError(f"a message is nested deeper than {limits.MESSAGE_DEPTH_MAX}")
    match value:
        case str():
            return clean(value)
        case None | bool():
            return value
        case int():
            if not -(2**63) <= value < 2**64:
                raise UsageError("a number in a message does not fit 64 bits")
            return value
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                raise UsageError("a number in a message is not finite")
            return value
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {clean(str(key)): _clean(part, depth + 1) for key, part in pairs}
        case list() | tuple():
            return [_clean(part, depth + 1) for part in cast("Sequence[object]", value)]
        case _:
            raise UsageError(f"a message holds a {type(value).__name__}, which JSON has no word for")
