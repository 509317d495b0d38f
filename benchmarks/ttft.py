"""How long until a real model's first token, in a conversation that outgrows its window, by what is sent at each turn?

Measured, on llama.cpp's server with a small model, 60 turns of a conversation, each strategy with a server of its own:
  first token   ms from the user's message to the first token of the reply: the context is built, sent, and read by the
                model (p50, mean, p95)
  processor     ms of the model's server's processor time for the same request (p50, mean); other work on the machine
                does not count here
  read          tokens of the prompt that the server had to read, its cache not having them (p50, mean); the same on
                every machine
  × limit       median and mean as ratios to full history's with a warm cache, which reads nothing but the new words
  / window      median as a ratio to the sliding window's, at the same budget
  prompt        tokens of the longest prompt, as the model counts them
  all           s of the server's processor time for the whole conversation, prewarming and the reading of replies
                included, starting left out; a turn that stands for others that were not sent counts for them, too

Strategies:
  full          all that was said
  window        the newest messages that fit the budget
  note at head  a window, and in the system prompt the three earlier messages that share most words with the newest
  append, volatile, head      ours, by where notes stand; `append` is the default
  append none, append all     ours, by what is joined to the user's words
  … prewarm     ours, and after a compaction the server reads the new context ahead of the next turn

Not measured: the words of the replies, which are written beforehand and given to the server as if it had made them
(untimed; so they are in its cache, as a reply that it made would be); summaries by an LLM; two conversations on one
server. A turn begins when no background work is pending: a user who answers at once may come before a prewarming.

Corpus: the English turns of `benchmarks.conversation`, about 90 tokens a user's message, about 45 a reply.

To read it: the strategies take each turn one after another, so that a busy moment is shared; the line below the medians
is the least and the greatest of the turns. Budgets are counted in the o200k vocabulary by all, whatever the model's is.
What reads everything at each turn (window, both heads) is sent at every fourth turn only, once it no longer extends
what was sent before, and that turn stands for the ones left out. Compare ratios within one run.
"""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import msgspec

import actormem
from benchmarks import report
from benchmarks.conversation import TURN_COUNT_MAX, conversation
from benchmarks.model_server import (
    MODEL_VARIABLE,
    ModelServer,
    OutgrownError,
    missing_model,
    serving,
)
from benchmarks.strategies import FullHistory, NoteAtTheHead, Ours, SlidingWindow, Strategy, opened
from benchmarks.ttft_conversation import TIMES, Conversation

__all__ = ["FULL", "QUICK", "STRATEGIES", "Measured", "Size", "main", "measure"]

NAME = "ttft"
SEED = 20_240_229
LIMIT, WINDOW = "full", "window"
ENDED = "ended before turn {turn}: what is sent no longer fits into the model's window"
TOKENS_OF_A_TURN_MAX = 260  # as the model counts them
SPARE_TOKENS = 1_024
TURNS_MAX = TURN_COUNT_MAX // 2  # every second turn of the corpus is English
BUDGETS = (300, 32_000)  # a system prompt with a turn and a note; more than the corpus has
WRONG_CALL = 2
COLUMNS = (
    report.Column("first token p50 ms", "first_token_ms", "{:,.0f}", better="less"),
    report.Column("mean", "first_token_mean_ms", "{:,.0f}", better="less"),
    report.Column("p95", "first_token_p95_ms", "{:,.0f}", better="less"),
    report.Column("× limit", "first_token_times_limit", "{:.2f}", better="less"),
    report.Column("mean", "first_token_mean_times_limit", "{:.2f}", better="less"),
    report.Column("/ window", "first_token_share_of_window", "{:.3f}", better="less"),
    report.Column("processor p50", "processor_ms", "{:,.0f}", better="less"),
    report.Column("× limit", "processor_times_limit", "{:.2f}", better="less"),
    report.Column("mean", "processor_mean_times_limit", "{:.2f}", better="less"),
    report.Column("/ window", "processor_share_of_window", "{:.3f}", better="less"),
    report.Column("read p50", "read_tokens", "{:,.0f}", better="less"),
    report.Column("× limit", "read_times_limit", "{:.2f}", better="less"),
    report.Column("mean", "read_mean_times_limit", "{:.2f}", better="less"),
    report.Column("/ window", "read_share_of_window", "{:.3f}", better="less"),
    report.Column("prompt", "prompt_tokens_max", "{:,.0f}", better="less"),
    report.Column("all s", "all_processor_s", "{:,.0f}", better="less"),
    report.Column("epochs", "epochs", "{:.0f}", better="less"),
    report.Column("degraded", "degraded", "{:.0f}", better="less"),
)


def targets() -> list[report.Target]:
    """By the clock, and the same of the tokens read, which no other work on the machine can disturb."""
    bounds: list[report.Target] = []
    for what, name in (("first token", "first_token"), ("tokens read", "read")):
        bounds += [
            report.Target(
                about=f"{what}, median, × full history with a warm cache",
                row="append",
                figure=f"{name}_times_limit",
                at_most=1.25,
            ),
            report.Target(
                about=f"{what}, median, of the sliding window's at the same budget",
                row="append",
                figure=f"{name}_share_of_window",
                at_most=round(1 / 6, 4),
            ),
            report.Target(
                about=f"{what} with prewarming, mean, × full history's",
                row="append, prewarm",
                figure=f"{name}_mean_times_limit",
                at_most=1.4,
            ),
        ]
    return bounds


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    turn_count: int = 60
    budget_tokens: int = 1_200
    embedder: str = "local"
    strategies: tuple[str, ...] = ()
    threads: int = 1

    def context_tokens(self, strategy: str) -> int:
        """That the model's server must have room for."""
        if strategy == LIMIT:
            return self.turn_count * TOKENS_OF_A_TURN_MAX + SPARE_TOKENS
        return 2 * self.budget_tokens + SPARE_TOKENS


FULL = Size()
QUICK = Size(turn_count=12, budget_tokens=600)

Server = Callable[[int], AbstractAsyncContextManager[ModelServer]]
"""Starts a server with room for so many tokens."""

LAYOUTS = {
    "append": actormem.Layout(),
    "append none": actormem.Layout(join="none"),
    "append all": actormem.Layout(join="all"),
    "volatile": actormem.Layout(notes="volatile"),
    "head": actormem.Layout(notes="head"),
}
PREWARMED = ("append", "volatile")
PEERS = (LIMIT, WINDOW, "note at head")
REREADING = (WINDOW, "note at head", "head")
STRATEGIES = (LIMIT, WINDOW, "note at head", *LAYOUTS, *(f"{name}, prewarm" for name in PREWARMED))


class Measured(msgspec.Struct, frozen=True):
    """The figures by strategy, and each turn's first token in ms, turns counted from 1.

    `outgrown` is the turn at which what a strategy sends no longer fitted into the model's window, where that came.
    """

    found: dict[str, dict[str, report.Spread]]
    turns: dict[str, dict[int, float]]
    outgrown: int | None = None


@asynccontextmanager
async def begun(name: str, size: Size, server: Server) -> AsyncGenerator[Conversation, None]:
    """A strategy's conversation, with a server of its own."""
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(server(size.context_tokens(name)))
        plain: dict[str, Callable[[], Strategy]] = {
            LIMIT: FullHistory,
            WINDOW: partial(SlidingWindow, size.budget_tokens),
            "note at head": partial(NoteAtTheHead, size.budget_tokens),
        }
        if name in plain:
            yield Conversation(plain[name](), served, rereading=name in REREADING)
            return
        layout, _, prewarm = name.partition(", ")
        ours: Ours = await stack.enter_async_context(
            opened(size.budget_tokens, LAYOUTS[layout], size.embedder, served.base_url if prewarm else "")
        )
        yield Conversation(ours, served, rereading=name in REREADING)


async def measure(size: Size, server: Server) -> Measured:
    """Every strategy's figures; at each turn they follow one another. It ends where the model's window does."""
    spoken = conversation(2 * size.turn_count, SEED)[1::2]
    async with AsyncExitStack() as stack:
        talks: dict[str, Conversation] = {}
        for name in size.strategies or STRATEGIES:
            talks[name] = await stack.enter_async_context(begun(name, size, server))
        outgrown: int | None = None
        for turn, said in enumerate(spoken, 1):
            print(f"turn {turn} of {size.turn_count}", file=sys.stderr)
            try:
                for talk in talks.values():
                    await talk.take(turn, said)
            except OutgrownError:
                outgrown = turn
                break
        turns = {
            name: {one.turn: one.first_token_s * 1000 for one in talk.asked} for name, talk in talks.items()
        }
        return Measured(with_ratios({name: talk.figures() for name, talk in talks.items()}), turns, outgrown)


def with_ratios(found: dict[str, dict[str, report.Spread]]) -> dict[str, dict[str, report.Spread]]:
    """The figures, and their ratios to the limit's and the window's where those were measured."""
    for name in TIMES:
        stem, _, unit = name.rpartition("_")
        for figures in found.values():
            for ratio, figure, other in (
                ("times_limit", name, LIMIT),
                ("mean_times_limit", f"{stem}_mean_{unit}", LIMIT),
                ("share_of_window", name, WINDOW),
            ):
                base = found.get(other, {}).get(figure)
                if base and base.median and figure in figures:
                    figures[f"{stem}_{ratio}"] = report.spread([figures[figure].median / base.median])
    return found


def charted(measured: Measured) -> list[report.Chart]:
    """The first token of each turn."""
    shown = [name for name in (LIMIT, WINDOW, "append", "append, prewarm") if name in measured.turns]
    return [
        report.Chart(
            name="turns",
            title="time to first token, turn by turn",
            x_title="turn",
            y_title="ms",
            series=tuple(
                report.Series(
                    name, tuple(map(float, measured.turns[name])), tuple(measured.turns[name].values())
                )
                for name in shown
            ),
            logarithmic="y",
        )
    ]


def named(text: str) -> tuple[str, ...]:
    """Strategies by their names, with `;` between."""
    return tuple(name.strip() for name in text.split(";"))


def whole(least: int, most: int) -> Callable[[str], int]:
    """Takes a whole number within these."""

    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if not least <= value <= most:
            raise report.argparse.ArgumentTypeError(
                f"must be a whole number from {least:,} to {most:,}, not {text!r}"
            )
        return value

    return number


def asked_for(given: Sequence[str] | None) -> tuple["report.argparse.Namespace", Size]:
    """The options, and the size they make."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    named_model = os.environ.get(MODEL_VARIABLE)
    parser.add_argument(
        "--model", type=Path, default=Path(named_model) if named_model else None, metavar="FILE",
        help=f"the model, a .gguf; else what {MODEL_VARIABLE} names",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=whole(1, os.cpu_count() or 1), default=1, help="of each server, on an idle machine"
    )
    parser.add_argument("--turns", type=whole(1, TURNS_MAX), help="of the conversation")
    parser.add_argument("--budget", type=whole(*BUDGETS), help="tokens of a context")
    parser.add_argument("--only", type=named, default=(), metavar="NAMES", help=f"of {'; '.join(STRATEGIES)}")
    options = parser.parse_args(given)
    unknown = [name for name in options.only if name not in STRATEGIES]
    if unknown:
        parser.error(f"no strategy {'; '.join(unknown)}; there are {'; '.join(STRATEGIES)}")
    size = QUICK if options.quick else FULL
    return options, msgspec.structs.replace(
        size,
        turn_count=options.turns or size.turn_count,
        budget_tokens=options.budget or size.budget_tokens,
        strategies=options.only,
        threads=options.threads,
    )


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the files; 0, or 2 where the model or what runs it is missing."""
    options, size = asked_for(given)
    missing = missing_model(options.model)
    if missing:
        print(f"benchmarks.{NAME}: {missing}", file=sys.stderr)
        return WRONG_CALL
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where), flush=True)
    try:
        measured = anyio.run(measure, size, partial(serving, options.model.resolve(), size.threads))
    except KeyboardInterrupt:
        return report.stopped(NAME)
    print(
        f"{size.turn_count} turns, budget {size.budget_tokens:,} tokens, {size.threads} thread(s) a server\n"
    )
    ended = [ENDED.format(turn=measured.outgrown)] if measured.outgrown else []
    print(report.spread_table("", COLUMNS, measured.found), *ended, sep="\n")
    settings = msgspec.to_builtins(size) | {"model": options.model.name}
    result = report.result_of(
        NAME, __doc__, where, settings, measured.found,
        columns=COLUMNS, is_peer=PEERS.__contains__, targets=targets(), charts=charted(measured),
        notes=[
            f"model {options.model.name} on xllamacpp {report.version('xllamacpp')}",
            *ended,
        ],
    )  # fmt: skip
    report.finish(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
