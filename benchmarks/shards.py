"""What does Ray between a program and its memory cost a turn, and do two shards do the work of two?

Measured, in one run, on shards that this program starts on this machine:
  context      ms from a user's message to the messages to send, locally and through Ray (p50, p95)
  end          ms that leaving the turn blocks: until the reply is on disk (p50, p95)
  added        percentiles through Ray less those of a local runtime, the same talk, turn by turn in alternation
  turns/s      turns of all sessions, begun one after another without a pause, on one shard and on two
  speedup      two shards' turns a second, of one's
  shard ms     processor time of the shards for a turn; driver ms: that of the program that asks, with Ray's threads

Not measured: a network between nodes (all are on this machine), a model's time, an embedder's (words are hashed),
shards that die (`tests/distributed`), PostgreSQL.

Corpus: a made-up conversation, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: each figure is the median of the repeats; the line below it is the least and the greatest. A shard uses one
core, and so does the program that asks; below four cores two shards and their asker share what there is, and `speedup`
is not judged: `speedup here` is what was found. Then shard ms tells how far a core would go.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import report
from benchmarks.conversation import SpokenTurn, conversation

__all__ = ["FULL", "QUICK", "Size", "main", "measure"]

NAME = "shards"
SEED = 20_240_301
BUDGET_TOKENS = 6_000
CORES_MIN = 4  # two shards, who asks them, and everybody else
WRONG_CALL = 2
COLUMNS = (
    report.Column("context p50 ms", "context_p50_ms", better="less"),
    report.Column("p95", "context_p95_ms", better="less"),
    report.Column("end p50 ms", "end_p50_ms", better="less"),
    report.Column("p95", "end_p95_ms", better="less"),
    report.Column("turns/s", "turns_per_s", better="more"),
    report.Column("speedup", "speedup", "{:.2f}", better="more"),
    report.Column("here", "speedup_here", "{:.2f}", better="more"),
    report.Column("shard ms", "shard_ms", better="less"),
    report.Column("driver ms", "driver_ms", better="less"),
)
TARGETS = (
    report.Target(about="added to a context, p95 ms", row="added", figure="context_p95_ms", at_most=8),
    report.Target(about="two shards' turns, of one's", row="two shards", figure="speedup", at_least=1.6),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    turn_count: int = 200
    session_count: int = 40
    turns_a_session: int = 10
    repeat_count: int = 3
    pause_s: float = 0.05  # stands for the model's time to reply, in the alternating talk


FULL = Size()
QUICK = Size(turn_count=40, session_count=12, turns_a_session=4, repeat_count=1)


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure; the repeats alternate, so that a busy minute is shared."""
    runs: dict[str, list[dict[str, float]]] = {}
    with local_ray():
        for number in range(size.repeat_count):
            print(f"repeat {number + 1} of {size.repeat_count}", file=sys.stderr)
            for row, figures in (await _reply_paths(size)).items():
                runs.setdefault(row, []).append(figures)
            one, two = await _throughput(size, 1), await _throughput(size, 2)
            speedup = two["turns_per_s"] / one["turns_per_s"]
            told = {"speedup_here": speedup}
            if cores() >= CORES_MIN:
                told["speedup"] = speedup
            runs.setdefault("one shard", []).append(one)
            runs.setdefault("two shards", []).append(two | told)
    return report.over_repeats(runs)


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class local_ray:  # noqa: N801 - used as a function
    """Ray on this machine alone, until the block ends; what is there already is used and left."""

    def __enter__(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")
        os.environ.setdefault("RAY_worker_niceness", "0")  # a shard serves, and is no batch job
        ray: Any = import_module("ray")
        self._ray: Any = None
        if not ray.is_initialized():
            ray.init(
                address="local",
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                _node_ip_address="127.0.0.1",
            )
            self._ray = ray

    def __exit__(self, *_: object) -> None:
        if self._ray is not None:
            self._ray.shutdown()


async def _reply_paths(size: Size) -> dict[str, dict[str, float]]:
    from actormem.distributed import Cluster

    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    contexts_ms: dict[str, list[float]] = {"local": [], "through Ray": []}
    ends_ms: dict[str, list[float]] = {"local": [], "through Ray": []}
    try:
        async with (
            actormem.open(Path(folder.name) / "local", embedder="hashing") as local,
            Cluster(Path(folder.name) / "shards", shards=1, embedder="hashing") as cluster,
        ):
            ways = {"local": await _spawned(local, 0), "through Ray": await _spawned(cluster, 0)}
            for spoken in conversation(size.turn_count, SEED):
                for way, session in ways.items():
                    context_ms, end_ms = await _turn(session, spoken, size.pause_s)
                    contexts_ms[way].append(context_ms)
                    ends_ms[way].append(end_ms)
    finally:
        await to_thread.run_sync(folder.cleanup)
    rows = {way: _percentiles(contexts_ms[way], ends_ms[way]) for way in contexts_ms}
    rows["added"] = {name: value - rows["local"][name] for name, value in rows["through Ray"].items()}
    return rows


def _percentiles(contexts_ms: Sequence[float], ends_ms: Sequence[float]) -> dict[str, float]:
    return {
        f"{name}_p{share}_ms": report.percentile(values, share / 100)
        for name, values in (("context", contexts_ms), ("end", ends_ms))
        for share in (50, 95)
    }


async def _turn(session: Any, spoken: SpokenTurn, pause_s: float = 0.0) -> tuple[float, float]:
    began_s = perf_counter()
    async with session.turn(spoken.user) as turn:
        context_ms = (perf_counter() - began_s) * 1000
        await anyio.sleep(pause_s)
        turn.reply(spoken.reply)
        left_s = perf_counter()
    return context_ms, (perf_counter() - left_s) * 1000


async def _throughput(size: Size, shard_count: int) -> dict[str, float]:
    from actormem.distributed import Cluster

    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    talk = tuple(conversation(size.turns_a_session, SEED))
    try:
        async with AsyncExitStack() as stack:
            place = Path(folder.name) / "shards"
            cluster = await stack.enter_async_context(Cluster(place, shards=shard_count, embedder="hashing"))
            sessions = [
                await _spawned(cluster, number) for number in _even(cluster, size.session_count, shard_count)
            ]
            await cluster.settle()
            began_s, driver_s, shard_s = perf_counter(), process_time(), _shards_s(place)
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(_talk, session, talk)
            wall_s = perf_counter() - began_s
            driver_s, shard_s = process_time() - driver_s, _shards_s(place) - shard_s
    finally:
        await to_thread.run_sync(folder.cleanup)
    turn_count = len(sessions) * len(talk)
    return {
        "turns_per_s": turn_count / wall_s,
        "shard_ms": shard_s * 1000 / turn_count,
        "driver_ms": driver_s * 1000 / turn_count,
    }


async def _talk(session: Any, talk: Sequence[SpokenTurn]) -> None:
    for spoken in talk:
        await _turn(session, spoken)


def _even(cluster: Any, count: int, shard_count: int) -> list[int]:
    """Numbers of users who are spread evenly, as many are: a few may fall to one shard by chance."""
    room = dict.fromkeys(range(shard_count), -(-count // shard_count))
    found: list[int] = []
    number = 0
    while len(found) < count:
        shard = cluster.shard_of(f"user {number}")
        if room[shard]:
            room[shard] -= 1
            found.append(number)
        number += 1
    return found


async def _spawned(runtime: Any, number: int) -> Any:
    return await runtime.spawn(
        "benchmark",
        user=f"user {number}",
        model="gpt-4o",
        system="You are a patient assistant. 用用户的语言回答。",
        budget=actormem.Budget(context=BUDGET_TOKENS),
    )


def _shards_s(place: Path) -> float:
    """Processor time of the processes that have the shards' records; on Linux."""
    ticks = 0
    for lock in place.glob("shard-*/lock"):
        status = Path("/proc", lock.read_text(encoding="ascii"), "stat")
        fields = status.read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def notes() -> Sequence[str]:
    """What the machine does not allow."""
    if cores() >= CORES_MIN:
        return ()
    return (
        f"speedup is not judged: {cores()} cores, and two shards with the program that asks them want three or more",
    )


def charted(found: report.Found) -> list[report.Chart]:
    """How long a context takes, locally and through Ray."""
    rows = ("local", "through Ray")
    series = tuple(
        report.Series(part, (), tuple(found[row][f"context_{part}_ms"].median for row in rows))
        for part in ("p50", "p95")
    )
    return [
        report.Chart(
            name="contexts",
            title="from a user's message to the ready context",
            x_title="",
            y_title="ms",
            kind="bars",
            labels=rows,
            series=series,
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0, or 2 where Ray is not installed."""
    if find_spec("ray") is None and not {"-h", "--help"} & set(given or sys.argv[1:]):
        print(f"benchmarks.{NAME}: Ray is not installed: pip install '.[ray]'", file=sys.stderr)
        return WRONG_CALL
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: (
            f"{size.turn_count} turns each way; {size.session_count} sessions of {size.turns_a_session} turns;"
            f" {size.repeat_count} repeats, budget {BUDGET_TOKENS:,} tokens"
        ),
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
        notes=notes,
    )


if __name__ == "__main__":
    sys.exit(main())
