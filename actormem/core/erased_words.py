"""Where the words of forgotten items are sought, and how they are cut out of a text.

The law of the file: a word is found whole or not at all, however it is written (hidden characters, capitals, line
breaks, escapes of JSON); what was JSON stays JSON; and the less a word tells by itself, the nearer to where it was
said it must stand, so that no unrelated text is mangled. See `reach`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from actormem.core.facts.passages import merged
from actormem.core.filters import MARK as SECRET
from actormem.core.filters import redacted, without_redacted
from actormem.core.hidden import seen, unhidden
from actormem.core.recall.words import CJK, STOP_CHARACTERS, STOP_WORDS
from actormem.core.values import JsonValue
from actormem.core.whole_words import folded, spaced

__all__ = ["MARK", "NAME", "Reach", "Sought", "reach"]

MARK: Final = "[forgotten]"
NAME: Final = "forgotten"  # in the place of a name, where the wire allows no brackets
Reach: TypeAlias = Literal["owner", "session", "source"]

CJK_CHARACTER: Final = re.compile(f"[{CJK}]")
RUN: Final = re.compile(rf"[^\W_{CJK}]+")
LETTER: Final = re.compile(rf"[^\W{CJK}]")  # beside which a word of such letters is not whole
NUMBER_BEFORE: Final = re.compile(r"\d[.,]")
NUMBER_BEHIND: Final = re.compile(r"[.,]\d")
LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?')  # of a JSON text
DEPTH_MAX: Final = 4  # JSON inside strings of JSON
WIDE_CJK_MIN, NEAR_CJK_MIN = 4, 2
WIDE_LETTERS_MIN, WIDE_MIXED_MIN, WIDE_DIGITS_MIN = 8, 5, 6
NEAR_LETTERS_MIN, NEAR_DIGITS_MIN = 3, 3
COMMON: Final = STOP_WORDS | {"yes", "none", "true", "false", "null", "unknown", "nothing", "maybe"}
# Of a wire message: its form, and what links it.
KEPT_KEYS: Final = frozenset(("role", "type", "id", "tool_call_id"))
BINARY_KEYS: Final = frozenset(("data", "file_data"))


def reach(word: str) -> Reach:
    """How far a word of a forgotten item is sought.

    `owner`, in all that was said of its owner: two words or more with 8 letters or digits together, 5 letters and
    digits where both or a sign such as @ are among them, numbers of 6 digits, 4 Chinese, Japanese or Korean characters.
    `session`, in the sessions it was said or shown in, from when it was said first: every other word of 3 letters or
    digits, or 2 such characters ("Paris", "北京"), that is no common word. `source`: what is left ("5", "yes", "我的"):
    it is cut out only with the whole sentence it stood in, where it was said.
    """
    cjk_count = len(CJK_CHARACTER.findall(word))
    runs = RUN.findall(word)
    letter_count = sum(map(len, runs))
    digit_count = sum(map(str.isdigit, word))
    mixed = 0 < digit_count < letter_count or (digit_count and cjk_count) or "@" in word
    if (
        cjk_count >= WIDE_CJK_MIN
        or (len(runs) > 1 and letter_count >= WIDE_LETTERS_MIN)
        or (mixed and letter_count + cjk_count >= WIDE_MIXED_MIN)
        or digit_count >= WIDE_DIGITS_MIN
    ):
        return "owner"
    if all(run.casefold() in COMMON for run in runs) and STOP_CHARACTERS.issuperset(
        CJK_CHARACTER.findall(word)
    ):
        return "source"
    least = NEAR_DIGITS_MIN if digit_count else NEAR_LETTERS_MIN
    return "session" if cjk_count >= NEAR_CJK_MIN or letter_count >= least else "source"


class Sought:
    """Words, and where they stand in texts, whole.

    A word of letters or digits is whole where no letter or digit stands beside it, and a number where it is not part
    of a longer one (`5` in `3.5`); Chinese, Japanese and Korean characters stand side by side anyway.

    Args:
        words: In any order; empty ones are left out.
    """

    def __init__(self, words: Iterable[str]) -> None:
        found = {word for given in words for word in (unhidden(given).strip(),) if word}
        self.words = tuple(sorted(found, key=lambda word: (-len(word), word)))
        self._secret = tuple(word for word in self.words if SECRET in word)
        self._pieces = tuple(folded(word).split() for word in self.words)

    def __bool__(self) -> bool:
        return bool(self.words)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the words stand in a text, in order.

        Cost:
            O(n · words), at the speed of `str.find`.
        """
        if not self.words:
            return []
        view = seen(text)
        plain = folded(view.text)
        return merged(
            view.span(start, end)
            for pieces in self._pieces
            for start, end in spaced(pieces, plain)
            if _is_whole(plain, start, end)
        )

    def stand_in(self, text: str) -> bool:
        """Whether one of the words stands in a text, as it is or as memory keeps it without its secrets."""
        return bool(self.spans(text)) or bool(self._secret and self.spans(redacted(text)))

    def cut(self, text: str, mark: str = MARK) -> str:
        """The text with a mark in the place of the words; the same object where there are none."""
        left: list[str] = []
        at = 0
        for start, end in self.spans(text):
            left += (text[at:start], mark)
            at = end
        text = "".join((*left, text[at:])) if left else text
        for word in self._secret:
            text = without_redacted(text, word, mark)
        return text

    def cut_whole(self, text: str, depth: int = 0) -> str:
        """`cut`, also inside the strings and numbers of a text that is JSON, which stays JSON.

        All else of it stays as it is written.
        """
        if not self.words or not _is_json(text, depth):
            return self.cut(text)
        return LITERAL.sub(lambda match: self._literal(match[0], depth), text)

    def _literal(self, written: str, depth: int) -> str:
        value = msgspec.json.decode(written, type=str) if written.startswith('"') else written
        left = self.cut_whole(value, depth + 1)
        return written if left == value else msgspec.json.encode(left).decode()

    def cut_message(self, wire: str) -> str:
        """A wire message without the words; it stays a valid one.

        Its role and the ids that link calls and results stay, and pictures and sound; names stay names, the
        arguments of a call JSON.
        """
        fields: JsonValue = msgspec.json.decode(wire)
        left = self._cut_field("", fields)
        return wire if left == fields else msgspec.json.encode(left).decode()

    def _cut_field(self, key: str, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            if key in KEPT_KEYS or key in BINARY_KEYS or value.startswith("data:"):
                return value
            if key == "name":
                return NAME if self.stand_in(value) else value
            return self.cut_whole(value)
        if isinstance(value, Mapping):
            return {name: self._cut_field(name, part) for name, part in value.items()}
        if isinstance(value, Sequence):
            return [self._cut_field(key, part) for part in value]
        return value


def _is_json(text: str, depth: int) -> bool:
    """Whether it is an object or an array, or at the outside a text in quotes."""
    if depth >= DEPTH_MAX or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit goes on beside what stands there, nor a number that it begins or ends with."""
    if LETTER.match(text, start) and LETTER.match(text[start - 1 : start]):
        return False
    if LETTER.match(text, end - 1) and LETTER.match(text, end):
        return False
    if text[start].isdigit() and start > 1 and NUMBER_BEFORE.match(text, start - 2):
        return False
    return not (text[end - 1].isdigit() and NUMBER_BEHIND.match(text, end))
