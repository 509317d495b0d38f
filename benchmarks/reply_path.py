"""How long is it from a user's message to the ready context, and how much of the request stays the same?

Measured, over 200 turns in a budget of 6,000, so that turns compact. Ours, by where vectors and summaries come from:
  scripted     in this process: an embedder that sleeps 20 ms a call, an LLM that sleeps 800 ms; no network, no client
  server       a server of OpenAI's protocol on the loopback, in a process of its own (`benchmarks.server`): 20 ms an
               embedding, 800 ms a chat; OpenAIEmbedder and OpenAILLM, so the openai client's own work is in it
  client alone the floor of `server`: the message's vector is asked for there, and nothing is done with it
  local        the embedder in the wheel; summaries are extractive
  hashing      hashed words instead of an embedder; summaries are extractive
and what others do with the same conversation, server and budget (`benchmarks.peers`), each in a process of its own,
once; one that is not installed, or fails, is named below the table.
  context      ms from the user's message to the messages to send (p50, p95, max)
  beyond       the same, less the 20 ms that the embedding takes (p50, p95, max); `-` where there is no such wait
  end          ms that leaving the turn blocks the next: for ours, until the reply is on disk, durable over power loss
  waited LLM   LLM calls that began after the message and had ended before the context was ready
  end LLM      the same of leaving the turn
  LLM          all LLM calls of ours, those beside the turns among them
  summaries    those that wrote a summary: with none, no turn had one to wait for
  sent         tokens sent, as a share of what full history would have sent; as the library's trace counts them
  prefix       bytes of whole messages with which a request and the one before begin, as a share of all bytes sent;
               compared here, not taken from the trace
  in context   planted order numbers that stand in the last context
  or recalled  or in the context for a question that names what was ordered, and nothing of its number
  degraded     contexts that a step missed its deadline for, or failed for

Not measured: a model's own time (a pause of 0.1 s stands for it: a summary takes as long as eight turns), opening the
folder (the embedder is loaded there), a process's first turn (one of another user and a call of the LLM go before: the
openai package takes 0.15 s to load), many sessions at once (`benchmarks.concurrency`), what is right in the contexts of
others (they keep and find different things), and the provider's cache: `prefix` is what it could hold. Planted facts
are load: whether they are recalled is not scored.

Corpus: a made-up conversation, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: each figure is the median of the repeats, each with a fresh folder; the line below it is the least and the
greatest. A disk's sync decides `end`; `context` waits for no disk. Work of others on the machine is in all of it:
compare the rows of one run.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import anyio
import msgspec
from anyio import to_thread

import actormem
from benchmarks import peer_process, peers, report
from benchmarks.conversation import Order, SpokenTurn, conversation
from benchmarks.providers import ALONE, LLM_S, alone, beyond, installed, missing, plan_of, providers, warmed
from benchmarks.scripted import WatchedLLM, percentiles
from benchmarks.server import beside

__all__ = ["FULL", "QUICK", "Size", "charted", "main", "measure", "once"]

NAME = "reply_path"
OURS = ("scripted", "server", ALONE, "local", "hashing")
REMOTE = ("scripted", "server")  # those with a wait for the embedding, and with an LLM
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
    report.Column("max", "end_max_ms", better="less"),
    report.Column("waited LLM", "context_calls", "{:.0f}", better="less"),
    report.Column("end LLM", "end_calls", "{:.0f}", better="less"),
    report.Column("LLM", "llm_calls", "{:.0f}"),
    report.Column("summaries", "llm_summaries", "{:.0f}", better="more"),
    report.Column("sent", "sent_share", "{:.3f}", better="less"),
    report.Column("prefix", "prefix_share", "{:.3f}", better="more"),
    report.Column("in context", "orders_in_context_share", "{:.3f}", better="more"),
    report.Column("or recalled", "orders_recalled_share", "{:.3f}", better="more"),
    report.Column("degraded", "degraded_count", "{:.0f}", better="less"),
)
TARGETS = (
    *(
        report.Target(about=f"{about}, {row}", row=row, figure=figure, at_most=most, worst=worst)
        for row in REMOTE
        for about, figure, most, worst in (
            ("beyond the embedding, p50 ms", "beyond_p50_ms", 1, False),
            ("beyond the embedding, p95 ms", "beyond_p95_ms", 3, False),
            ("beyond the embedding, max ms", "beyond_max_ms", 15, True),
            ("LLM calls that a context waited for", "context_calls", 0, True),
        )
    ),
    *(
        report.Target(
            about=f"summaries by the LLM meanwhile, {row}",
            row=row,
            figure="llm_summaries",
            at_least=1,
            worst=True,
        )
        for row in REMOTE
    ),
    report.Target(about="with the local embedder, p50 ms", row="local", figure="context_p50_ms", at_most=5),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    turn_count: int = 200
    repeat_count: int = 3
    pause_s: float = 0.1  # stands for the model's time to reply
    llm_s: float = LLM_S
    peers: tuple[str, ...] = tuple(peers.PACKAGES)


FULL = Size()
QUICK = Size(turn_count=40, repeat_count=1)


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


async def measure(
    size: Size, note: Callable[[str], object] = lambda _: None
) -> dict[str, dict[str, report.Spread]]:
    """Every figure of ours and of the peers; our repeats alternate, so that a busy minute is shared.

    Args:
        note: Told what is not measured, and why.
    """
    runs: dict[str, list[dict[str, float]]] = {row: [] for row in installed(OURS)}
    for said in missing(OURS):
        note(said)
    talk = conversation(size.turn_count, SEED)
    async with beside(plan_of(size.llm_s)) as url:
        for number in range(size.repeat_count):
            for row, found in runs.items():
                print(f"repeat {number + 1} of {size.repeat_count}, {row}", file=sys.stderr)
                play = once(row, size, url) if row != ALONE else alone(url, talk, size.pause_s)
                found.append(await play)
        job = peer_process.Job(
            base_url=url,
            budget_tokens=BUDGET_TOKENS,
            turn_count=size.turn_count,
            pause_s=size.pause_s,
            seed=SEED,
        )
        async for peer, figures in peer_process.each(size.peers, job, note):
            runs[peer] = [figures]
    return report.over_repeats(runs)


async def once(row: str, size: Size, url: str) -> dict[str, float]:
    """The figures of one conversation of ours in a fresh folder; `url` is the server's."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    embedder, llm = providers(row, url, size.llm_s)
    talk = conversation(size.turn_count, SEED)
    try:
        async with actormem.open(folder.name, embedder=embedder, llm=llm) as runtime:
            await warmed(runtime, llm, talk[0])
            budget = actormem.Budget(context=BUDGET_TOKENS)
            session = await runtime.spawn(
                "benchmark", user="ada", model="gpt-4o", system=peers.SYSTEM, budget=budget
            )
            figures = await _play(session, talk, size, llm)
            await runtime.settle()
            if llm is not None:
                figures |= {
                    "llm_calls": llm.call_count - 1,  # the first was to warm it
                    "llm_summaries": runtime.statistics().summaries_llm,
                }
            return figures | await _probe(session, [turn.order for turn in talk if turn.order])
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _play(
    session: actormem.Session,
    talk: Sequence[SpokenTurn],
    size: Size,
    llm: WatchedLLM | None,
) -> dict[str, float]:
    contexts_s, ends_s = list[tuple[float, float]](), list[tuple[float, float]]()
    requests = Requests()
    for spoken in talk:
        began_s = perf_counter()
        async with session.turn(spoken.user) as turn:
            contexts_s.append((began_s, perf_counter()))
            requests.add(turn.messages, turn.trace)
            await anyio.sleep(size.pause_s)
            turn.reply(spoken.reply)
            began_s = perf_counter()
        ends_s.append((began_s, perf_counter()))
    contexts_ms = [(ended_s - began_s) * 1000 for began_s, ended_s in contexts_s]
    calls: dict[str, float] = {}
    if llm is not None:
        calls["context_calls"] = sum(llm.within(*span_s) for span_s in contexts_s)
        calls["end_calls"] = sum(llm.within(*span_s) for span_s in ends_s)
    return {
        **percentiles("context", contexts_ms),
        **(beyond(contexts_ms) if llm else {}),
        **percentiles("end", [(ended_s - began_s) * 1000 for began_s, ended_s in ends_s]),
        **calls,
        "sent_tokens": requests.sent_tokens,
        "full_tokens": requests.full_tokens,
        "sent_share": requests.sent_tokens / requests.full_tokens,
        "prefix_share": requests.prefix_share,
        "degraded_count": requests.degraded_count,
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
    notes = list[str]()
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        partial(measure, note=notes.append),
        lambda size: f"{size.turn_count} turns, {size.repeat_count} repeats, budget {BUDGET_TOKENS:,} tokens",
        columns=COLUMNS,
        is_peer=lambda row: row == ALONE or row in peers.PACKAGES,
        targets=TARGETS,
        charted=charted,
        notes=lambda: notes,
    )


if __name__ == "__main__":
    sys.exit(main())
