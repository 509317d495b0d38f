"""When two values are one said twice: compared without case, width, punctuation, articles and plurals.

Numbers, ids and dates are part of the compared form, so that differing ones can never be the same.
For comparing only: the form is never shown and never stored.
"""

import re
from typing import Final

from actormem.core.entities.numbers import NUMBER, number_value, plain
from actormem.core.text import normal
from actormem.core.whole_words import places

__all__ = ["loose", "sense", "within"]

AMOUNT: Final = re.compile(rf"(?<![a-z0-9._/:-])(?!0\d){NUMBER}(?![a-z0-9_/:-])(?!\.\d)")
GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
TOKEN: Final = re.compile(
    r"[$€£¥+-]?\d[\w.:/%@+-]*|[^\W\d_]+(?:[-'.@/_+#&]\w+)*[+#]*(?:-(?!\w))?|"
    r"[\u2190-\u2bff\U0001f000-\U0001faff]"
)
WORD: Final = re.compile(r"\w+", re.ASCII)
JOINED_BEFORE: Final = re.compile(r"[a-z0-9.$€£¥-]")
JOINED_BEHIND: Final = re.compile(r"[a-z0-9]|[.,]\d")
ARTICLES: Final = frozenset(("a", "an", "the", "my", "some"))
PLURAL_CHARS_MIN: Final = 4  # shorter words are no plurals: gas, bus, yes
HAN: Final = "\u3400-\u9fff"
HAN_GAP: Final = re.compile(rf"(?<=[{HAN}]) | (?=[{HAN}])")
HAN_FILLER: Final = re.compile(rf"(?<=[{HAN}])的(?=[{HAN}]|$)|^[吃喝](?=[{HAN}])")
SENSES: Final = {
    attribute: tuple((name, re.compile(shape, re.IGNORECASE)) for name, shape in shapes)
    for attribute, shapes in {
        "contact_preference": (
            ("wechat", "微信|we ?chat"), ("whatsapp", "whatsapp"), ("telegram", "telegram"), ("qq", "qq"),
            ("signal", "signal"), ("dingtalk", "钉钉"), ("feishu", "飞书"), ("slack", "slack"),
            ("email", "邮|mail"), ("text", r"短信|\btext|\bsms|imessage"), ("message", "站内信|私信|消息|"
            "信息|messag"),
            ("phone", r"电话|手机|座机|来电|打给我|^打|\bcall|phon|\bring|\brang"), ("letter", r"letter|"
            r"\bpost\b|写信"),
        ),
        "delivery": (
            ("locker", "柜|locker|丰巢"), ("station", "驿站|代收|station|pick-?up point"),
            ("desk", "前台|物业|保安|门卫|门房|传达室|desk|reception|concierge|lobby|doorman|大厅"),
            ("neighbour", "邻居|neighbo"), ("door", r"门口|门外|\bdoor|porch"),
            ("mailbox", "信箱|mailbox|mail ?room"), ("pickup", "自提|pick ?up"), ("home", "上门|home"),
        ),
    }.items()
}  # fmt: skip


def loose(value: str) -> str:
    """The form in which values are compared; equal forms mean the same value said twice.

    >>> loose("The Peanuts!") == loose("peanut"), loose("room 5") == loose("room 6")
    (True, False)
    """
    text = GROUPED.sub(lambda match: match[0].replace(",", ""), normal(value))
    text = AMOUNT.sub(in_digits, text.replace("。", " "))
    tokens = [singular(token.rstrip(".:/")) for token in TOKEN.findall(text)]
    while len(tokens) > 1 and tokens[0] in ARTICLES:
        tokens = tokens[1:]
    words = HAN_FILLER.sub("", HAN_GAP.sub("", " ".join(tokens))) or text.strip()
    ids = [word for word in WORD.findall(value) if is_mixed(word)]
    return "\n".join([words, *ids])


def sense(attribute: str, value: str) -> str:
    """The way that a wish speaks of, one name for it in both languages; empty where it is not known.

    >>> sense("contact_preference", "打电话"), sense("contact_preference", "call me by phone")
    ('phone', 'phone')
    """
    return next((name for name, shape in SENSES.get(attribute, ()) if shape.search(value)), "")


def is_mixed(word: str) -> bool:
    """Whether a word has digits, small and capital letters, as ids do in which case matters."""
    return all(any(map(has, word)) for has in (str.isdigit, str.islower, str.isupper))


def in_digits(match: re.Match[str]) -> str:
    number = number_value(match[0])
    return match[0] if number is None else plain(number)


def singular(word: str) -> str:
    """An English word without its plural ending; every other word as it is."""
    if len(word) < PLURAL_CHARS_MIN or not (word.isascii() and word.isalpha()) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > PLURAL_CHARS_MIN:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes", "oes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def within(part: str, whole: str) -> bool:
    """Whether one compared form stands as whole words in the other; digits never match half a number."""
    return any(
        not JOINED_BEFORE.match(whole[start - 1 : start])
        and not JOINED_BEHIND.match(whole, start + len(part))
        for start in places(part, whole)
    )
