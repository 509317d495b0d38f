"""What this process holds, as it can tell itself, and parts of a benchmark that run in a process of their own."""

import asyncio
import ctypes
import gc
import os
import sys
import threading
from pathlib import Path

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


async def output_of(module: str, *given: str, seconds_max: float, code: int = 0) -> bytes:
    """What a module prints that is run in a process of its own.

    Args:
        code: The exit code it is to end with; below 0 the signal.

    Raises:
        ChildError: It has ended with another.
        TimeoutError: It had not ended in time; it is killed.
    """
    with anyio.fail_after(seconds_max):
        done = await anyio.run_process([sys.executable, "-m", module, *given], check=False)
    if done.returncode != code:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        lines = [line.strip(" |") for line in said if any(map(str.isalnum, line))]  # none of a group's frame
        last = lines[-1] if lines else "it said nothing"
        raise ChildError(f"{module}, exit code {done.returncode}: {last}")
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
