"""Messages too large for their context: the first part, a mark that says how much is missing, exact values of it.

Only contexts show the short form; the record keeps the message as it came. The short form follows from
numbers alone, so that replay makes the same bytes without a tokenizer. A result in JSON is first written as lines,
which loses nothing and takes about half; only what is still too long is cut.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from actormem.core.context.tables import table_text
from actormem.core.entities.exact import value_lines
from actormem.core.prices import DEFAULT_PRICES, Prices
from actormem.core.session.events import Shortened
from actormem.core.values import JsonValue, Message
from actormem.core.wire import message_tokens, wire_tokens, with_content
from actormem.limits import MESSAGE_OVERHEAD_TOKENS

__all__ = ["fit_message", "shortened"]

MARK_TOKENS = 20  # room for the mark itself, more than it takes in any vocabulary measured
VALUES_PART = 3  # a third of the room is for exact values of what is left out
VALUE_CHARACTERS = 3  # of a token, as ids and numbers go
VALUES_KEPT_MIN = 40  # characters kept below which there is no room for values either
BARE_MARK = "[…]"  # visible, and a third of the other one's tokens
CUT_ARGUMENT = "cut_by_memory"
SMALL_ARGUMENT_BYTES = 8  # kept as they are: the mark in their place would take more


class Counter(Protocol):
    """The part of a tokenizer that is needed here."""

    def count(self, text: str) -> int: ...
    def truncate(self, text: str, tokens: int) -> str: ...


def fit_message(
    message: Message, sequence: int, tokens: int, counter: Counter, prices: Prices = DEFAULT_PRICES
) -> Shortened:
    """The longest short form of the message that takes at most `tokens`, or the shortest there is.

    Cost: a few counts of at most `tokens` tokens, and one count of the message.
    """
    table = _table(message, counter)
    if table is not None:
        form = _whole_table(message, sequence, table, counter)
        if form.tokens <= tokens:
            return form
    text = _words(message) if table is None else table
    whole = max(counter.count(text), message_tokens(message, counter.count, prices) - MESSAGE_OVERHEAD_TOKENS)
    whole = whole if table is None else counter.count(table)
    keep = counter.truncate(text, max(0, tokens - MARK_TOKENS) * (VALUES_PART - 1) // VALUES_PART)
    values_characters = tokens * VALUE_CHARACTERS // VALUES_PART if len(keep) >= VALUES_KEPT_MIN else 0
    while True:
        dropped = max(0, whole - counter.count(keep))
        form = Shortened(sequence, len(keep), 0, dropped, values_characters, tabled=table is not None)
        wire = shortened(message, form)
        taken = wire_tokens(wire, counter.count)
        if taken <= tokens:
            return msgspec.structs.replace(form, tokens=taken)
        if not (keep or values_characters):
            return (
                _bare(message, form, counter)
                if message.content
                else msgspec.structs.replace(form, tokens=taken)
            )
        if values_characters:
            values_characters = max(0, values_characters - (taken - tokens) - 1) if keep else 0
        keep = counter.truncate(keep, max(0, counter.count(keep) - (taken - tokens)))


def shortened(message: Message, form: Shortened) -> str:
    """The wire of the message's short form: first its content is kept, then the arguments of its calls."""
    mark = f" [… {form.dropped_tokens} tokens left out here by memory …]" if form.dropped_tokens else ""
    mark = BARE_MARK if form.bare else mark
    left = form.characters
    content = message.content
    if content:
        words = (table_text(message.text) if form.tabled else None) or message.text
        kept = words[:left]
        left = max(0, left - len(words))
        values = value_lines(message, kept, form.values_characters)
        content = _short_content(content, kept + mark + (f" {values}" if values else ""))
    short = with_content(message, content) if message.content else message
    if not message.tool_calls:
        return short.wire
    return _short_calls(short.wire, left)


def _bare(message: Message, form: Shortened, counter: Counter) -> Shortened:
    """The shortest form there is: nothing of the words, and no number."""
    bare = msgspec.structs.replace(form, bare=True)
    return msgspec.structs.replace(bare, tokens=wire_tokens(shortened(message, bare), counter.count))


def _table(message: Message, counter: Counter) -> str | None:
    """A tool's result as lines, where it is JSON and they take less than it."""
    table = table_text(message.text) if message.role == "tool" else None
    return table if table is not None and counter.count(table) < counter.count(message.text) else None


def _whole_table(message: Message, sequence: int, table: str, counter: Counter) -> Shortened:
    form = Shortened(sequence, len(table), 0, 0, 0, tabled=True)
    return msgspec.structs.replace(form, tokens=wire_tokens(shortened(message, form), counter.count))


def _words(message: Message) -> str:
    return message.text + "".join(call.arguments for call in message.tool_calls)


def _short_content(content: JsonValue, text: str) -> JsonValue:
    return text if isinstance(content, str) else [{"type": "text", "text": text}]


def _short_calls(wire: str, characters: int) -> str:
    fields: dict[str, JsonValue] = msgspec.json.decode(wire)
    calls = fields["tool_calls"]
    assert isinstance(calls, Sequence)
    left = characters
    kept: list[JsonValue] = []
    for call in calls:
        assert isinstance(call, Mapping)
        function = call["function"]
        assert isinstance(function, Mapping)
        arguments = str(function.get("arguments") or "")
        fits = len(arguments) <= left or len(arguments.encode()) <= SMALL_ARGUMENT_BYTES
        short = arguments if fits else _json({CUT_ARGUMENT: arguments[:left]})
        left = max(0, left - len(arguments))
        kept.append({**call, "function": {**function, "arguments": short}})
    return _json({**fields, "tool_calls": kept})


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
