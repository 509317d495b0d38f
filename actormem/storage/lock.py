"""One process per folder: a lock file that ends with its process, however it ends.

The law of the file: the lock is the kernel's (`flock`), never the file's presence or its text; the process id
in it is only for the error message. The file itself is never removed, for a removed one could be locked by
two processes at once.
"""

import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio import CapacityLimiter, to_thread

from actormem.errors import FolderInUseError, UsageError
from actormem.storage.network import warn_of_network

__all__ = ["folder_lock"]

LOCK_NAME: Final = "lock"
POLL_S: Final = 0.05  # flock cannot wait with a deadline; a hand-over at a deploy may take this much longer
FOLDER_MODE: Final = 0o700  # conversations are for the user who runs the process
FILE_MODE: Final = 0o600
PID_BYTES_MAX: Final = 20  # the digits of any 64-bit number


@asynccontextmanager
async def folder_lock(folder: Path, wait_s: float) -> AsyncGenerator[None, None]:
    """Hold the folder, made where it is missing, until the block ends or the process does.

    Args:
        folder: The folder of the record.
        wait_s: Seconds to wait for whoever has it; 0.0 to be refused at once.

    Raises:
        FolderInUseError: Another process, or this one, has it.
        UsageError: The path cannot be a folder of ours; nothing was made.
    """
    limiter = CapacityLimiter(1)
    descriptor = await to_thread.run_sync(open_lock_file, folder, limiter=limiter)
    try:
        await to_thread.run_sync(warn_of_network, folder, limiter=limiter)
        deadline = anyio.current_time() + wait_s
        while not acquired(descriptor):
            if anyio.current_time() >= deadline:
                pid = read_pid(descriptor)
                raise FolderInUseError(
                    f"the folder is in use by process {pid or 'unknown'}: {folder}", pid=pid
                )
            await anyio.sleep(POLL_S)
        yield
    finally:
        os.close(descriptor)


def open_lock_file(folder: Path) -> int:
    """Make the folder where it is missing and open its lock file, without locking it."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        raise UsageError(f"the path is a file, not a folder: {folder}") from None
    except OSError as error:
        raise UsageError(f"the folder cannot be used ({error.strerror}): {folder}") from error


def acquired(descriptor: int) -> bool:
    """Try to take the lock; True where it is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # some network file systems have no locks
        raise UsageError(f"the folder cannot be locked ({error.strerror})") from error
    with suppress(OSError):  # a full disk: the next to come is told of an unknown process
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return True


def read_pid(descriptor: int) -> int:
    """The process that has the lock, or 0 where it has not written its id yet."""
    with suppress(ValueError):
        return int(os.pread(descriptor, PID_BYTES_MAX, 0))
    return 0
