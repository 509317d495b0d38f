"""How many messages a second are acknowledged, how long is one acknowledgement, and how soon is a killed process back?

Measured, in a fresh folder, at the levels `power` (survives power loss) and `process` (survives kill -9):
  burst         messages a second, by the clock, of the first 25 of each session: sessions of different users each add
                one after another, and each waits until its message is durable; many share a commit
  settled       messages a second of these until all of them are remembered, too
  acknowledged  messages a second that are acknowledged afterwards, for five seconds: what is said is remembered
                meanwhile, and that takes its part of the processors
  processor     µs of processor time a message in these seconds, all threads
  record        events a second that the record alone makes durable for as many sessions: the ceiling of the disk's side
  ack p50, p95  ms of one acknowledgement meanwhile; and of one session alone, p50 and p95
  recovery      s until a folder that a killed process left is open, a session spawned and its first context made, each
                in a process of its own; the processor time of it, all threads; `open`, `spawn`, `context` are its parts
  log           MB of the log that had not been checkpointed when it was opened

Before each recovery a process opens a copy of the folder, at `power`, and 200 sessions of as many users add to it until
600 more messages (of 1,000) or 4,000 (of 100,000) are acknowledged: then it is ended by SIGKILL while all of them go
on adding. What SQLite has checkpointed by then is no longer in the log; in the rows `log held` someone reads meanwhile,
and all of those messages are in it, the worst case. Then the system is asked to write the files out and to forget what
of them it has in its cache, which Linux does (its cache of names stays; elsewhere a note says that it was not asked).
After the figures are taken each message that was ever acknowledged is looked for; one that is lost ends the benchmark
with an error.

Not measured: power loss itself (the tests of crashes do that), embedding by a model (texts are hashed), one owner with
all of the memories (`benchmarks.scale` asks that), loading Python and its modules.

Corpus: messages of about 30 tokens that `benchmarks.flat_cost` draws. For recovery one session of 200 messages is
played, and copied with its items and vectors, each for a user of its own, until there are as many as asked for with
those that are added before the kill.

Where PostgreSQL is installed (see `benchmarks.postgres_server`) the same is measured in a schema of a server on this
machine, over a Unix socket: `postgres power` and `postgres process`. Its processes share the processors with ours, and
their time is not in `processor`.

The folder is made in `--folder`, else where temporary files are. What keeps its files in memory (tmpfs) has no power to
lose, and its `power` rows are marked as void.

To read it: each figure is the median of the repeats, the line below it the least and the greatest. On a quiet machine
`acknowledged` is bound by `processor`, since one thread decides for all sessions, and `record` by the disk's sync; on a
busy one by what the other processes leave.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import count, cycle
from pathlib import Path
from time import perf_counter, process_time

import anyio
import msgspec
from anyio import to_thread

import actormem
from actormem.core.values import Owner, SessionKey
from actormem.ports import AppendEvents, Record, StoredEvent
from actormem.storage.record import open_record
from actormem.storage.schema import Durability
from benchmarks import report
from benchmarks.durability_recovery import recovering
from benchmarks.flat_cost import Talker
from benchmarks.machine import filesystem_of
from benchmarks.postgres_server import installed, served
from benchmarks.process import ChildError

__all__ = [
    "FULL",
    "LEVELS",
    "QUICK",
    "Size",
    "acknowledging",
    "charted",
    "in_database",
    "main",
    "measure",
]

NAME = "durability"
LEVELS: tuple[Durability, ...] = ("power", "process")
SEED = 5
TEXTS = 1_000  # each session says them in turn
IN_MEMORY = ("tmpfs", "ramfs")
VOID = "{level}, void on {filesystem}"
NOT_DROPPED = "what the system has in its cache cannot be dropped here: recoveries read from memory"
COLUMNS = (
    report.Column("burst/s", "burst_per_s", "{:,.0f}", better="more"),
    report.Column("acknowledged/s", "acknowledged_per_s", "{:,.0f}", better="more"),
    report.Column("processor µs", "processor_us", "{:,.0f}", better="less"),
    report.Column("settled/s", "settled_per_s", "{:,.0f}", better="more"),
    report.Column("record/s", "record_per_s", "{:,.0f}", better="more"),
    report.Column("ack p50 ms", "ack_p50_ms", better="less"),
    report.Column("p95", "ack_p95_ms", better="less"),
    report.Column("alone p50 ms", "alone_p50_ms", better="less"),
    report.Column("p95", "alone_p95_ms", better="less"),
    report.Column("recovery s", "recovery_s", "{:.2f}", better="less"),
    report.Column("processor", "recovery_processor_s", "{:.2f}", better="less"),
    report.Column("open", "open_s", "{:.2f}", better="less"),
    report.Column("spawn", "spawn_s", "{:.3f}", better="less"),
    report.Column("context", "context_s", "{:.3f}", better="less"),
    report.Column("log MB", "log_mb"),
)
TARGETS = (
    report.Target(
        about="acknowledged a second, power", row="power", figure="acknowledged_per_s", at_least=5_000
    ),
    *(
        report.Target(about=f"recovery of {row}, s", row=row, figure="recovery_s", at_most=3)
        for row in ("100,000 messages", "100,000 messages, log held")
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    session_count: int = 200
    messages_each: int = 25  # at least
    measure_s: float = 5.0  # at least
    alone_count: int = 500
    repeat_count: int = 3
    recovered: tuple[int, ...] = (1_000, 100_000)


FULL = Size()
QUICK = Size(
    session_count=50, messages_each=6, measure_s=0.0, alone_count=20, repeat_count=1, recovered=(1_000,)
)


async def measure(size: Size, place: Path | None = None) -> dict[str, dict[str, report.Spread]]:
    """Every figure of both levels, and the recovery of each number of messages.

    Args:
        place: The folder to measure in; None: where temporary files are.

    Raises:
        ChildError: A message that was acknowledged is lost, or a process failed otherwise.
    """
    runs: dict[str, list[dict[str, float]]] = {}
    for number in range(size.repeat_count):
        for level in LEVELS:
            print(f"repeat {number + 1} of {size.repeat_count}, {level}", file=sys.stderr)
            runs.setdefault(level, []).append(await acknowledging(level, size, place))
    if installed():
        for level, found in (await in_database(size, place)).items():
            runs[f"postgres {level}"] = found
    for message_count in size.recovered:
        runs |= await recovering(message_count, size.repeat_count, place)
    return report.over_repeats(runs)


async def acknowledging(level: Durability, size: Size, place: Path | None) -> dict[str, float]:
    """The figures of one level in fresh folders."""
    folder = await _folder(place)
    try:
        found = await _many(Path(folder.name) / "many", level, size)
        return found | {"record_per_s": await _recorded(Path(folder.name) / "record", level, size)}
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _folder(place: Path | None) -> tempfile.TemporaryDirectory[str]:
    return await to_thread.run_sync(
        partial(tempfile.TemporaryDirectory[str], prefix="actormem-benchmark-", dir=place)
    )


async def in_database(size: Size, place: Path | None) -> dict[Durability, list[dict[str, float]]]:
    """The figures of both levels, each in fresh schemas of one server."""
    runs: dict[Durability, list[dict[str, float]]] = {}
    folder = await _folder(place)
    server = served(Path(folder.name))
    try:
        url = await to_thread.run_sync(server.__enter__)
        for number in range(size.repeat_count):
            for level in LEVELS:
                print(f"repeat {number + 1} of {size.repeat_count}, postgres {level}", file=sys.stderr)
                found = await _many(url(f"many_{level}_{number}"), level, size)
                found |= {"record_per_s": await _recorded(url(f"record_{level}_{number}"), level, size)}
                runs.setdefault(level, []).append(found)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(server.__exit__, None, None, None)
            await to_thread.run_sync(folder.cleanup)
    return runs


async def _many(place: Path | str, level: Durability, size: Size) -> dict[str, float]:
    talker, waits_ms = Talker(SEED), list[float]()
    said = [talker.message("user") for _ in range(TEXTS)]
    async with actormem.open(place, embedder="hashing", durability=level) as runtime:
        alone = await runtime.spawn("alone", user="alone")
        alone_ms = list[float]()
        for _ in range(size.alone_count):
            await _add(alone, talker.message("user"), alone_ms)
        await runtime.settle()
        sessions = [
            await runtime.spawn("talk", user=f"user-{number}") for number in range(size.session_count)
        ]
        began_s = perf_counter()
        await _talk(sessions, said, [], lambda count: count >= size.messages_each)
        burst_s = perf_counter() - began_s
        await runtime.settle()
        settled_s = perf_counter() - began_s
        began_s, used_s = perf_counter(), process_time()
        await _talk(sessions, said, waits_ms, enough(size))
        elapsed_s, used_s = perf_counter() - began_s, process_time() - used_s
    count, first_count = len(waits_ms), len(sessions) * size.messages_each
    return {
        "burst_per_s": first_count / burst_s,
        "acknowledged_per_s": count / elapsed_s,
        "processor_us": used_s / count * 1e6,
        "settled_per_s": first_count / settled_s,
        "ack_p50_ms": report.percentile(waits_ms, 0.5),
        "ack_p95_ms": report.percentile(waits_ms, 0.95),
        "alone_p50_ms": report.percentile(alone_ms, 0.5),
        "alone_p95_ms": report.percentile(alone_ms, 0.95),
    }


def enough(size: Size) -> Callable[[int], bool]:
    """Whether a session that has added so many messages has added enough; time runs from this call on."""
    until_s = perf_counter() + size.measure_s
    return lambda count: count >= size.messages_each and perf_counter() >= until_s


async def _talk(
    sessions: Sequence[actormem.Session],
    said: Sequence[dict[str, object]],
    waits_ms: list[float],
    done: Callable[[int], bool],
) -> None:
    """All sessions at once, each until it has added enough."""

    async def talk(session: actormem.Session) -> None:
        for added_count, message in enumerate(cycle(said)):
            if done(added_count):
                return
            await _add(session, message, waits_ms)

    async with anyio.create_task_group() as group:
        for session in sessions:
            group.start_soon(talk, session)


async def _add(session: actormem.Session, message: dict[str, object], waits_ms: list[float]) -> None:
    began_s = perf_counter()
    await session.add(message)
    waits_ms.append((perf_counter() - began_s) * 1000)


async def _recorded(place: Path | str, level: Durability, size: Size) -> float:
    """Events a second, each in a transaction of its own, by writers who each wait for theirs."""
    body, text = b"x" * 60, "y" * 140  # about what a message has
    written: dict[str, int] = {}

    async def write(user: str) -> None:
        key = SessionKey(Owner("", user), "talk")
        for sequence in count(1):
            if done(sequence - 1):
                break
            event = StoredEvent(sequence=sequence, body=body, name=f"n-{sequence}", text=text)
            await record.sync([AppendEvents(key, (event,), 0)])
            written[user] = sequence

    async with _opened(place, level) as record:
        began_s, done = perf_counter(), enough(size)
        async with anyio.create_task_group() as group:
            for number in range(size.session_count):
                group.start_soon(write, f"user-{number}")
        elapsed_s = perf_counter() - began_s
    return sum(written.values()) / elapsed_s


def _opened(place: Path | str, level: Durability) -> AbstractAsyncContextManager[Record]:
    if isinstance(place, Path):
        return open_record(place, durability=level)
    from actormem.storage.postgres.record import open_postgres

    return open_postgres(place, durability=level)


def charted(found: report.Found) -> list[report.Chart]:
    """Recovery by its parts."""
    rows = [row for row in found if "recovery_s" in found[row]]
    series = tuple(
        report.Series(part, (), tuple(found[row][f"{part}_s"].median for row in rows))
        for part in ("recovery", "open", "spawn", "context")
    )
    return [
        report.Chart(
            name="recovery",
            title="a folder that a killed process left",
            x_title="",
            y_title="s",
            kind="bars",
            labels=tuple(rows),
            series=series,
        )
    ]


def voided(found: report.Found, filesystem: str) -> dict[str, Mapping[str, report.Spread]]:
    """The figures; where files are in memory alone nothing of theirs survives power loss, and the rows say so."""
    if filesystem not in IN_MEMORY:
        return dict(found)
    return {
        VOID.format(level=row, filesystem=filesystem) if row.endswith("power") else row: figures
        for row, figures in found.items()
    }


def folder_to_measure_in(text: str) -> Path:
    """A folder that can be written."""
    path = Path(text)
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"must be a folder that can be written, not {text!r}")
    return path.resolve()


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files; 0, 1 if a message was lost, 130 if it was stopped by Ctrl-C."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument(
        "--folder",
        type=folder_to_measure_in,
        metavar="DIR",
        help="measure there, not where temporary files are",
    )
    options = parser.parse_args(given)
    size = QUICK if options.quick else FULL
    where = report.machine() | {"filesystem": filesystem_of(options.folder or tempfile.gettempdir())}
    print(report.heading(f"benchmarks.{NAME}", where), flush=True)
    try:
        found = voided(anyio.run(measure, size, options.folder), where["filesystem"])
    except KeyboardInterrupt:
        return report.stopped(NAME)
    except ChildError as error:
        print(f"benchmarks.{NAME}: {error}", file=sys.stderr)
        return 1
    seconds = f"at least {size.measure_s:g} s and {size.messages_each} messages each"
    print(f"{size.session_count} sessions, {seconds}, in folders on {where['filesystem']}\n")
    print(report.spread_table("", COLUMNS, found))
    settings = msgspec.to_builtins(size) | {"filesystem": where["filesystem"]}
    result = report.result_of(
        NAME, __doc__, where, settings, found,
        columns=COLUMNS, targets=TARGETS, charts=charted(found),
        notes=[] if hasattr(os, "posix_fadvise") else [NOT_DROPPED],
    )  # fmt: skip
    report.finish(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
