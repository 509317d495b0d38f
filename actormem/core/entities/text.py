"""Exact values of a text, found without a model.

Law of the file: a longer match wins over a shorter one it overlaps; of a very long text only
the head and the tail are read.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from actormem.core.entities.checks import address_start
from actormem.core.entities.dates import local_day
from actormem.core.entities.patterns import AT_DIGITS, AT_SIGNS, PATTERNS, SIGN_LETTERS_MAX, SIGNS, Pattern
from actormem.core.entities.scene import Scene, Span
from actormem.core.values import Entity

__all__ = ["clip", "find_entities", "whole_entity"]

HEAD_CHARS: Final = 64 * 1024  # a longer message is a pasted file; its values are at its head and its tail
TAIL_CHARS: Final = 16 * 1024
TEXT_ENTITIES_MAX: Final = 512  # of one text, in order: a log or a table must not fill a session's table
STARTS_MAX: Final = 4_096  # places in one text where a number is looked for; more is a table of numbers
SPANS_MAX: Final = 4_096  # candidates of one text
OVERLAPS_MAX: Final = 64  # longer candidates that one is compared with

_WIDE: Final = re.compile("[\uff04\uff05\uff0d-\uff1a\uff20-\uff3a\uff3f\uff41-\uff5a\xa0\u3000]")
_NARROW: Final = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，！？；（）"},
    0xA0: " ", 0x3000: " ",
}  # fmt: skip
_URL_END: Final = ".,;:!?)]}'\"*_"
_FILE_LEAD: Final = re.compile(
    r"^(?:请|帮我|把|看一?下?|打开|发送?|附件|文件|叫做?|是|的|在|了|这个|那个|下载|上传|见|读取?|和){1,6}"
)


_DIGIT_RUN: Final = re.compile(r"[0-9]{1,32}+")
_SIGN: Final = re.compile(f"[{SIGNS}]")


def clip(text: str) -> str:
    """The part of a text that is read: all of it, or the first 64 Ki and the last 16 Ki characters."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def find_entities(text: str, *, time_ms: int = 0, offset_minutes: int = 0) -> tuple[Entity, ...]:
    """The exact values of a text: order numbers, ids, amounts, dates, phones, addresses and so on.

    Args:
        text: Chinese, English or both. Of more than 80 Ki characters the middle is not read.
        time_ms: When it was said, UTC milliseconds. 0: not known; relative dates (昨天, next Friday) are
            then left out and a date without its year keeps none.
        offset_minutes: Offset of the speaker's clock from UTC, in minutes.

    Returns:
        In order of appearance, at most 512, none twice (kind, normal and key). `value` holds the very
        characters of the text.

    Cost:
        O(n) for n characters.
    """
    text = clip(text)
    read = text.translate(_NARROW) if _WIDE.search(text) else text
    spans = _without_overlaps(_candidates(read))
    if not spans:
        return ()
    scene = Scene(read, spans, local_day(time_ms, offset_minutes) if time_ms else None)
    found: dict[tuple[str, str, str], Entity] = {}
    for place, span in enumerate(spans):
        entity = scene.entity(place)
        if entity is None:
            continue
        if text is not read:
            entity = msgspec.structs.replace(entity, value=text[span.start : span.end])
        found.setdefault((entity.kind, entity.normal, entity.key), entity)
        if len(found) >= TEXT_ENTITIES_MAX:
            break
    return tuple(found.values())


def whole_entity(text: str) -> Entity | None:
    """The one entity a short text is, from its first character to its last, or None."""
    found = find_entities(text)
    return found[0] if len(found) == 1 and found[0].value == text.strip() else None


def _candidates(text: str) -> list[Span]:
    letters = set(text)
    lower = text.lower()
    spans: list[Span] = []
    for pattern in PATTERNS:
        if _possible(pattern, letters, lower):
            spans += [_span(match, pattern) for match in pattern.search.finditer(text)]
    if not letters.isdisjoint(SIGNS):
        places = [match.start() for match in islice(_SIGN.finditer(text), STARTS_MAX)]
        starts = sorted({max(0, place - back) for place in places for back in range(SIGN_LETTERS_MAX + 1)})
        for pattern in AT_SIGNS:
            spans += _at(starts, text, pattern)
    if not letters.isdisjoint("0123456789"):
        starts = [match.start() for match in islice(_DIGIT_RUN.finditer(text), STARTS_MAX)]
        for pattern in AT_DIGITS:
            if _possible(pattern, letters, lower):
                spans += _at(starts, text, pattern)
    return spans[:SPANS_MAX]


def _at(starts: Sequence[int], text: str, pattern: Pattern) -> Iterator[Span]:
    """What the pattern finds where it may begin, none overlapping another."""
    match_at, end = pattern.search.match, 0
    for start in starts:
        match = match_at(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield _span(match, pattern)


def _possible(pattern: Pattern, letters: set[str], lower: str) -> bool:
    if pattern.letters and pattern.letters.isdisjoint(letters):
        return False
    if not pattern.words:
        return True
    for word in pattern.words:  # noqa: SIM110  # half of what `any` costs
        if word in lower:
            return True
    return False


def _span(match: re.Match[str], pattern: Pattern) -> Span:
    group = next((name for name in pattern.search.groupindex if match[name] is not None), 0)
    start, end = match.span(group)
    value = match[group]
    if pattern.kind == "url":
        end -= len(value) - len(value.rstrip(_URL_END))
    elif pattern.kind in ("address", "name"):
        start += address_start(value) if pattern.kind == "address" else 0
        end -= len(value) - len(value.rstrip(" ."))
    elif pattern.kind == "file":
        lead = _FILE_LEAD.match(value)
        start += (
            lead.end() if lead is not None and lead.end() < len(value) and value[lead.end()] != "." else 0
        )
    while start < end and match.string[start].isspace():
        start += 1
    return Span(start, end, pattern.kind, pattern.rank)


def _without_overlaps(spans: list[Span]) -> list[Span]:
    """The longest of any that overlap, in order of appearance."""
    taken: list[Span] = []
    group: list[Span] = []
    reach = -1
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start >= reach and group:
            taken += _longest(group)
            group = []
        group.append(span)
        reach = max(reach, span.end)
    return taken + _longest(group)


def _longest(group: list[Span]) -> list[Span]:
    if len(group) < 2:
        return group
    taken: list[Span] = []
    for span in sorted(group, key=lambda one: (one.start - one.end, one.rank)):
        if all(span.end <= other.start or span.start >= other.end for other in taken[-OVERLAPS_MAX:]):
            taken.append(span)
    return sorted(taken, key=lambda one: one.start)
