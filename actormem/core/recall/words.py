"""Words of a text, as the lexical arm counts them, for Chinese and English alike.

The law of this file: the same text gives the same terms on every run, no str raises, and whatever a reader
would type to find a text again (a Chinese word inside a run, a Latin word inside Chinese, an order number or
a part of it) is among its terms.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import islice
from typing import Final, cast

import Stemmer

from actormem.core.recall.irregular import BASE_FORMS

__all__ = ["Words", "first_tokens", "normal_text", "token_count"]

ID_TAIL_CHARS: Final = 4  # people name the last four digits of a phone, a card or an order
KNOWN_WORDS_MAX: Final = (
    10_000  # words whose stem is remembered: 1 MB, as many as the stemmer remembers itself
)
ID_TAIL_MIN_DIGITS: Final = 7  # shorter numbers are named whole

CJK: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
RUN: Final = re.compile(
    rf"(?P<cjk>[{CJK}]+)"
    rf"|(?P<latin>[^\W_{CJK}]+(?:[-_./:@#+&'’][^\W_{CJK}]+)*)"
)
RUN_ASCII: Final = re.compile(r"()([a-z0-9]+(?:[-_./:@#+&'][a-z0-9]+)*)")  # the same in lower case, quicker
PART: Final = re.compile(rf"[^\W_{CJK}]+")
LENGTH: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
LENGTH_ASCII: Final = re.compile(r"[A-Za-z0-9]+")
THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
LETTERS_OR_DIGITS: Final = re.compile(r"\d+|[^\W\d_]+")

STOP_LIST: Final = """
    a about above after again against all also am an and any are aren as at be because been before being
    below between both but by bye can cannot could couldn d did didn do does doesn doing don down during
    each few for from further get got had hadn haha has hasn have haven having he hello her here hers
    herself hey hi him himself his hmm how i if in into is isn it its itself just let ll lol m me more
    most my myself no nor not of off oh ok okay on once only or other our ours ourselves out over own
    please re s same shan she should shouldn so some such sure t than thank thanks that the their theirs
    them themselves then there these they this those through to too under until up us ve very was wasn
    we were weren what when where which while who whom whose why will with won would wouldn wow yeah yes
    you your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(STOP_LIST.split())
STOP_CHARACTERS: Final = frozenset(
    "的了是在我你他她它们和与及或也都就还很这那个之吗呢吧啊呀哦嗯么什怎哪有着过把被给到从对为好谢您哈请"
)


def normal_text(text: str) -> str:
    """The text in one form of writing: compatibility characters unified, lower case, 10,000 as 10000."""
    lower = unicodedata.normalize("NFKC", text).lower()
    return THOUSANDS.sub("", lower) if "," in lower else lower


def token_count(text: str) -> int:
    """Length of a text in words: runs of letters or digits, and single CJK characters."""
    return len((LENGTH_ASCII if text.isascii() else LENGTH).findall(text))


def first_tokens(text: str, limit: int) -> str:
    """The text up to its `limit`th token, as `token_count` counts them."""
    last = next(islice(LENGTH.finditer(text), limit, None), None)
    return text if last is None else text[: last.start()]


def english_stems() -> Callable[[str], str]:
    """Snowball's English stemmer, whose package has no types; it remembers its last 10,000 words itself."""
    made = cast("object", Stemmer.Stemmer("english"))  # pyright: ignore[reportUnknownMemberType]
    return getattr(made, "stemWord")  # noqa: B009


class Words:
    """Cuts texts into terms. For one thread at a time: a stemmer works in a memory of its own."""

    def __init__(self) -> None:
        self._stem = english_stems()
        self._known: dict[str, str] = {}

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated as often as they stand there.

        A run of Chinese gives all its bigrams and single characters (function characters stopped); a Latin
        word its English stem; an id (`KX-48210-77`) itself, its parts, and the last digits of a long number.

        Cost:
            O(length); about 0.1 ms for 1,000 characters.
        """
        terms: list[str] = []
        known, normal = self._known, normal_text(text)
        for run, word in (RUN_ASCII if normal.isascii() else RUN).findall(normal):
            if run:
                characters_of(run, terms)
            elif (term := known.get(word)) is not None:
                if term:
                    terms.append(term)
            else:
                self._words_of(word, terms)
        return terms

    def _words_of(self, word: str, terms: list[str]) -> None:
        if word.isalpha():
            term = self._term(word)
            if term:
                terms.append(term)
            return
        parts = PART.findall(word)
        has_digit = any(map(str.isdigit, word))
        if len(parts) > 1 and (has_digit or "@" in word):
            terms.append(word)
        for part in parts:
            if not part.isalpha():
                number_terms(part, terms)
            elif term := self._term(part):
                terms.append(term)

    def _term(self, word: str) -> str:
        """The term of a word, empty for a stop word; remembered for the next time, as ids and numbers are not."""
        term = self._known.get(word)
        if term is None:
            if len(self._known) >= KNOWN_WORDS_MAX:
                self._known.clear()
            term = "" if word in STOP_WORDS else self._stem(BASE_FORMS.get(word, word))
            self._known[word] = term
        return term


def characters_of(run: str, terms: list[str]) -> None:
    previous = ""
    for character in run:
        stopped = character in STOP_CHARACTERS
        if previous and not (stopped and previous in STOP_CHARACTERS):
            terms.append(previous + character)
        if not stopped:
            terms.append(character)
        previous = character


def number_terms(part: str, terms: list[str]) -> None:
    terms.append(part)
    pieces = LETTERS_OR_DIGITS.findall(part)
    if len(pieces) > 1:
        terms.extend(piece for piece in pieces if len(piece) > 1)
    for piece in pieces:
        if len(piece) >= ID_TAIL_MIN_DIGITS and piece.isdigit():
            terms.append(piece[-ID_TAIL_CHARS:])
