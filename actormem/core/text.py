"""Text as text: cleaning, language, sentences, one-line views, and the form in which texts are matched.

The law of the file: every function is linear in its input and keeps the words as they are, except
`normal`, whose result is for comparing only and is never shown or stored.
"""

import re
import unicodedata
from typing import Final, Literal

__all__ = ["clean", "language", "normal", "one_line", "sentence_ends", "sentences"]

HAN_SHARE_MIN: Final = 0.2  # of the letters: Chinese about software is a quarter Han and still Chinese
ABBREVIATION_CHARS: Final = 12  # looked at before a full stop; the longest one listed has 6

SURROGATE = re.compile("[\ud800-\udfff]")
HAN = re.compile("[〇㐀-䶿一-鿿豈-﫿\U00020000-\U000323af]")
LETTER = re.compile(r"[^\W\d_]")

# Alternatives in order: what must stay whole, then what may end a sentence.
STOP = re.compile(
    r"""(?P<whole>(?:https?|ftp)://[^\s<>"'，。！？；、（）《》【】“”‘’]*[\w/=&%\#~+$-])
      | (?P<line>[\n\r\u2028\u2029]+)
      | (?P<han>[。！？；]+["”’」』）)\]】》]*)
      | (?P<mark>[!?][!?]*["”’」』）)\]】》]*)
      | (?P<dots>\.{2,}|…+)
      | (?P<dot>\.["”’」』）)\]】》]*)""",
    re.VERBOSE,
)
LAST_WORD = re.compile(r"(?:^|[\s(（\"“'，、])((?:[A-Za-z]\.)*[A-Za-z]+)$")
NEVER_LAST: Final = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "vs", "cf", "e.g", "i.e", "eg", "ie", "approx", "hon")
)
SELDOM_LAST: Final = frozenset(
    ("etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "jan", "feb", "aug", "sept", "oct", "nov")
)
NAME_FOLLOWS: Final = frozenset(("st", "mt", "gen", "rev", "sgt", "capt", "sen", "gov"))
NUMBER_FOLLOWS: Final = frozenset(
    ("no", "nos", "nr", "vol", "pp", "p", "art", "sec", "ch", "fig", "figs", "ext", "tel")
)


def clean(text: str) -> str:
    """The text without what other parts choke on: lone surrogates become U+FFFD, NUL is dropped.

    Two halves of a pair that arrived apart become the character they stand for. Called once, where
    text comes in.

    Returns:
        The very same object where nothing had to change.

    Source:
        msgspec, SQLite and JSON over HTTP refuse lone surrogates; SQLite's full text search refuses NUL.
    """
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    if SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "") if "\0" in text else text


def language(text: str) -> Literal["zh", "en"]:
    """`zh` where at least a fifth of the letters are Han characters, else `en`; empty text is `en`."""
    if text.isascii():
        return "en"
    letters_count = len(LETTER.findall(text))
    han_count = len(HAN.findall(text))
    return "zh" if han_count and han_count >= HAN_SHARE_MIN * letters_count else "en"


def sentences(text: str) -> list[str]:
    """The sentences of a Chinese or English text, in order, stripped, none empty.

    A line break always ends a sentence, so do 。！？； and, where a space, a Han character or the end
    follows, `.`, `!` and `?` (these two also right behind a Han character). Decimals, URLs, versions,
    abbreviations, initials and list numbers stay whole. A run of dots ends a sentence only before a
    capital letter.
    """
    ends = sentence_ends(text)
    found = [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]
    return [sentence for sentence in found if sentence]


def sentence_ends(text: str) -> list[int]:
    """Where its sentences end, as `sentences` has them; the last is the end of the text."""
    ends = [0]
    for stop in STOP.finditer(text):
        if stop.lastgroup != "whole" and ends_sentence(text, ends[-1], stop):
            ends.append(stop.end())
    if ends[-1] < len(text):
        ends.append(len(text))
    return ends[1:]


def ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether this mark, in the sentence that began at `start`, is its end."""
    kind = stop.lastgroup
    if kind in ("line", "han"):
        return True
    following = text[stop.end() : stop.end() + 1]
    spaced = not following or following.isspace()
    if kind == "mark" and HAN.match(text[stop.start() - 1 : stop.start()]):
        return True
    if not spaced and not HAN.match(following):
        return False
    if kind == "mark":
        return True
    after = text[stop.end() : stop.end() + 3].lstrip()[:1]
    if kind == "dots":
        return not after or after.isupper()
    before = text[max(start, stop.start() - ABBREVIATION_CHARS) : stop.start()]
    if stop.start() - start < ABBREVIATION_CHARS and text[start : stop.start()].strip().isdecimal():
        return not after  # "1. Buy milk" is one item of a list
    word = LAST_WORD.search(before)
    return not word or not is_abbreviation(word[1], after)


def is_abbreviation(word: str, after: str) -> bool:
    """Whether a full stop behind `word` belongs to the word, given the first character after it."""
    lower = word.lower()
    if lower in NEVER_LAST:
        return True
    if lower in NAME_FOLLOWS or (len(word) == 1 and word.isupper() and word != "I"):
        return after.isupper()
    if lower in NUMBER_FOLLOWS:
        return after.isdecimal()
    return (lower in SELDOM_LAST or "." in word) and bool(after) and not after.isupper()


def one_line(text: str, characters: int) -> str:
    """The text on one line of at most `characters` characters, whitespace folded, cut with `…` where longer.

    The cut never falls inside what a reader sees as one character (accents, joined emoji, flags).
    """
    line = " ".join(text.split())
    if len(line) <= max(characters, 0):
        return line
    if characters <= 0:
        return ""
    cut = characters - 1
    while cut > 0 and is_joined(line, cut):
        cut -= 1
    return line[:cut].rstrip() + "…"


def is_joined(line: str, cut: int) -> bool:
    """Whether the characters on both sides of `cut` are seen as one."""
    after = line[cut]
    if after == "\u200d" or line[cut - 1] == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if not "\U0001f1e6" <= after <= "\U0001f1ff":
        return False
    flags = line[:cut]
    return (len(flags) - len(flags.rstrip("🇦🇧🇨🇩🇪🇫🇬🇭🇮🇯🇰🇱🇲🇳🇴🇵🇶🇷🇸🇹🇺🇻🇼🇽🇾🇿"))) % 2 == 1


def normal(text: str) -> str:
    """The text as it is matched: NFKC, case folded, without format characters.

    Those are bidi marks, zero widths, tags and the like: what a reader does not see. For comparing
    only: never shown, never stored as the text. `normal(normal(x)) == normal(x)`.
    """
    if text.isascii():
        return text.casefold()
    unseen = {ord(character): None for character in set(text) if unicodedata.category(character) == "Cf"}
    if unseen:
        text = text.translate(unseen)
    for _ in range(2):  # folding may bring up what composes, and composing what folds
        text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", text)
