"""What stands around the JSON of a model's reply, and replies that are nothing."""

import pytest

from actormem.core.facts import reply as facts
from actormem.core.recall import rewrites
from actormem.core.replies import json_of, without_thoughts


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        ('{"facts": []}', '{"facts": []}'),
        ('Sure:\n```json\n{"facts": [1]}\n```', '{"facts": [1]}'),
        ('<think>maybe {"facts": [2]}</think>\n[{"a": 1}] done', '[{"a": 1}]'),
        ("[1, {", ""),
        ("no brackets at all", ""),
        ("", ""),
    ],
)
def test_the_json_of_a_reply_is_what_stands_between_its_brackets(reply: str, body: str) -> None:
    assert json_of(reply) == body


def test_thoughts_in_front_are_left_out_and_words_like_them_further_on_stay() -> None:
    assert without_thoughts("<THINK>\nhm\n</think>Yes.") == "Yes."
    assert without_thoughts("Yes. <think>hm</think>") == "Yes. <think>hm</think>"


@pytest.mark.parametrize("rows_of", [facts.rows_of, rewrites.rows_of])
@pytest.mark.parametrize("key", ["facts", "rewrites"])
def test_a_reply_nested_too_deeply_to_be_read_is_no_reply(rows_of: object, key: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert callable(rows_of)
    assert rows_of(deep) is None
    assert rows_of(f'{{"{key}": {deep}}}') is None
