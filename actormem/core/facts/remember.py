"""From what was said to memory items: episodes (verbatim) and facts. Pure: numbers and times are handed in."""

from hashlib import blake2b

from actormem.core.ids import item_id
from actormem.core.text import normal
from actormem.core.values import Fact, Item, Message, Owner, Source
from actormem.limits import ITEM_TEXT_CHARS_MAX

__all__ = ["episode", "fact_item", "source_of", "text_hash"]


def episode(
    owner: Owner,
    session_id: str,
    message: Message,
    text: str,
    *,
    number: int,
    place: int,
    imported: bool,
    now_ms: int,
    scope: str = "",
) -> Item:
    """The item that keeps a message, or a passage of it, verbatim.

    Args:
        text: The words it keeps.
        number: Its own number in the record.
        place: Its place in the session: neighbours are found by it.
        imported: Whether it comes from an older log.
        scope: Which agent it belongs to; empty for all.
    """
    return Item(
        id=item_id(number),
        owner=owner,
        kind="episode",
        text=text,
        source=source_of(message, imported),
        source_ids=(message.id,),
        session_id=session_id,
        speaker=message.name or message.role,
        importance=0.3,
        confidence=1.0,
        event_ms=message.time_ms,
        offset_minutes=message.offset_minutes,
        stored_ms=now_ms,
        sequence=place,
        scope=scope,
    )


def fact_item(
    owner: Owner,
    session_id: str,
    fact: Fact,
    message: Message,
    *,
    number: int,
    imported: bool,
    now_ms: int,
    scope: str = "",
) -> Item:
    """The item that keeps what a message says of its subject. Its sequence is its number: order of arrival."""
    return Item(
        id=item_id(number),
        owner=owner,
        kind=fact.kind,
        text=fact.text[:ITEM_TEXT_CHARS_MAX],
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        cardinality=fact.cardinality,
        quote=fact.quote,
        source=source_of(message, imported),
        source_ids=(message.id,) if message.id else (),
        session_id=session_id,
        speaker=message.name or message.role,
        importance=fact.importance,
        confidence=fact.confidence,
        event_ms=message.time_ms,
        offset_minutes=message.offset_minutes,
        stored_ms=now_ms,
        sequence=number,
        scope=scope,
    )


def text_hash(text: str) -> str:
    """The hash under which a forgotten text is known, so that it is not taken in again."""
    return blake2b(normal(text).encode(), digest_size=16).hexdigest()


def source_of(message: Message, imported: bool) -> Source:
    """Whose words a message is; the user's own of an older log are `import`."""
    if message.role == "assistant":
        return "assistant"
    if message.role == "tool":
        return "tool"
    return "import" if imported else "user"
