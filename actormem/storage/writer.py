"""The one task that writes: it commits what has gathered, in order, as one transaction.

The law of the file: while one group commits in a thread, the next gathers; a group is durable whole or not at
all, and nobody is told before. After the first failure nothing more is written (an fsync that failed must not
be tried again: the kernel may have dropped the pages): everyone who waits, and everyone who comes, is told.

No owner can fill the queue for the others: each may have as many submissions in it as there is room left. However
many flood it, as much is left for who comes next as each of them has (Choudhury and Hahne, "Dynamic queue length
thresholds for shared-memory packet switches", 1998).

A `then` that raises is a bug of its owner. It does not stop the writer: the type of the error is logged, and
the first such error is raised when the record is left, once everything is safe.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import anyio
from anyio import CapacityLimiter, to_thread

from actormem.core.values import Owner
from actormem.core.writes import owner_of
from actormem.errors import OverloadedError, StoppedError, StorageError
from actormem.ports import Write
from actormem.storage.rows import ReserveNumbers

__all__ = ["Commit", "Then", "Writer", "Writes"]

Then: TypeAlias = Callable[[StorageError | None], None]
Writes: TypeAlias = tuple[Write | ReserveNumbers, ...]
Commit: TypeAlias = Callable[[Sequence[Writes]], int]
"""In a thread: all of them as one transaction; gives the size of what is stored, in bytes.

Raises:
    StorageError: Nothing of them is stored, or the outcome is unknown.
"""

WAITING_MAX: Final = 8_192  # submissions; hundreds of group commits behind: the disk is not coming back soon
GROUP_MAX: Final = 256  # submissions in one transaction: their callbacks hold the loop for a few milliseconds

logger = logging.getLogger(__name__)


class Submission(NamedTuple):
    """Writes that stand or fall together, whom to tell, and whose place they take."""

    writes: Writes
    then: Then | None
    owner: Owner | None


class Writer:
    """Queue and commits of one connection.

    Args:
        commit: Stores a group of submissions with the connection that writes.
        limiter: One token: whoever holds it has the connection.
        place: Where that is, for errors.
    """

    def __init__(self, commit: Commit, limiter: CapacityLimiter, place: str) -> None:
        self.commit_count = 0
        self.write_count = 0
        self.failed_commit_count = 0
        self.failure: StorageError | None = None
        self.callback_error: Exception | None = None
        self.untold = False  # something failed and there was nobody to tell
        self.size_bytes = 0
        self._store = commit
        self._limiter = limiter
        self._place = place
        self._waiting: deque[Submission] = deque()
        self._places: Counter[Owner] = Counter()
        self._committing_count = 0
        self._wake = anyio.Event()
        self._finished = anyio.Event()
        self._closing = False
        self._scope = anyio.CancelScope(shield=True)

    @property
    def waiting_count(self) -> int:
        """Submissions that were not told yet."""
        return len(self._waiting) + self._committing_count

    def submit(
        self, writes: Sequence[Write | ReserveNumbers], then: Then | None = None, *, bounded: bool = True
    ) -> None:
        """Queue the writes as one transaction, and return at once.

        Args:
            writes: What stands or falls together; none, to be told when all before is durable.
            then: Told the outcome on the event loop.
            bounded: False for what adds no work worth counting and must not be refused.

        Raises:
            StorageError: An earlier commit failed. `then` will not be called, here and below.
            OverloadedError: The queue is full, or its owner has as much in it as there is room left.
            StoppedError: The record was left.
        """
        if self.failure is not None:
            raise self.failure.with_traceback(None)  # one error tells many: it must not grow with each
        if self._closing:
            raise StoppedError("the record takes no more writes", reason="closed")
        owner = self._take_place(writes) if bounded else None
        self._waiting.append(Submission(tuple(writes), then, owner))
        self._wake.set()

    async def run(self) -> None:
        """Commit until closed and empty. Cancelled by `close` alone, never from outside."""
        with self._scope:
            while self._waiting or not self._closing:
                if self._waiting:
                    await self._commit_group()
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()
        self._tell_all(StorageError("the record was left before the commit", path=self._place))
        self._finished.set()

    def fail(self, error: StorageError) -> None:
        """Write nothing more: whoever waits, and whoever comes, is told why. The first reason stands."""
        if self.failure is None:
            # The next one cannot succeed: whoever watches the count is to know now.
            self.failed_commit_count += 1
            self.failure = error
        self._tell_all(error)

    async def close(self, deadline_s: float) -> None:
        """Take no more, commit what waits, and stop `run`; whatever waits after the deadline is told so."""
        self._closing = True
        self._wake.set()
        with anyio.move_on_after(deadline_s, shield=True):
            await self._finished.wait()
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._finished.wait()

    def _take_place(self, writes: Sequence[Write | ReserveNumbers]) -> Owner | None:
        """Whose place the writes take, if there is one for him."""
        owner = next((owner_of(one) for one in writes if not isinstance(one, ReserveNumbers)), None)
        room = WAITING_MAX - self.waiting_count
        held = 0 if owner is None else self._places[owner]
        if room <= 0:
            raise _behind(self.waiting_count, WAITING_MAX)
        if held >= room:
            raise _behind(held, (held + room) // 2)
        if owner is not None:
            self._places[owner] += 1
        return owner

    async def _commit_group(self) -> None:
        group = [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_MAX))]
        self._committing_count = len(group)
        error = None
        try:
            if any(submission.writes for submission in group):
                error = await to_thread.run_sync(self._commit, group, limiter=self._limiter)
        except anyio.get_cancelled_exc_class():
            self._waiting.extendleft(reversed(group))  # cancelled before the thread began: `run` will tell
            raise
        finally:
            self._committing_count = 0
        if error is None:
            self._tell(group, None)
            return
        self.failed_commit_count += 1
        self.failure = self.failure or error
        self._tell(group, error)
        self._tell_all(error)

    def _commit(self, group: list[Submission]) -> StorageError | None:
        """In the thread: store the group; the error is returned, for it is told and not raised."""
        try:
            self.size_bytes = self._store([submission.writes for submission in group])
        except StorageError as error:
            return error
        self.commit_count += 1
        self.write_count += sum(len(submission.writes) for submission in group)
        return None

    def _tell(self, group: Sequence[Submission], error: StorageError | None) -> None:
        for submission in group:
            self._leave_place(submission.owner)
            if submission.then is None:
                self.untold = self.untold or error is not None
                continue
            try:
                submission.then(error)
            except Exception as raised:
                logger.error("a callback of the record raised %s", type(raised).__name__)  # noqa: TRY400 - a traceback may hold words
                self.callback_error = self.callback_error or raised

    def _leave_place(self, owner: Owner | None) -> None:
        if owner is None:
            return
        self._places[owner] -= 1
        if not self._places[owner]:
            del self._places[owner]

    def _tell_all(self, error: StorageError) -> None:
        group = tuple(self._waiting)
        self._waiting.clear()
        self._tell(group, error)


def _behind(waiting: int, limit: int) -> OverloadedError:
    return OverloadedError("the disk is behind", mailbox="record", waiting=waiting, limit=limit)
