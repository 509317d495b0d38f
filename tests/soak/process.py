"""What the process holds, told by the process itself."""

import asyncio
import ctypes
import gc
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

__all__ = ["Held", "held_now", "slope"]


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What is held between two rounds, when nobody speaks."""

    resident_kb: float
    objects: int
    tasks: int
    threads: int
    files: int
    folder_kb: float


def held_now(folder: Path) -> Held:
    """What is held after a collection, the C library's own keeping given back where it can be."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return Held(
        resident_kb=pages * os.sysconf("SC_PAGE_SIZE") / 1024,
        objects=len(gc.get_objects()),
        tasks=len(asyncio.all_tasks()),
        # The framework keeps threads of its own for whoever wants one next, and ends them when it likes.
        threads=sum("AnyIO worker" not in one.name for one in threading.enumerate()),
        files=sum(1 for _ in Path("/proc/self/fd").iterdir()),
        folder_kb=sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1024,
    )


def slope(values: Sequence[float]) -> float:
    """By how much the values grow from one to the next, by least squares over the later half."""
    late = np.asarray(values[len(values) // 2 :], np.float64)
    return float(np.polyfit(np.arange(len(late)), late, 1)[0])
