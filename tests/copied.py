"""A record that copies its folder after every commit: what a kill -9 at that moment would have left.

Law of this file: one transaction at a time reaches the real record, so that each copy is of a moment between two; and
nothing in a copy is made up. The caches are not in it: another thread writes them meanwhile, and they may be lost.
"""

import shutil
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from actormem.errors import StorageError
from actormem.storage.record import open_record

__all__ = ["Copies", "copied"]

Done = Callable[[StorageError | None], None]


class Copies:
    """The copies, in order; none are made before `start` or after `stop`.

    Attributes:
        going: Whether they are being made.
        made: The folders.
    """

    def __init__(self, folder: Path, into: Path) -> None:
        self._folder = folder
        self._into = into
        self.going = False
        self.made: list[Path] = []

    def start(self) -> None:
        """Copy the folder as it is, and from here on after each commit."""
        self.going = True
        self.copy()

    def stop(self) -> None:
        """No more copies."""
        self.going = False

    def copy(self) -> None:
        """Copy the folder as it is now."""
        if self.going:
            place = self._into / f"after-{len(self.made)}"
            shutil.copytree(self._folder, place, ignore=shutil.ignore_patterns("cache"))
            self.made.append(place)


class CopiedRecord:
    """Commits one transaction after the other, with a copy after each and before each scrub."""

    def __init__(self, record: Any, copies: Copies) -> None:
        self._record = record
        self._copies = copies
        self._waiting: deque[tuple[Sequence[Any], Done | None]] = deque()
        self._busy = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)

    def submit(self, writes: Sequence[Any], then: Done | None = None) -> None:
        """Commit when those before are done; at once while nothing is copied."""
        if not self._copies.going and not self._waiting:
            self._record.submit(writes, then)
            return
        self._waiting.append((writes, then))
        self._next()

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        writes, then = self._waiting.popleft()

        def committed(error: StorageError | None) -> None:
            try:
                if writes:
                    self._copies.copy()
            finally:  # a copy that fails must fail the test, not leave it waiting
                self._busy = False
                if then is not None:
                    then(error)
                self._next()

        self._record.submit(writes, committed)

    async def sync(self, writes: Sequence[Any] = ()) -> None:
        """Commit, and wait until it is done and all before it too."""
        done = anyio.Event()
        self.submit(writes, lambda _: done.set())
        await done.wait()

    async def scrub(self) -> None:
        """Clear the files when all is committed."""
        await self.sync()
        self._copies.copy()
        await self._record.scrub()


def copied(monkeypatch: pytest.MonkeyPatch, folder: Path, into: Path) -> Copies:
    """The copies of the folder, once the test starts them; of records that are opened from now on."""
    copies = Copies(folder, into)

    @asynccontextmanager
    async def opened(place: Path | None, **options: Any) -> AsyncGenerator[Any, None]:
        async with open_record(place, **options) as record:
            yield CopiedRecord(record, copies) if place == folder else record

    monkeypatch.setattr("actormem.opening.open_record", opened)
    return copies
