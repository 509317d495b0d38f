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
from actormem.core.session.evolve import evolve
from actormem.core.session.replay import reach, replay, survivors
from actormem.core.session.snapshot import decode_state, encode_state
from actormem.core.session.working import Working
from actormem.core.values import Message, SessionKey
from actormem.errors import NotFoundError
from actormem.ports import SaveSnapshot, SessionHistory, StoredEvent, Tokenizer

__all__ = ["Return", "found_state", "returned", "way_back"]


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
        return Working(), 0
    state, sequence = decode_state(history.snapshot), history.snapshot_sequence
    if state is None or reach(decoded(history.events), sequence + 1) <= sequence:
        return None
    return state, sequence


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
    event = Rewound(
        first=first,
        sequence=state.sequence + 1,
        epoch_count=state.epoch_count,
        time_ms=services.clock.now_ms(),
    )
    history = await services.record.load_session(key)
    assert history is not None, "a session with messages is stored"

    def from_snapshot() -> Return | None:
        found = found_state(history)
        if found is None or not 0 < found[1] < first:
            return None
        return _worked_out(key, *found, history.events, event, tokenizer)

    def from_the_beginning(stored: Sequence[StoredEvent]) -> Return:
        return _worked_out(key, Working(), 0, stored, event, tokenizer)

    back = await anyio.to_thread.run_sync(from_snapshot, limiter=services.pools.background)
    if back is None:
        stored = await services.record.read_events(key, 1, state.sequence)
        back = await anyio.to_thread.run_sync(from_the_beginning, stored, limiter=services.pools.background)
    return back


def _worked_out(
    key: SessionKey,
    start: Working,
    after: int,
    stored: Sequence[StoredEvent],
    event: Rewound,
    tokenizer: Tokenizer,
) -> Return:
    """In a thread: replay what stays from the state `start` after event `after`, and decide."""
    events, first = decoded(stored), event.first
    before = replay(start, [one for one in events if one[0] < first])
    assert before.sequence == first - 1, "the state before a message ends with the event before it"
    leaving = [one for sequence, one in survivors(events) if sequence >= first]
    snapshot = None if after else SaveSnapshot(key, first - 1, encode_state(before))
    return Return(
        draft=way_back(before, leaving, event, tokenizer),
        first=first,
        names=frozenset(one.id for one in leaving if isinstance(one, MessageAdded)),
        messages=messages_of(leaving),
        snapshot=snapshot,
        snapshot_sequence=after or first - 1,
    )


def way_back(before: Working, leaving: Sequence[SessionEvent], event: Rewound, tokenizer: Tokenizer) -> Draft:
    """What is decided where the state was `before` and these events leave: their settings stay."""
    state = before
    for left in leaving:
        if isinstance(left, Configured):
            state = evolve(state, left)
    draft = Draft(state)
    rewind(draft, event, tokenizer, recount=any(isinstance(left, Recounted) for left in leaving))
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
