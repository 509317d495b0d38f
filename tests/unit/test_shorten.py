"""Messages too large for their context: the first part, a visible mark, the same bytes at every replay."""

import json
import re
from typing import Any

import pytest

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.context.shorten import fit_message, shortened
from actormem.core.values import Message
from actormem.core.wire import from_wire, message_tokens, parse_message

TOKENIZER = ToktokTokenizer()
MARK = re.compile(r" \[… (\d+) tokens left out here by memory …\]$")
LONG = "合同编号 HT-2031-0007，金额 88,000 元。The quick brown fox. 👩‍👩‍👧 " * 200


def tokens_of(wire: str) -> int:
    return message_tokens(from_wire(wire, id="", time_ms=0, offset_minutes=0), TOKENIZER.count)


def cut(message: Message, tokens: int) -> tuple[dict[str, Any], int]:
    form = fit_message(message, 7, tokens, TOKENIZER)
    wire = shortened(message, form)
    assert form.sequence == 7
    assert form.tokens == tokens_of(wire)
    assert shortened(message, form) == wire
    return json.loads(wire), form.tokens


@pytest.mark.parametrize(
    "text", [LONG, "长" * 9_000, "x" * 9_000, '"\\' * 4_000, "👩‍👩‍👧‍👦" * 900, " \n" * 3_000]
)
@pytest.mark.parametrize("tokens", [24, 32, 33, 100, 501, 1_024])
def test_a_text_is_cut_to_the_tokens_given_with_a_mark_that_counts(text: str, tokens: int) -> None:
    message = parse_message({"role": "user", "content": text, "name": "ada"})
    fields, taken = cut(message, tokens)
    assert taken <= tokens
    found = MARK.search(fields["content"])
    assert found
    kept = fields["content"][: found.start()]
    assert text.startswith(kept)
    assert TOKENIZER.count(kept) + int(found[1]) >= TOKENIZER.count(text) - 1
    assert list(fields) == ["role", "content", "name"]
    if tokens >= 100:
        assert taken >= tokens * 0.6, "more could have been kept"


def test_a_cut_never_splits_what_a_reader_sees_as_one_character() -> None:
    message = parse_message({"role": "user", "content": "👩‍👩‍👧‍👦" * 300})
    for tokens in range(40, 90):
        kept = MARK.sub("", cut(message, tokens)[0]["content"])
        assert len(kept) % len("👩‍👩‍👧‍👦") == 0


def test_below_what_a_mark_takes_the_shortest_form_is_given_and_counted() -> None:
    message = parse_message({"role": "user", "content": LONG})
    for tokens in (0, 1, 4, 5, 8):
        fields, taken = cut(message, tokens)
        assert fields["content"] == "[…]"
        assert taken <= max(tokens, 8)


def test_text_parts_are_joined_and_pictures_left_out_with_a_mark_that_counts_them() -> None:
    image = {"type": "image_url", "image_url": {"url": "x"}}
    message = parse_message({"role": "user", "content": [{"type": "text", "text": "看图"}, image]})
    fields, taken = cut(message, 60)
    assert taken <= 60
    assert fields["content"][0]["text"].startswith("看图 [… 1")
    (part,) = cut(parse_message({"role": "user", "content": [image, image]}), 60)[0]["content"]
    found = MARK.search(part["text"])
    assert found
    assert int(found[1]) > 2_000


def call(arguments: str | None, id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "find", "arguments": arguments}, "x": 1}


def test_arguments_that_are_cut_stay_json_and_everything_else_of_the_call_stays() -> None:
    given = json.dumps({"body": LONG}, ensure_ascii=False)
    message = parse_message({"role": "assistant", "content": None, "tool_calls": [call(given)]})
    fields, taken = cut(message, 200)
    assert taken <= 200
    (made,) = fields["tool_calls"]
    inside = json.loads(made["function"]["arguments"])
    assert given.startswith(inside["cut_by_memory"])
    assert made == {**call(made["function"]["arguments"])}
    assert fields["content"] is None


def test_the_content_is_kept_before_arguments_and_small_arguments_always() -> None:
    long = json.dumps({"body": LONG})
    calls = [call("{}", "c1"), call(long, "c2"), call('{"a":1}', "c3"), call(None, "c4")]
    message = parse_message({"role": "assistant", "content": "先查一下", "tool_calls": calls})
    fields, taken = cut(message, 150)
    assert taken <= 150
    assert fields["content"].startswith("先查一下 [… ")
    shown = [one["function"]["arguments"] for one in fields["tool_calls"]]
    assert shown[0] == "{}"
    assert "cut_by_memory" in json.loads(shown[1])
    assert shown[2:] == ['{"a":1}', ""]


def test_a_message_without_words_to_cut_is_left_as_it_is() -> None:
    message = parse_message({"role": "assistant", "content": "", "reasoning_content": "because " * 900})
    form = fit_message(message, 1, 50, TOKENIZER)
    assert shortened(message, form) == message.wire
    assert form.tokens == message_tokens(message, TOKENIZER.count)
