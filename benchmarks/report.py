"""The frame of every benchmark: its arguments, its table, its targets, a JSON file, and plots.

No figure goes without the machine, the versions, the load and the spread it was measured with. A benchmark's own text
says, in this order: its question, what is measured, what is not, the corpus, how to read it.
"""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import anyio
import msgspec

from benchmarks.charts import Chart, Series, drawable, write_charts
from benchmarks.figures import (
    Column,
    Found,
    Spread,
    columns_of,
    over_repeats,
    percentile,
    single,
    spread,
    spread_table,
    spreads,
    table,
    tables_of,
)
from benchmarks.machine import load, machine, version, versions
from benchmarks.targets import Target, Verdict, judged, told

__all__ = [
    "SMALL",
    "Chart",
    "Column",
    "Found",
    "Result",
    "Series",
    "Spread",
    "Target",
    "arguments",
    "columns_of",
    "finish",
    "heading",
    "machine",
    "over_repeats",
    "percentile",
    "question_of",
    "result_file",
    "result_of",
    "run",
    "single",
    "spread",
    "spread_table",
    "spreads",
    "stopped",
    "table",
    "tables_of",
    "version",
    "versions",
]

Size = TypeVar("Size")

STOPPED = 130
SMALL = ", at a small size; they are meant for the full one"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What the JSON file of a benchmark holds.

    Attributes:
        about: The benchmark's own text.
        measured_at: UTC, when it had ended.
        load: Load averages of 1, 5 and 15 minutes, before and after.
        peers: Rows that are not ours: what others do, and floors. They are not judged against an older run.
        settings: The size and all else that was chosen; results with other settings are not compared.
        columns: Which figures the table shows, and how they are written.
        notes: Lines a reader needs beside the table.
        quick: Whether it was a small size, which the targets are not meant for.
    """

    name: str
    question: str
    about: str
    measured_at: str
    machine: dict[str, str]
    versions: dict[str, str]
    load: dict[str, tuple[float, ...]]
    settings: dict[str, Any]
    figures: dict[str, dict[str, Spread]]
    targets: tuple[Verdict, ...] = ()
    columns: tuple[Column, ...] = ()
    peers: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    quick: bool = False


def arguments(module: str, description: str) -> argparse.ArgumentParser:
    """The arguments every benchmark takes; its own are added by it."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="a small size, to see that it runs")
    parser.add_argument("--json", type=result_file, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--plot", type=plot_folder, metavar="DIR", help="draw the charts there, as SVG")
    return parser


def result_file(text: str) -> Path:
    """A file that can be written, said before the measuring and not after it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be a file in a folder that exists, not {text!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"may not be written: {text!r}")
    return path


def plot_folder(text: str) -> Path:
    """A folder to draw into, where there is something to draw with."""
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"must be a folder that exists, not {text!r}")
    if not os.access(path, os.W_OK):
        raise argparse.ArgumentTypeError(f"may not be written: {text!r}")
    missing = drawable()
    if missing:
        raise argparse.ArgumentTypeError(missing)
    return path


def heading(module: str, where: Mapping[str, str]) -> str:
    """The lines above a table: what was run, on which machine, and with which versions."""
    machine_line = ", ".join(f"{name} {value}" for name, value in where.items())
    return f"{module} · {machine_line}\n" + " · ".join(
        f"{name} {value}" for name, value in versions().items()
    )


def question_of(doc: str | None) -> str:
    """The first sentence of a benchmark's text."""
    return (doc or "").strip().partition("\n")[0]


def result_of(
    name: str,
    doc: str | None,
    where: Mapping[str, str],
    settings: object,
    found: Found,
    *,
    columns: Sequence[Column] = (),
    is_peer: Callable[[str], bool] | None = None,
    targets: Sequence[Target] = (),
    charts: Sequence[Chart] = (),
    notes: Sequence[str] = (),
) -> Result:
    """Figures with all that belongs to them.

    Args:
        where: What `machine` said before the measuring: afterwards the load is the benchmark's own.
        settings: A struct or a mapping.
        is_peer: Whether a row, by its name, is not ours: what another does, or a floor. None: all are ours.
    """
    return Result(
        name=name,
        question=question_of(doc),
        about=(doc or "").strip(),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=dict(where),
        versions=versions(),
        load={"before": tuple(map(float, where["load"].split())), "after": load()},
        settings=msgspec.to_builtins(settings),
        figures={row: dict(figures) for row, figures in found.items()},
        targets=judged(targets, found),
        columns=tuple(columns) or columns_of(found),
        peers=tuple(row for row in found if is_peer and is_peer(row)),
        charts=tuple(charts),
        notes=tuple(notes),
    )


def finish(options: argparse.Namespace, result: Result) -> None:
    """Print the verdicts, and write the file and the charts that were asked for."""
    result = msgspec.structs.replace(result, quick=options.quick)
    for note in result.notes:
        print(note)
    if result.targets:
        print(f"\ntargets{SMALL if options.quick else ''}")
        print("\n".join(told(verdict) for verdict in result.targets))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n")
    if options.plot:
        for path in write_charts(options.plot, result.name, result.charts):
            print(f"drawn: {path}", file=sys.stderr)


def stopped(name: str) -> int:
    """Say that Ctrl-C has ended a benchmark; its exit code."""
    print(f"benchmarks.{name}: stopped, nothing is written", file=sys.stderr)
    return STOPPED


def run(
    given: Sequence[str] | None,
    name: str,
    doc: str | None,
    sizes: tuple[Size, Size],
    measure: Callable[[Size], Awaitable[Found]],
    said: Callable[[Size], str],
    shown: Callable[[Found], str] | None = None,
    *,
    columns: Sequence[Column] = (),
    is_peer: Callable[[str], bool] | None = None,
    targets: Sequence[Target] = (),
    charted: Callable[[Found], Sequence[Chart]] | None = None,
    notes: Callable[[], Sequence[str]] | None = None,
) -> int:
    """A benchmark whose figures are spreads, from its arguments to its table and files.

    Args:
        doc: What `--help` says: the benchmark's own text.
        sizes: The full one, and that of `--quick`.
        said: What was measured, in a line.
        shown: The table; None takes one of `columns`.
        is_peer: Whether a row is not ours, as `result_of` has it.
        charted: The charts of what was found.
        notes: Lines below the table, asked for when all is measured.

    Returns:
        0, or 130 if it was stopped by Ctrl-C.
    """
    options = arguments(f"benchmarks.{name}", doc or "").parse_args(given)
    size = sizes[bool(options.quick)]
    where = machine()
    print(heading(f"benchmarks.{name}", where), flush=True)
    try:
        found = anyio.run(measure, size)
    except KeyboardInterrupt:
        return stopped(name)
    print(f"{said(size)}\n")
    print(shown(found) if shown else spread_table("", columns or columns_of(found), found))
    charts = charted(found) if charted else ()
    told_notes = notes() if notes else ()
    result = result_of(
        name, doc, where, size, found,
        columns=columns, is_peer=is_peer, targets=targets, charts=charts, notes=told_notes,
    )  # fmt: skip
    finish(options, result)
    return 0
