"""Reading what a session has had: its messages, its turns, their traces. Nothing here changes anything.

Everything is read from the record. What was rewound is passed over, as if it had never been.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import anyio.to_thread
import msgspec

from actormem.actors.services import Services
from actormem.core.context.trace import Trace, unpack_trace
from actormem.core.session.events import (
    MessageAdded,
    Rewound,
    SessionEvent,
    TurnClosed,
    TurnOpened,
    decode_event,
    message_of,
)
from actormem.core.session.past import OPEN, PastTurn, past_turns
from actormem.core.session.replay import Placed, survivors
from actormem.core.session.working import Working
from actormem.core.values import Message, SessionKey
from actormem.errors import NotFoundError
from actormem.ports import Record, StoredEvent

__all__ = ["decoded", "messages_of", "past_messages", "past_trace", "search_back", "turns_of"]

PAGE_EVENTS = (
    512  # read at a time when searching back: 2 to 3 ms, and most of what is asked for is near the end
)

T = TypeVar("T")


def decoded(stored: Iterable[StoredEvent]) -> list[Placed]:
    """The events with their sequences."""
    return [(one.sequence, decode_event(one.body, one.text)) for one in stored]


def messages_of(events: Iterable[SessionEvent]) -> tuple[Message, ...]:
    """The messages that events brought, in order, as far as their words are not erased."""
    return tuple(message for event in events if (message := message_of(event)) is not None)


async def past_messages(key: SessionKey, services: Services, last: int) -> tuple[Message, ...]:
    """Every message up to event `last`, oldest first.

    Cost:
        Grows with the length of the session; it is paid in a thread.
    """
    return await _of_all(key, services, last, messages_of)


async def turns_of(
    key: SessionKey, services: Services, state: Working, newest: Trace | None
) -> tuple[PastTurn, ...]:
    """Every turn, oldest first.

    Args:
        newest: Trace of the last context, which tells the tokens of the turn that is open.

    Cost:
        Grows with the length of the session; it is paid in a thread.
    """
    found = await _of_all(key, services, state.sequence, past_turns)
    if newest is None or not found or found[-1].outcome != OPEN or newest.turn_id != found[-1].id:
        return found
    return (*found[:-1], msgspec.structs.replace(found[-1], context_tokens=newest.tokens))


async def past_trace(key: SessionKey, services: Services, last: int, turn_id: str) -> Trace:
    """The trace of the last context of a turn that has ended.

    Raises:
        NotFoundError: No turn has that id, or no trace was kept of it; says which.

    Cost:
        Grows with the distance from the end of the session to that of the turn.
    """
    rewound = False

    def look(_: int, event: SessionEvent) -> TurnClosed | NotFoundError | None:
        nonlocal rewound
        match event:
            case TurnClosed() if event.turn_id == turn_id:
                return event
            case TurnOpened() if event.turn_id == turn_id:
                return NotFoundError("no trace is kept of this turn: its end was rewound", id=turn_id)
            case MessageAdded() if event.id == turn_id:
                return NotFoundError("that message began no turn", id=turn_id)
            case _:
                return None

    found = await search_back(services.record, key, last, look)
    if found is None:
        raise NotFoundError("the session has no turn of that id", id=turn_id)
    if isinstance(found, NotFoundError):
        raise found
    trace = unpack_trace(found.trace)
    if trace is None and found.outcome == "unanswered":
        raise NotFoundError("no trace is kept of this turn: the process ended inside it", id=turn_id)
    if trace is None:
        raise NotFoundError("no trace is kept of this turn: another version recorded it", id=turn_id)
    return trace


async def search_back(
    record: Record, key: SessionKey, last: int, look: Callable[[int, SessionEvent], T | None]
) -> T | None:
    """What `look` gives first for an event that counts, from event `last` back; None where it gives nothing.

    Settings that outlived a rewind over them are passed over too.
    """
    while last > 0:
        first = max(1, last - PAGE_EVENTS + 1)
        for stored in reversed(await record.read_events(key, first, last)):
            if stored.sequence > last:
                continue
            event = decode_event(stored.body, stored.text)
            found = look(stored.sequence, event)
            if found is not None:
                return found
            last = event.first - 1 if isinstance(event, Rewound) else stored.sequence - 1
        last = min(last, first - 1)
    return None


async def _of_all(
    key: SessionKey, services: Services, last: int, made: Callable[[Sequence[SessionEvent]], T]
) -> T:
    await services.record.sync()
    stored = await services.record.read_events(key, 1, last)

    def answer() -> T:
        return made([event for _, event in survivors(decoded(stored))])

    return await anyio.to_thread.run_sync(answer, limiter=services.pools.background)
