"""What values a span of messages holds, and whether a text about it has them, has lost them, or made some up.

The law of the file: values are compared as values (`一万` is `10,000`), and where that cannot tell, as the
very characters, whole: `284.50` is not in `1,284.50`.
"""

import re
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import Final, TypeAlias

from actormem.core.entities import find_entities, find_tool_entities, same_value
from actormem.core.entities.numbers import HAN_NUMBER, NUMBER, number_value
from actormem.core.summary.orders import links_in
from actormem.core.text import normal
from actormem.core.values import Entity, Message

__all__ = ["FindEntities", "KnownValues", "numbers_in", "same_characters"]

FindEntities: TypeAlias = Callable[..., tuple[Entity, ...]]

ATTACHED_MAX: Final = 64  # values shown beside a summary; the entity table holds the others
COUNTING_MAX: Final = 10  # "two options", "三个问题": counts a writer makes, not values of a source
NUMBER_CHARS_MAX: Final = 15  # a longer run of digits is an id, and is compared as characters

KIND_ORDER: Final = (
    "id",
    "hash",
    "amount",
    "date",
    "time",
    "phone",
    "email",
    "address",
    "url",
    "name",
    "percent",
    "quantity",
    "version",
    "file",
    "duration",
    "value",
)  # most important first
KIND_RANK: Final = {kind: rank for rank, kind in enumerate(KIND_ORDER)}
CHECKED_KINDS: Final = frozenset(
    ("id", "hash", "amount", "percent", "date", "time", "phone", "email", "url", "file", "version")
)
UNIT_MAY_BE_SAID: Final = frozenset(("amount", "quantity", "duration"))  # a source says 500, a summary 500 元

NUMBER_RUN = re.compile(NUMBER, re.IGNORECASE)
DIGIT_RUN = re.compile(r"\d[\d,]*(?:\.\d+)?")
HAN_RUN = re.compile(f"(?![百千]){HAN_NUMBER}")
HAN_UNIT = re.compile("[十百千万亿]")
STANDING_NUMBER = re.compile(
    r"(?<![A-Za-z\d_.,/:-])\d+(?:,\d{3})*(?:\.\d+)?(?![A-Za-z\d_/:]|[-,.]\d|-[A-Za-z])"
)
CODE = re.compile(
    r"(?<![\w.@/-])(?=[A-Za-z0-9_-]*\d\d)(?=[0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*", re.A
)
MEASURE = re.compile(r"\d+[A-Za-z]{1,5}")


class KnownValues:
    """The values of some sources: texts, or messages with what their tools were asked and answered.

    Args:
        sources: Texts or messages, oldest first.
        entities: Values known already, as they were captured on the way in (relative dates resolved).
        find: Finds the entities of a text.
    """

    def __init__(
        self,
        sources: Iterable[str | Message],
        *,
        entities: Iterable[Entity] = (),
        find: FindEntities = find_entities,
    ) -> None:
        self._find = find
        self._entities: dict[tuple[str, str], Entity] = {}
        texts: list[str] = []
        days: set[str] = set()
        for source in sources:
            for text, found in entities_of(source, find):
                texts.append(text)
                self._add(found)
            if isinstance(source, Message) and source.time_ms:
                days.add(source.time.date().isoformat())
        self._add(entities)
        self._words = normal("\n".join(texts))
        self._days = frozenset(days)
        self._numbers = numbers_in(self._words) | numbers_in(
            "\n".join([*(entity.normal for entity in self.entities), *days])
        )

    def _add(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            self._entities.setdefault((entity.kind, entity.normal), entity)

    @property
    def entities(self) -> list[Entity]:
        """Each value once, in order of first appearance."""
        return list(self._entities.values())

    def has(self, entity: Entity) -> bool:
        """Whether a source holds this value, in whatever writing."""
        if (entity.kind, entity.normal) in self._entities or same_characters(entity.value, self._words):
            return True
        others = self._entities.values()
        if entity.kind in ("date", "time"):
            dates = [*self._days, *(other.normal for other in others if other.kind == "date")]
            if any(self._same_moment(entity.normal, date) for date in dates):
                return True
        if any(same_value(entity, other) for other in others):
            return True
        if entity.kind not in UNIT_MAY_BE_SAID:
            return False
        numbers = numbers_in(entity.normal)
        with_unit = any(other.kind == entity.kind and numbers_in(other.normal) == numbers for other in others)
        return bool(numbers) and not with_unit and numbers <= self._numbers

    def _same_moment(self, said: str, known: str) -> bool:
        """Whether a date or time says no more than a known date, in ISO 8601: `--03-09` of `2031-03-09`."""
        if known.startswith("--"):  # the source left the year out: it must be told elsewhere
            return said[4:] == known[1:] and numbers_in(said[:4]) <= self._numbers
        return known.startswith(said) or said == f"--{known[5:10]}" or f"T{said}" in known

    def made_up(self, sentence: str) -> bool:
        """Whether the sentence holds a value of no source: an entity, a link, a code, a number above ten."""
        found = self._find(sentence)
        if any(entity.kind in CHECKED_KINDS and not self.has(entity) for entity in found):
            return True
        if any(not same_characters(link, self._words) for link in links_in(sentence)):
            return True
        rest = sentence
        for entity in found:
            if entity.kind in CHECKED_KINDS:
                rest = rest.replace(entity.value, " ")
        codes = CODE.findall(rest)
        measures = {code for code in codes if MEASURE.fullmatch(code)}
        if any(code not in measures and not same_characters(code, self._words) for code in codes):
            return True
        numbers = {number for measure in measures for number in numbers_in(measure)}
        for run in STANDING_NUMBER.finditer(rest):
            if len(run.group()) > NUMBER_CHARS_MAX:
                if not same_characters(run.group(), self._words):
                    return True
                continue
            scaled = NUMBER_RUN.match(rest, run.start())
            numbers |= scaled_numbers(scaled.group() if scaled else run.group())
        for run in HAN_RUN.findall(rest):
            if len(run) > (1 if HAN_UNIT.search(run) else 2):  # 一一 and 三五 are words
                numbers |= scaled_numbers(run)
        return any(number > COUNTING_MAX and number not in self._numbers for number in numbers)

    def missing_from(self, text: str, replaced: Collection[tuple[str, str]] = ()) -> tuple[str, ...]:
        """The values, as they stood, that a text lacks: ids first, then amounts, dates, phones and the rest.

        Args:
            replaced: Values that no longer hold and are not missed, by kind and normal form.

        Returns: At most 64; equal kinds keep the order of the sources.
        """
        words = normal(text)
        shown = {(entity.kind, entity.normal) for entity in self._find(text)}
        lacking = [
            entity
            for key, entity in self._entities.items()
            if key not in shown and key not in replaced and not same_characters(entity.value, words)
        ]
        lacking.sort(key=lambda entity: KIND_RANK.get(entity.kind, len(KIND_RANK)))
        return tuple(dict.fromkeys(entity.value for entity in lacking))[:ATTACHED_MAX]


def entities_of(source: str | Message, find: FindEntities) -> list[tuple[str, tuple[Entity, ...]]]:
    """Each text of a source with its entities: words, tool arguments, tool results."""
    if isinstance(source, str):
        found = find(source)
        if source.lstrip()[:1] in ("{", "["):
            found += find_tool_entities(source)
        return [(source, found)]
    words = source.text
    found = find(words, time_ms=source.time_ms, offset_minutes=source.offset_minutes)
    if source.role == "tool":
        found = find_tool_entities(words) + found
    calls = [(call.arguments, find_tool_entities(call.arguments)) for call in source.tool_calls]
    return [(words, found), *calls]


def same_characters(value: str, words: str) -> bool:
    """Whether `words`, folded by `normal`, hold `value` whole: not as a part of a longer number or word."""
    wanted = normal(value).strip()
    if not wanted:
        return True
    place = words.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if not continues(words[max(0, place - 2) : place][::-1], wanted[0]) and not continues(
            words[end : end + 2], wanted[-1]
        ):
            return True
        place = words.find(wanted, place + 1)
    return False


def continues(beside: str, edge: str) -> bool:
    """Whether the characters beside an edge, nearest first, go on with the same number or Latin word."""
    if not beside or not (edge.isascii() and edge.isalnum()):
        return False
    if beside[0].isascii() and beside[0].isalnum():
        return True
    return edge.isdigit() and beside[0] in ".," and beside[1:].isdigit()


def numbers_in(text: str) -> set[Decimal]:
    """The numbers of a text as values, in digits and in Han numerals, with and without their scale."""
    numbers: set[Decimal] = set()
    for run in NUMBER_RUN.findall(text):
        numbers |= scaled_numbers(run)
        digits = DIGIT_RUN.match(run)
        if digits:
            numbers |= scaled_numbers(digits.group())
    return numbers


def scaled_numbers(run: str) -> set[Decimal]:
    """The value of one number with its scale; none where it cannot be read."""
    value = number_value(run)
    return set() if value is None else {value}
