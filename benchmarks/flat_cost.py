"""Does a turn cost more after 10,000 messages than after 100?

Measured, in two sessions of two users, in memory, each with a budget of 4,000: an old one that has 10,000 messages
behind it, and young ones that have 100. Their turns alternate, so that a busy moment is shared, and each figure of the
old one is told as a ratio to that of the young.
  append       ms to add a message of about 30 tokens and get it acknowledged
  context      ms of `session.context()` after a user's message: everything but recall
  recall       ms of it that recall takes: the old user's memory holds a hundred times as much
  waking       ms to spawn the session again in a runtime that has just opened its folder

Not measured: the disk's sync (the figures are in memory, but for waking), embedding by a model (texts are hashed),
a model's own time.

Corpus: words are drawn so that few are frequent and most are rare, as in talk; every second message holds values that
no other has.

To read it: for each young session the median of its turns, and of those of the old one beside them; each figure is
the median of these, the line below it the least and the greatest. The ratio is what should stay near 1.
"""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from random import Random
from statistics import median
from time import perf_counter

import msgspec
from anyio import to_thread

import actormem
from benchmarks import report

__all__ = ["FULL", "QUICK", "Size", "Talker", "charted", "main", "measure"]

NAME = "flat_cost"
SEED = 7
BUDGET_TOKENS = 4_000
WORDS = 20_000
MESSAGE_WORDS = 24
LEAST_MS = 1e-6  # a step that took no time that a clock can tell
STEPS = ("append_ms", "context_ms", "recall_ms")
COLUMNS = tuple(
    report.Column(name.replace("_", " "), name, "{:.2f}", better="less") for name in (*STEPS, "waking_ms")
)
TARGETS = tuple(
    report.Target(
        about=f"{name}, after 10,000 messages against 100,", row="ratio", figure=f"{name}_ms", at_most=2.0
    )
    for name in ("append", "context")
)


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


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """The figures of the old session and of the young ones, and their ratio."""
    runs: dict[str, list[dict[str, float]]] = {"old": [], "young": [], "ratio": []}
    talker = Talker(SEED)
    async with actormem.open(None, embedder="hashing") as runtime:
        aged = await _session(runtime, "old")
        await _fill(runtime, aged, talker, size.old_messages)
        for number in range(size.young_sessions):
            print(f"young session {number + 1} of {size.young_sessions}", file=sys.stderr)
            fresh = await _session(runtime, f"young-{number}")
            await _fill(runtime, fresh, talker, size.young_messages)
            old, young = Timed([], [], []), Timed([], [], [])
            for _ in range(size.turn_count):
                await _turn(runtime, aged, talker, old)
                await _turn(runtime, fresh, talker, young)
            runs["old"].append(_medians(old))
            runs["young"].append(_medians(young))
            runs["ratio"].append(_ratios(runs["old"][-1], runs["young"][-1]))
    waking = await _waking(size, talker)
    waking["ratio"] = waking["old"] / waking["young"]
    found = report.over_repeats(runs)
    return {row: figures | {"waking_ms": report.spread([waking[row]])} for row, figures in found.items()}


def _medians(timed: Timed) -> dict[str, float]:
    return {name: median(getattr(timed, name)) for name in STEPS}


def _ratios(old: dict[str, float], young: dict[str, float]) -> dict[str, float]:
    return {name: old[name] / max(young[name], LEAST_MS) for name in STEPS}


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


def charted(found: report.Found) -> list[report.Chart]:
    """The ratios, as bars."""
    names = [column.figure for column in COLUMNS]
    heights = tuple(found["ratio"][name].median for name in names)
    return [
        report.Chart(
            name="ratio",
            title="cost of a step in an old session, in a young one = 1",
            x_title="",
            y_title="ratio",
            kind="bars",
            labels=tuple(name.removesuffix("_ms") for name in names),
            series=(report.Series("ratio", (), heights),),
            limit=2.0,
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
        lambda size: f"old: after {size.old_messages:,} messages, young: after {size.young_messages:,}",
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
