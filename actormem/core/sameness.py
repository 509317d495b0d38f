"""When two values are one said twice: compared without case, width, punctuation, articles and plurals.

Numbers, ids and dates are part of the compared form, so that differing ones can never be the same.
For comparing only: the form is never shown and never stored.
"""

import re
from typing import Final

from actormem.core.numbers import NUMBER, number_value, plain
from actormem.core.text import normal

__all__ = ["loose", "within"]

AMOUNT: Final = re.compile(rf"(?<![a-z0-9._/:-])(?!0\d){NUMBER}(?![a-z0-9_/:-])(?!\.\d)")
TOKEN: Final = re.compile(
    r"[$€£¥+-]?\d[\w.:/%@+-]*|[^\W\d_]+(?:[-'.@/_+#&]\w+)*[+#]*(?:-(?!\w))?|[\u2190-\u2bff\U0001f000-\U0001faff]"
)
WORD: Final = re.compile(r"\w+", re.ASCII)
ARTICLES: Final = frozenset(("a", "an", "the", "my", "some"))
PLURAL_CHARS_MIN: Final = 4  # shorter words are no plurals: gas, bus, yes
HAN: Final = "\u3400-\u9fff"
HAN_GAP: Final = re.compile(rf"(?<=[{HAN}]) | (?=[{HAN}])")
HAN_FILLER: Final = re.compile(rf"(?<=[{HAN}])的(?=[{HAN}]|$)|^[吃喝](?=[{HAN}])")


def loose(value: str) -> str:
    """The form in which values are compared; equal forms mean the same value said twice.

    >>> loose("The Peanuts!") == loose("peanut"), loose("room 5") == loose("room 6")
    (True, False)
    """
    text = AMOUNT.sub(in_digits, normal(value).replace("。", " "))
    tokens = [singular(token.rstrip(".:/")) for token in TOKEN.findall(text)]
    while len(tokens) > 1 and tokens[0] in ARTICLES:
        tokens = tokens[1:]
    words = HAN_FILLER.sub("", HAN_GAP.sub("", " ".join(tokens))) or text.strip()
    ids = [word for word in WORD.findall(value) if is_mixed(word)]
    return "\n".join([words, *ids])


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
    if not part or not whole:
        return False
    return re.search(rf"(?<![a-z0-9.$€£¥-]){re.escape(part)}(?![a-z0-9]|[.,]\d)", whole) is not None
