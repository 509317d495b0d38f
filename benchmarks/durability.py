"""How many messages a second are acknowledged, how long is one acknowledgement, and how soon is a killed process back?

Measured, in a fresh folder, at the levels `power` (survives power loss) and `process` (survives kill -9):
  acknowledged  messages a second, by the clock: sessions of different users each add one after another, and each waits
                until its message is durable; many share a commit
  processor     µs of processor time a message, all threads, the background's work until all is settled left out
  settled       messages a second until all of them are remembered, too
  record        events a second that the record alone makes durable for as many sessions: the ceiling of the disk's side
  ack p50, p95  ms of one acknowledgement meanwhile; and of one session alone, p50 and p95
  recovery      s until a folder that a killed process left is open, a session spawned and its first context made, each
                in a process of its own; the processor time of it, all threads; `open`, `spawn`, `context` are its parts

Not measured: power loss itself (the tests of crashes do that), embedding by a model (texts are hashed), one owner with
all of the memories (`benchmarks.scale` asks that), loading Python and its modules.

Corpus: messages of about 30 tokens that `benchmarks.flat_cost` draws. For recovery one session of 200 messages is
played, and copied with its items and vectors, each for a user of its own, until there are as many as asked for.

Where PostgreSQL is installed (see `benchmarks.postgres_server`) the same is measured in a schema of a server on this
machine, over a Unix socket: `postgres power` and `postgres process`. Its processes share the processors with ours, and
their time is not in `processor`.

To read it: each figure is the median of the repeats, the line below it the least and the greatest. On a quiet machine
`acknowledged` is bound by `processor`, since one thread decides for all sessions, and `record` by the disk's sync; on a
busy one by what the other processes leave.
"""

import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
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
from benchmarks.flat_cost import Talker
from benchmarks.postgres_server import installed, served
from benchmarks.process import output_of

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
    "recovering",
]

NAME = "durability"
LEVELS: tuple[Durability, ...] = ("power", "process")
SEED = 5
CHILD_S_MAX = 1_200.0
COLUMNS = (
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
)
TARGETS = (
    report.Target(
        about="acknowledged a second, power", row="power", figure="acknowledged_per_s", at_least=5_000
    ),
    report.Target(
        about="recovery of 100,000 messages, s", row="100,000 messages", figure="recovery_s", at_most=3
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    session_count: int = 200
    messages_each: int = 25
    alone_count: int = 100
    repeat_count: int = 3
    recovered: tuple[int, ...] = (1_000, 100_000)


FULL = Size()
QUICK = Size(session_count=50, messages_each=6, alone_count=20, repeat_count=1, recovered=(1_000,))


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure of both levels, and the recovery of each number of messages."""
    runs: dict[str, list[dict[str, float]]] = {}
    for number in range(size.repeat_count):
        for level in LEVELS:
            print(f"repeat {number + 1} of {size.repeat_count}, {level}", file=sys.stderr)
            runs.setdefault(level, []).append(await acknowledging(level, size))
    if installed():
        for level, found in (await in_database(size)).items():
            runs[f"postgres {level}"] = found
    for count in size.recovered:
        print(f"recovery of {count:,} messages", file=sys.stderr)
        runs[f"{count:,} messages"] = await recovering(count, size.repeat_count)
    return report.over_repeats(runs)


async def acknowledging(level: Durability, size: Size) -> dict[str, float]:
    """The figures of one level in fresh folders."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        found = await _many(Path(folder.name) / "many", level, size)
        return found | {"record_per_s": await _recorded(Path(folder.name) / "record", level, size)}
    finally:
        await to_thread.run_sync(folder.cleanup)


async def in_database(size: Size) -> dict[Durability, list[dict[str, float]]]:
    """The figures of both levels, each in fresh schemas of one server."""
    runs: dict[Durability, list[dict[str, float]]] = {}
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
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
    said = [talker.message("user") for _ in range(size.messages_each)]
    async with actormem.open(place, embedder="hashing", durability=level) as runtime:
        alone = await runtime.spawn("alone", user="alone")
        alone_ms = list[float]()
        for _ in range(size.alone_count):
            await _add(alone, talker.message("user"), alone_ms)
        await runtime.settle()
        sessions = [
            await runtime.spawn("talk", user=f"user-{number}") for number in range(size.session_count)
        ]
        began_s, used_s = perf_counter(), process_time()
        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(_talk, session, said, waits_ms)
        elapsed_s, used_s = perf_counter() - began_s, process_time() - used_s
        await runtime.settle()
        settled_s = perf_counter() - began_s
    count = len(waits_ms)
    return {
        "acknowledged_per_s": count / elapsed_s,
        "processor_us": used_s / count * 1e6,
        "settled_per_s": count / settled_s,
        "ack_p50_ms": report.percentile(waits_ms, 0.5),
        "ack_p95_ms": report.percentile(waits_ms, 0.95),
        "alone_p50_ms": report.percentile(alone_ms, 0.5),
        "alone_p95_ms": report.percentile(alone_ms, 0.95),
    }


async def _talk(session: actormem.Session, said: Sequence[dict[str, object]], waits_ms: list[float]) -> None:
    for message in said:
        await _add(session, message, waits_ms)


async def _add(session: actormem.Session, message: dict[str, object], waits_ms: list[float]) -> None:
    began_s = perf_counter()
    await session.add(message)
    waits_ms.append((perf_counter() - began_s) * 1000)


async def _recorded(place: Path | str, level: Durability, size: Size) -> float:
    """Events a second, each in a transaction of its own, by writers who each wait for theirs."""
    body, text = b"x" * 60, "y" * 140  # about what a message has

    async def write(user: str) -> None:
        key = SessionKey(Owner("", user), "talk")
        for sequence in range(1, size.messages_each + 1):
            event = StoredEvent(sequence=sequence, body=body, name=f"n-{sequence}", text=text)
            await record.sync([AppendEvents(key, (event,), 0)])

    async with _opened(place, level) as record:
        began_s = perf_counter()
        async with anyio.create_task_group() as group:
            for number in range(size.session_count):
                group.start_soon(write, f"user-{number}")
        elapsed_s = perf_counter() - began_s
    return size.session_count * size.messages_each / elapsed_s


def _opened(place: Path | str, level: Durability) -> AbstractAsyncContextManager[Record]:
    if isinstance(place, Path):
        return open_record(place, durability=level)
    from actormem.storage.postgres.record import open_postgres

    return open_postgres(place, durability=level)


async def recovering(count: int, repeat_count: int) -> list[dict[str, float]]:
    """The figures of each opening of a folder of so many messages, each after a process that did not close it."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        await _child("fill", folder.name, str(count))
        found = [await _child("recover", folder.name) for _ in range(repeat_count)]
    finally:
        await to_thread.run_sync(folder.cleanup)
    return [msgspec.json.decode(said, type=dict[str, float]) for said in found]


async def _child(*given: str) -> bytes:
    return await output_of("benchmarks.durability_folder", *given, seconds_max=CHILD_S_MAX)


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


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files; 0."""
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: f"{size.session_count} sessions, {size.messages_each} messages each",
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
