"""Verifying a folder that nobody has open: whether what is stored is what was written, and what can be made anew."""

import os
from functools import partial
from pathlib import Path

import anyio.to_thread

from actormem.errors import UsageError
from actormem.front import positive, switch
from actormem.kernel import SystemClock
from actormem.storage.lock import folder_lock
from actormem.storage.repairing import Verification, verify_folder
from actormem.storage.urls import holds_record, names_database

__all__ = ["Verification", "is_memory", "verify"]


async def is_memory(path: str | os.PathLike[str]) -> bool:
    """Whether a memory is there, in a folder or a database; nothing is made.

    Raises:
        UsageError: The name is none of a folder or database, or the database cannot be reached.
        CorruptError: The schema of the database holds something else.
    """
    return await anyio.to_thread.run_sync(holds_record, path)


async def verify(
    path: str | os.PathLike[str], *, repair: bool = False, lock_wait_s: float = 0.0
) -> Verification:
    """Look at every row and file of a memory's folder, for as long as that takes; needs the folder for itself.

    Args:
        path: The folder.
        repair: Make anew what is derived (vectors, snapshots, indexes, counts, the cache), finish the clearing of
            what was forgotten, and cut a damaged log back to what is sound of it, with a copy set aside. A damaged
            message or item stays and is told.
        lock_wait_s: Seconds to wait for another process to leave the folder.

    Raises:
        FolderInUseError: Another process, or this one, has it open.
        VersionError: A newer version wrote it.
        UsageError: No memory is in the folder, or it is a database. In all these cases nothing changed.
        StorageError: The disk failed.

    Cost:
        About a second for 100 MB; with `repair`, where something was wrong, a rewriting of the file.
    """
    if names_database(path):
        raise UsageError(
            "what is verified is a folder, not a database", hint="pg_amcheck looks at the files of a server"
        )
    folder = Path(path)
    if not await is_memory(path):
        raise UsageError(f"no memory is in the folder {folder}")
    waited_s = positive("lock_wait_s", lock_wait_s) if lock_wait_s else 0.0
    look = partial(verify_folder, folder, repair=switch("repair", repair), now_ms=SystemClock().now_ms)
    async with folder_lock(folder, waited_s):
        return await anyio.to_thread.run_sync(look, limiter=anyio.CapacityLimiter(1))
