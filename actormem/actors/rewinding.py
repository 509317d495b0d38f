"""Going back in a session to just before a message: what is to be recorded, worked out beside the loop.

Nothing is taken from the record but the names of what was removed: the session's state is that of the events
which stay, replayed. A snapshot of the state just before that message is kept with it, so that going back to the
same place again, as one does for another answer, reads only what came since.
"""

from collections.abc import Sequence

import anyio.to_thread
import msgspec

from actormem.actors.history import decoded, messages_of, search_back
from actormem.actors.services import Services
from actormem.core.session.decide import Draft, rewind
from actormem.core.session.events import Configured, MessageAdded, Recounted, Rewound, SessionEvent
from actormem.core.session.replay import Placed, reach, replay, survivors
from actormem.core.session.snapshot import decode_state, encode_state
from actormem.core.session.working import Working, evolve
from actormem.core.values import Message, SessionKey
from actormem.errors import NotFoundError
from actormem.ports import SaveSnapshot, SessionHistory, StoredEvent, Tokenizer

__all__ = ["Return", "found_state", "returned"]


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """A way back, worked out.

    Attributes:
        draft: The events to record, and the state they lead to.
        first: First event that leaves the session.
        names: Names of the messages that leave it.
        messages: Those messages, oldest first.
        snapshot: What is to be kept with it; None where the one that is stored is from before `first` too.
        snapshot_sequence: Event of the snapshot that is stored then.
    """

    draft: Draft
    first: int
    names: frozenset[str]
    messages: tuple[Message, ...]
    snapshot: SaveSnapshot | None
    snapshot_sequence: int


def found_state(history: SessionHistory) -> tuple[Working, int] | None:
    """The state of the stored snapshot and its event; event 0 where none is stored.

    None where it is not to be used: it is damaged, or the session went back to before it since.
    """
    if history.snapshot is None:
        return (Working(), 0) if history.snapshot_sequence == 0 else None
    state = decode_state(history.snapshot)
    if (
        state is None
        or reach(decoded(history.events), history.snapshot_sequence + 1) <= history.snapshot_sequence
    ):
        return None
    return state, history.snapshot_sequence


async def returned(
    key: SessionKey, services: Services, state: Working, message_id: str, tokenizer: Tokenizer
) -> Return:
    """The way back to just before the message.

    Args:
        state: Of the session now; all of it is durable.

    Raises:
        NotFoundError: The session has no message of that id.

    Cost:
        A replay of the events since the last snapshot that is older than the message, in a thread; of all events
        where there is none.
    """
    first = await _place(key, services, state.sequence, message_id)
    history = await services.record.load_session(key)
    assert history is not None, "a session with messages is stored"
    now_ms = services.clock.now_ms()

    def worked_out(start: Working, after: int, stored: Sequence[StoredEvent]) -> Return:
        events = decoded(stored)
        before = replay(start, [one for one in events if one[0] < first])
        assert before.sequence == first - 1, "the state before a message ends with the event before it"
        leaving = [one for one in survivors(events) if one[0] >= first]
        event = Rewound(
            first=first, sequence=state.sequence + 1, epoch_count=state.epoch_count, time_ms=now_ms
        )
        draft = _draft(before, leaving, event, tokenizer)
        gone = [event for _, event in leaving]
        due = after == 0
        return Return(
            draft=draft,
            first=first,
            names=frozenset(event.id for event in gone if isinstance(event, MessageAdded)),
            messages=messages_of(gone),
            snapshot=SaveSnapshot(key, first - 1, encode_state(before)) if due else None,
            snapshot_sequence=first - 1 if due else after,
        )

    start, after, stored = Working(), 0, history.events
    found = found_state(history)
    if found is not None and found[1] < first:
        start, after = found
    if after == 0:
        stored = await services.record.read_events(key, 1, state.sequence)
    return await anyio.to_thread.run_sync(worked_out, start, after, stored, limiter=services.counting)


def _draft(before: Working, leaving: Sequence[Placed], event: Rewound, tokenizer: Tokenizer) -> Draft:
    state = before
    for _, left in leaving:
        if isinstance(left, Configured):
            state = evolve(state, left)
    draft = Draft(state)
    rewind(draft, event, tokenizer, recount=any(isinstance(left, Recounted) for _, left in leaving))
    return draft


async def _place(key: SessionKey, services: Services, last: int, message_id: str) -> int:
    """First event that leaves with the message: its own, or that of the first "no result" it brought about."""
    place = 0

    def look(sequence: int, event: SessionEvent) -> int | None:
        nonlocal place
        if place:
            if not isinstance(event, MessageAdded) or not event.marked or sequence != place - 1:
                return place
            place = sequence
        elif isinstance(event, MessageAdded) and event.id == message_id:
            place = sequence
            return place if event.marked else None
        return None

    found = await search_back(services.record, key, last, look) or place
    if not found:
        raise NotFoundError("the session has no message of that id", id=message_id)
    return found
