"""Of the messages that hold the answer to a question, how many does recall find among the first ten?

Measured, for each set of conversations (see `benchmarks.dataset`) and each category of its questions, no LLM:
  n          questions that name evidence; the others are not asked
  R@1, R@5, R@10
             share of a question's evidence among the first messages that the hits come from; the mean
  95 %       bootstrap interval of R@10 over questions, as if they were independent of each other
  MRR        1 / rank of the first evidence among those ten, 0 where there is none; the mean
  newer      share of the questions about what has changed whose newer message is among those ten and stands above
             the older one; `-` where a set does not say which is which, questions with both in one message left out
  ceiling    share of the evidence that is in the memory of the owner who is asked: no honest recall finds more
  p50, p95   ms of a recall, the embedding of the question included
  degraded   recalls that a step missed its deadline for
  foreign    messages or items of another owner that came back: must be 0, and the exit code is 1 where it is not

Each log is taken in whole by `import_history`, each owner apart, and every question is asked after that; the hits of a
`Runtime.recall` of ten are read best first, each as the messages it came from. The notes of a check are remembered
one by one, and a note that answers counts as all of the evidence.

Not measured: whether a model answers well with what was found, the time to import, and live sessions (a turn's note
has a share of tokens; here there is a count of hits).

Corpus: none is shipped; the data is in the folder that ACTORMEM_DATA names (default ../shared/data).

To read it: `ceiling` bounds the rest, and `foreign` must be 0; intervals say which differences mean little. Exit
codes: 0 measured, 1 measured and something foreign came back, 2 the data is missing or the call is wrong, 130 stopped.
"""

import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from time import perf_counter

import anyio
import msgspec
import numpy as np

import actormem
from benchmarks import report
from benchmarks.dataset import DataError, LoggedTurn, Question, Set, data_folder, read_set, set_names

__all__ = ["Answer", "ask", "charted", "exit_code", "figures", "main", "measure"]

NAME = "recall"
EMBEDDERS = ("local", "hashing")
HITS = 10
DEADLINE_S = 5.0  # patient: a recall that is cut short says little about what could be found
NO_NOTES: Mapping[str, str] = {}
QUICK_CONVERSATIONS = 2
QUICK_QUESTIONS = 30  # of each conversation
RESAMPLES = 2_000
SEED = 20_240_229
COLUMNS = (
    report.Column("n", "question_count", "{:.0f}"),
    report.Column("R@1", "recall_at_1", "{:.3f}", better="more"),
    report.Column("R@5", "recall_at_5", "{:.3f}", better="more"),
    report.Column("R@10", "recall_at_10", "{:.3f}", better="more"),
    report.Column("95 % from", "recall_at_10_low", "{:.3f}"),
    report.Column("to", "recall_at_10_high", "{:.3f}"),
    report.Column("MRR", "mrr", "{:.3f}", better="more"),
    report.Column("newer", "newer_first", "{:.3f}", better="more"),
    report.Column("ceiling", "ceiling", "{:.3f}"),
    report.Column("p50 ms", "recall_p50_ms", better="less"),
    report.Column("p95", "recall_p95_ms", better="less"),
    report.Column("degraded", "degraded_count", "{:.0f}", better="less"),
    report.Column("foreign", "foreign_count", "{:.0f}", better="less"),
)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one recall brought.

    Attributes:
        category: Of the question.
        found: Ids of the messages that the hits came from, best first, each once, at most ten.
        evidence: Ids of the messages that hold the answer.
        own: Those of them that the owner who is asked has.
        any_of: Whether one of them is all that is asked for.
        newer_first: Whether the newer of two values was found, above the older; None where nothing says.
        foreign_count: Hits and messages of another owner.
        degraded: Whether a step missed its deadline.
        elapsed_ms: Of the call.
    """

    category: str
    found: tuple[str, ...]
    evidence: frozenset[str]
    own: frozenset[str]
    foreign_count: int
    degraded: bool
    elapsed_ms: float
    any_of: bool = False
    newer_first: bool | None = None


async def measure(data: Set, embedder: str) -> list[Answer]:
    """Take in every log of a set, then ask every question of it."""
    owners = {turn.message_id: turn.owner for turn in data.turns}
    logs: dict[tuple[str, str], list[LoggedTurn]] = {}
    for turn in data.turns:
        logs.setdefault((turn.owner, turn.session), []).append(turn)
    async with actormem.open(None, embedder=embedder) as runtime:
        notes: dict[str, str] = {}
        for (owner, session), turns in logs.items():
            if data.notes:
                for turn in turns:
                    item = await runtime.remember(turn.text or "", user=owner)
                    notes[item.id] = turn.message_id
            else:
                messages = [turn.message for turn in turns]
                await runtime.import_history(messages, session_id=f"{owner}/{session}", user=owner)
        await runtime.settle()
        return [await ask(runtime, question, owners, notes) for question in data.questions]


async def ask(
    runtime: actormem.Runtime,
    question: Question,
    owners: Mapping[str, str],
    notes: Mapping[str, str] = NO_NOTES,
) -> Answer:
    """Ask as the question's owner.

    Args:
        owners: Whose each message is, by its id.
        notes: Which line each item that was remembered is, by the item's id.
    """
    owner = question.owner
    began_s = perf_counter()
    recall = await runtime.recall(question.text, user=owner, limit=HITS, deadline_s=DEADLINE_S)
    elapsed_ms = (perf_counter() - began_s) * 1000
    lines = [(notes[hit.item.id],) if hit.item.id in notes else hit.item.source_ids for hit in recall]
    sources = list(dict.fromkeys(source for line in lines for source in line))
    foreign_items = sum(hit.item.owner.user != owner for hit in recall)
    foreign_sources = sum(owners.get(source, owner) != owner for source in sources)
    return Answer(
        category=question.category,
        found=tuple(sources[:HITS]),
        evidence=question.evidence_ids,
        own=frozenset(one for one in question.evidence_ids if owners.get(one) == owner),
        foreign_count=foreign_items + foreign_sources,
        degraded=bool(recall.degraded),
        elapsed_ms=elapsed_ms,
        any_of=question.any_of,
        newer_first=_newer_first(sources[:HITS], question),
    )


def _newer_first(found: Sequence[str], question: Question) -> bool | None:
    if not question.older_ids or not question.newer_ids or question.older_ids & question.newer_ids:
        return None
    newer = next((place for place, one in enumerate(found) if one in question.newer_ids), HITS)
    older = next((place for place, one in enumerate(found) if one in question.older_ids), HITS)
    return newer < older


def figures(answers: Sequence[Answer]) -> dict[str, float]:
    """The figures of one or more answers."""
    at_10 = [_share(one, HITS) for one in answers]
    low, high = _interval(at_10)
    waits_ms = [one.elapsed_ms for one in answers]
    told = [one.newer_first for one in answers if one.newer_first is not None]
    return {
        "question_count": len(answers),
        "recall_at_1": _mean([_share(one, 1) for one in answers]),
        "recall_at_5": _mean([_share(one, 5) for one in answers]),
        "recall_at_10": _mean(at_10),
        "recall_at_10_low": low,
        "recall_at_10_high": high,
        "mrr": _mean([_reciprocal_rank(one) for one in answers]),
        **({"newer_first": _mean(told)} if told else {}),
        "ceiling": _mean([_part(one, one.own) for one in answers]),
        "recall_p50_ms": report.percentile(waits_ms, 0.5),
        "recall_p95_ms": report.percentile(waits_ms, 0.95),
        "degraded_count": sum(one.degraded for one in answers),
        "foreign_count": sum(one.foreign_count for one in answers),
    }


def _share(answer: Answer, count: int) -> float:
    return _part(answer, answer.evidence.intersection(answer.found[:count]))


def _part(answer: Answer, found: AbstractSet[str]) -> float:
    return float(bool(found)) if answer.any_of else len(found) / len(answer.evidence)


def _reciprocal_rank(answer: Answer) -> float:
    return next((1 / rank for rank, one in enumerate(answer.found, 1) if one in answer.evidence), 0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean."""
    chance = np.random.default_rng(SEED)
    sample = np.asarray(values)
    means = [float(chance.choice(sample, size=len(sample)).mean()) for _ in range(RESAMPLES)]
    return report.percentile(means, 0.025), report.percentile(means, 0.975)


def _groups(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    """All answers, then each category where there is more than one."""
    categories = sorted({answer.category for answer in answers})
    groups = {"all": list(answers)}
    if len(categories) > 1:
        groups |= {name: [one for one in answers if one.category == name] for name in categories}
    return groups


def _measured(data: Set) -> dict[str, dict[str, float]]:
    """The figures of a set by `embedder.category`; prints its table."""
    found: dict[str, dict[str, float]] = {}
    for embedder in EMBEDDERS:
        print(f"{data.name}: {len(data.turns):,} messages, {embedder}", file=sys.stderr)
        groups = _groups(anyio.run(measure, data, embedder))
        found |= {f"{embedder}.{category}": figures(answers) for category, answers in groups.items()}
    print(f"\n{report.spread_table(data.name, COLUMNS, report.single(found))}", flush=True)
    return found


def _results(sets: Sequence[Set], *, quick: bool) -> dict[str, dict[str, float]]:
    """The figures by `set.embedder.category`."""
    results: dict[str, dict[str, float]] = {}
    for data in sets:
        if not data.questions:
            print(f"\n{data.name}: no question names evidence, nothing to measure")
            continue
        asked = data.first(QUICK_CONVERSATIONS, QUICK_QUESTIONS) if quick else data
        results |= {f"{data.name}.{row}": one for row, one in _measured(asked).items()}
    return results


def charted(results: Mapping[str, Mapping[str, float]]) -> list[report.Chart]:
    """R@10 of each set, by embedder."""
    sets = list(dict.fromkeys(row.split(".")[0] for row in results))
    series = tuple(
        report.Series(embedder, (), tuple(results[f"{name}.{embedder}.all"]["recall_at_10"] for name in sets))
        for embedder in EMBEDDERS
    )
    return [
        report.Chart(
            name="recall_at_10",
            title="share of the evidence among the first ten",
            x_title="",
            y_title="R@10",
            kind="bars",
            labels=tuple(sets),
            series=series,
        )
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print a table for each set, write the file."""
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    parser.add_argument("sets", nargs="*", metavar="SET", help="a folder of the data (default: each)")
    options = parser.parse_args(given)
    where = report.machine()
    try:
        folder = data_folder()
        sets = [read_set(folder, name) for name in set_names(folder, options.sets)]
    except DataError as missing:
        print(f"{parser.prog}: {missing}", file=sys.stderr)
        return 2
    print(report.heading(f"benchmarks.{NAME}", where))
    try:
        results = _results(sets, quick=options.quick)
    except KeyboardInterrupt:
        return report.stopped(NAME)
    settings = {"sets": [data.name for data in sets], "quick": options.quick}
    targets = [
        report.Target(about=f"{row}, of others", row=row, figure="foreign_count", at_most=0, worst=True)
        for row in results
        if row.endswith(".all")
    ]
    found = report.single(results)
    result = report.result_of(
        NAME, __doc__, where, settings, found, columns=COLUMNS, targets=targets, charts=charted(results)
    )
    report.finish(options, result)
    return exit_code(results)


def exit_code(results: Mapping[str, Mapping[str, float]]) -> int:
    """1 where anything foreign came back, else 0."""
    return int(any(figures["foreign_count"] for figures in results.values()))


if __name__ == "__main__":
    sys.exit(main())
