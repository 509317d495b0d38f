"""A Markdown text as blocks: headings, fenced code, tables and paragraphs, in their order.

The law of the file: every line of the text is in exactly one block, but for blank lines, the marks that make a
line a heading, and the front matter; any text whatever has blocks, since plain text is paragraphs.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

__all__ = ["Block", "blocks_of"]

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
TABLE_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
EMPHASIS: Final = re.compile(r"(\*\*|__|`)(.+?)\1")
FRONT_MATTER: Final = "---"


class Block(msgspec.Struct, frozen=True):
    """One block; `level` is that of a heading, 1 to 6, and 0 for the others."""

    kind: Literal["heading", "code", "table", "text"]
    lines: tuple[str, ...]
    level: int = 0


def blocks_of(text: str, *, markdown: bool = True) -> tuple[Block, ...]:
    """The blocks of a text, in order.

    Args:
        markdown: Without it the text is plain: paragraphs alone.
    """
    lines = [line.rstrip() for line in text.splitlines()]
    if not markdown:
        return _paragraphs(lines)
    found: list[Block] = []
    place = _after_front_matter(lines)
    while place < len(lines):
        if not lines[place]:
            place += 1
            continue
        block, place = _next(lines, place)
        found.append(block)
    return tuple(found)


def _paragraphs(lines: Sequence[str]) -> tuple[Block, ...]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return tuple(Block("text", tuple(paragraph)) for paragraph in found if paragraph)


def _after_front_matter(lines: Sequence[str]) -> int:
    """Where the text begins, behind the settings that some tools keep between two lines of dashes."""
    if not lines or lines[0] != FRONT_MATTER:
        return 0
    for place, line in enumerate(lines[1:], 1):
        if line == FRONT_MATTER:
            return place + 1
        if line and ":" not in line and not line.startswith((" ", "-", "#")):
            return 0
    return 0


def _next(lines: Sequence[str], first: int) -> tuple[Block, int]:
    """The block that begins at a line that is not blank, and the line after it."""
    line = lines[first]
    if heading := HEADING.match(line):
        return Block("heading", (_plain(heading[2] or ""),), len(heading[1])), first + 1
    if fence := FENCE.match(line):
        return _code(lines, first, fence[1])
    if (
        "|" in line
        and first + 1 < len(lines)
        and TABLE_RULE.match(lines[first + 1])
        and "-" in lines[first + 1]
    ):
        last = first + 2
        while last < len(lines) and "|" in lines[last]:
            last += 1
        return Block("table", tuple(lines[first:last])), last
    return _text(lines, first)


def _code(lines: Sequence[str], first: int, fence: str) -> tuple[Block, int]:
    for place in range(first + 1, len(lines)):
        closing = lines[place].strip()
        if closing and set(closing) == {fence[0]} and len(closing) >= len(fence):
            return Block("code", tuple(lines[first : place + 1])), place + 1
    return Block("code", tuple(lines[first:])), len(lines)


def _text(lines: Sequence[str], first: int) -> tuple[Block, int]:
    place = first + 1
    while place < len(lines) and lines[place]:
        line = lines[place]
        underline = UNDERLINE.match(line)
        if underline and place == first + 1:
            level = 1 if underline[1][0] == "=" else 2
            return Block("heading", (_plain(lines[first]),), level), place + 1
        if HEADING.match(line) or FENCE.match(line):
            break
        place += 1
    return Block("text", tuple(lines[first:place])), place


def _plain(heading: str) -> str:
    return EMPHASIS.sub(r"\2", heading).strip()
