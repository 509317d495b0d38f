"""A record that fails at the call you choose, before one that works.

Law: it keeps the promises of the port, those about failing too: the first failed commit is the last one tried, and
what failed may have been written or not. What hangs is never told of, nor is what comes after it.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import anyio

from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import (
    BaseContents,
    BaseRow,
    OwnerItems,
    OwnerRow,
    Record,
    RecordStatistics,
    Scan,
    SessionHistory,
    SessionRow,
    StoredEvent,
    VectorPage,
    Write,
)

__all__ = ["DiskFault", "FailingRecord"]

DiskFault: TypeAlias = Literal["full", "unsynced", "unread", "hang"]
"""`full`: a commit is not written. `unsynced`: it is written, and told to have failed, as by an fsync. `unread`: a
question is not answered. `hang`: a commit does not come, nor do those after it, until they are released: one after the
other they are a disk that drips."""
Then: TypeAlias = Callable[[StorageError | None], None]


class FailingRecord:
    """A record whose n-th commit, or n-th question, fails. See `actormem.ports.Record`.

    Args:
        record: Does all the rest.
        at: Which one fails, from 1; questions are counted for `unread`, commits for the others.
        fault: How; see `DiskFault`.

    Attributes:
        call_count: Of those that are counted, so far.
    """

    def __init__(self, record: Record, *, at: int, fault: DiskFault) -> None:
        self.call_count = 0
        self._record = record
        self._at = at
        self._fault: DiskFault = fault
        self._failure: StorageError | None = None
        self._held: deque[tuple[Sequence[Write], Then | None]] = deque()
        self._hanging = False

    @property
    def hanging_count(self) -> int:
        """Commits that hang now."""
        return len(self._held)

    def release(self, count: int | None = None) -> None:
        """Let so many of the commits that hang be written, oldest first; with None all, and the disk works again."""
        if count is None:
            self._hanging = False
        for _ in range(len(self._held) if count is None else min(count, len(self._held))):
            writes, then = self._held.popleft()
            self._record.submit(writes, then)

    @property
    def failed(self) -> bool:
        """Whether the call that was to fail has come."""
        return self.call_count >= self._at

    def submit(self, writes: Sequence[Write], then: Then | None = None) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if not self._hanging and (self._fault == "unread" or not writes or not self._is_due()):
            self._record.submit(writes, then)
            return
        if self._fault == "hang":
            self._hanging = True
            self._held.append((writes, then))
            return
        failure = self._failure = self._error()

        def told(_: StorageError | None) -> None:
            if then is not None:
                then(failure)

        self._record.submit(writes if self._fault == "unsynced" else (), told)

    async def sync(self, writes: Sequence[Write] = ()) -> None:
        done = anyio.Event()
        errors: list[StorageError] = []

        def then(error: StorageError | None) -> None:
            if error is not None:
                errors.append(error)
            done.set()

        self.submit(writes, then)
        await done.wait()
        if errors:
            raise errors[0].with_traceback(None)

    async def scrub(self) -> None:
        await self.sync()
        await self._record.scrub()

    async def forgotten_ms(self, owner: Owner) -> int:
        self._asked()
        return await self._record.forgotten_ms(owner)

    async def scan(self, texts: Sequence[str], besides: Owner | None = None) -> Scan:
        self._asked()
        return await self._record.scan(texts, besides)

    def next_item_number(self) -> int:
        return self._record.next_item_number()

    def newest_ms(self) -> int:
        return self._record.newest_ms()

    def elsewhere(self) -> tuple[str, ...]:
        return self._record.elsewhere()

    def statistics(self) -> RecordStatistics:
        return self._record.statistics()

    async def load_session(self, key: SessionKey) -> SessionHistory | None:
        self._asked()
        return await self._record.load_session(key)

    async def read_events(self, key: SessionKey, first: int, last: int) -> tuple[StoredEvent, ...]:
        self._asked()
        return await self._record.read_events(key, first, last)

    async def session_names(self, key: SessionKey) -> frozenset[str]:
        self._asked()
        return await self._record.session_names(key)

    async def sessions(self, owner: Owner) -> tuple[SessionRow, ...]:
        self._asked()
        return await self._record.sessions(owner)

    async def owners(self, limit: int, tenant: str | None = None, prefix: str = "") -> tuple[OwnerRow, ...]:
        self._asked()
        return await self._record.owners(limit, tenant, prefix)

    async def behind(self) -> tuple[SessionKey, ...]:
        self._asked()
        return await self._record.behind()

    async def load_items(self, owner: Owner, embedder: str, newest: int | None = None) -> OwnerItems:
        self._asked()
        return await self._record.load_items(owner, embedder, newest)

    async def items_after(self, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
        self._asked()
        return await self._record.items_after(owner, number, limit)

    async def items_of(self, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
        self._asked()
        return await self._record.items_of(owner, numbers)

    async def vectors_before(
        self, owner: Owner, embedder: str, number: int | None, *, limit: int, size_bytes: int
    ) -> VectorPage:
        self._asked()
        return await self._record.vectors_before(owner, embedder, number, limit=limit, size_bytes=size_bytes)

    async def shown_in(self, owner: Owner, item_id: str) -> tuple[tuple[SessionKey, int], ...]:
        self._asked()
        return await self._record.shown_in(owner, item_id)

    async def base_contents(self, base: Owner) -> BaseContents:
        self._asked()
        return await self._record.base_contents(base)

    async def bases(self, tenant: str) -> tuple[BaseRow, ...]:
        self._asked()
        return await self._record.bases(tenant)

    async def intents(self, owner: Owner) -> tuple[tuple[str, bytes], ...]:
        self._asked()
        return await self._record.intents(owner)

    async def owners_with_intents(self, prefix: str = "") -> tuple[Owner, ...]:
        self._asked()
        return await self._record.owners_with_intents(prefix)

    async def intent_counts(self) -> Mapping[str, int]:
        self._asked()
        return await self._record.intent_counts()

    def _asked(self) -> None:
        if self._fault == "unread" and self._is_due():
            raise self._error()

    def _is_due(self) -> bool:
        self.call_count += 1
        return self.call_count == self._at

    def _error(self) -> StorageError:
        return StorageError("fails as it was told to", path="in a test")
