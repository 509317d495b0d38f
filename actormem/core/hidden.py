"""Characters that a reader does not see: zero widths, bidi marks, tags, fillers, variation selectors.

The law of the file: what is found without them is told as places of the text with them; the text itself is kept.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["HIDDEN", "Seen", "seen", "unhidden"]

IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
JOINING: Final = "\u200d\ufe0e\ufe0f"  # of emoji: there they are part of what is seen
#: Unicode's Default_Ignorable_Code_Point: what has no glyph of its own where it is not supported.
HIDDEN: Final = re.compile(
    f"[{IGNORABLE}][{IGNORABLE}{JOINING}]*+|(?<=\\w)[{JOINING}][{IGNORABLE}{JOINING}]*+"
)

#: The same as single characters: a set tells in a tenth of the time that none is there.
CHARACTERS: Final = frozenset(
    character
    for first, last in re.findall(r"(.)(?:-(.))?", IGNORABLE + JOINING)
    for character in map(chr, range(ord(first), ord(last or first) + 1))
)


class Seen(msgspec.Struct, frozen=True):
    """A text as it is seen, and where its characters stand in the text it was made of; None: at the same places."""

    text: str
    places: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the text with hidden characters for a span of at least one character without them."""
        assert start < end
        return (start, end) if self.places is None else (self.places[start], self.places[end - 1] + 1)


def unhidden(text: str) -> str:
    """The text without hidden characters; the same object where there are none."""
    return HIDDEN.sub("", text) if may_hide(text) else text


def may_hide(text: str) -> bool:
    return not text.isascii() and not CHARACTERS.isdisjoint(set(text))


def seen(text: str) -> Seen:
    """The text as it is seen, with the way back.

    Cost:
        O(n); a place for each character only where some are hidden.
    """
    if not may_hide(text) or not HIDDEN.search(text):
        return Seen(text)
    places: list[int] = []
    start = 0
    for run in HIDDEN.finditer(text):
        places += range(start, run.start())
        start = run.end()
    places += range(start, len(text))
    return Seen(HIDDEN.sub("", text), places)
