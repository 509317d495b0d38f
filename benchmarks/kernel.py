"""What does a message to an actor cost, beside the least that an event loop asks for it?

Measured, on asyncio, on uvloop where it is installed, and on trio:
  tell         µs of processor time a message that nobody answers, in bulks of 50: sent, handled and counted, no ask
               among them; who sends waits for an event at the end of each bulk
  ask          µs of processor time a question with its answer, one after another, each with a deadline
  /s           of each, by the clock
  × queue      the same as a ratio to a queue and, for a question, a future without a deadline; on trio to a memory
               channel and an event
  × deadline   an ask as a ratio to the same with a deadline: `asyncio.timeout`, `trio.fail_after`
  p50, p99     µs of an ask by the clock, with 200 sessions: 200 actors in memory and 200 askers at once, one for each,
               who ask ten times a second at moments of their own, so that asks meet; p99 cpu is of the loop's processor
               time between question and answer, other asks' share too: it leaves out what other processes did to this;
               of the queue with a deadline the same, all asking one reader
  burst p99    ms by the clock until each of 200 asks is answered that were sent at one moment, one to each actor
  pykka        an actor in a thread of its own: the same tell and ask, in another process

Processor time is of the loop's thread; of pykka's process, both of whose threads have a part in each message.

Not measured: what an actor does with a message, waking one that rests, supervision, messages between processes, askers
who ask again as soon as they are answered: those wait for each other, as the burst shows.

Corpus: none; a message is a number, and the answer is the same number.

To read it: ours and the queue take turns within each repeat, so that a busy moment is shared; each figure is the median
of the repeats, the line below it the least and the greatest. `queue` rows are the floor: no bound, no deadline, no
crash, no restart. `queue, deadline` is the same with a deadline around each wait. Where the bound of p99 is met, 2,000
questions a second are answered within it; that says nothing of a loop that is full.
"""

import sys
from collections.abc import Sequence
from functools import partial

import anyio
import msgspec
from anyio import to_thread

from benchmarks import report
from benchmarks.kernel_loop import Size, once
from benchmarks.process import output_of

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "peer"]

NAME = "kernel"
PEER_S_MAX = 120.0
COLUMNS = (
    report.Column("tell µs", "tell_us", "{:.2f}", better="less"),
    report.Column("/s", "tells_per_s", "{:,.0f}", better="more"),
    report.Column("× queue", "tell_times_queue", "{:.2f}", better="less"),
    report.Column("ask µs", "ask_us", "{:.1f}", better="less"),
    report.Column("/s", "asks_per_s", "{:,.0f}", better="more"),
    report.Column("× queue", "ask_times_queue", "{:.2f}", better="less"),
    report.Column("× deadline", "ask_times_deadline", "{:.2f}", better="less"),
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
        about="ask p99 on asyncio, 200 sessions that each ask ten times a second, µs",
        row="asyncio",
        figure="ask_p99_us",
        at_most=200,
    ),
)


FULL = Size()
QUICK = Size(tell_count=2_000, ask_count=400, repeat_count=3)


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
    work = partial(once, size, loop)
    return anyio.run(work, **how)  # pyright: ignore[reportArgumentType]  # a mapping per loop


async def peer(size: Size) -> dict[str, float] | None:
    """What pykka does in a process of its own; None where it is not installed.

    Raises:
        ChildError: It failed, though it is installed.
        TimeoutError: It had not ended in time.
    """
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
            y_title="µs of processor time",
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
