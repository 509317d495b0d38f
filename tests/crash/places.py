"""Where what is killed keeps its record: a folder, or a schema of a database; both named by a string."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from actormem.ports import Record
from actormem.storage.record import open_record
from actormem.storage.schema import Durability

__all__ = ["LEASE_S", "WAIT_S", "is_database", "opened"]

LEASE_S = 0.5  # a process that was killed gives nothing back: the next one waits as long
WAIT_S = 60.0


def is_database(place: str) -> bool:
    return place.startswith("postgresql://")


def opened(place: str, *, durability: Durability = "power") -> AbstractAsyncContextManager[Record]:
    """The record in this place, once nobody has it any more."""
    if not is_database(place):
        return open_record(Path(place), durability=durability)
    from actormem.storage.postgres.record import open_postgres

    return open_postgres(place, durability=durability, lock_wait_s=WAIT_S)
