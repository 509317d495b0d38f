"""Where a text may be cut, and the longest beginning of it that a token count allows.

Law: never look at more of a text than the tokens asked for can need; never cut inside a character, where a
character is what a reader sees as one (an emoji family, a letter with its accents, a surrogate pair).
"""

import unicodedata
from collections.abc import Callable

__all__ = ["fitting_prefix", "opening_chars", "repaired", "shrunk_prefix"]

CHARS_PER_TOKEN = 8  # first guess: English has about 5, Chinese below 2
TOKEN_CHARS_MAX = 128  # the longest token of all four vocabularies here is 128 spaces
MARKS_MAX = 32  # code points of one visible character; more is an attack and is cut between code points

ZERO_WIDTH_JOINER = "\u200d"


def repaired(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def opening_chars(text: str, tokens: int, count: Callable[[str], int]) -> int:
    """How many characters of the text hold everything that could stay within `tokens`.

    A text cut off inside a word may count more than the whole word, so a beginning must exceed `tokens` by
    the length of the longest token before the rest of the text is ruled out.
    """
    end = CHARS_PER_TOKEN * tokens + TOKEN_CHARS_MAX
    while end < len(text) and count(text[:end]) <= tokens + TOKEN_CHARS_MAX:
        end *= 2
    return min(end, len(text))


def fitting_prefix(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest prefix of at most `tokens`, as far as bisection finds it; the whole text where it fits.

    Cost:
        About 2 log2(tokens) counts of a text of that many tokens.
    """
    high = opening_chars(text, max(tokens, 0), count)
    if high == len(text) and count(text) <= tokens:
        return text
    low = 0
    while low < high - 1:
        middle = (low + high) // 2
        if count(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle
    return shrunk_prefix(text, low, tokens, count)


def shrunk_prefix(text: str, end: int, tokens: int, count: Callable[[str], int]) -> str:
    """`text[:end]`, moved back to the end of a character and on until it counts at most `tokens`.

    A shorter prefix can count more than a longer one (its last token is split), hence the loop; its steps
    double, so that it ends after few counts whatever the text.
    """
    end, step = character_end(text, end), 1
    while end > 0 and count(text[:end]) > tokens:
        end, step = character_end(text, max(end - step, 0)), step * 2
    return text[:end]


def character_end(text: str, end: int) -> int:
    """The last place at or before `end` that is not inside a character."""
    place = end
    while 0 < place < len(text) and continues(text, place):
        place -= 1
        if end - place >= MARKS_MAX:
            place = end
            break
    if 0 < place < len(text) and is_surrogate_pair(text[place - 1], text[place]):
        place -= 1
    return place


def continues(text: str, place: int) -> bool:
    """Whether the code point at `place` belongs to the same visible character as the one before it."""
    before, after = text[place - 1], text[place]
    if after < "\u0300":  # nothing below joins: the common case, decided first
        return before == ZERO_WIDTH_JOINER
    return (
        ZERO_WIDTH_JOINER in (before, after)
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or is_surrogate_pair(before, after)
        or splits_flag(text, place)
    )


def is_surrogate_pair(before: str, after: str) -> bool:
    """Whether two code points are the halves of one character that some decoder left apart."""
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


def splits_flag(text: str, place: int) -> bool:
    """Whether `place` is between the two letters of a flag: an odd number of them stands before it."""
    letters = 0
    while letters < MARKS_MAX and place > letters and is_flag_letter(text[place - letters - 1]):
        letters += 1
    return letters % 2 == 1 and is_flag_letter(text[place])


def is_flag_letter(character: str) -> bool:
    """Whether the code point is a regional indicator; two of them make a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"
