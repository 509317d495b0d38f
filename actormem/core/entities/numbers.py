"""Numbers as people write them, in digits, Chinese numerals or both, read as exact decimals.

Law of the file: a text is read whole or not at all; nothing is rounded; no loop is longer than the text.
"""

import re
from decimal import Decimal
from typing import Final

__all__ = ["DIGITS", "HAN_NUMBER", "NUMBER", "number_value", "plain"]

NUMBER_CHARS_MAX: Final = 40  # no amount, count or quantity is longer; ids are not numbers

HAN_DIGITS: Final = {"两": 2, "兩": 2, "〇": 0} | {
    letter: number
    for letters in ("零一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖")
    for number, letter in enumerate(letters)
}
HAN_UNITS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
HAN_GROUPS: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000}
SCALES: Final = {
    "k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "bn": 1_000_000_000,
    "billion": 1_000_000_000, "十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000,
    "十万": 100_000, "百万": 1_000_000, "千万": 10_000_000, "亿": 100_000_000, "万亿": 1_000_000_000_000,
}  # fmt: skip

#: Pattern sources, for the patterns of other kinds: digits with groups; Chinese numerals.
DIGITS: Final = r"(?:\d{1,3}(?:,\d{3}){1,6}+|\d{1,15}+)(?:\.\d{1,8}+)?"
_FORMAL = "壹贰叁肆伍陆柒捌玖"
HAN_NUMBER: Final = (
    rf"[一二两三四五六七八九十百千{_FORMAL}][零〇一二两三四五六七八九十百千万亿拾佰仟{_FORMAL}]{{0,19}}+"
)
_SCALE = (
    r"(?:万亿|[十百千]?万|亿|[百千](?![一-龥])|[kK](?![A-Za-z])|[mM](?![A-Za-z])|thousand|million|billion|bn)"
)
#: Digits with an optional scale (`1.5万`, `10k`), digits and numerals mixed (`1万2千`), or numerals.
NUMBER: Final = rf"(?:{DIGITS}(?:\s?{_SCALE}(?:\d{{1,4}}[千百])?)?|{HAN_NUMBER})"

_DIGITS = re.compile(DIGITS)
_SCALED = re.compile(rf"({DIGITS})\s?([a-z]{{1,8}}|[十百千万萬亿]{{1,2}})", re.IGNORECASE)
_MIXED = re.compile(r"(?:\d{1,4}[亿万千百十]){1,5}\d{0,4}")
_HAN_PART = re.compile(r"\d{1,4}|[^\d]")


def plain(number: Decimal) -> str:
    """A number in its shortest plain digits: `1284.50` is `1284.5`, `1E+4` is `10000`."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number_value(text: str) -> Decimal | None:
    """The number a text is, or None where it is none or more than a number.

    Reads `10,000`, `-3.5`, `1.5万`, `10k`, `1.2 million`, `1万2千`, `一万二千`, `一万二` (12,000),
    `两千零五`, `三点五`, `二〇三一`.

    Args:
        text: At most 40 characters; anything longer is no number.

    Cost:
        O(n).
    """
    text = text.strip()
    if not text or len(text) > NUMBER_CHARS_MAX:
        return None
    sign = -1 if text[0] in "-负" else 1
    text = text[1:] if text[0] in "+-负" else text
    if _DIGITS.fullmatch(text):
        return sign * Decimal(text.replace(",", ""))
    scaled = _SCALED.fullmatch(text)
    if scaled is not None:
        scale = SCALES.get(scaled[2].casefold())
        return None if scale is None else sign * Decimal(scaled[1].replace(",", "")) * scale
    if _MIXED.fullmatch(text):
        return sign * _han_integer(_HAN_PART.findall(text))
    return _han(text, sign)


def _han(text: str, sign: int) -> Decimal | None:
    whole, point, rest = text.partition("点")
    if not whole or (point and not rest):
        return None
    if any(letter not in HAN_DIGITS for letter in rest):
        return None
    if not all(letter in HAN_DIGITS or letter in HAN_UNITS or letter in HAN_GROUPS for letter in whole):
        return None
    if whole[0] in HAN_GROUPS:
        return None
    if len(whole) > 1 and all(letter in HAN_DIGITS for letter in whole):
        number = Decimal("".join(str(HAN_DIGITS[letter]) for letter in whole))
    else:
        number = _han_integer(list(whole))
    if rest:
        number += Decimal("0." + "".join(str(HAN_DIGITS[letter]) for letter in rest))
    return sign * number


def _han_integer(parts: list[str]) -> Decimal:
    """Numerals with units; a last digit without its unit takes the next lower one (一万二: 12,000)."""
    total, group, digit, last_unit, zero = 0, 0, 0, 1, False
    for part in parts:
        if part.isdigit() and part.isascii():
            digit = int(part)
        elif part in HAN_DIGITS:
            digit = HAN_DIGITS[part]
            zero = digit == 0
        elif part in HAN_UNITS:
            group += (digit or 1) * HAN_UNITS[part]
            digit, last_unit, zero = 0, HAN_UNITS[part], False
        else:
            unit = HAN_GROUPS[part]
            total = (total + group + digit) * unit if unit > 10_000 else total + (group + digit) * unit
            group, digit, last_unit, zero = 0, 0, unit, False
    if digit and digit < 10 and last_unit > 10 and not zero and _shortened(parts):
        digit *= last_unit // 10
    return Decimal(total + group + digit)


def _shortened(parts: list[str]) -> bool:
    """Whether the last digit stands right after a unit of hundred or more, as in 三千五."""
    return len(parts) > 1 and parts[-2] not in HAN_DIGITS
