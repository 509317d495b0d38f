"""Does a turn cost more after 10,000 messages than after 100?

Two sessions of two users, in memory, each with a budget of 4,000: an old one that has 10,000 messages behind it, and
young ones that have 100. Their turns alternate, so that a busy moment is shared, and each figure of the old one is
told as a ratio to that of the young.
  append       ms to add a message of about 30 tokens and get it acknowledged
  context      ms of `session.context()` after a user's message: everything but recall
  recall       ms of it that recall takes: the old user's memory holds a hundred times as much
  waking       ms to spawn the session again in a runtime that has just opened its folder

Not measured: the disk's sync (the figures are in memory, but for waking), embedding by a model (texts are hashed),
a model's own time.

To read it: medians over the turns of all repeats; the ratio is what should stay near 1. Words are drawn so that few
are frequent and most are rare, as in talk; every second message holds values that no other has.
"""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from random import Random
from statistics import median
from time import perf_counter

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import report

__all__ = ["FULL", "QUICK", "Size", "main", "measure", "shown"]

NAME = "flat_cost"
SEED = 7
BUDGET_TOKENS = 4_000
WORDS = 20_000
MESSAGE_WORDS = 24
COLUMNS = ("append_ms", "context_ms", "recall_ms", "waking_ms")


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    old_messages: int = 10_000
    young_messages: int = 100
    young_sessions: int = 5
    turn_count: int = 20  # measured in each young session, and as many in the old one


FULL = Size()
QUICK = Size(old_messages=400, young_messages=40, young_sessions=2, turn_count=5)


class Talker:
    """Says what nobody said: a few words often, most of them rarely, and values of its own."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        syllables = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u", "ai")]
        self._words = ["".join(self._chance.choices(syllables, k=3)) for _ in range(WORDS)]

    def message(self, role: str) -> dict[str, object]:
        """A message of about 30 tokens."""
        picks = (int(WORDS ** self._chance.random()) - 1 for _ in range(MESSAGE_WORDS))
        words = " ".join(self._words[pick] for pick in picks)
        if role == "assistant":
            return {"role": role, "content": words}
        number = self._chance.randrange(10**8)
        return {
            "role": role,
            "content": f"{words}, order number KX-{number}, ${number % 9_000}.{number % 89 + 10}",
        }


class Timed(msgspec.Struct, frozen=True):
    """Milliseconds of each measured step."""

    append_ms: list[float] = []
    context_ms: list[float] = []
    recall_ms: list[float] = []


async def measure(size: Size) -> dict[str, dict[str, float]]:
    """The medians of the old session and of the young ones."""
    old, young = Timed([], [], []), Timed([], [], [])
    talker = Talker(SEED)
    async with actormem.open(None, embedder="hashing") as runtime:
        aged = await _session(runtime, "old")
        await _fill(runtime, aged, talker, size.old_messages)
        for number in range(size.young_sessions):
            print(f"young session {number + 1} of {size.young_sessions}", file=sys.stderr)
            fresh = await _session(runtime, f"young-{number}")
            await _fill(runtime, fresh, talker, size.young_messages)
            for _ in range(size.turn_count):
                await _turn(runtime, aged, talker, old)
                await _turn(runtime, fresh, talker, young)
    waking = await _waking(size, talker)
    return {
        name: {column: median(getattr(timed, column)) for column in COLUMNS[:3]} | {"waking_ms": waking[name]}
        for name, timed in (("old", old), ("young", young))
    }


async def _session(runtime: actormem.Runtime, user: str) -> actormem.Session:
    return await runtime.spawn("talk", user=user, budget=actormem.Budget(context=BUDGET_TOKENS))


async def _fill(
    runtime: actormem.Runtime, session: actormem.Session, talker: Talker, message_count: int
) -> None:
    for place in range(message_count // 2):
        await session.add_many([talker.message("user"), talker.message("assistant")])
        if place % 100 == 0:
            await runtime.settle()
    await runtime.settle()


async def _turn(runtime: actormem.Runtime, session: actormem.Session, talker: Talker, timed: Timed) -> None:
    began_s = perf_counter()
    await session.add(talker.message("user"))
    added_s = perf_counter()
    await runtime.settle()
    asked_s = perf_counter()
    context = await session.context()
    whole_ms = (perf_counter() - asked_s) * 1000
    await session.add(talker.message("assistant"))
    await runtime.settle()
    recall_ms = sum(step.elapsed_ms for step in context.trace.steps if step.name == "recall")
    timed.append_ms.append((added_s - began_s) * 1000)
    timed.context_ms.append(whole_ms - recall_ms)
    timed.recall_ms.append(recall_ms)


async def _waking(size: Size, talker: Talker) -> dict[str, float]:
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    counts = {"old": size.old_messages, "young": size.young_messages}
    try:
        async with actormem.open(folder.name, embedder="hashing", durability="process") as runtime:
            for user, message_count in counts.items():
                await _fill(runtime, await _session(runtime, user), talker, message_count)
        found: dict[str, float] = {}
        async with actormem.open(folder.name, embedder="hashing") as runtime:
            for user in counts:
                began_s = perf_counter()
                await runtime.spawn("talk", user=user)
                found[user] = (perf_counter() - began_s) * 1000
        return found
    finally:
        await to_thread.run_sync(folder.cleanup)


def shown(found: dict[str, dict[str, float]], size: Size) -> str:
    """The table: old, young, and the ratio of the two."""
    counts = {"old": size.old_messages, "young": size.young_messages}
    rows = [
        [f"after {counts[name]:,} messages", *(f"{figures[column]:.2f}" for column in COLUMNS)]
        for name, figures in found.items()
    ]
    ratios = [f"{found['old'][column] / max(found['young'][column], 1e-9):.2f}" for column in COLUMNS]
    return report.table(["", *(column.replace("_", " ") for column in COLUMNS)], [*rows, ["ratio", *ratios]])


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0."""
    options = report.arguments(f"benchmarks.{NAME}", __doc__ or "").parse_args(given)
    size = QUICK if options.quick else FULL
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where))
    found = anyio.run(measure, size)
    print(shown(found, size))
    if options.json:
        results = {
            f"{name}.{column}": value for name, figures in found.items() for column, value in figures.items()
        }
        report.write_json(options.json, NAME, where, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
