"""Cutting a document into passages, each of which stands by itself: the headings over it, then its words.

The law of the file: every word of the document is in a passage, in order, and in one alone (but for the head
of a table that is cut, which each of its pieces has); a fenced block and a row of a table are cut only where
they are longer than a passage may be at most.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from actormem.core.knowledge.markdown import Block, blocks_of
from actormem.core.recall.words import token_count
from actormem.core.text import one_line, sentences

__all__ = ["PATH_JOINT", "Passage", "split"]

PASSAGE_TOKENS: Final = 200  # words of a passage: one answer's worth, and what an embedding still tells apart
WHOLE_TOKENS_MAX: Final = 800  # of a fenced block or a row: beyond it no reader finds his way in it either
PIECE_CHARS_MAX: Final = 4_000  # of a piece: a picture in base64 has few words and no end
PATH_JOINT: Final = " > "
PATH_CHARS: Final = 200
HEADING_CHARS: Final = 80
LISTED: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s")
WIDE: Final = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
TABLE_HEAD: Final = 2


class Passage(msgspec.Struct, frozen=True):
    """A piece of a document: the title and the headings over it, outermost first, and its words."""

    path: str
    words: str

    @property
    def text(self) -> str:
        """The whole of it: the path as its first line, where it has one."""
        return f"{self.path}\n{self.words}" if self.path else self.words


def split(text: str, *, title: str = "", markdown: bool = True) -> tuple[Passage, ...]:
    """The passages of a document, in order; none where it has no words.

    Args:
        text: Markdown, or plain text in paragraphs.
        title: Of the document; its first heading is not repeated below it.
        markdown: Whether headings, fences and tables are looked for.

    Cost:
        About 0.5 s a million characters.
    """
    found: list[Passage] = []
    headings: list[tuple[int, str]] = []
    waiting: list[Block] = []

    def close() -> None:
        path = _path(title, [words for _, words in headings])
        found.extend(Passage(path, words) for words in _joined(waiting))
        waiting.clear()

    for block in blocks_of(text, markdown=markdown):
        if block.kind != "heading":
            waiting.append(block)
            continue
        close()
        headings = [one for one in headings if one[0] < block.level]
        headings.append((block.level, one_line(block.lines[0], HEADING_CHARS)))
    close()
    return tuple(found)


def _path(title: str, headings: Sequence[str]) -> str:
    names = [name for name in (one_line(title, HEADING_CHARS), *headings) if name]
    names = [name for place, name in enumerate(names) if not place or name != names[place - 1]]
    return one_line(PATH_JOINT.join(names), PATH_CHARS)


def _joined(blocks: Iterable[Block]) -> Iterator[str]:
    """Blocks under one heading, put together up to the length of a passage."""
    return _grouped((piece for block in blocks for piece in _pieces(block)), "\n\n", PASSAGE_TOKENS)


def _pieces(block: Block) -> Iterator[str]:
    whole = "\n".join(block.lines)
    if _fits(whole, WHOLE_TOKENS_MAX if block.kind == "code" else PASSAGE_TOKENS):
        yield whole
    elif block.kind == "code":
        yield from _grouped((piece for line in block.lines for piece in _short(line)), "\n", WHOLE_TOKENS_MAX)
    elif block.kind == "table":
        head = "\n".join(block.lines[:TABLE_HEAD])
        rows = (row for line in block.lines[TABLE_HEAD:] for row in _short(line))
        for piece in _grouped(rows, "\n", PASSAGE_TOKENS):
            yield f"{head}\n{piece}"
    else:
        yield from _of_text(block.lines)


def _of_text(lines: Sequence[str]) -> Iterator[str]:
    """A long paragraph: a list by its lines, prose by its sentences, whatever lines it is wrapped in."""
    if any(LISTED.match(line) for line in lines):
        yield from _grouped((piece for line in lines for piece in _short(line)), "\n", PASSAGE_TOKENS)
        return
    prose = _flowing(lines)
    parts = (piece for sentence in sentences(prose) for piece in _short(sentence))
    for piece in _grouped(parts, "\n", PASSAGE_TOKENS):
        yield _flowing(piece.split("\n"))


def _flowing(parts: Iterable[str]) -> str:
    """Parts of one text, one behind the other; Chinese needs no space between."""
    text = ""
    for part in parts:
        spaced = text and not (WIDE.match(text[-1]) or WIDE.match(part))
        text += f" {part}" if spaced else part
    return text


def _grouped(parts: Iterable[str], joint: str, tokens_max: int) -> Iterator[str]:
    """Parts put together as long as they stay within so many tokens; one that does not is alone."""
    taken: list[str] = []
    tokens = characters = 0
    for part in parts:
        more = token_count(part)
        if taken and (tokens + more > tokens_max or characters + len(part) > PIECE_CHARS_MAX):
            yield joint.join(taken)
            taken, tokens, characters = [], 0, 0
        taken.append(part)
        tokens, characters = tokens + more, characters + len(part)
    if taken:
        yield joint.join(taken)


def _short(line: str) -> Iterator[str]:
    """The line, cut where it is longer than a passage may be at most: at a space, where there is one near."""
    if _fits(line, WHOLE_TOKENS_MAX):
        yield line
        return
    first = 0
    while first < len(line):
        last = first + WHOLE_TOKENS_MAX  # characters: no more tokens than these
        space = line.rfind(" ", first + WHOLE_TOKENS_MAX // 2, last)
        last = space + 1 if space >= 0 and last < len(line) else last
        yield line[first:last].strip()
        first = last


def _fits(text: str, tokens_max: int) -> bool:
    return len(text) <= tokens_max or (len(text) <= PIECE_CHARS_MAX and token_count(text) <= tokens_max)
