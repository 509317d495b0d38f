"""What a match is and what it is called, judged by the words around it.

Law of the file: a bare number is a value only where a noun stands beside it; a noun names the first value of
its kind after it, and a list goes on with the name of its first.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from typing import Final

import msgspec

from actormem.core.entities.checks import kind_of_token, normal_of
from actormem.core.entities.keys import ADJACENT, Named, find_nouns
from actormem.core.values import Entity

__all__ = ["Scene", "Span"]

ID_DIGITS_MIN: Final = 8  # a number this long is an id even where nothing names it
NAMED_DIGITS_MIN: Final = 3  # "order 2" counts; "order 482" names
NOUN_BEFORE_CHARS: Final = 40  # a noun further away names something else
NOUN_AFTER_CHARS: Final = 12
ADJACENT_CHARS: Final = 3  # between a value and the noun after it: "8842 是验证码"
NEIGHBOURS_MAX: Final = 8  # values before one that may have used up a noun
PHONE_DIGITS_MIN: Final = 5
BESIDE_CHARS: Final = 2  # between a date and its weekday
_BREAK: Final = re.compile(r"[。！？!?;；\n]|(?<!No)(?<!no)(?<!St)(?<!Mr)\.\s")
_COMMA: Final = re.compile(r"[,，、](?!\d)")
_LIST_GAP: Final = re.compile(
    r"[\s,，、/&]{0,4}(?:和|与|及|跟|还有|以及|and|or|或者?)?[\s,，、]{0,3}", re.IGNORECASE
)
_GENERIC: Final = frozenset({"id", "code"})
_LABEL: Final = re.compile(r"#|号|码|[:：]|number|no\.?|\bid\b|is|是|为|尾|ending", re.IGNORECASE)
_HASH_KEYS: Final = frozenset({"hash", "commit"})
_WEEKDAY_ENDS: Final = ("day", "一", "二", "三", "四", "五", "六", "日", "天")
_SHORT_NUMBERED: Final = frozenset({"room", "gate", "seat", "issue", "pull_request", "ticket"})


class Span(msgspec.Struct, frozen=True):
    """A candidate: where it stands and what it looks like; `rank` is the place of its pattern."""

    start: int
    end: int
    kind: str
    rank: int


class Scene:
    """The candidates of one text with the nouns around them; decides what each is and is called.

    `entity` is asked in order: a noun names the first value of its kind after it, and a list goes on.
    """

    __slots__ = ("_found", "_noun_starts", "_nouns", "_spans", "_text", "_today")

    def __init__(self, text: str, spans: Sequence[Span], today: date | None) -> None:
        self._text = text
        self._spans = spans
        self._today = today
        self._nouns = find_nouns(text)
        self._noun_starts = [named.start for named in self._nouns]
        self._found: list[tuple[Span, Entity]] = []

    def entity(self, place: int) -> Entity | None:
        """The candidate at `place` as an entity, or None where it is none after all."""
        span = self._spans[place]
        following = self._spans[place + 1].start if place + 1 < len(self._spans) else len(self._text)
        value = self._text[span.start : span.end]
        if span.kind == "date" and "-" in value and normal_of("date", value, self._today) is None:
            entity = self._number(span, value, following)  # 2031-88-1 is no day, but may be what a noun names
        elif span.kind == "split":
            entity = self._split(span, value)
        elif span.kind == "token":
            entity = self._token(span, value, following)
        elif span.kind == "number":
            entity = self._number(span, value, following)
        else:
            entity = self._plain(place, value, following)
        if entity is not None:
            self._found.append((span, entity))
        return entity

    def _plain(self, place: int, value: str, following: int) -> Entity | None:
        span = self._spans[place]
        normal = normal_of(span.kind, value, self._today)
        if normal is None or (span.kind == "relative" and self._repeats_date(place)):
            return None
        if span.kind in ("plate", "seat"):
            return Entity(kind="id", key=span.kind, value=value, normal=normal)
        kind = "date" if span.kind == "relative" else span.kind
        named = self._before(span, kind) or self._after(span, kind, following)
        key = named.noun.key if named else self._inherited(span, kind) or kind
        return Entity(kind=kind, key=key, value=value, normal=normal)

    def _token(self, span: Span, value: str, following: int) -> Entity | None:
        named = self._before(span, "id") or self._after(span, "id", following)
        inherited = None if named else self._inherited(span, "id")
        kind = kind_of_token(
            value, named=bool(inherited) or (named is not None and self._adjacent(span, named))
        )
        if kind is None:
            return None
        key = named.noun.key if named else inherited or kind
        if kind == "hash" and key not in _HASH_KEYS:
            kind = "id"
        return Entity(kind=kind, key=key, value=value, normal=value.casefold())

    def _split(self, span: Span, value: str) -> Entity | None:
        """Parts with blanks between are one value only where a noun names them."""
        named = self._before(span, "id")
        if named is None or not self._adjacent(span, named):
            return None
        return Entity(kind="id", key=named.noun.key, value=value, normal=value.casefold())

    def _repeats_date(self, place: int) -> bool:
        """Whether a weekday only says again what a date beside it says: 5月2日（周五）, Friday, May 2."""
        span = self._spans[place]
        others = (other for other in self._spans[max(0, place - 1) : place + 2] if other.kind == "date")
        gaps = (max(other.start - span.end, span.start - other.end) for other in others)
        weekday = self._text[span.start : span.end].casefold()
        return weekday.endswith(_WEEKDAY_ENDS) and any(gap <= BESIDE_CHARS for gap in gaps)

    def _number(self, span: Span, value: str, following: int) -> Entity | None:
        """A bare number is what the noun beside it says; a long one is an id without."""
        named = self._before(span, "number") or self._after(span, "number", following)
        digits = sum(letter.isdigit() for letter in value)
        whole = value.replace("-", "").isdigit()
        if named is not None and self._adjacent(span, named):
            kind = self._number_kind(span, named, digits)
            if kind is None or (kind == "id" and not whole):
                return None
            normal = normal_of(kind, value, None)
            return Entity(kind=kind, key=named.noun.key, value=value, normal=normal) if normal else None
        inherited = self._inherited(span, "id")
        marked = digits >= 2 and self._text[max(0, span.start - 1)] == "#"
        listed = inherited is not None and digits >= NAMED_DIGITS_MIN
        if whole and (listed or marked or digits >= ID_DIGITS_MIN):
            return Entity(kind="id", key=inherited or "id", value=value, normal=value)
        return None

    def _number_kind(self, span: Span, named: Named, digits: int) -> str | None:
        kinds = named.noun.kinds
        if "amount" in kinds:
            return "amount"
        if "id" not in kinds:
            kind = "phone" if "phone" in kinds else "version"
            return kind if kind != "phone" or digits >= PHONE_DIGITS_MIN else None
        between = self._text[named.end : span.start] if named.end <= span.start else ""
        short = named.noun.key in _SHORT_NUMBERED or named.noun.words.endswith("号") or _LABEL.search(between)
        return "id" if digits >= NAMED_DIGITS_MIN or (digits > 0 and short) else None

    def _before(self, span: Span, kind: str) -> Named | None:
        """The last noun before a value that names its kind and does not name an earlier value."""
        if not self._nouns:
            return None
        start = self._window(span, kind)
        first = bisect_left(self._noun_starts, start)
        last = bisect_left(self._noun_starts, span.start)
        found: Named | None = None
        for named in self._nouns[first:last]:
            if kind not in named.noun.kinds or named.end > span.start:
                continue
            generic = named.noun.key in _GENERIC and found is not None and named.start - found.end <= 1
            found = Named(found.start, named.end, found.noun) if generic and found else named
        return found

    def _window(self, span: Span, kind: str) -> int:
        family = _family(kind)
        start = max(0, span.start - NOUN_BEFORE_CHARS)
        for other, entity in self._found[-NEIGHBOURS_MAX:]:
            if kind == "number" or _family(entity.kind) == family:
                start = max(start, other.end)
        for stop in _BREAK.finditer(self._text, start, span.start):
            start = stop.end()
        if family == "amount" or kind == "number":
            for comma in _COMMA.finditer(self._text, start, span.start):
                start = comma.end()
        return start

    def _after(self, span: Span, kind: str, following: int) -> Named | None:
        """A noun right after a value that does not name the next one."""
        place = bisect_left(self._noun_starts, span.end)
        if place >= len(self._nouns):
            return None
        named = self._nouns[place]
        if kind not in named.noun.kinds or named.end > min(span.end + NOUN_AFTER_CHARS, following):
            return None
        between = self._text[span.end : named.start]
        if _BREAK.search(between) or _COMMA.search(between):
            return None
        names_next = following < len(self._text) and ADJACENT.fullmatch(self._text, named.end, following)
        return None if names_next else named

    def _inherited(self, span: Span, kind: str) -> str | None:
        """The key of the value before, where the two stand in one list."""
        if not self._found:
            return None
        other, entity = self._found[-1]
        if _family(entity.kind) != _family(kind) or entity.key == entity.kind:
            return None
        return entity.key if _LIST_GAP.fullmatch(self._text, other.end, span.start) else None

    def _adjacent(self, span: Span, named: Named) -> bool:
        """Whether the noun stands right before the value, or right after it."""
        if named.end <= span.start:
            return ADJACENT.fullmatch(self._text, named.end, span.start) is not None
        return named.start - span.end <= ADJACENT_CHARS


def _family(kind: str) -> str:
    return {"hash": "id", "percent": "amount", "time": "date"}.get(kind, kind)
