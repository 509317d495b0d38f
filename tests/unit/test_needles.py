"""Pieces of text without which a pattern cannot match."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.core.facts.attributes import TABLE
from actormem.core.needles import Cue, needles


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("abc", {"abc"}),
        ("ab|CD", {"ab", "cd"}),
        ("ab?c", {"a"}),
        ("ab+c", {"ab"}),
        ("ab{0,2}cde", {"cde"}),
        ("ab*?cde", {"cde"}),
        (r"\bab\b.{0,9}\bcde\b", {"cde"}),
        ("(?:ab|cd)e", {"ab", "cd"}),
        ("(?:ab|cd)?e", {"e"}),
        ("(?:a(?:bcd|ef)|gh)+", {"bcd", "ef", "gh"}),
        ("(?P<name>ab)(cd)", {"ab"}),
        ("(?=xyz)ab(?!cde)(?<=fgh)", {"ab"}),
        ("[ab]cd[^]e]f", {"cd"}),
        (r"\(ab\.", {"ab"}),
        ("我[的]?地址", {"地址"}),
        ("(?:ab|)c", {"c"}),
    ],
)
def test_each_branch_gives_its_longest_piece(pattern: str, found: set[str]) -> None:
    assert needles(pattern) == found


@pytest.mark.parametrize("pattern", ["", "a|", "(?:a|)", "[ab]", ".*", r"\d+", "a?", "(?:abc)*", "(?!abc)"])
def test_what_may_match_anything_gives_the_empty_piece(pattern: str) -> None:
    assert needles(pattern) == {""}


@pytest.mark.parametrize("attribute", TABLE)
@settings(max_examples=30)
@given(data=st.data())
def test_a_cue_finds_what_its_pattern_finds(attribute: str, data: st.DataObject) -> None:
    pattern = re.compile(TABLE[attribute][3], re.IGNORECASE)
    text = data.draw(st.from_regex(pattern)).swapcase()
    assert Cue(pattern.pattern).found_in(text, text.casefold()) == (pattern.search(text) is not None)
