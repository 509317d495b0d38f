"""One store at one size, run by `benchmarks.scale` in a process of its own: prints one JSON object.

python -m benchmarks.scale_process STORE FOLDER

`actormem` is ours; the folder holds the job, the vectors and the queries, and for ours a memory with the items in it.
"""

import sys
from pathlib import Path
from time import perf_counter, process_time

import anyio
import msgspec
import numpy as np
from anyio.lowlevel import checkpoint

from benchmarks import report
from benchmarks.large_owner import Vectors
from benchmarks.process import resident_bytes
from benchmarks.scale_ours import HITS, Job, ours
from benchmarks.scale_stores import Page, Store, opened
from benchmarks.watching import watched

__all__ = ["main"]

ADD_ROWS = 1_000
SEARCH_S_MAX = 60.0
SEARCHES_MIN = 3


async def store_figures(name: str, job: Job, folder: Path) -> dict[str, float]:
    """What another's store does."""
    queries: Vectors = np.load(folder / "queries.npy")
    dimensions = queries.shape[1]
    async with opened(name, dimensions, folder) as store:
        await store.add(page_of(job, folder, 0, 1))  # what is loaded late is loaded
        await store.added()
        await store.search(job.owner(0), queries[0], HITS)
        before_bytes = resident_bytes()

        async def add() -> None:
            for start in range(1, job.item_count, ADD_ROWS):
                await store.add(page_of(job, folder, start, min(start + ADD_ROWS, job.item_count)))
                await checkpoint()
            await store.added()

        used_s = process_time()
        adding = await watched("adding", add)
        used_s = process_time() - used_s
        found = {
            **adding,
            "add_per_s": (job.item_count - 1) / adding["adding_s"],
            "add_processor_ms": used_s * 1000 / (job.item_count - 1),
            **await _searched(store, job, queries),
        }
        if before_bytes:
            resident = resident_bytes() - before_bytes
            found["resident_bytes_per_item"] = resident / (job.item_count - 1)
            found["resident_times_vectors"] = found["resident_bytes_per_item"] / (dimensions * 4)
    return found


def page_of(job: Job, folder: Path, first: int, end: int) -> Page:
    """Rows of the file, copied: none of the file stays in the process's memory."""
    rows: Vectors = np.array(np.load(folder / "vectors.npy", mmap_mode="r")[first:end])
    return Page([job.owner(number) for number in range(first, end)], first, rows)


async def _searched(store: Store, job: Job, queries: Vectors) -> dict[str, float]:
    for number in range(min(len(queries), job.owner_count)):
        await store.search(job.owner(number), queries[number], HITS)
        if number >= SEARCHES_MIN:
            break
    elapsed_ms, processor_ms = list[float](), list[float]()

    async def search() -> None:
        until_s = perf_counter() + SEARCH_S_MAX
        for number, query in enumerate(queries):
            began_s, used_s = perf_counter(), process_time()
            await store.search(job.owner(number), query, HITS)
            elapsed_ms.append((perf_counter() - began_s) * 1000)
            processor_ms.append((process_time() - used_s) * 1000)
            await checkpoint()
            if number >= SEARCHES_MIN and perf_counter() > until_s:
                break

    watch = await watched("searching", search)
    return {
        **watch,
        "search_count": len(elapsed_ms),
        "warm_p50_ms": report.percentile(elapsed_ms, 0.5),
        "warm_p95_ms": report.percentile(elapsed_ms, 0.95),
        "warm_processor_p50_ms": report.percentile(processor_ms, 0.5),
        "warm_processor_p95_ms": report.percentile(processor_ms, 0.95),
    }


def main(name: str, folder: Path) -> dict[str, float]:
    """The figures of one store."""
    job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
    if name == "actormem":
        return anyio.run(ours, job, folder)
    return anyio.run(store_figures, name, job, folder)


if __name__ == "__main__":
    print(msgspec.json.encode(main(sys.argv[1], Path(sys.argv[2]))).decode())
