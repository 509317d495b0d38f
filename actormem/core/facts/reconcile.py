"""One live truth: what a new fact does to the items that speak of the same thing.

Every distinct value is one item, which carries the first and the newest time it was stated at and how often it
was seen. Items that compete are ordered by event time, at one time imported before said live, then by sequence
and id; each is superseded by the first later one that ends it, and one that nothing ends is live. The outcome
depends on what was said and when, never on the order of arrival: a late one takes its place in the middle of the
chain. Two logs that give one attribute two values at the same time are both believed: their order is not known.

What ends what:

    a `one` attribute       any later value ends the earlier one
                            (its closing: the same value, or a way that means the same, in whatever words)
    a `many` attribute      nothing but a reversal: its closing (`no longer …`), or its opposite (dislikes)

A closing is kept as an item that is superseded from the start and has confidence 0, so that it still ends a
value that arrives late; it never ends a value stated after it, is never live, and never merges with a value.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from actormem.core.facts.sameness import loose, sense, within
from actormem.core.values import Item

__all__ = ["Change", "closing", "current", "reconcile", "rivals", "said", "same_fact"]

Reason = Literal["added", "restated", "superseded", "closed", "ignored"]

TASTES: Final = ("likes", "preference", "uses")  # a reversal of one closes the others of that value
OPPOSITES: Final = {
    "likes": ("dislikes",),
    "preference": ("dislikes",),
    "dislikes": ("likes", "preference"),
}


class Change(msgspec.Struct, frozen=True):
    """One item as it is to be stored, and why.

    Attributes:
        item: The item after the change.
        reason: `added`: new and live. `restated`: merged with a statement of the same. `superseded`: a newer
            value stands before it (a late arrival is stored so), or its place in the chain moved. `closed`: a
            reversal ended it, or it is that reversal. `ignored`: stated before by the same message; nothing
            to store.
    """

    item: Item
    reason: Reason


def rivals(attribute: str) -> tuple[str, ...]:
    """The attributes whose items a fact of this attribute may change, itself first."""
    others = (*TASTES, "dislikes") if attribute in (*TASTES, "dislikes") else ()
    return (attribute, *(name for name in others if name != attribute))


def same_fact(a: Item, b: Item) -> bool:
    """Whether both state the same: subject, attribute, value. Differing numbers, ids or dates veto it."""
    return (
        a.subject.casefold() == b.subject.casefold()
        and a.attribute == b.attribute
        and (bool(a.attribute) or a.kind == b.kind)
        and said(a) == said(b)
    )


def current(items: Sequence[Item], *, now_ms: int) -> tuple[Item, ...]:
    """The items that hold now: live, and their time has not run out at `now_ms`."""
    return tuple(one for one in items if one.state == "live" and not 0 < one.expires_ms <= now_ms)


def reconcile(new: Item, existing: Sequence[Item], *, negated: bool = False) -> tuple[Change, ...]:
    """What is to be stored when a fact arrives.

    Args:
        new: The fact, with its id, sequence and event time.
        existing: The owner's items of the subject, live and superseded: at least those whose attribute is one
            of `rivals(new.attribute)`, and of a `many` attribute those that `said` tells to say the same. Items of
            other owners or subjects are passed over.
        negated: Whether it takes its value back. An empty value takes back whatever a `one` attribute has.

    Returns:
        Every item whose stored state changes, the new one first unless it merged with an older one.
        Versions are never raised: no text changes here.

    Cost:
        O(n log n) for n competing items, quadratic in the values of one `one` attribute.
    """
    if negated:
        new = closing(new)
    rows = [one for one in existing if one.id != new.id and competes(new, one)]
    twin = next((one for one in rows if same_fact(one, new) and closes(one) == negated), None)
    if twin is not None and repeats(new, twin):
        return (Change(twin, "ignored"),)
    stated = new if twin is None else merged(twin, new)
    rows = [stated, *(one for one in rows if one is not twin)]
    linked = chain(rows, stated.id, one_value=new.cardinality == "one")
    before = {one.id: one for one in existing}
    changes: list[Change] = []
    for item in linked:
        if item.id == stated.id:
            changes.insert(0, Change(item, "restated" if twin else reason(item, linked, fresh=True)))
        elif item != before[item.id]:
            changes.append(Change(item, reason(item, linked, fresh=False)))
    return tuple(changes)


def closing(item: Item) -> Item:
    """The item as one that says that its value no longer holds."""
    return msgspec.structs.replace(item, confidence=0.0, state="superseded")


def said(item: Item) -> str:
    """What is compared: the value, or the text of what has none; a plan's text tells its date."""
    value = loose(item.value) if item.value else ""
    return (
        value
        if value and item.kind != "event"
        else f"{value}\n{loose(item.text)}"
        if not closes(item)
        else value
    )


def closes(item: Item) -> bool:
    """Whether the item is a closing: it says that its value no longer holds."""
    return item.state == "superseded" and item.confidence == 0.0


def order(item: Item) -> tuple[int, bool, int, str]:
    return (item.event_ms, item.source != "import", item.sequence, item.id)


def newness(item: Item) -> tuple[int, int, str]:
    """By what the newer of two statements of the same is told; whose they are does not matter."""
    return (item.event_ms, item.sequence, item.id)


def unclear(one: Item, other: Item) -> bool:
    """Whether nobody can say which was later: two older logs give both the same time."""
    apart = not {session for session, _ in one.sources} & {session for session, _ in other.sources}
    return one.source == other.source == "import" and one.event_ms == other.event_ms > 0 and apart


def competes(new: Item, other: Item) -> bool:
    """Whether the two can change one another."""
    if new.owner != other.owner or new.subject.casefold() != other.subject.casefold():
        return False
    if not new.attribute or new.cardinality == "one":
        return new.attribute == other.attribute and (bool(new.attribute) or same_fact(new, other))
    return other.attribute in rivals(new.attribute) and said(new) == said(other)


def repeats(new: Item, twin: Item) -> bool:
    """Whether the same message said it already, as after a resumed extraction."""
    known = set(new.sources) <= set(twin.sources)
    return bool(new.source_ids) and known and new.event_ms <= twin.event_ms


def merged(twin: Item, new: Item) -> Item:
    """The older item, seen once more; the newer statement tells since when and until when it holds."""
    newer = new if newness(new) > newness(twin) else twin
    first_ms = min(filter(None, (twin.since_ms, new.since_ms)), default=0)
    sources = twin.sources + tuple(one for one in new.sources if one not in twin.sources)
    elsewhere = any(session != twin.session_id for session, _ in sources)
    return msgspec.structs.replace(
        twin,
        event_ms=newer.event_ms,
        first_ms=first_ms if first_ms < newer.event_ms else 0,
        offset_minutes=newer.offset_minutes,
        sequence=newer.sequence,
        expires_ms=newer.expires_ms,
        source="user" if "user" in (twin.source, new.source) else twin.source,
        source_ids=tuple(id for _, id in sources),
        source_sessions=tuple(session for session, _ in sources) if elsewhere else (),
        importance=max(twin.importance, new.importance),
        confidence=max(twin.confidence, new.confidence),
        seen_count=twin.seen_count + new.seen_count,
    )


def ends(later: Item, earlier: Item, *, one_value: bool) -> bool:
    """Whether the later of two competing items ends the earlier one, which is no closing."""
    if closes(later):
        if one_value:
            return not later.value or matches(said(later), said(earlier)) or same_sense(later, earlier)
        return later.attribute == earlier.attribute or {later.attribute, earlier.attribute} <= set(TASTES)
    if one_value:
        return not unclear(later, earlier)
    return later.attribute in OPPOSITES.get(earlier.attribute, ())


def matches(one: str, other: str) -> bool:
    return one == other or within(one, other) or within(other, one)


def same_sense(one: Item, other: Item) -> bool:
    meant = sense(one.attribute, one.value)
    return bool(meant) and meant == sense(other.attribute, other.value)


def chain(rows: Sequence[Item], stated_id: str, *, one_value: bool) -> list[Item]:
    """The competing items with their states and links, in the order of time.

    A closing that ended something is itself followed by the next value, so that the chain stays one line.
    An old item that was ended by one since forgotten stays as it is.
    """
    ordered = sorted(rows, key=order)
    after: dict[str, str] = {}
    before: dict[str, str] = {}
    for place, item in enumerate(ordered):
        if closes(item) and item.id not in before:
            continue
        for later in ordered[place + 1 :]:
            follows = not closes(later) and (one_value or later.attribute == item.attribute)
            if follows if closes(item) else ends(later, item, one_value=one_value):
                after[item.id] = later.id
                before[later.id] = item.id
                break
    return [link(item, after, before, {one.id for one in rows}, stated_id) for item in ordered]


def link(item: Item, after: dict[str, str], before: dict[str, str], known: set[str], stated_id: str) -> Item:
    """The item in its place: links to items that are not at hand are kept."""
    supersedes = before.get(item.id, "" if item.supersedes in known else item.supersedes)
    if item.id in after:
        state, superseded_by = "superseded", after[item.id]
    elif closes(item):
        state, superseded_by = "superseded", "" if item.superseded_by in known else item.superseded_by
    elif item.id == stated_id:
        state, superseded_by = "live", ""
    else:
        state, superseded_by = item.state, item.superseded_by
    if (state, superseded_by, supersedes) == (item.state, item.superseded_by, item.supersedes):
        return item
    return msgspec.structs.replace(item, state=state, superseded_by=superseded_by, supersedes=supersedes)


def reason(item: Item, linked: Sequence[Item], *, fresh: bool) -> Reason:
    if closes(item) or any(closes(one) and one.id == item.superseded_by for one in linked):
        return "closed"
    return "added" if fresh and item.state == "live" else "superseded"
