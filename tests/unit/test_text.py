"""Text helpers: what they give for both languages, and what they never do."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actormem.core.text import clean, language, normal, one_line, sentences

ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)


def test_clean_gives_the_same_object_when_nothing_changes() -> None:
    for text in ("", "plain", "订单 KX-48210 已发货", "😀"):
        assert clean(text) is text


def test_clean_replaces_lone_surrogates_and_drops_nul() -> None:
    assert clean("a\ud83d b") == "a\ufffd b"
    assert clean("\udc00尾") == "\ufffd尾"
    assert clean("a\0b\0") == "ab"
    assert clean("好\0的") == "好的"


def test_clean_joins_the_halves_of_a_pair() -> None:
    assert clean("a\ud83d\ude00b") == "a😀b"


@given(ANY_TEXT)
def test_clean_text_can_be_encoded_and_is_clean(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean(cleaned) is cleaned


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "en"),
        ("123 !!", "en"),
        ("Where is my parcel?", "en"),
        ("我的包裹在哪里？", "zh"),
        ("帮我看一下 Kubernetes Deployment 的 readinessProbe 为什么失败", "zh"),
        ("The name 欧阳澄 is written with three characters", "en"),
        ("我叫欧阳澄", "zh"),
    ],
)
def test_language_is_decided_by_the_share_of_han_characters(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n \n", []),
        ("Pi is 3.14. It costs ¥1,284.50! Fine", ["Pi is 3.14.", "It costs ¥1,284.50!", "Fine"]),
        ("See https://a.test/x?y=1.5&z=2. Then go.", ["See https://a.test/x?y=1.5&z=2.", "Then go."]),
        ("Mr. Lee and Dr. Wu met J. Smith. We left.", ["Mr. Lee and Dr. Wu met J. Smith.", "We left."]),
        ("It opens at 5 p.m. on Monday. Be there.", ["It opens at 5 p.m. on Monday.", "Be there."]),
        ("It closed at 5 p.m. Tomorrow it opens.", ["It closed at 5 p.m.", "Tomorrow it opens."]),
        ("No. 42 is mine. No. I disagree.", ["No. 42 is mine.", "No.", "I disagree."]),
        ("i moved to berlin. my budget is 900.", ["i moved to berlin.", "my budget is 900."]),
        ("1. Buy milk\n2. Call home", ["1. Buy milk", "2. Call home"]),
        ("So do I. Thanks", ["So do I.", "Thanks"]),
        ("wait... what? ok", ["wait... what?", "ok"]),
        (
            "预算是3.14万元。好的！那就这样吧；明天见",
            ["预算是3.14万元。", "好的！", "那就这样吧；", "明天见"],
        ),
        ("真的吗?我不信!v1.2.3 能用。", ["真的吗?", "我不信!", "v1.2.3 能用。"]),
        ("他说：“好。”然后走了", ["他说：“好。”", "然后走了"]),
        ("打开https://a.test/q?x=1看看。完", ["打开https://a.test/q?x=1看看。", "完"]),
        ("OK.那就这样", ["OK.", "那就这样"]),
    ],
)
def test_sentences_are_cut_at_their_ends_only(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(ANY_TEXT)
def test_sentences_keep_every_visible_character_in_order(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_one_line_folds_whitespace_and_leaves_short_text_alone() -> None:
    assert one_line(" a\n\tb\u3000c ", 10) == "a b c"
    assert one_line("", 5) == ""


def test_one_line_cuts_with_a_mark_and_keeps_the_length() -> None:
    assert one_line("abcdefgh", 5) == "abcd…"
    assert one_line("一二三四五六", 4) == "一二三…"
    assert one_line("abc", 1) == "…"
    assert one_line("abc", 0) == ""
    assert one_line("abc", -1) == ""


def test_one_line_never_cuts_inside_a_visible_character() -> None:
    assert one_line("ab👩‍👩‍👧cd", 5) == "ab…"
    assert one_line("abe\u0301fg", 4) == "ab…"
    assert one_line("a🇨🇳🇫🇷", 3) == "a…"
    assert one_line("a🇨🇳🇫🇷", 4) == "a🇨🇳…"
    assert one_line("👍🏽👍🏽", 2) == "…"


@given(ANY_TEXT, st.integers(-2, 50))
def test_one_line_is_one_line_of_at_most_that_many_characters(text: str, characters: int) -> None:
    line = one_line(text, characters)
    assert len(line) <= max(0, characters)
    assert len(line.splitlines()) <= 1


def test_normal_unifies_width_and_case_and_drops_what_is_not_seen() -> None:
    assert normal("ＫＸ－４８２１０") == "kx-48210"
    assert normal("Straße") == normal("STRASSE")
    assert normal("ig\u200bno\u202ere\U000e0041 a\u00adb") == "ignore ab"
    assert normal("ABC") == "abc"


@given(ANY_TEXT)
def test_normal_of_normal_is_normal_and_holds_no_format_character(text: str) -> None:
    folded = normal(text)
    assert normal(folded) == folded
    assert all(unicodedata.category(character) != "Cf" for character in folded)
