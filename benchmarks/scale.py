"""Does recall stay fast with a hundred thousand memories, of one owner or a thousand, and right after a restart?

Measured, for each number of items and of owners, each store in a process of its own, in four tables:
  search         of all: ms of a recall of ten when all is loaded and indexed, p50 and p95, and of processor time, p95;
                 and the longest time for which the event loop did not run meanwhile, in ms: a store that is called on
                 the loop and does not let go holds all that runs there
  adding         of all: items a second, ms of processor time of one, and the longest loop gap meanwhile. Ours: 500
                 facts remembered one by one, 50 at once, into the memory of that size, in a folder at durability
                 `process`, each compared with those before it and with its vector before it counts. Others: pages of
                 1,000 until the store has that size, in memory (langgraph sqlite: a file)
  and memory     of all: bytes of the process, an item, when all but those 500 is there and was searched; and as a ratio
                 to those of the vectors
  opening        of ours: ms to open the folder; ms of the first recall then, and of processor time of it, all threads;
                 whether it was a whole answer (0: something was not searchable yet, and the answer said so); ms from
                 the first question until an answer was whole, asked again after 10 ms; the share of the hits of
                 answers while loading that the same queries have when all is built: while loading, words are looked
                 for among the newest and the nearest alone, and windows of turns come last; ms of all recalls while
                 loading, p95; how long loading takes, in s; the longest time for which the event loop did not run
                 meanwhile, in ms (p99, max), and the longest that it worked itself without a rest, in ms of processor
                 time (held)
  building       of ours: how long it takes from then until nothing is pending (windows of turns, the graph), in s, and
                 the same of the loop meanwhile; and the share of the ten nearest vectors that the graph finds: among
                 the candidates a recall asks it for, and asked for ten alone; `-` where each owner has below 4,000
                 items, which are scanned and so all found

Others: a numpy matrix for each owner, faiss (a flat index for each owner), qdrant and chroma in memory (one collection,
filtered by owner), LangGraph's stores in memory and in SQLite (a namespace for each owner). They search vectors alone;
ours searches words, values and the newest beside them, weighs, and leaves out what is said twice.

All, ours too, have one thread for BLAS and OpenMP, and chroma's Rust one worker: in a server it is other recalls that
take the other cores, and on two cores a second thread measures what else runs there. With more cores, and nothing else
to do, those that scan can be faster than this.

Not measured: the embedding of queries (vectors are stored, and are handed out), servers, a disk that is cold (the files
were just written and are in the system's memory), whether the hits are right (`benchmarks.recall` asks that).

Corpus: the texts and queries are those of the sets in the folder that ACTORMEM_DATA names; where there is none they are
drawn words; the line below the tables says which. Vectors beyond those of the texts are of the same with noise added.

To read it: up to 10,000 items each figure is the median of three repeats, in which the stores take turns, and the line
below it the least and the greatest; of 100,000 there is one. Times are by the clock but where said otherwise, and on a
busy machine the processor's says more. Loop gaps are over a task that sleeps 1 ms. A store that is not installed, or
does not end in time, is named below the tables. A line on stderr says what is done of how much, and `--only` leaves
stores out.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from time import monotonic

import anyio
import msgspec
import numpy as np
from anyio import to_thread

from actormem.wiring import started_embedder
from benchmarks import report
from benchmarks.large_owner import Material, fill, material
from benchmarks.scale_ours import Job
from benchmarks.scale_stores import PACKAGES
from benchmarks.scale_tables import COLUMNS, OURS, OURS_COLUMNS, TARGETS, charted, tables

__all__ = [
    "COLUMNS",
    "FULL",
    "OURS_COLUMNS",
    "QUICK",
    "Measured",
    "Size",
    "charted",
    "main",
    "measure",
]

NAME = "scale"
STORE_S_MAX = 900.0
REPEATED_ITEMS = 10_000
THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
)
REASON_CHARS_MAX = 160


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured.

    Attributes:
        repeat_count: Of a size up to `REPEATED_ITEMS`; a larger one is measured once.
    """

    item_counts: tuple[int, ...] = (1_000, 10_000, 100_000)
    owner_counts: tuple[int, ...] = (1, 1_000)
    text_count: int = 4_000
    query_count: int = 200
    add_count: int = 500
    repeat_count: int = 3
    embedder: str = "local"
    stores: tuple[str, ...] = (OURS, *PACKAGES)


FULL = Size()
QUICK = Size(
    item_counts=(1_000,), owner_counts=(1, 100), text_count=400, query_count=40, add_count=100, repeat_count=1
)


class Measured(msgspec.Struct, frozen=True):
    """The figures by store and size, what the items were made of, and what was not measured and why."""

    found: dict[str, dict[str, report.Spread]]
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
    jobs = [
        Job(
            item_count=count,
            owner_count=owner_count,
            queries=tuple(made.queries),
            add_count=size.add_count,
        )
        for owner_count in size.owner_counts
        for count in size.item_counts
        for _ in range(size.repeat_count if count <= REPEATED_ITEMS else 1)
    ]
    progress = Progress(len(jobs) * len(stores))
    runs: dict[str, list[dict[str, float]]] = {}
    for job in jobs:
        for row, figures in (await _all_of(stores, made, job, progress)).items():
            if isinstance(figures, str):
                missing.append(f"{row}: not measured, {figures}")
            else:
                runs.setdefault(row, []).append(figures)
    return Measured(report.over_repeats(runs), made.source, tuple(dict.fromkeys(missing)))


class Progress:
    """A line for each measurement that begins: how many are done."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begun = 0
        self._since_s = monotonic()

    def begin(self, row: str) -> None:
        """The next one."""
        elapsed_s = monotonic() - self._since_s
        print(
            f"{self._begun} of {self._total} done in {elapsed_s:.0f} s, now {row}",
            file=sys.stderr,
            flush=True,
        )
        self._begun += 1


def row_name(store: str, item_count: int, owner_count: int) -> str:
    """What the table calls it; one owner goes without saying."""
    return f"{store}, {item_count:,} items" + (f", {owner_count:,} owners" if owner_count > 1 else "")


async def _all_of(
    stores: Sequence[str], made: Material, job: Job, progress: Progress
) -> dict[str, dict[str, float] | str]:
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
            progress.begin(row)
            found[row] = await _run(name, path)
        return found
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _run(name: str, folder: Path) -> dict[str, float] | str:
    command = [sys.executable, "-m", "benchmarks.scale_process", name, str(folder)]
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | dict.fromkeys(THREAD_COUNTS, "1") | {"PYTHONPATH": os.pathsep.join(paths)}
    try:
        with anyio.fail_after(STORE_S_MAX):
            done = await anyio.run_process(command, env=environment)
    except TimeoutError:
        return f"no end after {STORE_S_MAX:.0f} s"
    except CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1][:REASON_CHARS_MAX] if said else f"exit code {error.returncode}"
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, float])


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write the file; 0."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument("--only", choices=FULL.stores, nargs="+", help="these stores")
    options = parser.parse_args(given)
    size = QUICK if options.quick else FULL
    if options.only:
        size = msgspec.structs.replace(size, stores=tuple(options.only))
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where), flush=True)
    try:
        measured = anyio.run(measure, size)
    except KeyboardInterrupt:
        return report.stopped(NAME)
    print(tables(measured.found))
    result = report.result_of(
        NAME,
        __doc__,
        where,
        msgspec.to_builtins(size) | {"corpus": measured.source},
        measured.found,
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
