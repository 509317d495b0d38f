"""What this process holds, as it can tell itself, and parts of a benchmark that run in a process of their own."""

import asyncio
import ctypes
import gc
import os
import sys
import threading
from pathlib import Path
from subprocess import CalledProcessError

import anyio

__all__ = [
    "ChildError",
    "file_count",
    "output_of",
    "resident_bytes",
    "resident_kb",
    "task_count",
    "thread_count",
]


class ChildError(RuntimeError):
    """A process has failed; the message is the last line it has said of it."""


async def output_of(module: str, *given: str, seconds_max: float) -> bytes:
    """What a module prints that is run in a process of its own.

    Raises:
        ChildError: It has failed.
        TimeoutError: It had not ended in time; it is killed.
    """
    with anyio.fail_after(seconds_max):
        try:
            done = await anyio.run_process([sys.executable, "-m", module, *given])
        except CalledProcessError as error:
            said = error.stderr.decode("utf-8", "replace").strip().splitlines()
            last = said[-1] if said else "it said nothing"
            raise ChildError(f"{module}, exit code {error.returncode}: {last}") from None
    return done.stdout


def resident_bytes() -> int:
    """Memory in use once the C library has given back what is free; 0 where it is not told, as it is on Linux."""
    gc.collect()
    if sys.platform != "linux":
        return 0
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def resident_kb() -> float:
    """The same in units of 1,024 bytes."""
    return resident_bytes() / 1024


def task_count() -> int:
    """Of this asyncio loop."""
    return len(asyncio.all_tasks())


def thread_count() -> int:
    """Those of the framework's own pool apart, which wait for whoever wants one next."""
    return sum("AnyIO worker" not in one.name for one in threading.enumerate())


def file_count() -> int:
    """Open files and sockets."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
