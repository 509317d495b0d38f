"""A record whose commits can be held back or made to fail, with the real one behind it.

Law of the file: what is held back is committed later, in order and by the real record; nothing is made up. A record
that has failed stays so until it is left, as the port promises: only the next one that is opened may work.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from actormem.errors import StorageError
from actormem.storage.record import open_record

__all__ = ["Gate", "GatedRecord", "gated"]

Done = Callable[[StorageError | None], None]


class GatedRecord:
    """Reads at once; commits when the gate is open."""

    def __init__(self, record: Any, gate: "Gate") -> None:
        self._record = record
        self._gate = gate
        self._failed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)

    def submit(self, writes: Sequence[Any], then: Done | None = None) -> None:
        """Commit, or wait behind the gate, or fail as a record does whose disk has failed before."""
        self._failed = self._failed or self._gate.failing
        if self._failed:
            raise StorageError("the disk is full", path="record.db")
        if self._gate.held is None:
            self._record.submit(writes, then)
        else:
            self._gate.held.append((self._record, writes, then))

    async def sync(self, writes: Sequence[Any] = ()) -> None:
        """Commit, and wait until it is done and all before it too."""
        done = anyio.Event()
        failures: list[StorageError] = []

        def then(error: StorageError | None) -> None:
            failures.extend([error] if error else [])
            done.set()

        self.submit(writes, then)
        await done.wait()
        if failures:
            raise failures[0]


class Gate:
    """Holds commits back while it is shut; lets none through while it fails."""

    def __init__(self) -> None:
        self.failing = False
        self.held: list[tuple[Any, Sequence[Any], Done | None]] | None = None

    def shut(self) -> None:
        """From here on commits are stuck."""
        self.held = self.held or []

    def open(self) -> None:
        """Commit what was stuck, in order."""
        held, self.held = self.held or [], None
        for record, writes, then in held:
            record.submit(writes, then)


def gated(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """The gate of every record that the test opens from now on."""
    gate = Gate()

    @asynccontextmanager
    async def opened(folder: Path | None, **options: Any) -> AsyncGenerator[GatedRecord, None]:
        async with open_record(folder, **options) as record:
            yield GatedRecord(record, gate)

    monkeypatch.setattr("actormem.opening.open_record", opened)
    return gate
