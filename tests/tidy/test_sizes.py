"""A page, not a scroll. Exceptions are listed and may only shrink."""

from pathlib import Path
from statistics import median

import pytest

from tests.tidy import source

FILE_LINES = 400
FUNCTION_LINES = 60
MEDIAN_FILE_LINES = 170
LONGER_FUNCTIONS = {"opening.py:open": 77}  # its docstring is the table of every option


def lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_no_file_is_longer_than_it_may_be(path: Path) -> None:
    assert lines(path) <= FILE_LINES


def test_the_median_file_is_short() -> None:
    assert median(lines(path) for path in source.files() if path.name != "__init__.py") <= MEDIAN_FILE_LINES


@pytest.mark.parametrize("path", source.files(), ids=source.name)
def test_no_function_is_longer_than_a_screen(path: Path) -> None:
    for function in source.functions(path):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        allowed = LONGER_FUNCTIONS.get(f"{source.name(path)}:{function.name}", FUNCTION_LINES)
        assert length <= allowed, f"{function.name} has {length} lines"


def test_the_exceptions_are_still_needed() -> None:
    found = {
        f"{source.name(path)}:{function.name}"
        for path in source.files()
        for function in source.functions(path)
        if (function.end_lineno or function.lineno) - function.lineno + 1 > FUNCTION_LINES
    }
    assert set(LONGER_FUNCTIONS) == found
