"""Does recall stay fast with a hundred thousand memories, of one owner or a thousand, and right after a restart?

Measured, for each number of items and of owners, each store in a process of its own:
  add            items a second: ours remembered one by one, 50 at once, on disk and with their vectors before they
                 count; others in pages of 1,000, into memory (langgraph sqlite: a file); and ms of processor time of
                 one
  warm           ms of a recall of ten, p50 and p95; and of processor time, p95
  gap            the longest time for which the event loop did not run while recalling, in ms: a store that is called
                 on the loop and does not let go holds all that runs there
  bytes          of the process, an item, when all is added and searched; and as a ratio to those of the vectors
and of ours, in a second table:
  first          ms of the first recall after the folder was opened, and of processor time of it, all threads; whether
                 it was a whole answer (0: something was not searchable yet, and the answer said so)
  loading        ms of recalls while the items are being loaded, p95; how long loading takes, in s; and the longest time
                 for which the event loop did not run meanwhile, in ms (p99, max), and the longest that it worked itself
                 without a rest, in ms of processor time (held)
  indexing       how long it takes from then until nothing is pending (windows of turns, the graph), in s, and the
                 same of the loop meanwhile
  graph          share of the ten nearest vectors that the graph finds: among the candidates a recall asks it for, and
                 asked for ten alone; `-` where each owner has below 4,000 items, which are scanned and so all found

Others: a numpy matrix for each owner, faiss (a flat index for each owner), qdrant and chroma in memory (one collection,
filtered by owner), LangGraph's stores in memory and in SQLite (a namespace for each owner). They search vectors alone;
ours searches words, values and the newest beside them, weighs, and leaves out what is said twice.

Not measured: the embedding of queries (vectors are stored, and are handed out), servers, whether the hits are right
(`benchmarks.recall` asks that).

Corpus: the texts and queries are those of the sets in the folder that ACTORMEM_DATA names; where there is none they are
drawn words, and the table says which. Vectors beyond those of the texts are of the same with noise added.

To read it: times are by the clock but where said otherwise, and on a busy machine the processor's says more. Loop gaps
are over a task that sleeps 1 ms. With --large 100,000 items take many minutes. A store that is not installed, or does
not end in time, is named below the table.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError

import anyio
import msgspec
import numpy as np
from anyio import to_thread

from actormem.wiring import started_embedder
from benchmarks import report
from benchmarks.large_owner import Material, fill, material
from benchmarks.scale_ours import Job
from benchmarks.scale_stores import PACKAGES

__all__ = [
    "COLUMNS",
    "FULL",
    "LARGE",
    "OURS_COLUMNS",
    "QUICK",
    "Measured",
    "Size",
    "charted",
    "main",
    "measure",
]

NAME = "scale"
OURS = "actormem"
STORE_S_MAX = 900.0
REASON_CHARS_MAX = 160
LEAST_MS = 1e-3  # on a logarithmic axis
COLUMNS = (
    report.Column("add /s", "add_per_s", "{:,.0f}", better="more"),
    report.Column("processor ms", "add_processor_ms", "{:,.3f}", better="less"),
    report.Column("warm p50 ms", "warm_p50_ms", "{:,.2f}", better="less"),
    report.Column("p95", "warm_p95_ms", "{:,.2f}", better="less"),
    report.Column("processor p95", "warm_processor_p95_ms", "{:,.2f}", better="less"),
    report.Column("gap max ms", "searching_gap_max_ms", better="less"),
    report.Column("bytes", "resident_bytes_per_item", "{:,.0f}", better="less"),
    report.Column("× vectors", "resident_times_vectors", "{:.2f}", better="less"),
)
OURS_COLUMNS = (
    report.Column("first ms", "first_ms", better="less"),
    report.Column("processor", "first_processor_ms", better="less"),
    report.Column("whole", "first_whole", better="more"),
    report.Column("loading p95", "loading_p95_ms", better="less"),
    report.Column("s", "loading_s", better="less"),
    report.Column("gap p99", "loading_gap_p99_ms", better="less"),
    report.Column("max", "loading_gap_max_ms", better="less"),
    report.Column("held", "loading_held_max_ms", better="less"),
    report.Column("indexing s", "indexing_s", better="less"),
    report.Column("gap p99", "indexing_gap_p99_ms", better="less"),
    report.Column("max", "indexing_gap_max_ms", better="less"),
    report.Column("held", "indexing_held_max_ms", better="less"),
    report.Column("graph", "graph_recall", "{:.3f}", better="more"),
    report.Column("of ten", "graph_recall_of_ten", "{:.3f}", better="more"),
)
LARGEST = f"{OURS}, 100,000 items"
TARGETS = (
    report.Target(
        about="warm recall p95 at 100,000 items, ms", row=LARGEST, figure="warm_p95_ms", at_most=20
    ),
    report.Target(about="first recall at 100,000 items, ms", row=LARGEST, figure="first_ms", at_most=300),
    report.Target(
        about="resident at 100,000 items, × vectors",
        row=LARGEST,
        figure="resident_times_vectors",
        at_most=1.3,
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    item_counts: tuple[int, ...] = (1_000, 10_000)
    owner_counts: tuple[int, ...] = (1, 1_000)
    text_count: int = 4_000
    query_count: int = 200
    add_count: int = 500
    embedder: str = "local"
    stores: tuple[str, ...] = (OURS, *PACKAGES)


FULL = Size()
QUICK = Size(item_counts=(1_000,), owner_counts=(1, 100), text_count=400, query_count=40, add_count=100)
LARGE = Size(item_counts=(1_000, 10_000, 100_000))


class Measured(msgspec.Struct, frozen=True):
    """The figures by store and size, what the items were made of, and what was not measured and why."""

    found: dict[str, dict[str, float]]
    source: str
    missing: tuple[str, ...]


async def measure(size: Size) -> Measured:
    """Every store at every size, one after another."""
    embedder = await started_embedder(size.embedder)
    try:
        made = await material(embedder, size.text_count, size.query_count)
    finally:
        await embedder.aclose()
    stores = [name for name in size.stores if name == OURS or report.version(PACKAGES[name])]
    missing = [
        f"{name} ({PACKAGES[name]}) is not installed: not measured (pip install '.[bench]')"
        for name in size.stores
        if name not in stores
    ]
    found: dict[str, dict[str, float]] = {}
    for owner_count in size.owner_counts:
        for count in size.item_counts:
            job = Job(
                item_count=count,
                owner_count=owner_count,
                queries=tuple(made.queries),
                add_count=size.add_count,
            )
            for row, figures in (await _all_of(stores, made, job)).items():
                if isinstance(figures, str):
                    missing.append(f"{row}: not measured, {figures}")
                else:
                    found[row] = figures
    return Measured(found, made.source, tuple(missing))


def row_name(store: str, item_count: int, owner_count: int) -> str:
    """What the table calls it; one owner goes without saying."""
    return f"{store}, {item_count:,} items" + (f", {owner_count:,} owners" if owner_count > 1 else "")


async def _all_of(stores: Sequence[str], made: Material, job: Job) -> dict[str, dict[str, float] | str]:
    """Each store's figures at one size, or why there are none."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        path = Path(folder.name)
        vectors = await fill(path / "memory", made, job.item_count, job.owner_count)
        await to_thread.run_sync(np.save, path / "vectors.npy", vectors)
        await to_thread.run_sync(np.save, path / "queries.npy", made.query_vectors)
        await anyio.Path(path / "job.json").write_bytes(msgspec.json.encode(job))
        found: dict[str, dict[str, float] | str] = {}
        for name in stores:
            row = row_name(name, job.item_count, job.owner_count)
            print(row, file=sys.stderr)
            found[row] = await _run(name, path)
        return found
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _run(name: str, folder: Path) -> dict[str, float] | str:
    command = [sys.executable, "-m", "benchmarks.scale_process", name, str(folder)]
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = os.environ | one_thread | {"PYTHONPATH": os.pathsep.join(paths)}
    try:
        with anyio.fail_after(STORE_S_MAX):
            done = await anyio.run_process(command, env=environment)
    except TimeoutError:
        return f"no end after {STORE_S_MAX:.0f} s"
    except CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1][:REASON_CHARS_MAX] if said else f"exit code {error.returncode}"
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, float])


def charted(found: dict[str, dict[str, float]]) -> list[report.Chart]:
    """A recall's p95 over the number of items of one owner, for each store."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row, figures in found.items():
        store, _, size = row.partition(", ")
        if "owners" not in size:
            count = float(size.partition(" ")[0].replace(",", ""))
            points.setdefault(store, []).append((count, max(figures["warm_p95_ms"], LEAST_MS)))
    series = tuple(
        report.Series(store, tuple(x for x, _ in each), tuple(y for _, y in each))
        for store, each in points.items()
    )
    return [
        report.Chart(
            name="latency",
            title="a recall of ten, one owner, p95",
            x_title="items",
            y_title="ms",
            series=series,
            logarithmic="xy",
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the file; 0."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument("--large", action="store_true", help="100,000 items, too: many minutes")
    parser.add_argument("--only", choices=FULL.stores, nargs="+", help="these stores")
    options = parser.parse_args(given)
    size = QUICK if options.quick else LARGE if options.large else FULL
    if options.only:
        size = msgspec.structs.replace(size, stores=tuple(options.only))
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where), flush=True)
    try:
        measured = anyio.run(measure, size)
    except KeyboardInterrupt:
        return report.stopped(NAME)
    found = report.single(measured.found)
    print(report.spread_table("", COLUMNS, found))
    own = {row: figures for row, figures in found.items() if row.startswith(f"{OURS},")}
    if own:
        print(f"\n{report.spread_table('', OURS_COLUMNS, own)}")
    result = report.result_of(
        NAME,
        __doc__,
        where,
        size,
        found,
        columns=(*COLUMNS, *OURS_COLUMNS),
        is_peer=lambda row: not row.startswith(f"{OURS},"),
        targets=TARGETS,
        charts=charted(measured.found),
        notes=[f"made of: {measured.source}", *measured.missing],
    )
    report.finish(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
