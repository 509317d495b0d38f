"""Who wrote what: a record that notes each commit with the process it was made by, in one file for all of them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from actormem.errors import StorageError
from actormem.ports import Record, Write

__all__ = ["Witness", "lives", "took_turns"]


class Witness:
    """Given as `wrap_record`; pickled for the shards.

    Args:
        file: Lines of `first session or owner, process id`, appended as commits become durable.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, record: Record) -> "WitnessedRecord":
        return WitnessedRecord(record, self._file)


class WitnessedRecord:
    """Passes everything on."""

    def __init__(self, record: Record, file: Path) -> None:
        self._record = record
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)

    def submit(
        self, writes: Sequence[Write], then: Callable[[StorageError | None], None] | None = None
    ) -> None:
        """Note it when it is durable."""
        sessions = {one.key.session_id for one in writes if hasattr(one, "key")}

        def noted(failure: StorageError | None) -> None:
            if failure is None:
                for session in sessions:
                    os.write(self._descriptor, f"{session} {os.getpid()}\n".encode())
            if then is not None:
                then(failure)

        self._record.submit(writes, noted)


def lives(file: Path) -> dict[str, list[int]]:
    """The processes that wrote each session, in order, each run of one process as one."""
    found: dict[str, list[int]] = {}
    for line in file.read_text().splitlines():
        session, _, pid = line.rpartition(" ")
        ran = found.setdefault(session, [])
        if not ran or ran[-1] != int(pid):
            ran.append(int(pid))
    return found


def took_turns(ran: list[int]) -> bool:
    """Whether no process wrote again after another one had begun to."""
    return len(set(ran)) == len(ran)
