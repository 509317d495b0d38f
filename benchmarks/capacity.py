"""What does a service of so many users need: shards, cores, memory, disk, and tokens of models?

Measured here, in a small run of this program (processor and disk of a turn; with the local embedder's work, if asked):
  ms a turn         processor time of a turn, its background work too
  bytes a turn      that a folder grows by, vectors of the embedder's dimensions taken from the text of --dimensions
  rows a turn       of the record
  texts a turn      that an embedder is sent
  process MB        of resident memory of a runtime in which nothing is awake, its embedder loaded

Computed, from these, from measured figures of this repository that are named with their source, and from assumptions,
each of which is an option:
  shards, cores     at the busiest hour, cores being no fuller than --core-share; no shard larger than --shard-gb
  nodes             by cores and by memory
  memory            of shards, of sessions and memories that are awake then
  database          rows and bytes after --days
  tokens            of the model that replies, of background calls and of the embedder, and what they cost a month

Not measured: anything at that size; databases, networks and nodes of other kinds; prices, which are yours.

Corpus: a made-up conversation, Chinese and English in turn, about 90 tokens a message, the same at every run.

To read it: the table of assumptions comes first, with where each is from; then what follows. It is arithmetic: who
doubts a line changes it. Shards are the least there may be; since their number is chosen once, take more where you may
grow. A cluster has at most 1,000, so a larger service has several, each for its tenants. Bytes and rows are those of a
folder's file; what PostgreSQL adds to a row is part of --copies.
"""

import argparse
import math
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import process_time

import anyio
import msgspec
from anyio import to_thread

import actormem
from actormem.core.placement import SHARDS_MAX
from benchmarks import report
from benchmarks.conversation import conversation
from benchmarks.process import resident_kb

__all__ = ["Assumptions", "Measured", "computed", "main", "measured"]

NAME = "capacity"
SEED = 20_240_302
WRONG_CALL = 2
DAY_S = 86_400
MONTH_DAYS = 30
MILLION = 1_000_000
FLOAT_BYTES = 4


class Assumptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken to be so; `SOURCES` says from where."""

    users: int = 1_000_000
    daily_turns: float = 5.0
    days: float = 365.0
    peak: float = 3.0
    core_share: float = 0.6
    ray_ms: float = 2.0
    session_kb: float = 63.0
    item_kb: float = 12.0
    items_awake: float = 500.0
    sitting_s: float = 600.0
    idle_s: float = 900.0
    dimensions: int = 512
    copies: float = 2.0
    context_tokens: float = 3_200.0
    cached_share: float = 0.87
    message_tokens: float = 90.0
    background: float = 2.4
    node_cores: int = 32
    node_gb: float = 256.0
    shard_gb: float = 200.0
    prompt_price: float = 0.15
    cached_price: float = 0.075
    reply_price: float = 0.60
    embedding_price: float = 0.02


SOURCES = {
    "users": "yours",
    "daily_turns": "yours: turns of a user a day, over all users",
    "days": "yours: how long messages and memories are kept; see Retention",
    "peak": "assumed: the busiest hour's turns, of the mean hour's",
    "core_share": "assumed: how full a core may be then",
    "ray_ms": "benchmarks.shards, driver ms: processor time of who asks, beside the shard's own",
    "session_kb": "benchmarks.sessions, active KB: after ten turns of 90 tokens a message",
    "item_kb": "README, benchmarks.scale: 8 to 16 KB a memory that is awake",
    "items_awake": "assumed: memories of a user who is there",
    "sitting_s": "assumed: seconds between a user's first turn and his last, of a day",
    "idle_s": "actormem.open: seconds until he is put to sleep",
    "dimensions": "the local embedder's",
    "copies": "assumed: of the database, its indexes and replica counted",
    "context_tokens": "README, benchmarks.tokens: 17.7 % of full history over 200 turns, budget 6,000",
    "cached_share": "README, benchmarks.tokens: share that stood in the request before",
    "message_tokens": "the corpus: of a message",
    "background": "README, benchmarks.tokens: background tokens, of the conversation's own; 0 without an LLM",
    "node_cores": "assumed: cores of a node",
    "node_gb": "assumed: memory of a node",
    "shard_gb": "assumed: of one copy; erasing rewrites a folder's file, with as much space beside it",
    "prompt_price": "assumed, a small model's list price: USD a million tokens of a prompt",
    "cached_price": "assumed: of these, what a prefix cache holds",
    "reply_price": "assumed: of a reply",
    "embedding_price": "assumed: of texts embedded; 0 for the local embedder",
}
assert set(SOURCES) == set(Assumptions.__struct_fields__)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn takes, here."""

    process_mb: float
    turn_ms: float
    turn_bytes: float
    turn_rows: float
    turn_texts: float
    vector_texts: float


async def measured(turn_count: int, embedder: str) -> Measured:
    """A conversation in a folder of its own; everything that was begun is done before it is looked at."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    talk = tuple(conversation(turn_count, SEED))
    try:
        async with actormem.open(folder.name, embedder=embedder) as runtime:
            session = await runtime.spawn("benchmark", user="ada", budget=actormem.Budget(context=6_000))
            await runtime.settle()
            process_mb = resident_kb() / 1024 if sys.platform == "linux" else 0.0
            began_s, before = process_time(), runtime.statistics()
            for spoken in talk:
                async with session.turn(spoken.user) as turn:
                    turn.reply(spoken.reply)
            await runtime.settle()
            spent_s, after = process_time() - began_s, runtime.statistics()
            items = await runtime.items("ada", history=True)
        size_bytes, rows = await to_thread.run_sync(_size_and_rows, Path(folder.name, "record.db"))
    finally:
        await to_thread.run_sync(folder.cleanup)
    texts = after.embedded_texts - before.embedded_texts
    return Measured(
        process_mb=process_mb,
        turn_ms=spent_s * 1000 / turn_count,
        turn_bytes=max(0.0, size_bytes - len(items) * DIMENSIONS[embedder] * FLOAT_BYTES) / turn_count,
        turn_rows=rows / turn_count,
        turn_texts=(texts + after.queries_embedded - before.queries_embedded) / turn_count,
        vector_texts=len(items) / turn_count,
    )


DIMENSIONS = {"hashing": 512, "local": 512}


def _size_and_rows(file: Path) -> tuple[int, int]:
    """Bytes of the file, and rows of all its tables."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = sum(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names)
    return file.stat().st_size, rows


def computed(given: Assumptions, turn: Measured) -> dict[str, dict[str, float]]:
    """What follows, by row and figure. Pure."""
    daily = given.users * given.daily_turns
    peak_turns_s = daily / DAY_S * given.peak
    shard_cores = peak_turns_s * turn.turn_ms / 1000 / given.core_share
    asking_cores = peak_turns_s * given.ray_ms / 1000 / given.core_share
    awake = min(given.users, peak_turns_s / given.daily_turns * (given.sitting_s + given.idle_s))
    awake_kb = awake * (given.session_kb + given.items_awake * given.item_kb)
    kept = daily * given.days
    vectors_bytes = turn.vector_texts * given.dimensions * FLOAT_BYTES
    stored_gb = kept * (turn.turn_bytes + vectors_bytes) / 1024**3
    shards = max(1, math.ceil(shard_cores), math.ceil(stored_gb / given.shard_gb))
    memory_gb = shards * turn.process_mb / 1024 + awake_kb / 1024**2
    month = daily * MONTH_DAYS / MILLION
    prompt, reply = month * given.context_tokens, month * given.message_tokens
    background = month * 2 * given.message_tokens * given.background
    embedded = month * turn.turn_texts * given.message_tokens
    read = prompt * (given.cached_share * given.cached_price + (1 - given.cached_share) * given.prompt_price)
    return {
        "load": {
            "turns_a_day": daily,
            "turns_a_second": daily / DAY_S,
            "turns_a_second_at_peak": peak_turns_s,
            "sessions_awake": awake,
        },
        "machines": {
            "shards": shards,
            "clusters": math.ceil(shards / SHARDS_MAX),
            "cores": math.ceil(shard_cores + asking_cores),
            "nodes": math.ceil(
                max((shard_cores + asking_cores) / given.node_cores, memory_gb / given.node_gb)
            ),
            "memory_gb": memory_gb,
            "memory_gb_a_shard": memory_gb / shards,
        },
        "database": {
            "rows": kept * turn.turn_rows,
            "vectors": kept * turn.vector_texts,
            "tb": stored_gb * given.copies / 1024,
            "gb_a_shard": stored_gb * given.copies / shards,
            "commits_a_second_at_peak": 2 * peak_turns_s,
        },
        "a month": {
            "prompt_mtokens": prompt,
            "reply_mtokens": reply,
            "background_mtokens": background,
            "embedded_mtokens": embedded,
            "replying_usd": read + reply * given.reply_price,
            "background_usd": background * given.prompt_price,
            "embedding_usd": embedded * given.embedding_price,
            "usd_a_user": (
                read
                + reply * given.reply_price
                + background * given.prompt_price
                + embedded * given.embedding_price
            )
            / given.users,
        },
    }


def told(given: Assumptions, turn: Measured, found: dict[str, dict[str, float]]) -> str:
    """The tables: what was measured here, what is assumed and where it is from, and what follows."""
    here = [[name.replace("_", " "), _number(getattr(turn, name))] for name in Measured.__struct_fields__]
    assumed = [
        [f"--{name.replace('_', '-')}", _number(getattr(given, name)), SOURCES[name]] for name in SOURCES
    ]
    follows = [
        [row, figure.replace("_", " "), _number(value)]
        for row, figures in found.items()
        for figure, value in figures.items()
    ]
    return "\n\n".join(
        (
            report.table(["measured here", ""], here),
            report.table(["option", "value", "from"], assumed),
            report.table(["", "what follows", ""], follows),
        )
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.3g}"


def _positive(kind: type[int] | type[float], text: str) -> float:
    try:
        value = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf or (kind is int and value != int(value)):
        whole = "whole number" if kind is int else "number"
        raise argparse.ArgumentTypeError(f"must be a {whole} not below 0, such as 1_000 or 1e3, not {text!r}")
    return kind(value)


def parsed(given: Sequence[str] | None) -> tuple[argparse.Namespace, Assumptions]:
    """The arguments, and what they assume.

    Raises:
        SystemExit: An argument is wrong.
    """
    parser = report.arguments(f"benchmarks.{NAME}", __doc__ or "")
    plain = Assumptions()
    for name, source in SOURCES.items():
        value = getattr(plain, name)
        kind = partial(_positive, type(value))
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=kind, default=value, metavar="N",
            help=f"{source.replace('%', '%%')} (default: {_number(value)})",
        )  # fmt: skip
    parser.add_argument(
        "--embedder",
        choices=sorted(DIMENSIONS),
        default="local",
        help="whose work is measured (default: local)",
    )
    options = parser.parse_args(given)
    assumed = Assumptions(**{name: getattr(options, name) for name in SOURCES})
    for name in (
        "users", "daily_turns", "days", "core_share", "dimensions", "node_cores", "node_gb", "shard_gb", "copies",
    ):  # fmt: skip
        if not getattr(assumed, name):
            parser.error(f"--{name.replace('_', '-')} must be above 0")
    if assumed.core_share > 1 or assumed.cached_share > 1:
        parser.error("--core-share and --cached-share must be at most 1")
    if assumed.peak < 1:
        parser.error("--peak must be at least 1: the busiest hour has no fewer turns than the mean one")
    return options, assumed


def main(given: Sequence[str] | None = None) -> int:
    """Measure a little, compute, print the tables, write the file; 0."""
    options, assumed = parsed(given)
    where = report.machine()
    print(report.heading(f"benchmarks.{NAME}", where), flush=True)
    try:
        turn = anyio.run(measured, 10 if options.quick else 100, options.embedder)
    except KeyboardInterrupt:
        return report.stopped(NAME)
    found = computed(assumed, turn)
    print(told(assumed, turn, found))
    settings = {**msgspec.structs.asdict(assumed), "embedder": options.embedder}
    rows = report.single({"measured here": msgspec.structs.asdict(turn), **found})
    report.finish(options, report.result_of(NAME, __doc__, where, settings, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
