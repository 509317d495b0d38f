"""What a pasted dialogue is, and which of its words are searched for."""

import pytest

from actormem.core.recall.query import query_texts
from actormem.core.recall.transcripts import Line, transcript, words_said

DIALOGUE = '<Ada>: "I ran today."\n\n<Assistant>: "Well done, drink water."\n<Ada>: "My knee hurts."'


def test_a_dialogue_is_names_and_words() -> None:
    assert transcript(DIALOGUE) == (
        Line("ada", "I ran today."),
        Line("assistant", "Well done, drink water."),
        Line("ada", "My knee hurts."),
    )
    assert transcript("小明：我今天跑步了\n助手：真棒\n") == (
        Line("小明", "我今天跑步了"),
        Line("助手", "真棒"),
    )
    assert [line.name for line in transcript("[Mary Ann Lee]: hi\n(Bo) : hello\nBo: bye")] == [
        "mary ann lee",
        "bo",
        "bo",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line only",
        "Ada: one line only",
        "first\nsecond",
        "Ada: I ran\nand then I slept\nAda: well",
        "Name: Ada\nPhone: 555\nCity: Oslo",
        "https://one.example\nhttps://one.example",
        "12:30 we met\n12:30 we ate",
        "This is a whole sentence with a colon: one\nThis is a whole sentence with a colon: two",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert transcript(text) == ()
    assert words_said(text) == text


def test_what_people_say_is_searched_for() -> None:
    assert words_said(DIALOGUE) == "I ran today.\nMy knee hurts."
    alone = "assistant: drink water\nassistant: sleep well"
    assert words_said(alone) == alone


def test_a_dialogue_is_embedded_without_its_names() -> None:
    lines = ("I ran today.", "Well done, drink water.", "My knee hurts.")
    assert query_texts(DIALOGUE) == ("\n".join(lines), *lines)


def test_an_endless_line_is_quickly_no_dialogue() -> None:
    assert transcript("a " * 50_000 + "\n" + "b" * 100_000) == ()
