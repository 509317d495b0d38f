"""Where words of users stand in texts, whole.

The law of the file: what a user said never becomes a pattern. `re` keeps each pattern that it compiles, so that
forgotten words would stay in the process; and compiling one takes as long as searching fifty messages for it.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["folded", "places", "spaced", "spans", "without"]

WORD: Final = re.compile(r"\w")
SPACES: Final = re.compile(r"\s+")


def folded(text: str) -> str:
    """The text without its case, character for character: places in it are places in the text."""
    found = text.casefold()
    if len(found) == len(text):
        return found
    return "".join(folds if len(folds := one.casefold()) == 1 else one for one in text)


def places(part: str, text: str) -> Iterator[int]:
    """Where each copy of the part begins, those that overlap too; nowhere for an empty part."""
    at = text.find(part) if part else -1
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def spans(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the word stands with no letter, digit or underscore of any script beside it."""
    for start in places(word, text):
        end = start + len(word)
        if not WORD.match(text[start - 1 : start]) and not WORD.match(text, end):
            yield start, end


def spaced(words: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand one after the other, with any space between them; whole or not."""
    for start in places(words[0], text) if words else ():
        end = start + len(words[0])
        for word in words[1:]:
            gap = SPACES.match(text, end)
            if gap is None or not text.startswith(word, gap.end()):
                break
            end = gap.end() + len(word)
        else:
            yield start, end


def without(part: str, text: str) -> str:
    """The text with an ellipsis in the place of each copy of the part, whatever their case."""
    plain, part = folded(text), folded(part)
    left, done = "", 0
    for start in places(part, plain):
        if start >= done:
            left, done = f"{left}{text[done:start]}…", start + len(part)
    return left + text[done:] if done else text
