"""An erasure as the record notes it, so that it is done to its end whatever happens in between.

The law of the file: ids alone, no words. What else an erasure needs to know it reads from the rows it erases, which
go last; so it can be begun again from what is still there.
"""

from typing import Literal, TypeAlias

import msgspec

from actormem.core.values import Owner

__all__ = [
    "BYTES_INTENTS",
    "ERASURE_INTENTS",
    "FILES",
    "Cut",
    "Erasure",
    "decode_erasure",
    "encode_erasure",
    "erasure_name",
]

ERASURE_INTENTS = "erase:"  # what the names of such intents begin with
BYTES_INTENTS = "bytes:"  # and of those that say that files are still to be cleared
FILES = Owner("", "")  # whose intents the latter are: no user's, for a forgotten user has none

Cut: TypeAlias = Literal["notes", "values", "words"]
"""What sessions lose: notes that show the items; all that memory wrote with their values; the words quoted, too."""


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """What is being erased of an owner. With nothing given: only caches and files are to be cleared.

    Attributes:
        item_ids: Items that go.
        touched_ids: Items that stay, without the words of those.
        session_id: A session that goes, with all items that came from it.
        whole: Everything of the owner goes.
        cut: What sessions lose that have shown the items, or that they came from.
        reason: Why their epochs end.
    """

    item_ids: tuple[str, ...] = ()
    touched_ids: tuple[str, ...] = ()
    session_id: str = ""
    whole: bool = False
    cut: Cut = "notes"
    reason: str = "forgetting"


def erasure_name(erasure: Erasure) -> str:
    """The name of its intent: the same for the same thing, so that it is noted once."""
    if erasure.whole:
        return f"{ERASURE_INTENTS}whole"
    if erasure.session_id:
        return f"{ERASURE_INTENTS}session:{erasure.session_id}"
    if erasure.item_ids:
        return f"{ERASURE_INTENTS}items:{erasure.item_ids[0]}"
    return f"{ERASURE_INTENTS}files"


def encode_erasure(erasure: Erasure) -> bytes:
    """The body of its intent."""
    return msgspec.msgpack.encode(erasure)


def decode_erasure(body: bytes) -> Erasure:
    """The erasure of such a body."""
    return msgspec.msgpack.decode(body, type=Erasure)
