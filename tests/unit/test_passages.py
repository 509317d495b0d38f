"""A long message in passages: nothing is lost, each stands by itself, words are cut across them too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actormem.core.facts.passages import PASSAGE_TOKENS, WHOLE_TOKENS_MAX, passages, without_words
from actormem.core.recall.words import token_count

SENTENCES = [
    "The heron stands in the water.",
    "它一动不动地等着鱼。",
    "Nobody knows why!\n",
    "x" * 40,
    "- one\n",
    "😀。",
]


@given(st.lists(st.sampled_from(SENTENCES), max_size=200).map(" ".join))
def test_passages_joined_are_the_text(text: str) -> None:
    found = passages(text)
    assert "".join(found) == text
    assert len(found) == 1 or all(token_count(one) <= 2 * PASSAGE_TOKENS for one in found)


@given(st.text(max_size=400).map(lambda text: text * 4))
def test_any_text_is_kept_character_for_character(text: str) -> None:
    assert "".join(passages(text)) == text


def test_a_message_of_usual_length_is_one_passage() -> None:
    text = " ".join(["word"] * WHOLE_TOKENS_MAX)
    assert passages(text) == (text,)
    assert len(passages(f"{text}. More.")) > 1
    assert passages("") == ("",)


def test_passages_end_with_sentences() -> None:
    for one in passages("The heron stands in the water. " * 100)[:-1]:
        assert one.rstrip().endswith("water.")
    for one in passages("苍鹭站在水里等着鱼游过来。" * 60)[:-1]:
        assert one.endswith("。")


def test_a_sentence_without_end_is_cut_at_words() -> None:
    found = passages("heron " * 1_000)
    assert len(found) > 5
    assert all(set(one.split()) == {"heron"} for one in found)


@pytest.mark.parametrize(
    ("texts", "words", "left"),
    [
        (["one two ", "three"], ["two"], ["one [-] ", "three"]),
        (["one two ", "three"], ["two three"], ["one [-]", "[-]"]),
        (["one two ", "three"], ["two", "two three"], ["one [-]", "[-]"]),
        (["aa", "a"], ["a"], ["[-][-]", "[-]"]),
        (["one"], ["", "four"], ["one"]),
        ([], ["a"], []),
    ],
)
def test_words_are_cut_wherever_they_stand(texts: list[str], words: list[str], left: list[str]) -> None:
    assert without_words(texts, words, "[-]") == left


@given(
    st.lists(st.text(alphabet="ab ", max_size=6), max_size=5), st.lists(st.text(alphabet="ab", max_size=3))
)
def test_what_was_cut_is_in_no_passage(texts: list[str], words: list[str]) -> None:
    left = without_words(texts, words, "·")
    assert len(left) == len(texts)
    assert not [word for word in words if word and word in "".join(left)]
