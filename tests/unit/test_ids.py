"""Ids: opaque keys, taken as they are or refused, never a path and never repeated in an error."""

from typing import Any

import pytest

from actormem.core.ids import checked_id, item_id, item_number, message_id
from actormem.errors import UsageError
from actormem.limits import ID_CHARS_MAX


@pytest.mark.parametrize(
    "id",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "con",
        "-rf",
        "$HOME",
        "' OR 1=1 --",
        "%",
        "*",
        " ",
        "用户-七",
        "👩‍👩‍👧",
        "é",
        "e\u0301",
        "\u202eabc",
        "\u200b",
        "a" * ID_CHARS_MAX,
        "u1:a:b",
    ],
)
def test_what_looks_dangerous_is_an_id_like_any_other_and_kept_as_it_is(id: str) -> None:
    assert checked_id(id, "user") == id


def test_ids_are_never_made_alike() -> None:
    pairs = [("é", "e\u0301"), ("A", "a"), ("u1:a", "u1"), ("１", "1"), ("a", "a\u200b")]
    for first, second in pairs:
        assert checked_id(first, "user") != checked_id(second, "user")


@pytest.mark.parametrize("character", ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\ud800"])
def test_control_characters_and_lone_surrogates_are_refused_anywhere_in_an_id(character: str) -> None:
    for id in (character, f"a{character}", f"{character}a"):
        with pytest.raises(UsageError, match=r"^user holds a control character or a lone surrogate$"):
            checked_id(id, "user")


@pytest.mark.parametrize("given", [None, 7, b"a", ["a"], True])
def test_what_is_no_string_is_refused_by_its_type(given: Any) -> None:
    with pytest.raises(UsageError, match=rf"^user must be a string, not {type(given).__name__}$"):
        checked_id(given, "user")


def test_an_empty_id_and_one_too_long_are_refused_with_the_numbers() -> None:
    with pytest.raises(UsageError, match=r"^session id must not be empty$"):
        checked_id("", "session id")
    with pytest.raises(UsageError, match=r"^user has 300 characters, at most 256 are allowed$"):
        checked_id("a" * 300, "user")


def test_an_error_never_repeats_the_id() -> None:
    for id in ("geheim\0", "geheim" * 100):
        with pytest.raises(UsageError) as caught:
            checked_id(id, "user")
        assert "geheim" not in str(caught.value)


def test_item_ids_and_their_numbers_stand_for_each_other() -> None:
    assert message_id(7) == "#7"
    for number in (0, 1, 48_210, 10**18 - 1):
        assert item_number(item_id(number)) == number


@pytest.mark.parametrize(
    "id", ["", "m", "7", "M7", "m-7", "m7 ", "m 7", "m²", "m７", "m1_0", "m007", "m" + "9" * 19, "#7", "n7"]
)
def test_what_is_not_exactly_an_item_id_has_no_number(id: str) -> None:
    assert item_number(id) is None
