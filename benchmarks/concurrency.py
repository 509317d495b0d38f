"""Does a server with hundreds of busy sessions stay quick, and what does it leave out when it cannot?

Measured, 200 sessions of as many users in one process, ten turns each, a budget of 1,500, so that an LLM of 0.8 s is
asked for summaries meanwhile, for two at once as by default: a line below the table says how many were made while the
turns went on. Ten turns are less than a batch of messages for facts. In two ways:
  paced        between context and reply 0.8 s pass, as for a model's reply; sessions begin spread over that time. Each
               sends its next message when it has its reply: the slower we are, the fewer come (`turns/s`)
  burst        the reply is there at once: 2,000 turns as fast as they go, all sessions beginning together
each with vectors and LLM of this process (`scripted`: sleeps of 20 ms a call and 0.8 s), with the embedder in the wheel
and the scripted LLM (`local`), and with the openai client and a server on the loopback in a process of its own, which
takes as long (`server`). One more paced row has half of the sessions, to show where the targets hold. Then the burst of
others, at the same server, each in a process of its own, once (`benchmarks.peers`); one that is not installed, or
fails, is named below the table.
  wall         seconds for all turns
  turns/s      turns over wall
  turn         ms from the user's message to the messages to send (p50, p95, max); a session's first message comes when
               it is due, not when its task gets to run
  end          ms that leaving the turn blocks the session's next: for ours, until the reply is on disk (p95)
  gap          ms for which the event loop did not come round: what a sleep of 2 ms took beyond that; p99: a hundredth
               of the time is spent in longer ones; max
  own          the most processor time of the loop's own thread in a gap, ms: the rest of it is of other threads and
               programs
  held         share of the time that is spent in gaps above 20 ms
  degraded     share of contexts that something is missing of, as their traces say; below the table, what it was
  queries      queries embedded in a call, the mean: those that come while a call runs go together
  processor    ms of processor a turn, all threads, background work included

Not measured: a model's work, a network, memory (`benchmarks.sessions`), one long conversation
(`benchmarks.reply_path`), a process's first turn (one of another user and a call of the LLM go before). Others do other
work in a burst: of these only mem0 and llama-index ask an LLM.

Corpus: made-up conversations, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: on a machine that others use, gaps and waits are theirs too: compare figures of one run, and look at
`processor`, which says how many turns a second one core can carry.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter, process_time

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import peer_process, peers, report
from benchmarks.conversation import SpokenTurn, conversation
from benchmarks.providers import LLM_S, installed, missing, plan_of, providers, warmed
from benchmarks.scripted import percentiles, watched
from benchmarks.server import beside

__all__ = ["FULL", "QUICK", "Row", "Size", "Turns", "charted", "left_out", "main", "measure", "once", "rows"]

NAME = "concurrency"
BUDGET_TOKENS = 1_500
SEED = 20_240_229
TALKS_MAX = 20  # made once, and held by several sessions
STEPS = ("vector", "recall", "loading", "knowledge")  # what a trace may name as degraded
COLUMNS = (
    report.Column("wall s", "wall_s", better="less"),
    report.Column("turns/s", "turns_per_s", better="more"),
    report.Column("turn p50 ms", "turn_p50_ms", better="less"),
    report.Column("p95", "turn_p95_ms", better="less"),
    report.Column("max", "turn_max_ms", better="less"),
    report.Column("end p95 ms", "end_p95_ms", better="less"),
    report.Column("gap p99 ms", "gap_p99_ms", better="less"),
    report.Column("max", "gap_max_ms", better="less"),
    report.Column("own", "own_max_ms", better="less"),
    report.Column("held", "held_share", "{:.3f}", better="less"),
    report.Column("degraded", "degraded_share", "{:.3f}", better="less"),
    report.Column("queries", "queries_a_call"),
    report.Column("processor ms", "processor_ms", better="less"),
)
TARGETS = tuple(
    report.Target(
        about=f"{about}, {row}, {way}", row=f"{row}, {way}", figure=figure, at_most=most, worst=worst
    )
    for row in ("scripted", "server")
    for way, about, figure, most, worst in (
        ("paced", "loop gap p99, ms", "gap_p99_ms", 20, False),
        ("paced", "loop gap max, ms", "gap_max_ms", 50, True),
        ("paced", "turn p95, ms", "turn_p95_ms", 50, False),
        ("paced", "share degraded", "degraded_share", 0, True),
        ("burst", "loop gap max, ms", "gap_max_ms", 50, True),
        ("burst", "turn p95, ms", "turn_p95_ms", 150, False),
    )
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    session_count: int = 200
    turn_count: int = 10
    repeat_count: int = 3
    reply_s: float = 0.8
    llm_s: float = LLM_S
    embedders: tuple[str, ...] = ("scripted", "local", "server")
    peers: tuple[str, ...] = tuple(peers.PACKAGES)


FULL = Size()
QUICK = Size(session_count=40, repeat_count=1)


class Row(msgspec.Struct, frozen=True):
    """One run of ours: where vectors come from, how many sessions, and the time between context and reply."""

    embedder: str
    session_count: int
    reply_s: float
    name: str


def rows(size: Size) -> list[Row]:
    """What is measured of ours, as far as it can be here."""
    count, half = size.session_count, size.session_count // 2
    found: list[Row] = []
    for embedder in installed(size.embedders):
        found.append(Row(embedder, count, size.reply_s, f"{embedder}, paced"))
        if embedder == "scripted":
            found.append(Row(embedder, half, size.reply_s, f"{embedder}, paced, {half} sessions"))
        found.append(Row(embedder, count, 0.0, f"{embedder}, burst"))
    return found


class Turns:
    """What came of the turns of a run."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []
        self.ends_ms: list[float] = []
        self.missing: Counter[str] = Counter()
        self.degraded_count = 0

    def add(self, wait_s: float, trace: actormem.Trace) -> None:
        """Count one."""
        self.waits_s.append(wait_s)
        self.missing.update(name if name in STEPS else "other" for name in trace.degraded)
        self.degraded_count += bool(trace.degraded)

    @property
    def figures(self) -> dict[str, float]:
        """Waits, and the share of contexts that lack each thing."""
        count = len(self.waits_s)
        return {
            **percentiles("turn", [wait_s * 1000 for wait_s in self.waits_s]),
            "end_p95_ms": report.percentile(self.ends_ms, 0.95),
            "degraded_share": self.degraded_count / count,
            **{f"without_{name}_share": self.missing[name] / count for name in (*STEPS, "other")},
        }


async def measure(
    size: Size, note: Callable[[str], object] = lambda _: None
) -> dict[str, dict[str, report.Spread]]:
    """Every figure of each row of ours, and of the peers; our repeats alternate, so that a busy minute is shared.

    Args:
        note: Told what is not measured, and why, and what degraded contexts lacked.
    """
    for said in missing(size.embedders):
        note(said)
    runs: dict[str, list[dict[str, float]]] = {row.name: [] for row in rows(size)}
    async with beside(plan_of(size.llm_s)) as url:
        for number in range(size.repeat_count):
            for row in rows(size):
                print(f"repeat {number + 1} of {size.repeat_count}, {row.name}", file=sys.stderr)
                runs[row.name].append(await once(row, size, url))
        job = peer_process.Job(
            base_url=url,
            budget_tokens=BUDGET_TOKENS,
            session_count=size.session_count,
            turn_count=size.turn_count,
            seed=SEED,
        )
        async for peer, figures in peer_process.each(size.peers, job, note):
            waits = {f"turn_{part}_ms": figures[f"context_{part}_ms"] for part in ("p50", "p95", "max")}
            runs[f"{peer}, burst"] = [figures | waits]
    found = report.over_repeats(runs)
    for said in left_out(found):
        note(said)
    return found


async def once(row: Row, size: Size, url: str) -> dict[str, float]:
    """The figures of one run in a fresh folder; `url` is the server's."""
    turns = Turns()
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    embedder, llm = providers(row.embedder, url, size.llm_s, with_llm=True)
    talk_count = min(TALKS_MAX, row.session_count)
    talks = [conversation(size.turn_count, SEED + number) for number in range(talk_count)]
    try:
        async with actormem.open(folder.name, llm=llm, embedder=embedder) as runtime:
            sessions = [await _spawned(runtime, number) for number in range(row.session_count)]
            await warmed(runtime, llm, talks[0][0])
            async with watched() as watch:
                began_s, processor_s = perf_counter(), process_time()
                async with anyio.create_task_group() as group:
                    for number, session in enumerate(sessions):
                        due_s = began_s + row.reply_s * number / row.session_count
                        group.start_soon(
                            _talk, session, talks[number % talk_count], row.reply_s, due_s, turns
                        )
                wall_s, processor_s = perf_counter() - began_s, process_time() - processor_s
            counts = runtime.statistics()
    finally:
        await to_thread.run_sync(folder.cleanup)
    return {
        "session_count": row.session_count,
        "wall_s": wall_s,
        "turns_per_s": len(turns.waits_s) / wall_s,
        **turns.figures,
        **watch.figures,
        "queries_a_call": counts.queries_embedded / max(1, counts.query_calls),
        "summaries_count": counts.summaries_llm + counts.summaries_extractive,
        "processor_ms": processor_s * 1000 / len(turns.waits_s),
    }


async def _spawned(runtime: actormem.Runtime, number: int) -> actormem.Session:
    budget, user = actormem.Budget(context=BUDGET_TOKENS), f"user {number}"
    return await runtime.spawn("benchmark", user=user, model="gpt-4o", system=peers.SYSTEM, budget=budget)


async def _talk(
    session: actormem.Session, talk: Sequence[SpokenTurn], reply_s: float, due_s: float, turns: Turns
) -> None:
    await anyio.sleep(max(0.0, due_s - perf_counter()))
    for spoken in talk:
        async with session.turn(spoken.user) as turn:
            turns.add(perf_counter() - due_s, turn.trace)
            await anyio.sleep(reply_s)
            turn.reply(spoken.reply)
            left_s = perf_counter()
        due_s = perf_counter()  # the next message
        turns.ends_ms.append((due_s - left_s) * 1000)


def left_out(found: report.Found) -> list[str]:
    """A line for each row of ours: what its degraded contexts lacked, and how many summaries were made meanwhile."""
    lines: list[str] = []
    for row, figures in found.items():
        if "degraded_share" not in figures:
            continue
        shares = {name: figures[f"without_{name}_share"].median for name in (*STEPS, "other")}
        lacking = ", ".join(f"without {name} {share:.3f}" for name, share in shares.items() if share)
        summaries = figures["summaries_count"].median
        lines.append(f"{row}: {lacking or 'no context degraded'}; {summaries:.0f} summaries")
    return lines


def charted(found: report.Found) -> list[report.Chart]:
    """How long a turn waits, by row."""
    names = tuple(found)
    series = tuple(
        report.Series(f"turn {part}", (), tuple(found[name][f"turn_{part}_ms"].median for name in names))
        for part in ("p50", "p95")
    )
    sessions = max(
        figures["session_count"].median for figures in found.values() if "session_count" in figures
    )
    return [
        report.Chart(
            name="turns",
            title=f"{sessions:.0f} sessions: from a user's message to the ready context",
            x_title="",
            y_title="ms",
            kind="bars",
            labels=names,
            series=series,
            logarithmic="y",
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0."""
    notes = list[str]()
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        partial(measure, note=notes.append),
        lambda size: f"{size.session_count} sessions of {size.turn_count} turns, {size.repeat_count} repeats",
        columns=COLUMNS,
        is_peer=lambda row: row.removesuffix(", burst") in peers.PACKAGES,
        targets=TARGETS,
        charted=charted,
        notes=lambda: notes,
    )


if __name__ == "__main__":
    sys.exit(main())
