"""An embedder for benchmarks that takes a set time and no processor to speak of, and a watch for the event loop.

Texts that share words are near each other, so that recall has something to find.
"""

import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from time import perf_counter

import anyio
import numpy as np

from actormem.ports import Vectors

__all__ = ["LoopWatch", "TimedEmbedder", "watched"]

DIMENSIONS = 384
PIECE_CHARS = 3
TICK_S = 0.002


class TimedEmbedder:
    """Answers every call after `delay_s`, however many texts it has.

    Attributes:
        spent_s: What each call took, from its beginning to its answer, in order.
        calls_at_once: As a server takes them.
    """

    calls_at_once = 4

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self.spent_s: list[float] = []

    @property
    def name(self) -> str:
        return "timed"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    async def start(self) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, once the time has passed."""
        began_s = perf_counter()
        await anyio.sleep(self._delay_s)
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place in range(0, len(text), PIECE_CHARS):
                row[zlib.crc32(text[place : place + PIECE_CHARS].encode()) % DIMENSIONS] += 1
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths == 0, 1, lengths)[:, None]
        self.spent_s.append(perf_counter() - began_s)
        return rows

    async def aclose(self) -> None:
        """Nothing to close."""


class LoopWatch:
    """How long the event loop was not free: what a short sleep took beyond its time.

    Attributes:
        gaps_s: One for each sleep of 2 ms.
    """

    def __init__(self) -> None:
        self.gaps_s: list[float] = [0.0]

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            began_s = perf_counter()
            await anyio.sleep(TICK_S)
            self.gaps_s.append(perf_counter() - began_s - TICK_S)


@asynccontextmanager
async def watched() -> AsyncGenerator[LoopWatch, None]:
    """The loop is watched inside."""
    watch = LoopWatch()
    async with anyio.create_task_group() as group:
        group.start_soon(watch.run)
        yield watch
        group.cancel_scope.cancel()
