"""What the process holds, told by the process itself."""

import gc
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.process import file_count, resident_kb, task_count, thread_count

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
    """What is held after a collection."""
    resident = resident_kb()  # collects, too
    return Held(
        resident_kb=resident,
        objects=len(gc.get_objects()),
        tasks=task_count(),
        threads=thread_count(),
        files=file_count(),
        folder_kb=sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1024,
    )


def slope(values: Sequence[float]) -> float:
    """By how much the values grow from one to the next, by least squares over the later half."""
    late = np.asarray(values[len(values) // 2 :], np.float64)
    return float(np.polyfit(np.arange(len(late)), late, 1)[0])
