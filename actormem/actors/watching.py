"""Looking on while memories change: what is durable is told to those who watch its owner.

Law: watching costs those who are watched nothing. Whoever does not keep up misses events and is told so.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from actormem.core.live import LiveEvent, happened
from actormem.core.values import Owner
from actormem.core.writes import Write, owner_of
from actormem.errors import OverloadedError, StorageError
from actormem.ports import Record

__all__ = ["Watchers", "watched"]

EVENTS_WAITING_MAX = 256  # of one who looks on and does not keep up
WATCHERS_MAX = 1_024  # of all owners together: each is somebody's open page
Then = Callable[[StorageError | None], None]


class Watcher:
    """One who looks on."""

    def __init__(self, send: MemoryObjectSendStream[LiveEvent]) -> None:
        self._send = send
        self._missed: LiveEvent | None = None

    def tell(self, event: LiveEvent) -> None:
        """Hand it over, or remember that one was missed."""
        try:
            if self._missed is not None:
                self._send.send_nowait(self._missed)
                self._missed = None
            self._send.send_nowait(event)
        except anyio.WouldBlock:
            self._missed = LiveEvent(kind="missed", owner=event.owner, time_ms=event.time_ms)


class Watchers:
    """Those who look on, by owner."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._by_owner: dict[Owner, list[Watcher]] = {}
        self._count = 0

    @contextmanager
    def watching(self, owner: Owner) -> Generator[MemoryObjectReceiveStream[LiveEvent]]:
        """The owner's events from here on.

        Raises:
            OverloadedError: Too many look on.
        """
        if self._count >= WATCHERS_MAX:
            raise OverloadedError(
                "nobody more can look on", mailbox="watchers", waiting=self._count, limit=WATCHERS_MAX
            )
        send, receive = anyio.create_memory_object_stream[LiveEvent](EVENTS_WAITING_MAX)
        watcher = Watcher(send)
        self._by_owner.setdefault(owner, []).append(watcher)
        self._count += 1
        try:
            with send, receive:
                yield receive
        finally:
            self._count -= 1
            left = self._by_owner[owner]
            left.remove(watcher)
            if not left:
                del self._by_owner[owner]

    def looked_at(self, writes: Sequence[Write]) -> list[Write]:
        """Those of the writes that somebody looks on at."""
        return [write for write in writes if owner_of(write) in self._by_owner] if self._by_owner else []

    def tell(self, writes: Sequence[Write]) -> None:
        """Tell what these writes did, now that they are durable."""
        now_ms = self._now_ms()
        for write in writes:
            for event in happened(write, now_ms):
                for watcher in self._by_owner.get(event.owner, ()):
                    watcher.tell(event)


class WatchedRecord:
    """A record whose commits are told; all else goes straight through."""

    def __init__(self, record: Record, watchers: Watchers) -> None:
        self._record = record
        self._watchers = watchers

    def __getattr__(self, name: str) -> object:
        return getattr(self._record, name)

    def submit(self, writes: Sequence[Write], then: Then | None = None) -> None:
        """As the record's; those who look on are told when it is durable."""
        seen = self._watchers.looked_at(writes)
        if not seen:
            self._record.submit(writes, then)
            return

        def told(error: StorageError | None) -> None:
            if then is not None:
                then(error)
            if error is None:
                self._watchers.tell(seen)

        self._record.submit(writes, told)

    async def sync(self, writes: Sequence[Write] = ()) -> None:
        """As the record's; those who look on are told when it is durable."""
        seen = self._watchers.looked_at(writes)
        await self._record.sync(writes)
        if seen:
            self._watchers.tell(seen)


def watched(record: Record, watchers: Watchers) -> Record:
    """The record, with its commits told to those who look on."""
    return cast("Record", WatchedRecord(record, watchers))
