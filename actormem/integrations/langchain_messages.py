"""Messages of LangChain as wire messages, and back. Pure.

What a model is sent goes both ways: roles, content, names, tool calls as they were written, ids. What LangChain keeps
beside a message (usage, response metadata, artifacts of tools) does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call

from actormem import Message, UsageError

__all__ = ["from_messages", "to_message", "to_wire"]


def to_wire(message: BaseMessage) -> dict[str, Any]:
    """The wire message, with the message's id where it has one.

    Raises:
        UsageError: It is of a kind that no model is sent.
    """
    if not isinstance(message, BaseMessage):
        raise UsageError(f"a message must be one of LangChain's, not a {type(message).__name__}")
    try:
        wire = convert_to_openai_messages(message)
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"a {type(message).__name__} cannot be put on the wire") from None
    if isinstance(message, AIMessage) and message.invalid_tool_calls:
        wire["tool_calls"] = [*wire.get("tool_calls", []), *map(_as_written, message.invalid_tool_calls)]
    if message.id:
        wire["id"] = message.id
    return wire


def to_message(wire: Mapping[str, Any], id: str | None = None) -> BaseMessage:
    """LangChain's message for a wire message; calls whose arguments are no JSON are among `invalid_tool_calls`."""
    fields = {**wire, "content": wire.get("content") or ""}
    calls = cast("Sequence[dict[str, Any]]", fields.pop("tool_calls", None) or ())
    [message] = convert_to_messages([fields])
    message.id = id
    if isinstance(message, AIMessage):
        message.tool_calls, message.invalid_tool_calls = _read(calls)
    return message


def from_messages(messages: Sequence[Message]) -> list[BaseMessage]:
    """LangChain's messages for those of a session, ids and order kept."""
    return [to_message(_fields(one), one.id) for one in messages]


def _fields(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.name is not None:
        fields["name"] = message.name
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        fields["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return fields


def _read(calls: Sequence[dict[str, Any]]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    read: list[ToolCall] = []
    unread: list[InvalidToolCall] = []
    for call in calls:
        try:
            read.append(cast("ToolCall", parse_tool_call(call, return_id=True)))
        except Exception as error:
            unread.append(make_invalid_tool_call(call, str(error)))
    return read, unread


def _as_written(call: InvalidToolCall) -> dict[str, Any]:
    function = {"name": call.get("name") or "", "arguments": call.get("args") or ""}
    return {"id": call.get("id") or "", "type": "function", "function": function}
