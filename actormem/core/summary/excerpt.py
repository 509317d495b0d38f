"""What a long text says of a question: the pieces that share its words, for a note that has room for two or three.

The law of the file: pieces are whole and stay in their order; where none shares a word the first ones stand.
"""

from collections.abc import Sequence
from typing import NamedTuple

from actormem.core.recall.words import Words
from actormem.core.summary.outdated import is_title
from actormem.core.text import sentences

__all__ = ["Asked", "excerpt", "sentences_of"]

JOINT = " | "
GAP = " … "
LINES_MAX = 400  # looked at: more than any summary has


class Asked:
    """A query, and what was counted for it of the texts of one note, which may be told in one length after another.

    Args:
        words: Whose memory of stems is used, on its own thread; a new one otherwise.
    """

    def __init__(self, query: str, words: Words | None = None) -> None:
        self._words = words or Words()
        self._terms = frozenset(self._words.terms(query))
        self._sentences: dict[str, Pieces] = {}

    def order(self, lines: Sequence[str]) -> Sequence[int]:
        """Places of the lines that share most words with the query first, else as they stand."""
        shared = [len(self._terms.intersection(self._words.terms(line))) for line in lines]
        return sorted(range(len(lines)), key=lambda place: -shared[place])

    def sentences(self, text: str) -> "Pieces":
        """The first sentences of a text."""
        found = self._sentences.get(text)
        if found is None:
            said = sentences(text)[:LINES_MAX]
            found = self._sentences[text] = Pieces(said, self.order(said))
        return found


class Pieces(NamedTuple):
    """Lines, and their places with the nearest to a query first."""

    lines: Sequence[str]
    order: Sequence[int]


def excerpt(text: str, asked: Asked, *, characters: int) -> str:
    """The lines of a summary nearest to a query, in one line of about so many characters.

    Args:
        text: A summary, line by line; titles are left out.
        characters: The first line is taken whatever its length, others while they fit.
    """
    lines = [
        line.strip().lstrip("-*•").strip() for line in text.splitlines()[:LINES_MAX] if not is_title(line)
    ]
    lines = [line for line in lines if line]
    return JOINT.join(lines[place] for place in nearest(Pieces(lines, asked.order(lines)), characters))


def sentences_of(text: str, asked: Asked, *, characters: int) -> str:
    """The sentences of what was said nearest to a query, as `excerpt` takes lines; what is left out is marked."""
    pieces = asked.sentences(text)
    taken = nearest(pieces, characters)
    found = ""
    for place, before in zip(taken, [-1, *taken], strict=False):
        found += (" " if place == before + 1 else GAP) + pieces.lines[place]
    return found.lstrip() + (GAP.rstrip() if taken[-1:] != [len(pieces.lines) - 1] else "")


def nearest(pieces: Pieces, characters: int) -> list[int]:
    """Places of the lines that share most words with the query, in order, within so many characters."""
    taken: list[int] = []
    left = characters
    for place in pieces.order:
        size = len(pieces.lines[place]) + len(JOINT)
        if not taken or size <= left:
            taken.append(place)
            left -= size
    return sorted(taken)
