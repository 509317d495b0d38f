"""Which texts of a session have come to their end: messages before a moment, and what was written over them."""

from collections.abc import Sequence

import anyio.to_thread
import msgspec

from actormem.actors.services import Services
from actormem.core.session.events import (
    BlockMade,
    EpochStarted,
    MessageAdded,
    NoteWritten,
    SessionEvent,
    SummaryKept,
    decode_event,
)
from actormem.core.values import SessionKey
from actormem.ports import StoredEvent

__all__ = ["expired_texts", "has_expired"]

PAGE_EVENTS = 512  # looked at in one go: 2 to 3 ms in a thread
NO_BLOCK = msgspec.json.encode({"summary": "", "wire": ""}).decode()


def expired_texts(events: Sequence[StoredEvent], before_ms: int) -> list[tuple[int, str | None]]:
    """The texts to erase, by event, with what takes their place; nothing where no message is that old.

    A summary goes once all it stands for is gone; exact values that stand at the beginning of an epoch go with any
    message, since they are told anew from what is left.
    """
    placed = [(one, decode_event(one.body, one.text)) for one in events if one.text is not None]
    gone = {stored.sequence for stored, event in placed if _is_old(event, before_ms)}
    if not gone:
        return []
    kept = [
        one.sequence for one, event in placed if isinstance(event, MessageAdded) and one.sequence not in gone
    ]
    found: list[tuple[int, str | None]] = []
    for stored, event in placed:
        match event:
            case MessageAdded() if stored.sequence in gone:
                found.append((stored.sequence, None))
            case NoteWritten() if event.message_sequence in gone and event.text:
                found.append((stored.sequence, None))
            case BlockMade() if stored.text != NO_BLOCK and not _stands_for(event, kept):
                found.append((stored.sequence, NO_BLOCK))
            case SummaryKept() | EpochStarted() if event.text:
                found.append((stored.sequence, None))
            case _:
                pass
    return found


async def has_expired(key: SessionKey, services: Services, before_ms: int) -> bool:
    """Whether the session, which need not be awake for it, has a message that old.

    Cost:
        Reads events in order until the first such message; the whole session where there is none.
    """
    first = 1
    while True:
        page = await services.record.read_events(key, first, first + PAGE_EVENTS - 1)
        if not page:
            return False
        if await anyio.to_thread.run_sync(_any_old, page, before_ms, limiter=services.pools.background):
            return True
        first += PAGE_EVENTS


def _any_old(page: Sequence[StoredEvent], before_ms: int) -> bool:
    named = (one for one in page if one.text is not None)
    return any(_is_old(decode_event(one.body, one.text), before_ms) for one in named)


def _is_old(event: SessionEvent, before_ms: int) -> bool:
    return isinstance(event, MessageAdded) and event.text is not None and event.time_ms < before_ms


def _stands_for(block: BlockMade, kept: Sequence[int]) -> bool:
    return any(block.first <= sequence <= block.last for sequence in kept)
