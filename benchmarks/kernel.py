"""What does a message to an actor cost, beside the least that an event loop asks for it?

Measured, on asyncio, on uvloop where it is installed, and on trio:
  tell         µs of the loop's processor time a message that nobody answers, in bulks of 50: sent, and handled
  ask          µs of the loop's processor time a question with its answer, one after another, each with a deadline
  /s           of each, by the clock
  × queue      the same as a ratio to a queue and, for a question, a future without a deadline; on trio to a memory
               channel and an event
  p50, p99     µs by the clock of an ask, 200 actors being in memory and asked in turn; and p99 of the loop's processor
               time of it, which leaves out what other processes did to this one
  burst p99    ms by the clock until each of 200 asks is answered that were sent at one moment, one to each actor
  pykka        an actor in a thread of its own: the same tell and ask, in another process, by the clock

Not measured: what an actor does with a message, waking one that rests, supervision, messages between processes.

Corpus: none; a message is a number, and the answer is the same number.

To read it: ours and the queue take turns within each repeat, so that a busy moment is shared; each figure is the median
of the repeats, the line below it the least and the greatest. `queue` rows are the floor: no bound, no deadline, no
crash, no restart. `queue, deadline` is the same with `asyncio.timeout` around each wait.
"""

import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import perf_counter, thread_time

import anyio
import msgspec
from anyio import to_thread

from actormem.kernel import ActorSystem, Ref, Reply, Scope
from benchmarks import kernel_floor, report
from benchmarks.process import output_of

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "peer"]

NAME = "kernel"
BULK = 50  # fits the default mailbox
TIMEOUT_S = 30.0
PEER_S_MAX = 120.0
COLUMNS = (
    report.Column("tell µs", "tell_us", "{:.2f}", better="less"),
    report.Column("/s", "tells_per_s", "{:,.0f}", better="more"),
    report.Column("× queue", "tell_times_queue", "{:.2f}", better="less"),
    report.Column("ask µs", "ask_us", "{:.1f}", better="less"),
    report.Column("/s", "asks_per_s", "{:,.0f}", better="more"),
    report.Column("× queue", "ask_times_queue", "{:.2f}", better="less"),
    report.Column("p50 µs", "ask_p50_us", "{:.0f}", better="less"),
    report.Column("p99", "ask_p99_us", "{:.0f}", better="less"),
    report.Column("p99 cpu", "ask_p99_processor_us", "{:.0f}", better="less"),
    report.Column("burst p99 ms", "burst_p99_ms", "{:.1f}", better="less"),
)
TARGETS = (
    report.Target(about="tell on asyncio, × queue", row="asyncio", figure="tell_times_queue", at_most=2.0),
    report.Target(about="tell on uvloop, × queue", row="uvloop", figure="tell_times_queue", at_most=2.0),
    report.Target(
        about="ask on asyncio, × queue and future", row="asyncio", figure="ask_times_queue", at_most=3.5
    ),
    report.Target(
        about="ask on uvloop, × queue and future", row="uvloop", figure="ask_times_queue", at_most=3.5
    ),
    report.Target(
        about="ask p99 on asyncio, 200 actors, µs", row="asyncio", figure="ask_p99_us", at_most=200
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    tell_count: int = 20_000
    ask_count: int = 4_000
    session_count: int = 200
    repeat_count: int = 7


FULL = Size()
QUICK = Size(tell_count=2_000, ask_count=400, repeat_count=3)


class Echo:
    """Answers with what it was asked."""

    def __init__(self, key: object) -> None:
        self._key = key

    async def started(self, scope: Scope) -> None:
        """Nothing is to be loaded."""

    async def receive(self, message: object, reply: Reply | None) -> None:
        """The answer, where somebody waits for it."""
        if reply is not None:
            reply.answer(message)

    async def stopped(self, reason: str) -> None:
        """Nothing is open."""

    def idle(self) -> bool:
        """Always."""
        return True


class Timed:
    """Seconds since it was made, by the clock and of this thread's processor time."""

    def __init__(self) -> None:
        self._began_s, self._used_s = perf_counter(), thread_time()

    def each_us(self, count: int) -> tuple[float, float]:
        """Of one among `count`, in µs: by the clock, and of the processor."""
        used_s, elapsed_s = thread_time() - self._used_s, perf_counter() - self._began_s
        return elapsed_s / count * 1e6, used_s / count * 1e6


def loops() -> dict[str, dict[str, object]]:
    """The event loops that are here, by name, with anyio's arguments."""
    found: dict[str, dict[str, object]] = {"asyncio": {"backend": "asyncio"}}
    if report.version("uvloop"):
        found["uvloop"] = {"backend": "asyncio", "backend_options": {"use_uvloop": True}}
    if report.version("trio"):
        found["trio"] = {"backend": "trio"}
    return found


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure of every loop, each in a thread of its own, and of the peer."""
    runs: dict[str, list[dict[str, float]]] = {}
    for number in range(size.repeat_count):
        for loop, how in loops().items():
            print(f"repeat {number + 1} of {size.repeat_count}, {loop}", file=sys.stderr)
            found = await to_thread.run_sync(partial(_in_loop, size, loop, how))
            for row, figures in found.items():
                runs.setdefault(row, []).append(figures)
        print(f"repeat {number + 1} of {size.repeat_count}, pykka", file=sys.stderr)
        figures = await peer(size)
        if figures is not None:
            runs.setdefault("pykka", []).append(figures)
    return report.over_repeats(runs)


def _in_loop(size: Size, loop: str, how: dict[str, object]) -> dict[str, dict[str, float]]:
    work = partial(_once, size, loop)
    return anyio.run(work, **how)  # pyright: ignore[reportArgumentType]  # a mapping per loop


async def _once(size: Size, loop: str) -> dict[str, dict[str, float]]:
    floor = kernel_floor.Channels() if loop == "trio" else kernel_floor.Queues()
    least, found = f"queue on {loop}", dict[str, dict[str, float]]()
    async with ActorSystem() as system, floor:
        system.register("echo", Echo)
        ours = _Sender(system.ref("echo", 0))
        found[loop] = await _tells(ours, size) | await _asks(ours.ask, size)
        found[least] = await _tells(floor, size) | await _asks(floor.ask, size)
        if isinstance(floor, kernel_floor.Queues):
            found[f"queue, deadline, on {loop}"] = await _asks(floor.ask_in_time, size)
        refs = [system.ref("echo", number) for number in range(size.session_count)]
        found[loop] |= await _turns(refs, size) | await _burst(refs)
    for figure in ("tell", "ask"):
        found[loop][f"{figure}_times_queue"] = found[loop][f"{figure}_us"] / found[least][f"{figure}_us"]
    return found


class _Sender:
    """Ours, in the words of the floor."""

    def __init__(self, ref: Ref) -> None:
        self._ref = ref

    def tell(self, message: object) -> None:
        self._ref.tell(message)

    async def ask(self, message: object) -> object:
        return await self._ref.ask(message, timeout_s=TIMEOUT_S)


async def _tells(
    sender: "_Sender | kernel_floor.Queues | kernel_floor.Channels", size: Size
) -> dict[str, float]:
    await sender.ask(0)
    timed = Timed()
    for _ in range(size.tell_count // BULK):
        for number in range(BULK - 1):
            sender.tell(number)
        await sender.ask(0)  # what comes last is answered when all before it is handled
    elapsed_us, used_us = timed.each_us(size.tell_count)
    return {"tell_us": used_us, "tells_per_s": 1e6 / elapsed_us}


async def _asks(ask: Callable[[object], Awaitable[object]], size: Size) -> dict[str, float]:
    timed = Timed()
    for number in range(size.ask_count):
        await ask(number)
    elapsed_us, used_us = timed.each_us(size.ask_count)
    return {"ask_us": used_us, "asks_per_s": 1e6 / elapsed_us}


async def _turns(refs: Sequence[Ref], size: Size) -> dict[str, float]:
    for ref in refs:
        await ref.ask(0, timeout_s=TIMEOUT_S)
    elapsed_us, used_us = list[float](), list[float]()
    for number in range(size.ask_count):
        timed = Timed()
        await refs[number % len(refs)].ask(number, timeout_s=TIMEOUT_S)
        elapsed, used = timed.each_us(1)
        elapsed_us.append(elapsed)
        used_us.append(used)
    return {
        "ask_p50_us": report.percentile(elapsed_us, 0.5),
        "ask_p99_us": report.percentile(elapsed_us, 0.99),
        "ask_p99_processor_us": report.percentile(used_us, 0.99),
    }


async def _burst(refs: Sequence[Ref]) -> dict[str, float]:
    waits_ms = list[float]()
    began_s = perf_counter()

    async def ask(ref: Ref) -> None:
        await ref.ask(0, timeout_s=TIMEOUT_S)
        waits_ms.append((perf_counter() - began_s) * 1000)

    async with anyio.create_task_group() as group:
        for ref in refs:
            group.start_soon(ask, ref)
    return {"burst_p99_ms": report.percentile(waits_ms, 0.99)}


async def peer(size: Size) -> dict[str, float] | None:
    """What pykka does in a process of its own; None where it is not installed."""
    if not report.version("pykka"):
        return None
    counts = [str(size.tell_count), str(size.ask_count)]
    said = await output_of("benchmarks.kernel_peer", *counts, seconds_max=PEER_S_MAX)
    return msgspec.json.decode(said, type=dict[str, float])


def missing() -> list[str]:
    """What was not measured, since it is not installed."""
    return [
        f"{name} is not installed: not measured (pip install '.[bench]')"
        for name in ("uvloop", "trio", "pykka")
        if not report.version(name)
    ]


def charted(found: report.Found) -> list[report.Chart]:
    """What a tell and an ask cost, ours and the floor."""
    rows = tuple(found)
    return [
        report.Chart(
            name=figure,
            title=title,
            x_title="",
            y_title="µs",
            kind="bars",
            labels=tuple(row for row in rows if f"{figure}_us" in found[row]),
            series=(
                report.Series(
                    figure,
                    (),
                    tuple(found[row][f"{figure}_us"].median for row in rows if f"{figure}_us" in found[row]),
                ),
            ),
        )
        for figure, title in (("tell", "a message that nobody answers"), ("ask", "a question and its answer"))
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files; 0."""
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: f"{size.tell_count:,} tells, {size.ask_count:,} asks, {size.repeat_count} repeats",
        columns=COLUMNS,
        is_peer=lambda row: row not in loops(),
        targets=TARGETS,
        charted=charted,
        notes=missing,
    )


if __name__ == "__main__":
    sys.exit(main())
