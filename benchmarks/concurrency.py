"""Does a server with hundreds of busy sessions stay quick, and what does it leave out when it cannot?

Measured, 200 sessions of as many users in one process, ten turns each, a budget of 1,500, so that summaries are made
meanwhile (by a scripted LLM that takes 0.8 s); in two ways:
  paced        between context and reply 0.8 s pass, as for a model's reply; sessions begin spread over that time
  burst        the reply is there at once: 2,000 turns as fast as they go, all sessions beginning together
with the scripted embedder (20 ms a call, as a server's), the local one and, where OPENAI_BASE_URL names a server, its.
  wall         seconds for all turns
  turn         ms from the user's message to the messages to send (p50, p95, max)
  gap          ms for which the event loop did not come round: what a sleep of 2 ms took beyond that (p99, max)
  degraded     share of contexts that something is missing of, as their traces say; below the table, what it was
  queries      queries embedded in a call, the mean: those that come while a call runs go together
  processor    ms of processor a turn, all threads, background work included

Not measured: a model's work, the server's side of a network, memory (`benchmarks.sessions`), one long conversation
(`benchmarks.reply_path`).

Corpus: made-up conversations, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: on a machine that others use, gaps and waits are theirs too: compare figures of one run, and look at
`processor`, which says how many turns a second one core can carry: 250 turns a second come in the paced run.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from time import perf_counter, process_time

import anyio
import msgspec
from anyio import to_thread

import actormem
from actormem.adapters.openai import OpenAIEmbedder
from actormem.ports import Embedder
from actormem.testing.fakes import ScriptedLLM
from benchmarks import report
from benchmarks.conversation import SpokenTurn, conversation
from benchmarks.scripted import TimedEmbedder, watched

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "once", "shown"]

NAME = "concurrency"
BUDGET_TOKENS = 1_500
EMBEDDING_S = 0.02
SUMMARY_S = 0.8
SEED = 20_240_229
WAYS = ("paced", "burst")
SUMMARY = "They spoke of the house, of what was bought and of who had been there."
COLUMNS = (
    report.Column("wall s", "wall_s", better="less"),
    report.Column("turn p50 ms", "turn_p50_ms", better="less"),
    report.Column("p95", "turn_p95_ms", better="less"),
    report.Column("max", "turn_max_ms", better="less"),
    report.Column("gap p99 ms", "gap_p99_ms", better="less"),
    report.Column("max", "gap_max_ms", better="less"),
    report.Column("degraded", "degraded_share", "{:.3f}", better="less"),
    report.Column("queries", "queries_a_call"),
    report.Column("processor ms", "processor_ms", better="less"),
)
PACED, BURST = "scripted, paced", "scripted, burst"
TARGETS = (
    report.Target(about="loop gap p99, ms, paced", row=PACED, figure="gap_p99_ms", at_most=20),
    report.Target(about="loop gap max, ms, paced", row=PACED, figure="gap_max_ms", at_most=50, worst=True),
    report.Target(about="turn p95, ms, paced", row=PACED, figure="turn_p95_ms", at_most=50),
    report.Target(about="share degraded, paced", row=PACED, figure="degraded_share", at_most=0, worst=True),
    report.Target(about="loop gap max, ms, burst", row=BURST, figure="gap_max_ms", at_most=50, worst=True),
    report.Target(about="turn p95, ms, burst", row=BURST, figure="turn_p95_ms", at_most=150),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    session_count: int = 200
    turn_count: int = 10
    repeat_count: int = 3
    reply_s: float = 0.8
    embedders: tuple[str, ...] = ("scripted", "local", "server")


FULL = Size()
QUICK = Size(session_count=40, repeat_count=1)


class Turns:
    """What came of the turns of a run."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []
        self.missing: Counter[str] = Counter()
        self.degraded_count = 0

    def add(self, wait_s: float, trace: actormem.Trace) -> None:
        """Count one."""
        self.waits_s.append(wait_s)
        self.missing.update(trace.degraded)
        self.degraded_count += bool(trace.degraded)

    @property
    def figures(self) -> dict[str, float]:
        """Waits, and the share of contexts that lack each thing."""
        count = len(self.waits_s)
        waits_ms = [wait_s * 1000 for wait_s in self.waits_s]
        return {
            "turn_p50_ms": report.percentile(waits_ms, 0.5),
            "turn_p95_ms": report.percentile(waits_ms, 0.95),
            "turn_max_ms": max(waits_ms),
            "degraded_share": self.degraded_count / count,
            **{f"without_{name}_share": self.missing[name] / count for name in ("vector", "recall")},
        }


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure of each embedder and way; the repeats alternate, so that a busy minute is shared."""
    rows = [(name, way) for name in size.embedders if _is_here(name) for way in WAYS]
    runs: dict[str, list[dict[str, float]]] = {f"{name}, {way}": [] for name, way in rows}
    for number in range(size.repeat_count):
        for name, way in rows:
            print(f"repeat {number + 1} of {size.repeat_count}, {name}, {way}", file=sys.stderr)
            runs[f"{name}, {way}"].append(await once(name, way, size))
    return {
        row: {name: report.spread([one[name] for one in found]) for name in found[0]}
        for row, found in runs.items()
    }


def _is_here(name: str) -> bool:
    return name != "server" or bool(os.environ.get("OPENAI_BASE_URL"))


def _embedder(name: str) -> str | Embedder:
    if name == "scripted":
        return TimedEmbedder(EMBEDDING_S)
    return OpenAIEmbedder("benchmark") if name == "server" else name


async def once(name: str, way: str, size: Size) -> dict[str, float]:
    """The figures of one run in a fresh folder."""
    turns = Turns()
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    llm = ScriptedLLM(lambda _: SUMMARY, delay_s=SUMMARY_S)
    talks = [conversation(size.turn_count, SEED + number) for number in range(min(20, size.session_count))]
    try:
        async with actormem.open(folder.name, llm=llm, embedder=_embedder(name), extract=False) as runtime:
            sessions = [await _spawned(runtime, number) for number in range(size.session_count)]
            await runtime.settle()
            began_s, processor_s = perf_counter(), process_time()
            async with watched() as watch:
                async with anyio.create_task_group() as group:
                    for number, session in enumerate(sessions):
                        reply_s = size.reply_s if way == "paced" else 0.0
                        late_s = reply_s * number / size.session_count
                        group.start_soon(_talk, session, talks[number % len(talks)], reply_s, late_s, turns)
                wall_s = perf_counter() - began_s
                gaps_ms = [gap_s * 1000 for gap_s in watch.gaps_s]
            processor_s = process_time() - processor_s
            counts = runtime.statistics()
    finally:
        await to_thread.run_sync(folder.cleanup)
    return {
        "wall_s": wall_s,
        **turns.figures,
        "gap_p99_ms": report.percentile(gaps_ms, 0.99),
        "gap_max_ms": max(gaps_ms),
        "queries_a_call": counts.queries_embedded / max(1, counts.query_calls),
        "summaries_count": counts.summaries_llm + counts.summaries_extractive,
        "processor_ms": processor_s * 1000 / len(turns.waits_s),
    }


async def _spawned(runtime: actormem.Runtime, number: int) -> actormem.Session:
    return await runtime.spawn(
        "benchmark",
        user=f"user {number}",
        model="gpt-4o",
        system="You are a patient assistant. 用用户的语言回答。",
        budget=actormem.Budget(context=BUDGET_TOKENS),
    )


async def _talk(
    session: actormem.Session, talk: Sequence[SpokenTurn], reply_s: float, late_s: float, turns: Turns
) -> None:
    await anyio.sleep(late_s)
    for spoken in talk:
        began_s = perf_counter()
        async with session.turn(spoken.user) as turn:
            turns.add(perf_counter() - began_s, turn.trace)
            await anyio.sleep(reply_s)
            turn.reply(spoken.reply)


def shown(found: report.Found) -> str:
    """The table, and below it what was left out."""
    missing = [
        f"{name}: without vectors {figures['without_vector_share'].median:.3f}, "
        f"without memories {figures['without_recall_share'].median:.3f}; "
        f"{figures['summaries_count'].median:.0f} summaries"
        for name, figures in found.items()
    ]
    return report.spread_table("embedder, way", COLUMNS, found) + "\n\n" + "\n".join(missing)


def charted(found: report.Found) -> list[report.Chart]:
    """How long a turn waits, by embedder and way."""
    rows = tuple(found)
    series = tuple(
        report.Series(f"turn {part}", (), tuple(found[row][f"turn_{part}_ms"].median for row in rows))
        for part in ("p50", "p95")
    )
    return [
        report.Chart(
            name="turns",
            title="200 sessions: from a user's message to the ready context",
            x_title="",
            y_title="ms",
            kind="bars",
            labels=rows,
            series=series,
            logarithmic="y",
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0."""
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: f"{size.session_count} sessions of {size.turn_count} turns, {size.repeat_count} repeats",
        shown,
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
