"""A long message in passages, each of which can be found by itself.

An embedding of a long reply is the mean of all it says, and a note has no room for it. The law of the file: the
passages joined are the text, character for character; each ends where a sentence does, if one ends in time.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.recall.words import first_tokens, token_count
from actormem.core.text import sentence_ends
from actormem.core.values import Item

__all__ = ["merged", "passages", "passages_of", "without_spans", "without_words"]

WHOLE_TOKENS_MAX: Final = 240  # up to here a message is one passage: a few paragraphs
PASSAGE_TOKENS: Final = 160  # of a longer one: what one embedding says well
SHORT_TOKENS: Final = 40  # a rest this short belongs to the passage before it


def passages(text: str) -> tuple[str, ...]:
    """The text in passages of about 160 words or Chinese characters; whole where it has no more than 240.

    Cost:
        O(n); nothing to speak of for a text that stays whole.
    """
    if len(text) <= WHOLE_TOKENS_MAX or token_count(text) <= WHOLE_TOKENS_MAX:
        return (text,)
    found: list[str] = []
    length = PASSAGE_TOKENS
    for piece in pieces(text):
        more = token_count(piece)
        if found and (length + more <= PASSAGE_TOKENS or not more):
            found[-1] += piece
            length += more
        else:
            found.append(piece)
            length = more
    if len(found) > 1 and length < SHORT_TOKENS:
        found[-2:] = [found[-2] + found[-1]]
    return tuple(found)


def pieces(text: str) -> list[str]:
    """The sentences with what stands between them; one that is longer than a passage is cut at words."""
    found: list[str] = []
    start = 0
    for end in sentence_ends(text):
        rest = text[start:end]
        while token_count(rest) > PASSAGE_TOKENS:
            first = first_tokens(rest, PASSAGE_TOKENS)
            found.append(first)
            rest = rest[len(first) :]
        found.append(rest)
        start = end
    return [piece for piece in found if piece]


def passages_of(items: Iterable[Item]) -> list[Item]:
    """The episodes among these items of one message, in the order of its passages."""
    return sorted((item for item in items if item.kind == "episode"), key=lambda item: item.sequence)


def without_words(texts: Sequence[str], words: Iterable[str], mark: str) -> list[str]:
    """The passages of a message with these words cut out, wherever they stand, across two passages too.

    Args:
        mark: What stands in the place of what was cut.
    """
    whole = "".join(texts)
    gone: list[tuple[int, int]] = []
    for word in filter(None, words):
        start = whole.find(word)
        while start >= 0:
            gone.append((start, start + len(word)))
            start = whole.find(word, start + len(word))
    return without_spans(texts, gone, mark)


def without_spans(texts: Sequence[str], spans: Iterable[tuple[int, int]], mark: str) -> list[str]:
    """The passages of a message without these spans of it, each with a mark in the place of what was cut."""
    whole, gone = "".join(texts), merged(spans)
    found: list[str] = []
    first = 0
    for text in texts:
        last = first + len(text)
        left, at = "", first
        for start, end in gone:
            if start < last and end > first:
                left += whole[at : max(start, at)] + mark
                at = min(end, last)
        found.append(left + whole[at:last])
        first = last
    return found


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that overlap are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
