"""What a model found in a user message, once it is proven: a fact, and since when and until when it holds.

The law of the file: what was said later is never overridden by what was found later. So a fact takes the time at
which its message was said, but for two that cannot compete with what holds now: one that has ended already, and one
value among many that began earlier.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Final

import msgspec

from actormem.core.facts.attributes import ATTRIBUTES
from actormem.core.facts.reconcile import closes
from actormem.core.facts.request import Said
from actormem.core.facts.sameness import loose, within
from actormem.core.values import Fact, Item

__all__ = ["Found", "is_known", "moment_ms", "tells_of", "times_of"]

DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
YEARS: Final = range(1900, 2200)  # others are a slip of the model's


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of one message.

    Attributes:
        said: The message.
        fact: What it says.
        event_ms: Its event time: `valid_from` where the law of this file allows it, else when it was said.
        expires_ms: `valid_until`, the end of that day; 0 for never.
    """

    said: Said
    fact: Fact
    event_ms: int
    expires_ms: int = 0


def is_known(fact: Fact, item: Item) -> bool:
    """Whether an item of the same message says it already, so that the model's reading adds nothing.

    What the rules have read of a `one` attribute stands, edited or not, and so does what they have read of a value,
    taken back or not. Values that are a part of one another are the same, and so is one value under a name of the
    model's own.
    """
    if not item.attribute or item.subject.casefold() != fact.subject.casefold():
        return False
    mine, theirs = loose(fact.value), loose(item.value)
    ends = fact.negated or closes(item)
    if item.attribute != fact.attribute:
        return mine == theirs and fact.attribute not in ATTRIBUTES and not ends
    alike = mine == theirs or within(mine, theirs) or within(theirs, mine)
    return alike or (fact.cardinality == "one" and not ends)


def tells_of(item: Item, gone: Iterable[Item]) -> bool:
    """Whether a fact of the same message tells more than its own words: those of a fact that is forgotten, too."""
    if not item.attribute:
        return False
    return any(
        (one.quote and one.quote != item.quote and (one.quote in item.quote or one.quote in item.text))
        or (one.value and one.value in item.text and one.value not in item.quote)
        for one in gone
    )


def times_of(said: Said, fact: Fact, valid_from: str | None, valid_until: str | None) -> tuple[int, int]:
    """Event time and expiry of a fact, by the dates that the model read, in UTC milliseconds.

    Args:
        valid_from, valid_until: ISO dates or times, in the speaker's zone where they name none; what cannot be read
            counts as not given.
    """
    begins_ms = moment_ms(valid_from, said.zone)
    ends_ms = moment_ms(valid_until, said.zone, end=True)
    if fact.negated:
        return said.time_ms, 0
    if ends_ms and begins_ms >= ends_ms:
        return said.time_ms, 0
    if 0 < ends_ms <= said.time_ms:
        return min(begins_ms or ends_ms, said.time_ms), ends_ms
    if 0 < begins_ms <= said.time_ms and fact.cardinality == "many":
        return begins_ms, ends_ms
    return said.time_ms, ends_ms


def moment_ms(words: str | None, zone: timezone, *, end: bool = False) -> int:
    """A date or time as UTC milliseconds, with `end` the end of that year, month or day; 0 where it is none."""
    if not words:
        return 0
    words = words.strip()
    try:
        if match := DATE.fullmatch(words):
            found = day_of(*match.groups(), zone=zone, end=end)
        else:
            found = datetime.fromisoformat(words)
        if found.year not in YEARS:
            return 0
        found = found if found.tzinfo else found.replace(tzinfo=zone)
        return int(found.timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def day_of(year: str, month: str | None, day: str | None, *, zone: timezone, end: bool) -> datetime:
    """The first moment of a year, month or day, or with `end` the first one after it."""
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=zone)
    if not end:
        return first
    if day:
        return first + timedelta(days=1)
    if month:
        return (first + timedelta(days=32)).replace(day=1)
    return first.replace(year=first.year + 1)
