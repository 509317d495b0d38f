"""Do exact values survive when a conversation is cut down to its budget, whatever the summaries say?

Measured, over logs of agents with tools (rows `log …`), with the values that each tool call was given and that were
said before it, in the context of the very moment before the call:
  probes     such values
  survived   share of them that stand in the context, letter by letter
  old        the same of those that were last said six or more messages before
  over       contexts above the budget, counted here and not by the library; must be 0
  orphans    tool calls without their result, and results without their call; must be 0
and the same `survived` for each kind of value with twenty or more probes, at the first budget. A share of no probes is
left out (`-`).

Measured, over made-up conversations (rows `made up …`), with a model whose every summary keeps nothing:
  probes     planted order numbers
  survived   share of them that stand in the last context
  named      or in the context for a question that names what was ordered, and no character of the number
  cuts       how often a context was not an extension of the one before; the median of the seeds

Not measured: whether a model uses what stands there, values that only a reader would find, time.

Corpus: the folder `taubench_airline` in the folder that ACTORMEM_DATA names (default ../shared/data), with transcripts
of tau-bench and probes made from them; none is shipped, and without it only the made-up rows are measured, which is
said. The rest is `benchmarks.conversation`, 60 turns from several seeds.

To read it: values are looked for as text in the request, tool calls and all. Each context is made at once, while
background work may still be under way.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import actormem
from benchmarks import report
from benchmarks.conversation import conversation
from benchmarks.counting import Counter
from benchmarks.dataset import DataError, data_folder
from benchmarks.side_llm import SideLLM

__all__ = [
    "FULL",
    "QUICK",
    "Size",
    "charted",
    "figures",
    "kinds",
    "logs",
    "made_up",
    "main",
    "measure",
    "orphans",
]

NAME = "survival"
FOLDER = "taubench_airline"
SYSTEM = "You are an airline agent."
NOTHING = "Several things were discussed."
OLD_MESSAGES = 6
KIND_PROBES_MIN = 20
COLUMNS = (
    report.Column("probes", "probe_count", "{:,.0f}"),
    report.Column("survived", "survived", "{:.3f}", better="more"),
    report.Column("old", "old_survived", "{:.3f}", better="more"),
    report.Column("named", "named_survived", "{:.3f}", better="more"),
    report.Column("over", "over", "{:.0f}", better="less"),
    report.Column("orphans", "orphan_count", "{:.0f}", better="less"),
    report.Column("cuts", "cut_count", "{:.0f}"),
)
TARGETS = (
    report.Target(about="log, 1,000 tokens: survived", row="log, 1,000", figure="survived", at_least=0.98),
    report.Target(
        about="log, 1,000 tokens: old survived", row="log, 1,000", figure="old_survived", at_least=0.95
    ),
    report.Target(about="log, 1,000 tokens: over", row="log, 1,000", figure="over", at_most=0, worst=True),
    report.Target(
        about="log, 1,000 tokens: orphans", row="log, 1,000", figure="orphan_count", at_most=0, worst=True
    ),
    report.Target(
        about="made up, 2,000: named", row="made up, 2,000", figure="named_survived", at_least=1, worst=True
    ),
    report.Target(about="made up, 2,000: over", row="made up, 2,000", figure="over", at_most=0, worst=True),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    log_count: int = 50
    budgets: tuple[int, ...] = (1_000, 2_000)
    turn_count: int = 60
    seeds: tuple[int, ...] = (3, 14, 159)


FULL = Size()
QUICK = Size(log_count=3, budgets=(1_000,), turn_count=20, seeds=(3,))


class Log(msgspec.Struct, frozen=True):
    """A log of messages in OpenAI's form."""

    id: str
    messages: list[dict[str, Any]]


class Probe(msgspec.Struct, frozen=True):
    """A value that the tool call in message `at` was given; `age_last` is how many messages before it was said."""

    conv: str
    at: int
    key: str
    value: str
    age_last: int


class Asked(msgspec.Struct, frozen=True):
    """A probe and whether its value stood in the context."""

    probe: Probe
    stood: bool


class Seen(msgspec.Struct):
    """What was seen of all logs."""

    asked: list[Asked] = []
    over: int = 0
    orphan_count: int = 0


def orphans(messages: Sequence[Mapping[str, Any]]) -> int:
    """Results whose call is not before them, and calls without a result, but for those of the last message."""
    open_ids, count = set[str](), 0
    for message in messages:
        if message["role"] == "tool":
            count += message["tool_call_id"] not in open_ids
            open_ids.discard(message["tool_call_id"])
        else:
            count += len(open_ids)
            open_ids = {call["id"] for call in message.get("tool_calls") or ()}
    return count


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """Every row; those of logs only where the data is there."""
    found: dict[str, dict[str, report.Spread]] = {}
    try:
        folder = data_folder() / FOLDER
        given = _rows(folder / "transcripts.jsonl", Log)
        probes = _rows(folder / "probes.jsonl", Probe)
    except DataError as missing:
        print(f"logs are not measured: {missing}", file=sys.stderr)
    else:
        first = [log for log in given if not log.id.startswith("_")][: size.log_count]
        for budget in size.budgets:
            print(f"logs, budget {budget:,}", file=sys.stderr)
            seen = await logs(first, probes, budget)
            found[f"log, {budget:,}"] = report.spreads([figures(seen)])
            if budget == size.budgets[0]:
                found |= kinds(seen.asked)
    for budget in size.budgets:
        print(f"made up, budget {budget:,}", file=sys.stderr)
        runs = [await made_up(budget, size.turn_count, seed) for seed in size.seeds]
        found[f"made up, {budget:,}"] = report.spreads(runs)
    return found


def _rows(path: Path, kind: type[Any]) -> list[Any]:
    try:
        return msgspec.json.Decoder(kind).decode_lines(path.read_bytes())
    except (OSError, msgspec.DecodeError) as wrong:
        raise DataError(f"the data is missing: {path}: {wrong}; name a folder in ACTORMEM_DATA") from None


async def logs(given: Sequence[Log], probes: Sequence[Probe], budget: int) -> Seen:
    """Play each log, and look at the context before every call that a probe is about."""
    seen, counter = Seen([]), Counter()
    async with actormem.open(None, embedder="hashing") as runtime:
        for log in given:
            due: dict[int, list[Probe]] = {}
            for probe in probes:
                if probe.conv == log.id:
                    due.setdefault(probe.at, []).append(probe)
            room = actormem.Budget(context=budget)
            session = await runtime.spawn(log.id, user=log.id, system=SYSTEM, budget=room)
            for place, message in enumerate(log.messages):
                if place in due:
                    context = await session.context()
                    _look(seen, counter, context.messages, due[place], budget)
                if message["role"] != "system":
                    await session.add(message)
    return seen


def _look(
    seen: Seen, counter: Counter, messages: Sequence[Mapping[str, Any]], probes: Sequence[Probe], budget: int
) -> None:
    text = msgspec.json.encode(messages).decode()
    seen.asked += [Asked(probe, probe.value in text) for probe in probes]
    seen.over += counter.tokens(messages) > budget
    seen.orphan_count += orphans(messages)


def figures(seen: Seen) -> dict[str, float]:
    """What is told of one or more logs."""
    old = [one for one in seen.asked if one.probe.age_last >= OLD_MESSAGES]
    return {
        "probe_count": len(seen.asked),
        **_share("survived", seen.asked),
        **_share("old_survived", old),
        "over": seen.over,
        "orphan_count": seen.orphan_count,
    }


def kinds(asked: Sequence[Asked]) -> dict[str, dict[str, report.Spread]]:
    """The share that survived of each kind of value that is asked for often."""
    by_kind: dict[str, list[Asked]] = {}
    for one in asked:
        by_kind.setdefault(one.probe.key, []).append(one)
    often = sorted((kind for kind, each in by_kind.items() if len(each) >= KIND_PROBES_MIN))
    return {
        f"  {kind}": report.spreads(
            [{"probe_count": len(by_kind[kind]), **_share("survived", by_kind[kind])}]
        )
        for kind in often
    }


def _share(name: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Nothing where nothing was asked: no share of no probes is a good one."""
    return {name: sum(one.stood for one in asked) / len(asked)} if asked else {}


async def made_up(budget: int, turn_count: int, seed: int) -> dict[str, float]:
    """The figures of one conversation whose summaries keep nothing."""
    turns = conversation(turn_count, seed)
    orders = [turn.order for turn in turns if turn.order]
    cut_count = over = 0
    counter = Counter()
    room = actormem.Budget(context=budget)
    async with actormem.open(None, embedder="hashing", llm=SideLLM(NOTHING)) as runtime:
        session = await runtime.spawn("talk", user="ada", system=SYSTEM, budget=room)
        for spoken in turns:
            async with session.turn(spoken.user) as turn:
                cut_count += bool(turn.trace.epoch_end)
                over += counter.tokens(turn.messages) > budget
                turn.reply(spoken.reply)
        await runtime.settle()
        last = msgspec.json.encode((await session.context()).messages).decode()
        named = 0
        for order in orders:
            text = msgspec.json.encode((await session.context(order.question)).messages).decode()
            named += order.number in last or order.number in text
    return {
        "probe_count": len(orders),
        "survived": sum(order.number in last for order in orders) / len(orders),
        "named_survived": named / len(orders),
        "over": over,
        "cut_count": cut_count,
    }


def charted(found: report.Found) -> list[report.Chart]:
    """The share that survived, of each row that has probes."""
    shares = {row: figures["survived"].median for row, figures in found.items() if "survived" in figures}
    return [
        report.Chart(
            name="survived",
            title="exact values that stand in the context",
            x_title="",
            y_title="share",
            kind="bars",
            labels=tuple(row.strip() for row in shares),
            series=(report.Series("survived", (), tuple(shares.values())),),
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
        lambda size: f"{size.log_count} logs, {size.turn_count} made-up turns, budgets {size.budgets}",
        columns=COLUMNS,
        targets=TARGETS,
        charted=charted,
        notes=missing,
    )


def missing() -> list[str]:
    """Whether the logs are there."""
    try:
        path = data_folder() / FOLDER / "transcripts.jsonl"
    except DataError as error:
        return [f"logs are not measured: {error}"]
    return [] if path.is_file() else [f"logs are not measured: no {path}; name a folder in ACTORMEM_DATA"]


if __name__ == "__main__":
    sys.exit(main())
