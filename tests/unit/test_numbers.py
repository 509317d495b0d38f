"""Numbers read as values, in digits and Chinese numerals."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actormem.core.entities.numbers import NUMBER_CHARS_MAX, number_value, plain


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10,000", "10000"), ("-3.5", "-3.5"), ("1.5万", "15000"),
        ("10k", "10000"), ("1.2 million", "1200000"),
        ("1万2千", "12000"), ("一万二千", "12000"), ("一万二", "12000"),
        ("两千零五", "2005"), ("三点五", "3.5"),
        ("二〇三一", "2031"), ("一亿三千万", "130000000"), ("十五", "15"),
        ("一百二", "120"), ("一百零二", "102"),
        ("三万亿", "3000000000000"), ("贰仟叁佰", "2300"),
        ("3百万", "3000000"), ("1284.50", "1284.5"), ("0.10", "0.1"),
    ],
)  # fmt: skip
def test_a_number_is_read_however_it_is_written(text: str, number: str) -> None:
    value = number_value(text)
    assert value is not None
    assert plain(value) == number


@pytest.mark.parametrize(
    "text", ["", "abc", "万一", "KX-3", "1,28,4", "三点", "12 apples", "1.2.3", "9" * 41]
)
def test_what_is_more_or_less_than_a_number_is_none(text: str) -> None:
    assert number_value(text) is None


@given(st.integers(0, 10**14))
def test_a_grouped_integer_keeps_its_value(number: int) -> None:
    assert number_value(f"{number:,}") == number


@given(st.text(alphabet="零一二两三四五六七八九十百千万亿0123456789.,-点km", max_size=NUMBER_CHARS_MAX + 5))
def test_any_mixture_of_number_characters_is_a_number_or_none(text: str) -> None:
    value = number_value(text)
    assert value is None or number_value(plain(value)) in (None, value)


def test_plain_digits_have_no_exponent_and_no_idle_zeros() -> None:
    assert plain(Decimal("1E+4")) == "10000"
    assert plain(Decimal("-0.0")) == "0"
