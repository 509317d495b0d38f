"""What do ten thousand sessions cost while nobody speaks in them, and how soon is one back?

Measured three times, each part in a process of its own, as many users as sessions, the scripted embedder without its
wait, a folder on disk, no LLM:
  spawn          sessions spawned a second
  passivated     KB of resident memory a session adds that has left memory, with the handle that its user holds: so many
                 are spawned while at most 200 may stay
  awake          KB a session that was spawned, has said nothing and is in memory
  active         KB a session that has had ten turns of about 90 tokens a message, woken with all of them
  with memory    KB the same while its user's long-term memory is in memory too
  wake           ms until a passivated session's turn has its context, its user's memory read again (p50, p95, max)
  slope          KB by which memory grew a round of waking and passivating, over the last half of ten rounds
  tasks, threads, files
                 how many more there are after all was left than before the runtime was opened, in the processes of
                 the awake and of the active sessions together: must be 0

Not measured: what the messages take on disk, many at once (`benchmarks.concurrency`), the C allocator's own keeping.

Corpus: the made-up conversation of `benchmarks.reply_path`, Chinese and English in turn, every session the same.

To read it: KB are the process's resident memory after a collection and after the C library gave back what it could;
with few sessions a page of 4 KB more or less shows, so believe the full size.
"""

import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import anyio
import anyio.lowlevel
import msgspec
from anyio import to_thread

import actormem
from actormem.testing.clock import FakeClock
from benchmarks import report
from benchmarks.conversation import SpokenTurn, conversation
from benchmarks.process import file_count, resident_kb, task_count, thread_count
from benchmarks.scripted import TimedEmbedder

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "once"]

NAME = "sessions"
SEED = 20_240_229
IDLE_S = 60.0
ROUNDS = 10
COLUMNS = (
    report.Column("spawn /s", "spawn_per_s", "{:,.0f}", better="more"),
    report.Column("passivated KB", "passivated_kb", better="less"),
    report.Column("awake KB", "awake_kb", better="less"),
    report.Column("active KB", "active_kb", better="less"),
    report.Column("with memory", "with_memory_kb", better="less"),
    report.Column("wake p50 ms", "wake_p50_ms", better="less"),
    report.Column("p95", "wake_p95_ms", better="less"),
    report.Column("max", "wake_max_ms", better="less"),
    report.Column("slope KB", "slope_kb"),
    report.Column("tasks", "tasks_left", "{:.0f}", better="less"),
    report.Column("threads", "threads_left", "{:.0f}", better="less"),
    report.Column("files", "files_left", "{:.0f}", better="less"),
)
TARGETS = (
    report.Target(about="a passivated session, KB", row="sessions", figure="passivated_kb", at_most=2),
    report.Target(about="a session after ten turns, KB", row="sessions", figure="active_kb", at_most=12),
    report.Target(about="wake p50, ms", row="sessions", figure="wake_p50_ms", at_most=10),
    report.Target(about="tasks left", row="sessions", figure="tasks_left", at_most=0, worst=True),
    report.Target(about="threads left", row="sessions", figure="threads_left", at_most=0, worst=True),
    report.Target(about="files left", row="sessions", figure="files_left", at_most=0, worst=True),
)

Live: TypeAlias = Callable[[actormem.Runtime, FakeClock], Awaitable[dict[str, float]]]


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    session_count: int = 10_000
    active_count: int = 200
    turn_count: int = 10
    wake_count: int = 200
    repeat_count: int = 3
    stay_max: int = 200  # sessions in memory while those that leave it are counted


FULL = Size()
QUICK = Size(session_count=500, active_count=20, wake_count=20, repeat_count=1)


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure."""
    found: list[dict[str, float]] = []
    for number in range(size.repeat_count):
        print(f"repeat {number + 1} of {size.repeat_count}", file=sys.stderr)
        found.append(await once(size))
    return {"sessions": report.spreads(found)}


async def once(size: Size) -> dict[str, float]:
    """The figures of each part, which has a process of its own: memory that one gives back is another's for nothing.

    What two parts leave behind is added up.
    """
    figures: dict[str, float] = {}
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        for part in (_passivating, _idling, _living, _waking):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                work = pool.submit(anyio.run, part, Path(folder.name), size)
                found = await to_thread.run_sync(work.result)
            figures |= {name: value + figures.get(name, 0.0) for name, value in found.items()}
    finally:
        await to_thread.run_sync(folder.cleanup)
    return figures


async def _idling(folder: Path, size: Size) -> dict[str, float]:
    """The figures of sessions that nobody speaks in, and what their runtime leaves behind."""
    return await _lived(folder / "idle", size.session_count + 1, partial(_idle, size=size))


async def _living(folder: Path, size: Size) -> dict[str, float]:
    """The figures of sessions that have had turns, and what their runtime leaves behind."""
    return await _lived(folder / "active", size.active_count + 1, partial(_active, size=size))


async def _lived(folder: Path, stay: int, live: Live) -> dict[str, float]:
    tasks, files, threads = task_count(), file_count(), thread_count()
    clock = FakeClock()
    async with _opened(folder, clock, stay) as runtime:
        figures = await live(runtime, clock)
    await anyio.lowlevel.checkpoint()
    return figures | {
        "tasks_left": task_count() - tasks,
        "files_left": file_count() - files,
        "threads_left": thread_count() - threads,
    }


def _opened(folder: Path, clock: FakeClock, stay: int) -> AbstractAsyncContextManager[actormem.Runtime]:
    return actormem.open(
        folder,
        embedder=TimedEmbedder(0.0),
        idle_s=IDLE_S,
        resident_limit=stay,
        clock=clock,
    )


async def _passivating(folder: Path, size: Size) -> dict[str, float]:
    """KB that a session adds which has left memory."""
    async with _opened(folder / "passivated", FakeClock(), size.stay_max) as runtime:
        sessions = [await _spawned(runtime, f"early {number}") for number in range(2 * size.stay_max)]
        before_kb = resident_kb()
        sessions += [await _spawned(runtime, f"late {number}") for number in range(size.session_count)]
        return {"passivated_kb": (resident_kb() - before_kb) / size.session_count}


async def _waking(folder: Path, size: Size) -> dict[str, float]:
    """KB of sessions that wake with the turns they had."""
    async with _opened(folder / "active", FakeClock(), size.session_count) as runtime:
        await (await _spawned(runtime, "first")).messages()
        before_kb = resident_kb()
        sessions = [await _spawned(runtime, f"active {number}") for number in range(size.active_count)]
        for session in sessions:
            await session.messages()
        return {"active_kb": (resident_kb() - before_kb) / len(sessions)}


async def _idle(runtime: actormem.Runtime, clock: FakeClock, size: Size) -> dict[str, float]:
    count = size.session_count
    await _spawned(runtime, "first")
    before_kb = resident_kb()
    began_s = perf_counter()
    sessions = [await _spawned(runtime, f"idle {number}") for number in range(count)]
    spawn_s = perf_counter() - began_s
    await runtime.settle()
    awake_kb = (resident_kb() - before_kb) / count
    await _passivated(runtime, clock)
    return {"spawn_per_s": len(sessions) / spawn_s, "awake_kb": awake_kb}


async def _active(runtime: actormem.Runtime, clock: FakeClock, size: Size) -> dict[str, float]:
    talk = conversation(size.turn_count, SEED)
    await _talk([await _spawned(runtime, "first")], talk)  # what is loaded at the first turn is nobody's
    await runtime.settle()
    before_kb = resident_kb()
    sessions = [await _spawned(runtime, f"active {number}") for number in range(size.active_count)]
    await _talk(sessions, talk)
    await runtime.settle()
    with_memory_kb = (resident_kb() - before_kb) / len(sessions)
    waits_ms: list[float] = []
    kept_kb: list[float] = []
    each = max(1, min(size.wake_count, len(sessions)) // ROUNDS)
    for number in range(ROUNDS):
        await _passivated(runtime, clock)
        kept_kb.append(resident_kb())
        for place in range(number * each, (number + 1) * each):
            session = sessions[place % len(sessions)]
            began_s = perf_counter()
            async with session.turn("And what did I say of the kettle?") as turn:
                waits_ms.append((perf_counter() - began_s) * 1000)
                turn.reply("That it is red.")
    half = kept_kb[ROUNDS // 2 :]
    return {
        "with_memory_kb": with_memory_kb,
        "wake_p50_ms": report.percentile(waits_ms, 0.5),
        "wake_p95_ms": report.percentile(waits_ms, 0.95),
        "wake_max_ms": max(waits_ms),
        "slope_kb": (half[-1] - half[0]) / (len(half) - 1),
    }


async def _talk(sessions: Sequence[actormem.Session], talk: Sequence[SpokenTurn]) -> None:
    for session in sessions:
        for spoken in talk:
            async with session.turn(spoken.user) as turn:
                turn.reply(spoken.reply)


async def _spawned(runtime: actormem.Runtime, user: str) -> actormem.Session:
    return await runtime.spawn(
        "benchmark",
        user=user,
        model="gpt-4o",
        system="You are a patient assistant.",
        budget=actormem.Budget(context=4_000),
    )


async def _passivated(runtime: actormem.Runtime, clock: FakeClock) -> None:
    """Once no session and no memory is in the process any more."""
    await runtime.settle()
    while runtime.statistics().sessions.residents or runtime.statistics().longterm.residents:
        await clock.advance(2 * IDLE_S)
        await anyio.sleep(0.01)


def charted(found: report.Found) -> list[report.Chart]:
    """What a session takes, by what it does."""
    states = ("passivated", "awake", "active", "with_memory")
    return [
        report.Chart(
            name="sizes",
            title="memory that a session takes",
            x_title="",
            y_title="KB",
            kind="bars",
            labels=tuple(state.replace("_", " ") for state in states),
            series=tuple(
                report.Series(row, (), tuple(figures[f"{state}_kb"].median for state in states))
                for row, figures in found.items()
            ),
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
        lambda size: (
            f"{size.session_count} sessions, {size.active_count} active, {size.turn_count} turns each"
        ),
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
