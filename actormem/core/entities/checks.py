"""Whether a match is the value it looks like, and what it is as a value.

Law of the file: each check returns the normal form, or None where the match is not to be believed.
Amounts are `number currency` (`1284.5 CNY`; the bare number where no currency stands with it), percentages
`15%`, phones their digits, durations and quantities `number unit`, times `hh:mm[:ss]`.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Final

from actormem.core.entities.dates import date_value, relative_value
from actormem.core.entities.numbers import NUMBER, number_value, plain

__all__ = ["kind_of_token", "normal_of"]

_CURRENCIES: Final = (  # first match counts: 港元 and US$ also hold 元 and $
    ("HKD", r"hk\$|hkd|港币|港元"),
    ("AUD", r"au\$|aud|澳元"),
    ("CAD", r"ca\$|cad|加元"),
    ("JPY", r"jpy|yen|日元"),
    ("KRW", r"₩|韩元"),
    ("EUR", r"€|eur|欧元"),
    ("GBP", r"£|gbp|pound|英镑"),
    ("INR", r"₹"),
    ("USD cents", r"cents"),
    ("USD", r"\$|usd|dollar|buck|美元|美金"),
    ("CNY", r"cny|rmb|yuan|[¥￥元块圆]|人民币"),
)
_CURRENCY: Final = tuple((code, re.compile(source, re.IGNORECASE)) for code, source in _CURRENCIES)
_NUMBER = re.compile(rf"{NUMBER}", re.IGNORECASE)
_RANGE = re.compile(r"(\d[\d,]{0,15}(?:\.\d{1,4})?)\s?[-–~～到至]\s?(?=\d)")
_HAN_POINT = re.compile(r"[零一二两三四五六七八九十百千]{1,8}点[零一二三四五六七八九]{1,6}")
_TRAILING = re.compile(r"块([一二三四五六七八九])$")
_UNIT_NAMES: Final = {
    "day": "days|天",
    "hour": "hours|hr|hrs|小时|钟头",
    "week": "weeks|周|星期|礼拜",
    "month": "months|月",
    "year": "years|年",
    "minute": "minutes|mins|min|分钟",
    "second": "seconds|secs|sec|秒|秒钟",
    "night": "nights|晚",
    "business day": "工作日|business days|working days|working day",
    "quarter": "季度",
    "inch": 'inches|"|英寸|寸',
    "kg": "公斤|千克",
    "km": "公里|千米",
    "cm": "厘米",
    "mm": "毫米",
    "m": "米",
    "g": "克",
    "ml": "毫升",
    "l": "升",
    "m2": "平方米|平米|平",
    "lb": "lbs",
    "person": "人|people|persons|位",
}
_UNITS: Final = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split("|")}
_WORDS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s?([ap])?")
_TIME_ZH = re.compile(
    r"([^\d一二两三四五六七八九十]{0,2})([\d一二两三四五六七八九十]{1,3})(?:点钟?|时)(半|整|钟|[一三]刻|[^分]{1,3})?分?"
)
_ADDRESS_CUE = re.compile(
    r"^.{0,12}(?:住在|搬到了?|搬去|寄到|送到|寄往|发到|发往|送去|地址是|地址为|地址|改成|改为|改到|换成|换到|位于|[是在到去往至给从：:]|成(?!都))"
)
_ADDRESS_TAIL = re.compile(r"[0-9一二三四五六七八九十A-Za-z]\s?(?:号|弄|栋|幢|座|单元|楼|层|室|户)")
_ADDRESS_ADMIN = re.compile(r"特别行政区|自治区|自治州|[省市区县旗]")
_ADDRESS_PLACE = re.compile(
    r"大道|[路街巷弄镇乡村屯苑]|胡同|小区|花园|公寓|家园|大厦|中心|广场|园区|产业园|科技园|大学|医院|写字楼|国际"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(
    r"(?=[0-9]{0,128}[a-f])(?=[a-f]{0,128}[0-9])[0-9a-f]{8,128}|(?=[0-9]{0,128}[A-F])(?=[A-F]{0,128}[0-9])[0-9A-F]{8,128}"
)
_ORDINARY = re.compile(
    r"\d{1,4}(?:-?[a-z]{1,12}){1,3}|\d{1,4}[A-Z]{1,2}|[A-Za-z]{1,20}[-_]?\d{1,2}|[A-Za-z]{2,20}[-_]?(?:19|20)\d\d|[a-z]{2,20}-\d{1,3}"
    r"|[a-z]{1,12}\d{1,2}[a-z]{1,3}|[A-Za-z]{1,8}-\d{1,2}[a-z]{1,4}(?:-[a-z]{1,12}){0,3}"
    r"|[A-Za-z]{1,10}[-_]?\d{1,2}[A-Za-z]?"
)
_LOCATOR = re.compile(r"(?=[A-Z]{0,5}[0-9])(?=[0-9]{0,5}[A-Z])[A-Z0-9]{6}")
_PRODUCTS: Final = frozenset({
    "sha256", "sha512", "sha-256", "sha-512", "sha1", "x86_64", "x86-64", "base64", "win32", "win64", "h264",
    "h265", "utf-16", "utf16", "ipv4", "ipv6", "mp3", "mp4", "iso-8859-1", "rs232", "i18n", "l10n", "k8s",
    "arm64", "amd64", "covid-19",
})  # fmt: skip


def kind_of_token(token: str, *, named: bool) -> str | None:
    """`id` or `hash` for a token of letters and digits, None where it is an ordinary word.

    Args:
        token: Letters and digits, joined by hyphens or underscores; no other characters.
        named: Whether a noun names it: then short and word-like ones count too.
    """
    letters = any(letter.isalpha() for letter in token)
    if not letters or not any(letter.isdigit() for letter in token) or token.casefold() in _PRODUCTS:
        return None
    if _HASH.fullmatch(token):
        return "hash"
    if _UUID.fullmatch(token) or _LOCATOR.fullmatch(token):
        return "id"
    if named:
        return "id" if len(token) >= 2 else None
    if len(token) < 4 or _ORDINARY.fullmatch(token):
        return None
    return "id"


def normal_of(kind: str, value: str, today: date | None) -> str | None:
    """The value compared as a value, or None where the match is none of that kind.

    Args:
        kind: The kind its pattern proposes.
        value: The characters of the match, of usual width.
        today: The speaker's day, or None where it is not known.
    """
    match kind:
        case "amount":
            return _amount(value)
        case "percent":
            return _percent(value)
        case "date":
            return date_value(value, today)
        case "relative":
            return relative_value(value, today) if today else None
        case "time":
            return _time(value)
        case "duration" | "quantity":
            return _measure(value)
        case "phone":
            return _phone(value)
        case "email" | "url":
            return value.casefold() if kind == "email" else value
        case "address":
            return " ".join(value.casefold().replace(",", " ").split()) if _is_address(value) else None
        case _:
            return value.casefold()


def address_start(value: str) -> int:
    """How many characters in front of a Chinese address are words that lead to it (住在, 寄到 …)."""
    first = _ADDRESS_ADMIN.search(value) or _ADDRESS_PLACE.search(value)
    if first is None:
        return 0
    cue = _ADDRESS_CUE.match(value[: first.start()])
    return cue.end() if cue is not None and first.start() - cue.end() >= 1 else 0


def _is_address(value: str) -> bool:
    if value.isascii():
        return " " in value.strip()
    admins = len(_ADDRESS_ADMIN.findall(value))
    place = _ADDRESS_PLACE.search(value) is not None
    if _ADDRESS_TAIL.search(value):
        return place or admins >= 1
    return admins >= 2 and place


def _amount(value: str) -> str | None:
    code = next((code for code, search in _CURRENCY if search.search(value)), "")
    half = _TRAILING.search(value)
    body = value[: half.start()] if half else value
    low = _RANGE.match(body)
    body = body[low.end() :] if low else body
    spoken = _HAN_POINT.search(body)
    found = spoken or _NUMBER.search(body)
    number = number_value(found[0]) if found else None
    if number is None:
        return None
    if half:
        number += (number_value(half[1]) or 0) / Decimal(10)
    lowest = number_value(low[1]) if low else None
    return f"{'' if lowest is None else plain(lowest) + '-'}{plain(number)} {code}".strip()


def _percent(value: str) -> str | None:
    if value.endswith("折"):
        number = number_value(value[:-1].strip())
        if number is None or not 0 < number < 100:
            return None
        return f"{plain(number * 10 if number < 10 else number)}%"
    body = value.removeprefix("百分之")
    found = _HAN_POINT.fullmatch(body) or _NUMBER.search(body)
    number = number_value(found[0]) if found else None
    if number is None:
        return None
    return f"{'-' if value.startswith('-') else ''}{plain(number)}%"


def _time(value: str) -> str | None:
    text = value.casefold().replace(" ", "")
    if found := _TIME.match(text) if text[0].isdigit() and "点" not in text and "时" not in text else None:
        hour, minute = int(found[1]), int(found[2] or 0)
        late = found[4] == "p"
        early = found[4] == "a"
        second = f":{found[3]}" if found[3] else ""
    else:
        match = _TIME_ZH.fullmatch(text)
        spoken = number_value(match[2]) if match else None
        if match is None or spoken is None:
            return None
        hour, second = int(spoken), ""
        minute = {"半": 30, "一刻": 15, "三刻": 45, "整": 0, "钟": 0, None: 0}.get(match[3], -1)
        if minute < 0:
            minute = int(number_value(match[3].removeprefix("零")) or 0)
        late = match[1] in ("下午", "傍晚", "晚上", "晚", "夜里", "今晚", "明晚") or (
            match[1] == "中午" and hour < 3
        )
        early = match[1] in ("凌晨", "半夜")
    if late and hour < 12:
        hour += 12
    if early and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}{second}" if hour <= 24 and minute < 60 else None


def _measure(value: str) -> str | None:
    text = value.casefold().strip()
    if text.startswith("半"):
        return f"0.5 {_unit(text[1:])}"
    word = text.split(" ")[0]
    if word in _WORDS:
        return f"{_WORDS[word]} {_unit(text.removeprefix(word))}"
    found = re.match(rf"(?:([\d.]{{1,7}})\s?(?:-|–|~|to|到|至)\s?)?({NUMBER})", text)
    number = number_value(found[2]) if found else None
    if found is None or number is None:
        return text
    low = f"{found[1]}-" if found[1] else ""
    return f"{low}{plain(number)} {_unit(text[found.end() :])}"


def _unit(text: str) -> str:
    unit = text.strip(" -")
    unit = unit.removeprefix("个") or unit
    return _UNITS.get(unit, unit.removesuffix("s") if len(unit) > 3 else unit)


def _phone(value: str) -> str | None:
    digits = "".join(letter for letter in value if letter.isdigit())
    if not 7 <= len(digits) <= 18:
        return None
    if len(digits) == 13 and digits.startswith("861"):
        return digits[2:]
    if len(digits) == 11 and digits.startswith("1") and value.lstrip().startswith("+"):
        return digits[1:]
    return digits
