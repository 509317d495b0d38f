"""What is wrong with an owner's items, with the ids and a proposed repair. Pure: nothing is changed here.

The law of the file: a finding names ids and numbers, never words of the user's; what it proposes can be undone, or
is gone already in all but its bytes. An episode is what was said: it is never junk, a duplicate or too long.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final, Literal

import msgspec

from actormem.core.facts.reconcile import OPPOSITES, current, said
from actormem.core.health.duplicates import duplicate_groups
from actormem.core.recall.query import VIEW_CHARS_MAX
from actormem.core.recall.words import Words
from actormem.core.values import Item, Owner

__all__ = ["Checkup", "Finding", "findings"]

FindingKind = Literal["contradiction", "duplicate", "expired", "junk", "oversized", "unreachable"]
Repair = Literal["supersede", "forget", "embed", "edit"]
STATED: Final = ("fact", "preference", "event", "knowledge")
DELIMITERS: Final = re.compile(
    r"</?memory-[0-9a-f]{4,}>|<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>"
)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong with items.

    Attributes:
        kind: `duplicate`: live items that say the same. `contradiction`: live items of which one ends the others.
            `expired`: its time ran out and it is still stored. `junk`: no word in it says anything, or it holds
            delimiters of prompts. `unreachable`: it has no vector, though others have. `oversized`: so long that
            its end is in no vector.
        item_ids: The items; of duplicates and contradictions the one to stay first.
        repair: `supersede`: by the first. `forget`: the item alone, its messages stay. `embed`: make the vector
            now. `edit`: for you to shorten; it is not done for you.
        reason: Why, in numbers.
        applied: Whether the repair was done.
    """

    kind: FindingKind
    item_ids: tuple[str, ...]
    repair: Repair
    reason: str
    applied: bool = False


class Checkup(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one owner's memory: contradictions first, then by kind; among equals older ids first.

    Attributes:
        owner: Whose memory.
        item_count: Items looked at, superseded ones too.
        findings: What is wrong with them.
    """

    owner: Owner
    item_count: int
    findings: tuple[Finding, ...] = ()

    @property
    def open_count(self) -> int:
        """Findings that are not repaired."""
        return sum(not one.applied for one in self.findings)


def findings(items: Sequence[Item], *, now_ms: int, waiting: AbstractSet[str]) -> tuple[Finding, ...]:
    """What is wrong with an owner's items.

    Args:
        items: All of them, in any state.
        waiting: Ids of those that have no vector though others have.

    Returns:
        Each item in at most one finding: in the first kind that fits, expired before junk before contradictions.

    Cost:
        About 0.2 ms an item, most of it for its words; meant for a thread.
    """
    ordered = sorted(items, key=lambda one: (one.event_ms, one.sequence, one.id))
    words, seen = Words(), set[str]()
    live = current(ordered, now_ms=now_ms)
    found: list[Finding] = []
    for one in chain(
        _expired(ordered, now_ms),
        _junk(live, words),
        _contradictions(live),
        _duplicates(live),
        _oversized(live),
        _unreachable(live, waiting),
    ):
        ids = tuple(id for id in one.item_ids if id not in seen)
        if len(ids) == len(one.item_ids) or len(ids) > 1:
            seen.update(ids)
            found.append(msgspec.structs.replace(one, item_ids=ids))
    return tuple(sorted(found, key=lambda one: one.kind))


def _expired(items: Iterable[Item], now_ms: int) -> Iterator[Finding]:
    for item in items:
        if 0 < item.expires_ms <= now_ms and item.state != "superseded":
            days = (now_ms - item.expires_ms) / 86_400_000
            yield Finding(kind="expired", item_ids=(item.id,), repair="forget", reason=f"{days:.1f} days ago")


def _junk(live: Iterable[Item], words: Words) -> Iterator[Finding]:
    for item in live:
        if item.kind not in STATED:
            continue
        if DELIMITERS.search(item.text):
            reason = "it holds a delimiter of prompts"
        elif not words.terms(item.text):
            reason = f"no word in {len(item.text)} characters"
        else:
            continue
        yield Finding(kind="junk", item_ids=(item.id,), repair="forget", reason=reason)


def _contradictions(live: Sequence[Item]) -> Iterator[Finding]:
    single: dict[tuple[str, str, str], list[Item]] = {}
    tastes: dict[tuple[str, str, str], list[Item]] = {}
    for item in live:
        if not item.attribute:
            continue
        if item.cardinality == "one":
            single.setdefault((item.scope, item.subject.casefold(), item.attribute), []).append(item)
        elif item.attribute in OPPOSITES:
            tastes.setdefault((item.scope, item.subject.casefold(), said(item)), []).append(item)
    for values in single.values():
        if len(values) > 1:
            yield _of_newest("contradiction", values, f"{len(values)} values of one attribute")
    for views in tastes.values():
        newest = views[-1]
        ended = [one for one in views if newest.attribute in OPPOSITES.get(one.attribute, ())]
        if ended:
            yield _of_newest("contradiction", [*ended, newest], "liked and disliked")


def _duplicates(live: Iterable[Item]) -> Iterator[Finding]:
    for group in duplicate_groups([item for item in live if item.kind in STATED]):
        yield _of_newest("duplicate", group, f"{len(group)} items say the same")


def _of_newest(kind: Literal["contradiction", "duplicate"], items: Sequence[Item], reason: str) -> Finding:
    """The last of these stays."""
    ids = tuple(item.id for item in reversed(items))
    return Finding(kind=kind, item_ids=ids, repair="supersede", reason=reason)


def _oversized(live: Iterable[Item]) -> Iterator[Finding]:
    for item in live:
        if item.kind in ("fact", "preference", "event") and len(item.text) > VIEW_CHARS_MAX:
            reason = f"{len(item.text)} characters, {VIEW_CHARS_MAX} are in its vector"
            yield Finding(kind="oversized", item_ids=(item.id,), repair="edit", reason=reason)


def _unreachable(live: Iterable[Item], waiting: AbstractSet[str]) -> Iterator[Finding]:
    for item in live:
        if item.id in waiting:
            yield Finding(
                kind="unreachable",
                item_ids=(item.id,),
                repair="embed",
                reason="no vector, though others have",
            )
