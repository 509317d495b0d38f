"""How long is it from a user's message to the ready context, and how much of the request stays the same?

Measured, over 200 turns in a budget of 6,000:
  context      ms from the user's message to the messages to send (p50, p95, max)
  beyond       the same, less the 20 ms that the scripted embedder takes for a call (p50, p95, max); `-` for the others
  end          ms that leaving the turn blocks: until the reply is on disk, durable over power loss (p50, p95)
  sent         tokens sent, as a share of what full history would have sent; as the library's trace counts them
  prefix       bytes of whole messages with which a request and the one before begin, as a share of all bytes sent;
               compared here, not taken from the trace
  in context   planted order numbers that stand in the last context
  or recalled  or in the context for a question that names what was ordered, and nothing of its number
  degraded     contexts that a step missed its deadline for, or failed for

Not measured: a model's own time (a pause of 50 ms stands for it, in which background work may run), summaries by an
LLM (they are extractive here), opening the folder (the embedder is loaded there), many sessions at once, and the
provider's cache: `prefix` is what it could hold. Planted facts are load: whether they are recalled is not scored.

Corpus: a made-up conversation, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: each figure is the median of the repeats, each with a fresh folder; the line below it is the least and
the greatest. A disk's sync decides `end`; `context` waits for no disk.
"""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from time import perf_counter

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import report
from benchmarks.conversation import Order, conversation
from benchmarks.scripted import TimedEmbedder

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "once"]

NAME = "reply_path"
EMBEDDERS = ("scripted", "local", "hashing")
EMBEDDING_S = 0.02  # of the scripted embedder: a server near by
BUDGET_TOKENS = 6_000
SEED = 20_240_229
COLUMNS = (
    report.Column("context p50 ms", "context_p50_ms", better="less"),
    report.Column("p95", "context_p95_ms", better="less"),
    report.Column("max", "context_max_ms", better="less"),
    report.Column("beyond p50 ms", "beyond_p50_ms", better="less"),
    report.Column("p95", "beyond_p95_ms", better="less"),
    report.Column("max", "beyond_max_ms", better="less"),
    report.Column("end p50 ms", "end_p50_ms", better="less"),
    report.Column("p95", "end_p95_ms", better="less"),
    report.Column("sent", "sent_share", "{:.3f}", better="less"),
    report.Column("prefix", "prefix_share", "{:.3f}", better="more"),
    report.Column("in context", "orders_in_context_share", "{:.3f}", better="more"),
    report.Column("or recalled", "orders_recalled_share", "{:.3f}", better="more"),
    report.Column("degraded", "degraded_count", "{:.0f}", better="less"),
)
TARGETS = (
    report.Target(about="beyond the embedding, p50 ms", row="scripted", figure="beyond_p50_ms", at_most=1),
    report.Target(about="beyond the embedding, p95 ms", row="scripted", figure="beyond_p95_ms", at_most=3),
    report.Target(
        about="beyond the embedding, max ms", row="scripted", figure="beyond_max_ms", at_most=15, worst=True
    ),
    report.Target(about="with the local embedder, p50 ms", row="local", figure="context_p50_ms", at_most=5),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    turn_count: int = 200
    repeat_count: int = 3
    pause_s: float = 0.05  # stands for the model's time to reply


FULL = Size()
QUICK = Size(turn_count=40)


class Requests:
    """What was sent, request by request."""

    def __init__(self) -> None:
        self.sent_tokens = self.full_tokens = self.degraded_count = 0
        self._sent_bytes = self._same_bytes = 0
        self._before: list[bytes] = []

    def add(self, messages: Sequence[object], trace: actormem.Trace) -> None:
        """Count a request, and compare it with the one before."""
        wires = [msgspec.json.encode(message) for message in messages]
        for old, new in zip(self._before, wires, strict=False):
            if old != new:
                break
            self._same_bytes += len(new)
        self._sent_bytes += sum(map(len, wires))
        self._before = wires
        self.sent_tokens += trace.tokens
        self.full_tokens += trace.full_tokens
        self.degraded_count += bool(trace.degraded)

    @property
    def prefix_share(self) -> float:
        """Bytes that stood at the beginning of the request before, of all bytes sent."""
        return self._same_bytes / self._sent_bytes


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every figure of every embedder; the repeats alternate, so that a busy minute is shared."""
    runs: dict[str, list[dict[str, float]]] = {embedder: [] for embedder in EMBEDDERS}
    for number in range(size.repeat_count):
        for embedder, found in runs.items():
            print(f"repeat {number + 1} of {size.repeat_count}, {embedder}", file=sys.stderr)
            found.append(await once(embedder, size))
    return {
        embedder: {name: report.spread([one[name] for one in found]) for name in found[0]}
        for embedder, found in runs.items()
    }


async def once(embedder: str, size: Size) -> dict[str, float]:
    """The figures of one conversation in a fresh folder."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        scripted = embedder == "scripted"
        made = TimedEmbedder(EMBEDDING_S) if scripted else embedder
        async with actormem.open(folder.name, embedder=made) as runtime:
            session = await runtime.spawn(
                "benchmark",
                user="ada",
                model="gpt-4o",
                system="You are a patient assistant. 用用户的语言回答。",
                budget=actormem.Budget(context=BUDGET_TOKENS),
            )
            figures = await _play(session, size, EMBEDDING_S * 1000 if scripted else None)
            await runtime.settle()
            orders = [turn.order for turn in conversation(size.turn_count, SEED) if turn.order]
            return figures | await _probe(session, orders)
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _play(session: actormem.Session, size: Size, embedding_ms: float | None) -> dict[str, float]:
    contexts_ms, ends_ms = list[float](), list[float]()
    requests = Requests()
    for spoken in conversation(size.turn_count, SEED):
        began_s = perf_counter()
        async with session.turn(spoken.user) as turn:
            contexts_ms.append((perf_counter() - began_s) * 1000)
            requests.add(turn.messages, turn.trace)
            await anyio.sleep(size.pause_s)
            turn.reply(spoken.reply)
            left_s = perf_counter()
        ends_ms.append((perf_counter() - left_s) * 1000)
    return {
        "context_p50_ms": report.percentile(contexts_ms, 0.5),
        "context_p95_ms": report.percentile(contexts_ms, 0.95),
        "context_max_ms": max(contexts_ms),
        **_beyond(contexts_ms, embedding_ms),
        "end_p50_ms": report.percentile(ends_ms, 0.5),
        "end_p95_ms": report.percentile(ends_ms, 0.95),
        "sent_tokens": requests.sent_tokens,
        "full_tokens": requests.full_tokens,
        "sent_share": requests.sent_tokens / requests.full_tokens,
        "prefix_share": requests.prefix_share,
        "degraded_count": requests.degraded_count,
    }


def _beyond(contexts_ms: Sequence[float], embedding_ms: float | None) -> dict[str, float]:
    if embedding_ms is None:
        return {}
    beyond_ms = [max(0.0, context_ms - embedding_ms) for context_ms in contexts_ms]
    return {
        "beyond_p50_ms": report.percentile(beyond_ms, 0.5),
        "beyond_p95_ms": report.percentile(beyond_ms, 0.95),
        "beyond_max_ms": max(beyond_ms),
    }


async def _probe(session: actormem.Session, orders: Sequence[Order]) -> dict[str, float]:
    """Which numbers are there, after the last turn and once all background work is done."""
    last = _text(await session.context())
    standing = {order.number for order in orders if order.number in last}
    recalled = {
        order.number for order in orders if order.number in _text(await session.context(order.question))
    }
    return {
        "orders_in_context_share": len(standing) / len(orders),
        "orders_recalled_share": len(standing | recalled) / len(orders),
    }


def _text(context: actormem.Context) -> str:
    return msgspec.json.encode(context.messages).decode()


def charted(found: report.Found) -> list[report.Chart]:
    """How long a context takes, by embedder."""
    rows = tuple(found)
    series = tuple(
        report.Series(part, (), tuple(found[row][f"context_{part}_ms"].median for row in rows))
        for part in ("p50", "p95", "max")
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
    """Measure, print the table, write the file; 0."""
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: f"{size.turn_count} turns, {size.repeat_count} repeats, budget {BUDGET_TOKENS:,} tokens",
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
    )


if __name__ == "__main__":
    sys.exit(main())
