"""The state of one session and its road to the record: load, record, evolve, acknowledge.

Events are recorded in the order they were decided. The state moves on at once; what must not be said before
it is true waits for the commit. After a failed commit the session goes on in memory and acknowledges nothing.
"""

from collections.abc import Callable

import anyio.to_thread

from actormem.actors.history import decoded
from actormem.actors.resuming import summary_settled
from actormem.actors.rewinding import Return, found_state
from actormem.actors.services import Services
from actormem.core.session.decide import Draft
from actormem.core.session.events import MessageAdded, NoteWritten, SessionEvent, encode_event
from actormem.core.session.replay import replay
from actormem.core.session.snapshot import encode_state
from actormem.core.session.working import Working
from actormem.core.values import SessionKey
from actormem.errors import StorageError
from actormem.limits import SNAPSHOT_EVERY_EVENTS
from actormem.ports import (
    AppendEvents,
    DeleteIntent,
    EraseSession,
    MarkShown,
    PutIntent,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SessionHistory,
    StoredEvent,
    Write,
)

__all__ = ["Durable", "Journal"]

Durable = Callable[[int, tuple[SessionEvent, ...]], None]
Done = Callable[[StorageError | None], None]


class Journal:
    """One session's events and the state they lead to.

    Attributes:
        state: After all events decided so far, durable or not.
        names: Every message id of the session.
        progress: Event up to which long-term memory had taken everything in when the session woke.
        waiting_count: Commits that are not back yet.
        failure: The error of the first failed commit, or None.
    """

    def __init__(self, key: SessionKey, services: Services, durable: Durable) -> None:
        self.key = key
        self.state = Working()
        self.names: set[str] = set()
        self.progress = 0
        self.waiting_count = 0
        self.failure: StorageError | None = None
        self._services = services
        self._durable = durable
        self._snapshot_sequence = 0

    async def load(self) -> None:
        """Read the session from the record; a session that was never stored is empty."""
        record = self._services.record
        history = await record.load_session(self.key)
        if history is None:
            return
        state = await self._replayed(history)
        if state is None:
            last = _last(history.events, history.snapshot_sequence)
            whole = SessionHistory(
                snapshot=None,
                snapshot_sequence=0,
                events=await record.read_events(self.key, 1, last),
                progress=history.progress,
            )
            state = await self._replayed(whole)
        assert state is not None, "all events give a state"
        self.state = state
        self.progress = history.progress
        self._snapshot_sequence = history.snapshot_sequence
        self.names = set(await record.session_names(self.key))

    async def _replayed(self, history: SessionHistory) -> Working | None:
        """The state, worked out in a thread where there is much to replay; None where all events are needed."""
        if len(history.events) <= SNAPSHOT_EVERY_EVENTS:
            return _replayed(history)
        return await anyio.to_thread.run_sync(_replayed, history, limiter=self._services.pools.counting)

    def draft(self) -> Draft:
        """A decision that starts from the state now."""
        return Draft(self.state)

    def commit(self, draft: Draft, done: Done | None = None) -> None:
        """Record what was decided and go on from there; `done` is called when it is durable or has failed.

        Raises:
            OverloadedError: The record's queue is full; nothing changed.
        """
        events = tuple(draft.events)
        if not events:
            if done is not None:
                self.after_all(done)
            return
        first = self.state.sequence + 1
        writes: list[Write] = [self._append(events, first)]
        for sequence, event in enumerate(events, first):
            if isinstance(event, NoteWritten) and event.items:
                ids = tuple(dict.fromkeys(id for id, _ in event.items))
                writes.append(MarkShown(self.key, sequence, ids))
        self._submit(writes, lambda error: self._committed(error, first, events, done))
        self.state = draft.state
        self._count_orphans(events)
        self.names.update(event.id for event in events if isinstance(event, MessageAdded))
        if self.state.sequence - self._snapshot_sequence >= SNAPSHOT_EVERY_EVENTS:
            self.snapshot()

    def after_all(self, done: Done) -> None:
        """Call `done` once all that was recorded so far is durable, and told, or has failed."""
        if self.waiting_count == 0:
            done(self.failure)
        else:
            self._submit([], done)

    def snapshot(self) -> None:
        """Keep the state as it is now, so that the next waking is quick."""
        if self.failure is None and self.state.sequence > self._snapshot_sequence:
            self._snapshot_sequence = self.state.sequence
            self._submit([SaveSnapshot(self.key, self.state.sequence, encode_state(self.state))], None)

    def rewind(self, back: Return, done: Done | None) -> None:
        """Record the way back and go on from there; `done` is called when it is durable or has failed."""
        first, events = self.state.sequence + 1, tuple(back.draft.events)
        writes: list[Write] = [self._append(events, first), ReleaseNames(self.key, back.first, first - 1)]
        if back.snapshot is not None:
            writes.append(back.snapshot)
        self._submit(writes, lambda error: self._committed(error, first, events, done))
        self.state = back.draft.state
        self.names -= back.names
        # What left need not be replayed: a newer snapshot is due once as much has come since as ever.
        self._snapshot_sequence = first if back.snapshot else back.snapshot_sequence

    def replace_texts(self, texts: tuple[tuple[int, str | None], ...], done: Done) -> None:
        """Put other words in the place of those of events; the state must be loaded again afterwards."""
        self._snapshot_sequence = 0
        self._submit([ReplaceTexts(self.key, texts)], done)

    def note(self, write: PutIntent | DeleteIntent) -> None:
        """Keep what is to be done for the session, or strike it; nobody waits for it.

        Raises:
            OverloadedError: The record's queue is full; nothing changed.
        """
        self._submit([write], None)

    def erase(self, done: Done) -> None:
        """Begin again as a session that never was."""
        self.state, self.names, self.progress, self._snapshot_sequence = Working(), set(), 0, 0
        self._submit([EraseSession(self.key), summary_settled(self.key)], done)

    def _count_orphans(self, events: tuple[SessionEvent, ...]) -> None:
        counters = self._services.counters
        for event in events:
            if isinstance(event, MessageAdded):
                counters.orphan_tool_calls += event.marked
                counters.orphan_results += event.late

    def _append(self, events: tuple[SessionEvent, ...], first: int) -> AppendEvents:
        stored: list[StoredEvent] = []
        for sequence, event in enumerate(events, first):
            body, text = encode_event(event)
            name = event.id if isinstance(event, MessageAdded) else ""
            stored.append(StoredEvent(sequence=sequence, body=body, name=name, text=text))
        return AppendEvents(self.key, tuple(stored), self._services.clock.now_ms())

    def _submit(self, writes: list[Write], done: Done | None) -> None:
        self.waiting_count += 1

        def then(error: StorageError | None) -> None:
            self.waiting_count -= 1
            if error is not None and self.failure is None:
                self.failure = error
            if done is not None:
                done(error)

        try:
            self._services.record.submit(writes, then)
        except StorageError as error:
            then(error)
        except BaseException:
            self.waiting_count -= 1
            raise

    def _committed(
        self, error: StorageError | None, first: int, events: tuple[SessionEvent, ...], done: Done | None
    ) -> None:
        if error is None:
            self._durable(first, events)
        if done is not None:
            done(error)


def _replayed(history: SessionHistory) -> Working | None:
    found = found_state(history)
    return None if found is None else replay(found[0], decoded(history.events))


def _last(events: tuple[StoredEvent, ...], snapshot_sequence: int) -> int:
    return events[-1].sequence if events else snapshot_sequence
