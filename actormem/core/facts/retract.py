"""Taking statements back: what items are once some of the messages they came from were never said.

The law of the file: the outcome is what it would be had those messages not been there, as far as the items tell.
An item that has other sources keeps them, and its time is that of the newest of them; what an item that goes had
ended is decided anew among those that stay.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import msgspec

from actormem.core.facts.reconcile import chain, closes
from actormem.core.ids import item_number
from actormem.core.values import Item

__all__ = ["Sources", "freed", "relinked", "without_sources"]

Sources: TypeAlias = AbstractSet[tuple[str, str]]
"""Messages: session id and message id of each."""

STATED = (
    "fact",
    "preference",
    "event",
)  # may have several sources; the text of every other kind is its source's


def without_sources(item: Item, gone: Sources, episodes: Mapping[tuple[str, str], Item]) -> Item | None:
    """The item as its other sources state it; None where it has none.

    Args:
        gone: Messages that were never said.
        episodes: Episodes of the messages that stay, as far as they are known: when they were said.
    """
    kept = tuple(source for source in item.sources if source not in gone)
    if len(kept) == len(item.source_ids):
        return item
    untold_count = item.seen_count - len(item.source_ids)  # stated by a caller, not by a message
    if item.kind not in STATED or (not kept and untold_count <= 0):
        return None
    session_id = kept[0][0] if kept else ""
    event_ms, sequence, offset_minutes = _newest(item, kept, episodes, untold=untold_count > 0)
    first_ms = _first_ms(item, kept, episodes, untold=untold_count > 0)
    return msgspec.structs.replace(
        item,
        source_ids=tuple(id for _, id in kept),
        source_sessions=tuple(one for one, _ in kept) if any(one != session_id for one, _ in kept) else (),
        session_id=session_id,
        seen_count=max(1, untold_count + len(kept)),
        quote=_quote(item, kept, episodes),
        event_ms=event_ms,
        first_ms=first_ms if first_ms < event_ms else 0,
        sequence=sequence,
        offset_minutes=offset_minutes,
    )


def relinked(item: Item, rows: Sequence[Item], gone: AbstractSet[str]) -> list[Item]:
    """The items that change in a chain from which items went or in which one got another time.

    Args:
        item: One that went or changed: it says what competes.
        rows: The items that compete with it and stay, itself with its new time where it stays.
        gone: Ids of the items that went.
    """
    known = {one.id for one in rows} | gone
    before = {one.id: one for one in rows}
    linked = chain([freed(one, known) for one in rows], "", one_value=item.cardinality == "one")
    return [one for one in linked if one != before[one.id]]


def _newest(
    item: Item, kept: Sequence[tuple[str, str]], episodes: Mapping[tuple[str, str], Item], *, untold: bool
) -> tuple[int, int, int]:
    """Time, order and offset of the newest statement that stays; those of the item where none is known."""
    found = [
        (one.event_ms, item_number(one.id) or 0, one.offset_minutes)
        for source in kept
        if (one := episodes.get(source)) is not None
    ]
    if untold:
        found.append((min(item.stored_ms, item.event_ms), item_number(item.id) or 0, item.offset_minutes))
    if not found:
        return item.event_ms, item.sequence, item.offset_minutes
    newest = max(found)
    stays = newest[0] == item.event_ms and newest[1] <= item.sequence
    return (item.event_ms, item.sequence, item.offset_minutes) if stays else newest


def _first_ms(
    item: Item, kept: Sequence[tuple[str, str]], episodes: Mapping[tuple[str, str], Item], *, untold: bool
) -> int:
    """When the first statement that stays was made; as it was, where not all of them are known."""
    times = [one.event_ms for source in kept if (one := episodes.get(source)) is not None]
    if len(times) < len(kept) or untold:
        times.append(item.since_ms)
    return min(filter(None, times), default=0)


def _quote(item: Item, kept: Sequence[tuple[str, str]], episodes: Mapping[tuple[str, str], Item]) -> str:
    """The words to cut out of a message that stays, when the item is forgotten."""
    texts = [one.text for source in kept if (one := episodes.get(source)) is not None]
    for words in (item.quote, item.value):
        if words and any(words in text for text in texts):
            return words
    return item.quote


def freed(item: Item, known: AbstractSet[str]) -> Item:
    """The item without its links to those at hand and those that went: they are made anew."""
    ended = item.superseded_by in known
    revived = ended and item.state == "superseded" and not closes(item)
    return msgspec.structs.replace(
        item,
        state="live" if revived else item.state,
        superseded_by="" if ended else item.superseded_by,
        supersedes="" if item.supersedes in known else item.supersedes,
    )
