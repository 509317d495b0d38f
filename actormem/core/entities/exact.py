"""The exact values of a message, told apart by where they stand."""

import msgspec

from actormem.core.entities import EntityTable, find_entities, find_tool_entities
from actormem.core.values import Entity, Message

__all__ = ["MessageEntities", "message_entities", "value_lines"]


class MessageEntities(msgspec.Struct, frozen=True):
    """The exact values in a message: in its words or its tool result, and in the arguments of its calls."""

    said: tuple[Entity, ...] = ()
    called: tuple[Entity, ...] = ()


def message_entities(message: Message) -> MessageEntities:
    """The exact values in a message. Cost: 10 to 400 µs, 1 ms for a long tool result."""
    if message.role == "tool":
        return MessageEntities(find_tool_entities(message.text), ())
    said = find_entities(message.text, time_ms=message.time_ms, offset_minutes=message.offset_minutes)
    called = tuple(entity for call in message.tool_calls for entity in find_tool_entities(call.arguments))
    return MessageEntities(said, called)


def value_lines(message: Message, shown: str, characters: int) -> str:
    """Values of the message that `shown` does not hold, the most telling first, in at most so many characters."""
    if characters <= 0:
        return ""
    found = tuple(one for one in message_entities(message).said if one.value not in shown)
    lines = EntityTable().seen(found, sequence=1, role=message.role).lines(tokens=characters, count=len)
    return "; ".join(lines)
