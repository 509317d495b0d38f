"""Does recall stay fast when one owner has a hundred thousand memories, and right after a restart?

Measured, for each number of items of one owner (see `benchmarks.large_owner`), in a folder of its own:
  first        ms of the first recall after the folder was opened, and of processor time of it, all threads; whether it
               was a whole answer (0: something was not searchable yet, and the answer said so)
  loading      ms of recalls while the items are being loaded, p95; how long loading takes, in s; and the longest time
               for which the event loop did not run meanwhile, in ms (p99, max), and the longest that it worked itself
               without a rest, in ms of processor time (held)
  indexing     how long it takes from then until nothing is pending (windows of turns, the graph), in s, and the
               same of the loop meanwhile
  warm         ms of a recall of ten when all that is done, p50 and p95; and of processor time, p95
  graph        share of the ten nearest vectors that the graph finds: among the candidates a recall asks it for, and
               asked for ten alone; `-` below 4,000 items, which are scanned and so all found

Not measured: the embedding of queries (vectors are stored, and an embedder hands them out), taking items in, several
owners at once, whether the hits are right (`benchmarks.recall` asks that).

Corpus: the texts and queries are those of the sets in the folder that ACTORMEM_DATA names; where there is none they are
drawn words, and the table says which.

To read it: times are wall-clock but where said otherwise, and on a busy machine the processor's says more. Loop gaps
are over a task that sleeps 1 ms. With --large 100,000 items take several minutes.
"""

import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import anyio
import msgspec
import numpy as np
from anyio import to_thread

import actormem
from actormem.limits import HNSW_ROWS_MIN
from actormem.wiring import build_index, started_embedder
from benchmarks import report
from benchmarks.large_owner import OWNER, Material, StoredEmbedder, Vectors, fill, material

__all__ = ["FULL", "LARGE", "QUICK", "Size", "charted", "graph_recall", "main", "measure", "rows"]

NAME = "recall_scale"
HITS = 10
CANDIDATES = 128  # that a recall asks the graph for
DEADLINE_S = 30.0
TICK_S = 0.001
LEAST_MS = 1e-3  # on a logarithmic axis
COLUMNS = (
    report.Column("first ms", "first_ms"),
    report.Column("processor", "first_processor_ms"),
    report.Column("whole", "first_whole"),
    report.Column("loading p95", "loading_p95_ms"),
    report.Column("s", "loading_s"),
    report.Column("gap p99", "loading_gap_p99_ms"),
    report.Column("max", "loading_gap_max_ms"),
    report.Column("held", "loading_held_max_ms"),
    report.Column("indexing s", "indexing_s"),
    report.Column("gap p99", "indexing_gap_p99_ms"),
    report.Column("max", "indexing_gap_max_ms"),
    report.Column("held", "indexing_held_max_ms"),
    report.Column("warm p50", "warm_p50_ms"),
    report.Column("p95", "warm_p95_ms"),
    report.Column("processor", "warm_processor_p95_ms"),
    report.Column("graph", "graph_recall", "{:.3f}"),
    report.Column("of ten", "graph_recall_of_ten", "{:.3f}"),
)

TARGETS = (
    report.Target(
        about="warm recall p95 at 100,000 items, ms", row="100,000 items", figure="warm_p95_ms", at_most=20
    ),
    report.Target(
        about="first recall at 100,000 items, ms", row="100,000 items", figure="first_ms", at_most=300
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    item_counts: tuple[int, ...] = (1_000, 10_000)
    text_count: int = 4_000
    query_count: int = 200
    embedder: str = "local"


class Answered(msgspec.Struct, frozen=True):
    """How long a recall took, by the clock and by the processor, and whether its answer was whole."""

    elapsed_ms: float
    processor_ms: float
    whole: bool


FULL = Size()
QUICK = Size(item_counts=(1_000,), text_count=400, query_count=40)
LARGE = Size(item_counts=(1_000, 10_000, 100_000))


async def measure(size: Size) -> tuple[dict[int, dict[str, float]], str]:
    """The figures of each number of items; and what the items were made of."""
    embedder = await started_embedder(size.embedder)
    try:
        made = await material(embedder, size.text_count, size.query_count)
    finally:
        await embedder.aclose()
    found: dict[int, dict[str, float]] = {}
    for count in size.item_counts:
        print(f"{count:,} items", file=sys.stderr)
        folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
        try:
            vectors = await fill(Path(folder.name), made, count)
            found[count] = await _opened(Path(folder.name), made)
        finally:
            await to_thread.run_sync(folder.cleanup)
        if count >= HNSW_ROWS_MIN:
            found[count] |= await to_thread.run_sync(graph_recall, vectors, made.query_vectors)
    return found, made.source


async def _opened(folder: Path, made: Material) -> dict[str, float]:
    known = dict(zip(made.queries, made.query_vectors, strict=True))
    embedder = StoredEmbedder(known, made.vectors.shape[1])
    queries = list(made.queries)
    async with actormem.open(folder, embedder=embedder, durability="process") as runtime:
        first = await _asked(runtime, queries[0])
        loading_ms: list[float] = []

        async def load() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(_ask_on, runtime, queries, loading_ms)
                await _loaded(runtime)
                group.cancel_scope.cancel()

        loading = await _watched("loading", load)
        indexing = await _watched("indexing", runtime.settle)
        warm = [await _asked(runtime, query) for query in queries]
    return {
        "first_ms": first.elapsed_ms,
        "first_processor_ms": first.processor_ms,
        "first_whole": float(first.whole),
        "loading_p95_ms": report.percentile(loading_ms or [first.elapsed_ms], 0.95),
        **loading,
        **indexing,
        "warm_p50_ms": report.percentile([one.elapsed_ms for one in warm], 0.5),
        "warm_p95_ms": report.percentile([one.elapsed_ms for one in warm], 0.95),
        "warm_processor_p95_ms": report.percentile([one.processor_ms for one in warm], 0.95),
    }


async def _asked(runtime: actormem.Runtime, query: str) -> Answered:
    began_s, used_s = perf_counter(), process_time()
    found = await runtime.recall(query, user=OWNER.user, limit=HITS, deadline_s=DEADLINE_S)
    elapsed_s, used_s = perf_counter() - began_s, process_time() - used_s
    return Answered(elapsed_s * 1000, used_s * 1000, not found.degraded)


async def _ask_on(runtime: actormem.Runtime, queries: Sequence[str], elapsed_ms: list[float]) -> None:
    while True:
        for query in queries:
            elapsed_ms.append((await _asked(runtime, query)).elapsed_ms)
            await anyio.sleep(0.1)


async def _loaded(runtime: actormem.Runtime) -> None:
    """Return when every item is there: what asks for one waits for that."""
    while True:
        try:
            await runtime.item("m1", user=OWNER.user)
        except actormem.AskTimeoutError:
            continue
        return


async def _watched(name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> dict[str, float]:
    """How long the work takes, and for how long the loop was held meanwhile."""
    gaps_ms, held_ms = list[float](), list[float]()

    async def watch() -> None:
        while True:
            began_s, used_s = perf_counter(), thread_time()
            await anyio.sleep(TICK_S)
            gaps_ms.append((perf_counter() - began_s - TICK_S) * 1000)
            held_ms.append((thread_time() - used_s) * 1000)

    began_s = perf_counter()
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await work()
        group.cancel_scope.cancel()
    return {
        f"{name}_s": perf_counter() - began_s,
        f"{name}_gap_p99_ms": report.percentile(gaps_ms or [0.0], 0.99),
        f"{name}_gap_max_ms": max(gaps_ms, default=0.0),
        f"{name}_held_max_ms": max(held_ms, default=0.0),
    }


def graph_recall(vectors: Vectors, queries: Vectors) -> dict[str, float]:
    """The share of the ten nearest vectors that the graph finds: the mean over the queries."""
    index = build_index(np.arange(len(vectors)), vectors)
    asked = [query for query in queries if query.any()]
    shares: dict[str, list[float]] = {"graph_recall": [], "graph_recall_of_ten": []}
    for query in asked:
        scores = np.einsum("ij,j->i", vectors, query)
        nearest = set(np.argpartition(-scores, HITS)[:HITS].tolist())
        for name, count in (("graph_recall", CANDIDATES), ("graph_recall_of_ten", HITS)):
            found = index.search(query, count)[0][:HITS].tolist()
            shares[name].append(len(nearest.intersection(found)) / HITS)
    return {name: float(np.mean(each)) for name, each in shares.items()}


def rows(found: dict[int, dict[str, float]]) -> dict[str, dict[str, report.Spread]]:
    """The figures by what the table calls their row."""
    return report.single({f"{count:,} items": figures for count, figures in found.items()})


def charted(found: dict[int, dict[str, float]]) -> list[report.Chart]:
    """Times of a recall over the number of items."""
    series = tuple(
        report.Series(
            title, tuple(map(float, found)), tuple(max(one[name], LEAST_MS) for one in found.values())
        )
        for title, name in (("first", "first_ms"), ("warm p95", "warm_p95_ms"), ("warm p50", "warm_p50_ms"))
    )
    return [
        report.Chart(
            name="latency",
            title="a recall of ten, one owner",
            x_title="items",
            y_title="ms",
            series=series,
            logarithmic="xy",
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument("--large", action="store_true", help="100,000 items, too: several minutes")
    options = parser.parse_args(given)
    size = QUICK if options.quick else LARGE if options.large else FULL
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where))
    found, source = anyio.run(measure, size)
    print(report.spread_table("", COLUMNS, rows(found)))
    result = report.result_of(
        NAME,
        __doc__,
        where,
        size,
        rows(found),
        columns=COLUMNS,
        targets=TARGETS,
        charts=charted(found),
        notes=[f"made of: {source}"],
    )
    report.finish(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
