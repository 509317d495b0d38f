"""Where the contract's records are kept: in memory, or in a folder that is opened again."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from actormem.ports import Record
from actormem.storage.record import open_record
from actormem.testing.contracts.record_values import MakeRecord

__all__ = ["Place", "in_folder", "in_memory"]


def in_memory(folder: Path) -> AbstractAsyncContextManager[Record]:
    """A record that takes no notice of the folder."""
    return open_record(None, durability="process")


def in_folder(folder: Path) -> AbstractAsyncContextManager[Record]:
    """The record in a folder."""
    return open_record(folder, durability="process")


class Place:
    """Where a record is kept, opened as often as a test likes."""

    def __init__(self, make: MakeRecord, path: Path) -> None:
        self.make = make
        self.path = path

    def open(self) -> AbstractAsyncContextManager[Record]:
        return self.make(self.path)
