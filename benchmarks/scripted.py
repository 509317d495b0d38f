"""What benchmarks are given in place of a server: an embedder and a chat model that take a set time and hardly any
processor; and watches: one for the calls of a chat model, one for the event loop.

Texts that share words are near each other, so that recall has something to find.
"""

import zlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter, thread_time

import anyio
import msgspec
import numpy as np

from actormem.ports import LLM, JsonValue, Vectors
from benchmarks import report
from benchmarks.side_llm import NO_FACTS

__all__ = ["DIMENSIONS", "LoopWatch", "TimedEmbedder", "TimedLLM", "WatchedLLM", "percentiles", "watched"]

DIMENSIONS = 384
PIECE_CHARS = 3
TICK_S = 0.002
HELD_S = 0.02  # a gap above it is felt
SUMMARY = "They spoke of the house, of what was bought and of who had been there."


class TimedEmbedder:
    """Answers every call after `delay_s`, however many texts it has.

    Attributes:
        calls_at_once: As a server takes them.
    """

    calls_at_once = 4

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s

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
        await anyio.sleep(self._delay_s)
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place in range(0, len(text), PIECE_CHARS):
                row[zlib.crc32(text[place : place + PIECE_CHARS].encode()) % DIMENSIONS] += 1
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths == 0, 1, lengths)[:, None]
        return rows

    async def aclose(self) -> None:
        """Nothing to close."""


class TimedLLM:
    """Answers every call after `delay_s`: the same summary each time, and no fact where facts are asked for."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s

    @property
    def name(self) -> str:
        return "timed"

    @property
    def window_tokens(self) -> int:
        return 8_192

    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],  # noqa: ARG002  # the answer is always the same
        *,
        tokens_max: int,  # noqa: ARG002  # and short
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """The answer, once the time has passed."""
        with anyio.fail_after(deadline_s):
            await anyio.sleep(self._delay_s)
        return NO_FACTS if schema else SUMMARY

    async def aclose(self) -> None:
        """Nothing to close."""


class WatchedLLM:
    """A chat model as it is, and when each call of it began and ended."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._begun_s: list[float] = []
        self._spans_s: list[tuple[float, float]] = []

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def window_tokens(self) -> int:
        return self._llm.window_tokens

    @property
    def call_count(self) -> int:
        """Calls that were begun."""
        return len(self._begun_s)

    def within(self, began_s: float, ended_s: float) -> int:
        """Calls that both began and ended in this span of `perf_counter`.

        Whoever asks in a span and waits for the answer in it makes one; a call that outlasts the span was not waited
        for in it.
        """
        return sum(began_s <= first_s and last_s <= ended_s for first_s, last_s in self._spans_s)

    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        tokens_max: int,
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """What it answers."""
        began_s = perf_counter()
        self._begun_s.append(began_s)
        try:
            return await self._llm.complete(
                messages, tokens_max=tokens_max, deadline_s=deadline_s, schema=schema
            )
        finally:
            self._spans_s.append((began_s, perf_counter()))

    async def aclose(self) -> None:
        """Close it."""
        await self._llm.aclose()


class LoopWatch(msgspec.Struct):
    """How long the event loop was not free: what short sleeps took beyond their time.

    Attributes:
        gaps_s: One for each sleep of 2 ms.
        own_max_s: The most processor time that the loop's own thread took within one.
        elapsed_s: All sleeps with their gaps.
    """

    gaps_s: list[float] = msgspec.field(default_factory=list[float])
    elapsed_s: float = 0.0
    own_max_s: float = 0.0

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            began_s, used_s = perf_counter(), thread_time()
            await anyio.sleep(TICK_S)
            self.add(perf_counter() - began_s, thread_time() - used_s)

    def add(self, slept_s: float, used_s: float) -> None:
        """Count a sleep that took so long, and the processor time of the thread meanwhile."""
        self.own_max_s = max(self.own_max_s, used_s)
        self.gaps_s.append(max(0.0, slept_s - TICK_S))
        self.elapsed_s += slept_s

    @property
    def figures(self) -> dict[str, float]:
        """Gaps by the time they take, not by their number: many short ones do not hide one that is long.

        `gap_p99_ms` is the shortest gap that only a hundredth of the time, or less, is spent in longer ones than.
        """
        left_s, p99_s = self.elapsed_s / 100, 0.0
        for gap_s in sorted(self.gaps_s, reverse=True):
            left_s -= gap_s
            if left_s < 0:
                p99_s = gap_s
                break
        held_s = sum(gap_s for gap_s in self.gaps_s if gap_s > HELD_S)
        return {
            "gap_p99_ms": p99_s * 1000,
            "gap_max_ms": max(self.gaps_s, default=0.0) * 1000,
            "own_max_ms": self.own_max_s * 1000,
            "held_share": held_s / self.elapsed_s if self.elapsed_s else 0.0,
        }


def percentiles(name: str, values_ms: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and the greatest, as figures of this name."""
    return {
        f"{name}_p50_ms": report.percentile(values_ms, 0.5),
        f"{name}_p95_ms": report.percentile(values_ms, 0.95),
        f"{name}_max_ms": max(values_ms),
    }


@asynccontextmanager
async def watched() -> AsyncGenerator[LoopWatch, None]:
    """The loop is watched inside; the figures are whole once the block is left."""
    watch = LoopWatch()
    async with anyio.create_task_group() as group:
        group.start_soon(watch.run)
        await anyio.sleep(TICK_S)  # the watch has begun
        yield watch
        await anyio.sleep(2 * TICK_S)  # and sees the end of the last gap
        group.cancel_scope.cancel()
