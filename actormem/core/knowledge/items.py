"""Passages of documents as memory items, and as a note shows them. Pure: numbers and times are handed in."""

import msgspec

from actormem.core.ids import item_id
from actormem.core.knowledge.split import Passage
from actormem.core.summary.excerpt import Asked, excerpt
from actormem.core.text import one_line
from actormem.core.values import Item, Owner
from actormem.limits import ITEM_TEXT_CHARS_MAX

__all__ = ["as_told", "passage_item", "words_of_passage"]

PATH_CHARS = 80  # of a note's line: the nearest headings are its end


def passage_item(
    base: Owner, document_id: str, passage: Passage, *, number: int, time_ms: int, offset: int, now_ms: int
) -> Item:
    """The item that keeps a passage; it is known by its document and its text.

    Args:
        number: Its own number in the record.
        time_ms: When the document was written, UTC milliseconds; 0 where nobody knows: then it has no date.
        offset: The writer's offset from UTC, in minutes.
    """
    return Item(
        id=item_id(number),
        owner=base,
        kind="knowledge",
        text=passage.text[:ITEM_TEXT_CHARS_MAX],
        subject=passage.path,
        source="knowledge",
        source_ids=(document_id,),
        importance=0.5,
        confidence=1.0,
        event_ms=time_ms,
        offset_minutes=offset,
        stored_ms=now_ms,
        sequence=number,
    )


def words_of_passage(item: Item) -> str:
    """The passage without the path over it."""
    return item.text.removeprefix(f"{item.subject}\n") if item.subject else item.text


def as_told(item: Item, asked: Asked, characters: int) -> Item:
    """The passage as a note tells it: the end of its path, and the sentences that answer the query best.

    Args:
        characters: About so many, the path's included; one sentence is told whatever its length.
    """
    path = item.subject if len(item.subject) <= PATH_CHARS else "…" + item.subject[-PATH_CHARS:]
    left = max(1, characters - len(path))
    words = words_of_passage(item)
    if len(words) > left:
        words = excerpt("\n".join(asked.sentences(words).lines), asked, characters=left) or words
    text = f"{path}: {words}" if path else words
    return msgspec.structs.replace(item, text=one_line(text, characters))
