"""Where words stand in texts, told by patterns that are made of them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actormem
from actormem.core.erased_words import Sought
from actormem.core.facts.sameness import within
from actormem.core.recall.cues import AUXILIARIES, first_person, first_person_verb
from actormem.core.recall.words import CJK
from actormem.core.whole_words import folded, places, spans, without

TEXTS = st.text("aB1 .,-$ß京İ\n’'s", max_size=24)
WORDS = st.text("aB1.京ß", min_size=1, max_size=3)
OPENED_ONCE = {"declared.py"}  # words of whoever opens the memory, not of its users


@given(TEXTS)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(folded(text)) == len(text)


@given(WORDS, TEXTS)
def test_a_word_is_whole_where_no_word_goes_on(word: str, text: str) -> None:
    expected = [match.span() for match in re.finditer(rf"(?=(?<!\w)({re.escape(word)})(?!\w))", text)]
    assert [start for start, _ in expected] == [start for start, _ in spans(word, text)]


@given(st.text("ab1.,", min_size=1, max_size=3), st.text("ab1 .,-$", max_size=24))
def test_a_compared_form_within_another(part: str, whole: str) -> None:
    pattern = rf"(?<![a-z0-9.$€£¥-]){re.escape(part)}(?![a-z0-9]|[.,]\d)"
    assert within(part, whole) == (re.search(pattern, whole) is not None)


@given(st.lists(st.text("aB1.京 ", min_size=1, max_size=4), min_size=1, max_size=3), TEXTS)
def test_what_is_erased_is_all_that_a_pattern_would_find(words: list[str], text: str) -> None:
    sought = Sought(words)
    erased = {place for start, end in sought.spans(text) for place in range(start, end)}
    expected: set[int] = set()
    for word in sought.words:
        for match in re.finditer(f"(?=({pattern_of(word)}))", text, re.IGNORECASE):
            expected |= set(range(*match.span(1)))
    assert erased == expected


def pattern_of(word: str) -> str:
    letter = rf"[^\W{CJK}]"
    before = rf"(?<!{letter})" if re.match(letter, word) else ""
    after = rf"(?!{letter})" if re.match(letter, word[-1]) else ""
    before += r"(?<!\d[.,])" if word[0].isdigit() else ""
    after += r"(?![.,]\d)" if word[-1].isdigit() else ""
    return before + r"\s+".join(map(re.escape, word.split())) + after


@given(st.text("aA ’'sdid,", max_size=24))
def test_questions_turn_to_the_first_person(text: str) -> None:
    own = re.sub(r"(?<!\w)a['’]s(?!\w)", "my", text, flags=re.IGNORECASE)
    asked = re.sub(
        rf"\b({'|'.join(AUXILIARIES)}) a(?!\w)",
        lambda match: f"{first_person_verb(match[1])} I",
        own,
        flags=re.IGNORECASE,
    )
    assert first_person(text, "a") == re.sub(r"(?<!\w)a(?!\w)", "I", asked, flags=re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "left"),
    [("no such", "no such"), ("x AB12 ab12ab12", "x … ……"), ("", ""), ("ab1", "ab1")],
)
def test_a_part_is_left_out_whatever_its_case(text: str, left: str) -> None:
    assert without("ab12", text) == left
    assert without("", text) == text


def test_an_empty_part_stands_nowhere() -> None:
    assert list(places("", "text")) == []


def test_what_users_say_becomes_no_pattern() -> None:
    """`re` keeps what it compiles: forgotten words would stay in the process."""
    files = Path(actormem.__file__).parent.rglob("*.py")
    made_of_words = {file.name for file in files if "re.escape" in file.read_text(encoding="utf-8")}
    assert made_of_words == OPENED_ONCE
