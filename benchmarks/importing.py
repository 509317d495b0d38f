"""How fast is an older log taken in, and how long until all of it is ready to be recalled?

Measured, in a fresh folder, durable over power loss, over a made-up log of Chinese and English messages in turn, each
said once, cut to about 20 or 90 words:
  import       messages a second, until `import_history` returns: stored, its facts found, recalled by its words
  settled      messages a second, until `settle` returns too: every message is found by its meaning, its neighbours' too
  processor    ms of processor time a message, all threads; on a busy machine the other figures say less than this one
  gap          longest time for which the event loop was held, in ms (p99, max), while all this went on
  query        ms by the clock of a recall that another user asks for meanwhile (p50, max), the one that is under way
               when all is settled too; with the local embedder alone is a query embedded behind what is imported

Not measured: several imports at once, a remote embedder, files of a million messages. The log is load: whether it is
recalled well is what `benchmarks.recall` asks.

Corpus: turns of `benchmarks.conversation` from several seeds, each message with its number, cut to its length.

To read it: each figure is the median of the repeats; the line below it is the least and the greatest. With the local
embedder `settled` is the embedder's own speed, which grows with the length of the texts; `import` has no part in it.
"""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from time import perf_counter, process_time

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import report
from benchmarks.conversation import conversation
from benchmarks.watching import watched

__all__ = ["FULL", "QUICK", "Size", "charted", "log", "main", "measure", "once"]

NAME = "importing"
EMBEDDERS = ("local", "hashing")
SEED = 20_240_229
TURNS_EACH = 100  # of one made-up conversation; a log is several
QUERY_PAUSE_S = 0.25
COLUMNS = (
    report.Column("import/s", "import_per_s", "{:,.0f}", better="more"),
    report.Column("settled/s", "settled_per_s", "{:,.0f}", better="more"),
    report.Column("processor ms", "processor_ms", better="less"),
    report.Column("gap p99 ms", "gap_p99_ms", better="less"),
    report.Column("max", "gap_max_ms", "{:,.0f}", better="less"),
    report.Column("query p50 ms", "query_p50_ms", better="less"),
    report.Column("max", "query_max_ms", "{:,.0f}", better="less"),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    message_count: int = 1_000
    repeat_count: int = 3
    lengths: tuple[int, ...] = (20, 90)
    embedders: tuple[str, ...] = EMBEDDERS


FULL = Size()
QUICK = Size(message_count=200, repeat_count=1)


def log(count: int, tokens: int) -> list[dict[str, object]]:
    """So many messages of about so many words, each with its number, since texts that repeat are embedded once."""
    found: list[dict[str, object]] = []
    seeds = range(SEED, SEED + count // (2 * TURNS_EACH) + 1)
    for turn in (turn for seed in seeds for turn in conversation(TURNS_EACH, seed)):
        for role, text in (("user", turn.user), ("assistant", turn.reply)):
            number = len(found)
            found.append({"role": role, "id": f"m-{number}", "content": f"{number}: {_cut(text, tokens)}"})
    return found[:count]


def _cut(text: str, tokens: int) -> str:
    """The first words of a text; in Chinese a character counts as one, and has about as many tokens."""
    return " ".join(text.split()[:tokens]) if text.isascii() else text[: tokens + tokens // 4]


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure of every embedder and length; the repeats alternate, so that a busy minute is shared."""
    kinds = [(embedder, tokens) for embedder in size.embedders for tokens in size.lengths]
    runs: dict[str, list[dict[str, float]]] = {}
    for number in range(size.repeat_count):
        for embedder, tokens in kinds:
            print(f"repeat {number + 1} of {size.repeat_count}, {embedder}, {tokens} words", file=sys.stderr)
            found = await once(embedder, tokens, size.message_count)
            runs.setdefault(f"{embedder}, {tokens} words", []).append(found)
    return report.over_repeats(runs)


async def once(embedder: str, tokens: int, count: int) -> dict[str, float]:
    """The figures of one log in a fresh folder."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    queries_ms, found = list[float](), dict[str, float]()
    try:
        async with actormem.open(folder.name, embedder=embedder) as runtime:
            await runtime.remember("The parcel of Bob stands at the gate", user="bob")
            await runtime.settle()

            async def work() -> None:
                settled = anyio.Event()
                async with anyio.create_task_group() as group:
                    group.start_soon(asked, runtime, settled, queries_ms)
                    found.update(await _imported(runtime, log(count, tokens)))
                    settled.set()

            watch = await watched("importing", work)
    finally:
        await to_thread.run_sync(folder.cleanup)
    return found | {
        "gap_p99_ms": watch["importing_gap_p99_ms"],
        "gap_max_ms": watch["importing_gap_max_ms"],
        "query_p50_ms": report.percentile(queries_ms, 0.5),
        "query_max_ms": max(queries_ms),
    }


async def _imported(runtime: actormem.Runtime, messages: list[dict[str, object]]) -> dict[str, float]:
    began_s, used_s = perf_counter(), process_time()
    await runtime.import_history(messages, session_id="log", user="ada")
    imported_s = perf_counter() - began_s
    await runtime.settle()
    settled_s, used_s = perf_counter() - began_s, process_time() - used_s
    return {
        "import_per_s": len(messages) / imported_s,
        "settled_per_s": len(messages) / settled_s,
        "processor_ms": used_s / len(messages) * 1000,
    }


async def asked(runtime: actormem.Runtime, settled: anyio.Event, queries_ms: list[float]) -> None:
    """Ask until all is settled, at least once; a question under way is waited for."""
    number = 0
    while not number or not settled.is_set():
        number += 1
        began_s = perf_counter()
        await runtime.recall(f"Where is my parcel number {number}?", user="bob", limit=1)
        queries_ms.append((perf_counter() - began_s) * 1000)
        with anyio.move_on_after(QUERY_PAUSE_S):
            await settled.wait()


def charted(found: report.Found) -> list[report.Chart]:
    """Messages a second, taken in and settled, of each row."""
    series = tuple(
        report.Series(title, (), tuple(figures[name].median for figures in found.values()))
        for title, name in (("taken in", "import_per_s"), ("settled", "settled_per_s"))
    )
    return [
        report.Chart(
            name="speed",
            title="an older log, messages a second",
            x_title="",
            y_title="messages a second",
            kind="bars",
            labels=tuple(found),
            series=series,
            logarithmic="y",
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
        lambda size: f"{size.message_count} messages, {size.repeat_count} repeats",
        columns=COLUMNS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
