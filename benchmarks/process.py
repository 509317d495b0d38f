"""What this process holds, as it can tell itself; on Linux."""

import asyncio
import ctypes
import gc
import os
import sys
import threading
from pathlib import Path

__all__ = ["file_count", "resident_kb", "task_count", "thread_count"]


def resident_kb() -> float:
    """Memory in use after a collection, the C library's own keeping given back where it can be."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def task_count() -> int:
    """Of this asyncio loop."""
    return len(asyncio.all_tasks())


def thread_count() -> int:
    """Those of the framework's own pool apart, which wait for whoever wants one next."""
    return sum("AnyIO worker" not in one.name for one in threading.enumerate())


def file_count() -> int:
    """Open files and sockets."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
