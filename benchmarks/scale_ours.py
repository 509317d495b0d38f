"""A memory of ours with many items in it: opened cold, recalled from while it loads and warm, and added to."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import anyio
import msgspec
import numpy as np
from anyio import to_thread

import actormem
from actormem.limits import HNSW_ROWS_MIN
from actormem.wiring import build_index
from benchmarks import report
from benchmarks.large_owner import StoredEmbedder, Vectors, jittered, owner_of
from benchmarks.process import resident_bytes
from benchmarks.watching import watched

__all__ = ["HITS", "Job", "graph_recall", "ours"]

HITS = 10
CANDIDATES = 128  # that a recall asks the graph for
DEADLINE_S = 30.0
WHOLE_S_MAX = 900.0
PARTIAL_PAUSE_S = 0.01
PAUSE_S = 0.1
ASKED_AGAIN_MAX = 20
FIRST, MEANWHILE = (
    " …",
    " ,",
)  # answers are kept for a minute, and a query that was asked before would be read from there
ADD_AT_ONCE = 50  # within what an owner's mailbox takes


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to measure.

    Attributes:
        queries: The words of the queries; their vectors are in the folder.
        add_count: Items that are remembered one by one, when all else is there.
    """

    item_count: int
    owner_count: int
    queries: tuple[str, ...]
    add_count: int

    def owner(self, number: int) -> str:
        """The user whose the item, or the query, of that number is."""
        return owner_of(number, self.owner_count).user


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """How long a recall took, by the clock and by the processor, and whether its answer said that it was whole."""

    query_number: int
    owner_number: int
    elapsed_ms: float
    processor_ms: float
    whole: bool
    ids: frozenset[str]


class Asking:
    """Recalls, one after another."""

    def __init__(self, runtime: actormem.Runtime, job: Job) -> None:
        self._runtime = runtime
        self._job = job

    async def ask(self, number: int, ending: str = "", *, owner_number: int | None = None) -> Answered:
        """Ask one query of its owner; with another ending it is another query, whose answer is not kept from before."""
        query = self._job.queries[number % len(self._job.queries)] + ending
        owner_number = number if owner_number is None else owner_number
        owner = self._job.owner(owner_number)
        began_s, used_s = perf_counter(), process_time()
        found = await self._runtime.recall(query, user=owner, limit=HITS, deadline_s=DEADLINE_S)
        elapsed_s, used_s = perf_counter() - began_s, process_time() - used_s
        return Answered(
            query_number=number,
            owner_number=owner_number,
            elapsed_ms=elapsed_s * 1000,
            processor_ms=used_s * 1000,
            whole=not found.degraded,
            ids=frozenset(hit.item.id for hit in found.hits),
        )

    async def ask_until_whole(self, answers: list[Answered]) -> float:
        """Ask the first owner until an answer is whole; gives the ms from the first question until then.

        Raises:
            TimeoutError: None was for minutes.
        """
        began_s = perf_counter()
        while perf_counter() - began_s < WHOLE_S_MAX:
            number = len(answers)
            answers.append(await self.ask(number, MEANWHILE if number else FIRST, owner_number=0))
            if answers[-1].whole:
                return (perf_counter() - began_s) * 1000
            await anyio.sleep(PARTIAL_PAUSE_S)
        raise TimeoutError(f"no whole answer within {WHOLE_S_MAX:.0f} s of the first question")

    async def ask_until(self, loaded: anyio.Event, answers: list[Answered]) -> None:
        """Ask until that has come; a question under way is waited for."""
        number = 0
        while not loaded.is_set():
            answers.append(await self.ask(number, MEANWHILE))
            number += 1
            with anyio.move_on_after(PAUSE_S):
                await loaded.wait()

    async def ask_each(self, answers: list[Answered]) -> None:
        """Ask every query once."""
        for number in range(len(self._job.queries)):
            answers.append(await self.ask(number))

    async def same_share(self, answers: Sequence[Answered]) -> dict[str, float]:
        """The share of the hits of answers while loading that the same queries have now; nothing where none has any."""
        shares: list[float] = []
        for was in [one for one in answers if one.ids and not one.whole][:ASKED_AGAIN_MAX]:
            now = await self.ask(was.query_number, MEANWHILE, owner_number=was.owner_number)
            shares.append(len(was.ids & now.ids) / len(was.ids))
        return {"loading_same_share": float(np.mean(shares))} if shares else {}

    async def load_all(self) -> None:
        """Return when every item of every owner is there: what asks for one waits for that."""
        for number in range(self._job.owner_count):
            while True:
                try:
                    await self._runtime.item(f"m{number + 1}", user=self._job.owner(number))
                except actormem.AskTimeoutError:
                    continue
                break


async def ours(job: Job, folder: Path) -> dict[str, float]:
    """The figures of one memory, which is in `folder`."""
    vectors: Vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    queries: Vectors = np.load(folder / "queries.npy")
    known = {
        query + ending: vector
        for query, vector in zip(job.queries, queries, strict=True)
        for ending in ("", FIRST, MEANWHILE)
    }
    added = [f"What was said, number {number}." for number in range(job.add_count)]
    pages = jittered(vectors, job.add_count)  # near what is there, and not the same
    known |= dict(zip(added, (row for page in pages for row in page), strict=True))
    embedder = StoredEmbedder(known, vectors.shape[1])
    async with actormem.open(None, embedder=embedder) as runtime:  # what is loaded late is loaded
        await runtime.remember(job.queries[0], user=job.owner(0))
        await runtime.recall(job.queries[0], user=job.owner(0))
    before_bytes = resident_bytes()
    began_s = perf_counter()
    async with actormem.open(folder / "memory", embedder=embedder, durability="process") as runtime:
        found = {"open_ms": (perf_counter() - began_s) * 1000}
        found |= await _recalled(Asking(runtime, job), runtime)
        if before_bytes:
            resident = resident_bytes() - before_bytes
            found["resident_bytes_per_item"] = resident / job.item_count
            found["resident_times_vectors"] = resident / vectors.nbytes
        found |= await _added(runtime, job, added)
    if job.item_count // job.owner_count >= HNSW_ROWS_MIN:
        found |= await to_thread.run_sync(graph_recall, np.array(vectors), queries)
    return found


async def _recalled(asking: Asking, runtime: actormem.Runtime) -> dict[str, float]:
    cold, warm, found = list[Answered](), list[Answered](), dict[str, float]()

    async def load() -> None:
        found["until_whole_ms"] = await asking.ask_until_whole(cold)
        loaded = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(asking.ask_until, loaded, cold)
            await asking.load_all()
            loaded.set()

    loading = await watched("loading", load)
    indexing = await watched("indexing", runtime.settle)
    searching = await watched("searching", partial(asking.ask_each, warm))
    found |= await asking.same_share(cold)
    return found | {
        "first_ms": cold[0].elapsed_ms,
        "first_processor_ms": cold[0].processor_ms,
        "first_whole": float(cold[0].whole),
        "loading_p95_ms": report.percentile([one.elapsed_ms for one in cold], 0.95),
        **loading,
        **indexing,
        **searching,
        "search_count": len(warm),
        "warm_p50_ms": report.percentile([one.elapsed_ms for one in warm], 0.5),
        "warm_p95_ms": report.percentile([one.elapsed_ms for one in warm], 0.95),
        "warm_processor_p50_ms": report.percentile([one.processor_ms for one in warm], 0.5),
        "warm_processor_p95_ms": report.percentile([one.processor_ms for one in warm], 0.95),
    }


async def _added(runtime: actormem.Runtime, job: Job, texts: Sequence[str]) -> dict[str, float]:
    """Items remembered one by one, some at once, beside all that is there: durable, and found by their vectors."""
    used_s = process_time()
    adding = await watched("adding", partial(_remember, runtime, job, texts))
    used_s = process_time() - used_s
    return adding | {
        "add_per_s": len(texts) / adding["adding_s"],
        "add_processor_ms": used_s * 1000 / len(texts),
    }


async def _remember(runtime: actormem.Runtime, job: Job, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), ADD_AT_ONCE):
        async with anyio.create_task_group() as group:
            for number in range(start, min(start + ADD_AT_ONCE, len(texts))):
                group.start_soon(partial(runtime.remember, texts[number], user=job.owner(number)))
    await runtime.settle()


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
