"""How many tokens does a long conversation send, how many of them again unchanged, and does it still know its facts?

Measured, over a made-up conversation of 200 turns, Chinese and English in turn, about 90 tokens a message:
  sent       tokens sent, notes and all, as a share of what full history would have sent: at each turn the system prompt
             and all that was said, and no note
  prefix     tokens of whole messages with which a request and the one before begin, as a share of all sent
  answered   planted order numbers that stand in the context of the very turn in which the user asks for them, ten to a
             hundred turns after they were said; the question names what was ordered and no character of the number
  survived   of all planted order numbers, asked for or not, those that stand in the last context
  side       with an LLM for background work: tokens of its prompts and replies, as a share of the tokens that the
             conversation itself has, each message counted once; in one row turns follow one another at once, which has
             a part in its other figures, too (a summary may come later), in the next a minute passes between two, by a
             clock that does not wait
  epochs     how often a context was not an extension of the one before
  over       contexts above the budget; must be 0

All tokens are counted here (`benchmarks.counting`), none taken from the library's trace; requests are compared here.

With `--frontier`, the same, with one seed, over `compact_at`, `compact_to` and the notes' share, at one budget: which
settings no other beats in both tokens sent and prefix. The defaults of `Budget` were chosen from it.

Not measured: a model's reading of the context, how good an LLM's summaries are (they are extractive here; the LLM of
the last rows says the beginning of what it is to summarize, and finds no facts), time.

Corpus: `benchmarks.conversation`, from three seeds, which are the repeats of every row; every fourth turn asks for an
order number said before.

To read it: `sent` and `prefix` of one row belong together: a context that is cut more often is smaller and changes
more. Embeddings are hashed, unless `--embedder local` is given: then recall knows other words for the same, too.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import anyio
import msgspec

import actormem
from actormem.testing.clock import FakeClock
from benchmarks import report
from benchmarks.conversation import Order, conversation
from benchmarks.counting import REPLY_TOKENS, Counter
from benchmarks.side_llm import SideLLM

__all__ = ["FULL", "QUICK", "Size", "charted", "frontier", "main", "measure", "talk", "unbeaten"]

NAME = "tokens"
SEEDS = (20_240_229, 5, 77)
ASK_EVERY = 4  # turns
ASK_AFTER = 10  # turns after it was said
SYSTEM = "You are a patient assistant. 用用户的语言回答。"
FRONTIER_BUDGET = 6_000
COMPACT_AT = (0.6, 0.7, 0.75, 0.8, 0.9)
COMPACT_TO = (0.2, 0.3, 0.4, 0.5)
PAUSE_S = 60.0  # in which people read and type
RECALL_TOKENS = (120, 200, 300)
COLUMNS = (
    report.Column("sent", "sent", "{:.3f}", better="less"),
    report.Column("prefix", "prefix", "{:.3f}", better="more"),
    report.Column("answered", "answered", "{:.3f}", better="more"),
    report.Column("survived", "survived", "{:.3f}", better="more"),
    report.Column("side", "side", "{:.3f}", better="less"),
    report.Column("epochs", "epochs", "{:.0f}", better="less"),
    report.Column("over", "over", "{:.0f}", better="less"),
)
TARGETS = (
    report.Target(about="sent at 6,000, of full history", row="6000", figure="sent", at_most=0.18),
    report.Target(about="prefix at 6,000", row="6000", figure="prefix", at_least=0.85),
    report.Target(about="probes answered at 6,000", row="6000", figure="answered", at_least=0.95),
    report.Target(
        about="side tokens at 6,000, of the conversation's own", row="6000, LLM", figure="side", at_most=1.5
    ),
    report.Target(about="the same with pauses", row="6000, LLM, pauses", figure="side", at_most=1.5),
    *(
        report.Target(about=f"contexts over the budget: {row}", row=row, figure="over", at_most=0, worst=True)
        for row in ("2000", "6000", "16000", "6000, LLM", "6000, LLM, pauses")
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    turn_count: int = 200
    seeds: tuple[int, ...] = SEEDS
    budgets: tuple[int, ...] = (2_000, 6_000, 16_000)
    work_s: float = 0.05  # really waited in each pause, for what is done in threads


FULL = Size()
QUICK = Size(turn_count=30, seeds=SEEDS[:1], budgets=(2_000,))


class Spoken(msgspec.Struct, frozen=True):
    """A turn: what is said, and the order it asks for, if it does."""

    user: str
    reply: str
    asked: Order | None = None


class Sent(msgspec.Struct):
    """What was sent so far."""

    tokens: int = 0
    full_tokens: int = 0
    same_tokens: int = 0
    asked_count: int = 0
    answered_count: int = 0
    epoch_count: int = 0
    over_count: int = 0
    survived_share: float = 0.0
    side_share: float | None = None

    def shares(self) -> dict[str, float]:
        """The figures of the table."""
        return {
            "sent": self.tokens / self.full_tokens,
            "prefix": self.same_tokens / self.tokens,
            "answered": self.answered_count / max(1, self.asked_count),
            "survived": self.survived_share,
            **({} if self.side_share is None else {"side": self.side_share}),
            "epochs": self.epoch_count,
            "over": self.over_count,
        }


def talk(turn_count: int, seed: int) -> Iterator[Spoken]:
    """The conversation, with a question for an earlier order in every fourth turn."""
    chance = Random(seed)
    said: list[tuple[int, Order]] = []
    for number, turn in enumerate(conversation(turn_count, seed)):
        old = [order for place, order in said if number - place >= ASK_AFTER]
        asked = chance.choice(old) if old and number % ASK_EVERY == 0 else None
        if turn.order is not None:
            said.append((number, turn.order))
        yield Spoken(f"{turn.user}\n{asked.question}" if asked else turn.user, turn.reply, asked)


async def play(
    budget: actormem.Budget,
    embedder: str,
    turn_count: int,
    seed: int,
    llm: SideLLM | None = None,
    *,
    pause_s: float = 0.0,
    work_s: float = 0.0,
) -> Sent:
    """What one conversation sends under a budget; background work is done before each turn.

    With an LLM it goes on beside the turns: to wait for it would have every message read for facts by itself, and not
    several in one call.

    Args:
        pause_s, work_s: Between two turns, with an LLM: by the runtime's clock, and by everyone's.
    """
    sent, counter, clock = Sent(), Counter(), FakeClock()
    said_tokens = REPLY_TOKENS + counter.of({"content": SYSTEM})
    before: Sequence[Mapping[str, Any]] = ()
    async with actormem.open(None, embedder=embedder, llm=llm, clock=clock) as runtime:
        session = await runtime.spawn("talk", user="ada", model="gpt-4o", system=SYSTEM, budget=budget)
        for spoken in talk(turn_count, seed):
            if llm is None:
                await runtime.settle()
            async with session.turn(spoken.user) as turn:
                said_tokens += counter.of({"content": spoken.user})
                sent.full_tokens += said_tokens
                _count(sent, counter, before, turn.messages, budget.context)
                sent.epoch_count += bool(turn.trace.epoch_end)
                if spoken.asked is not None:
                    sent.asked_count += 1
                    sent.answered_count += spoken.asked.number in _text(turn.messages)
                before = turn.messages
                turn.reply(spoken.reply)
                said_tokens += counter.of({"content": spoken.reply})
            if pause_s:
                await anyio.sleep(work_s)
                await clock.advance(pause_s)
        await runtime.settle()
    numbers, last = (
        [turn.order.number for turn in conversation(turn_count, seed) if turn.order],
        _text(before),
    )
    sent.survived_share = sum(number in last for number in numbers) / len(numbers)
    if llm is not None:
        sent.side_share = llm.tokens / _own_tokens(counter, turn_count, seed)
    return sent


def _own_tokens(counter: Counter, turn_count: int, seed: int) -> int:
    """Of the conversation's texts, each once."""
    return sum(counter.text(said.user) + counter.text(said.reply) for said in talk(turn_count, seed))


def _text(messages: Sequence[Mapping[str, Any]]) -> str:
    return msgspec.json.encode(messages).decode()


def _count(
    sent: Sent,
    counter: Counter,
    before: Sequence[Mapping[str, Any]],
    messages: Sequence[Mapping[str, Any]],
    budget_tokens: int,
) -> None:
    for old, new in zip(before, messages, strict=False):
        if msgspec.json.encode(old) != msgspec.json.encode(new):
            break
        sent.same_tokens += counter.of(new)
    tokens = counter.tokens(messages)
    sent.tokens += tokens
    sent.over_count += tokens > budget_tokens


async def figures(budget: actormem.Budget, embedder: str, size: Size) -> dict[str, report.Spread]:
    """The figures under one budget, over all seeds."""
    runs = [(await play(budget, embedder, size.turn_count, seed)).shares() for seed in size.seeds]
    return report.spreads(runs)


async def measure(size: Size, embedder: str) -> dict[str, dict[str, report.Spread]]:
    """The figures of each budget with default shares, and of the middle one with an LLM in the background."""
    found: dict[str, dict[str, report.Spread]] = {}
    for context in size.budgets:
        print(f"budget {context:,}", file=sys.stderr)
        found[f"{context}"] = await figures(actormem.Budget(context=context), embedder, size)
    middle = size.budgets[len(size.budgets) // 2]
    for name, pause_s in ((f"{middle}, LLM", 0.0), (f"{middle}, LLM, pauses", PAUSE_S)):
        print(f"budget {name}", file=sys.stderr)
        runs = [
            await play(
                actormem.Budget(context=middle), embedder, size.turn_count, seed, SideLLM(),
                pause_s=pause_s, work_s=size.work_s,
            )
            for seed in size.seeds
        ]  # fmt: skip
        found[name] = report.spreads([one.shares() for one in runs])
    return found


async def frontier(size: Size, embedder: str) -> dict[str, dict[str, report.Spread]]:
    """The figures of every setting of the grid, by `compact_at/compact_to/recall`."""
    found: dict[str, dict[str, report.Spread]] = {}
    for at, to, recall in product(COMPACT_AT, COMPACT_TO, RECALL_TOKENS):
        if to >= at - 0.1:
            continue
        name = f"{at:g}/{to:g}/{recall}"
        print(name, file=sys.stderr)
        budget = actormem.Budget(context=FRONTIER_BUDGET, compact_at=at, compact_to=to, recall=recall)
        one_seed = msgspec.structs.replace(size, seeds=size.seeds[:1])
        found[name] = await figures(budget, embedder, one_seed)
    return found


def unbeaten(found: dict[str, dict[str, report.Spread]]) -> list[str]:
    """Settings that no other beats in both tokens sent and prefix, fewest tokens first."""
    order = sorted(found, key=lambda name: (found[name]["sent"].median, -found[name]["prefix"].median))
    kept: list[str] = []
    for name in order:
        if not kept or found[name]["prefix"].median > found[kept[-1]]["prefix"].median:
            kept.append(name)
    return kept


def charted(found: dict[str, dict[str, report.Spread]]) -> list[report.Chart]:
    """Tokens sent against the stable prefix: of each row, and joined those that no other beats in both."""
    settings = "/" in next(iter(found))
    groups = (
        {"all": list(found), "unbeaten": unbeaten(found)} if settings else {name: [name] for name in found}
    )
    series = [
        report.Series(
            title,
            tuple(found[name]["sent"].median for name in names),
            tuple(found[name]["prefix"].median for name in names),
        )
        for title, names in groups.items()
    ]
    return [
        report.Chart(
            name="frontier",
            title="tokens sent, and how many of them stood in the request before",
            x_title="sent, share of full history",
            y_title="prefix, share of what is sent",
            kind="points",
            series=tuple(series),
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file; 0, or 130 if it was stopped by Ctrl-C."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument(
        "--frontier", action="store_true", help="over compact_at, compact_to and the notes' share"
    )
    parser.add_argument("--embedder", choices=("hashing", "local"), default="hashing")
    options = parser.parse_args(given)
    size = QUICK if options.quick else FULL
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where))
    work = frontier if options.frontier else measure
    try:
        found = anyio.run(work, size, options.embedder)
    except KeyboardInterrupt:
        return report.stopped(NAME)
    title = "at/to/recall" if options.frontier else "budget"
    print(report.spread_table(title, COLUMNS, found))
    if options.frontier:
        print(f"\nunbeaten at {FRONTIER_BUDGET:,}: {', '.join(unbeaten(found))}")
    settings = msgspec.to_builtins(size) | {"embedder": options.embedder, "frontier": options.frontier}
    targets = () if options.frontier else TARGETS
    result = report.result_of(
        NAME, __doc__, where, settings, found, columns=COLUMNS, targets=targets, charts=charted(found)
    )
    report.finish(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
