"""`actormem bench`: runs the benchmarks of a checkout, prints their tables, writes one page, compares with older ones.

Law: the benchmarks are no part of the installed package; without a checkout one line says so.
"""

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import actormem

__all__ = ["add_bench", "bench", "checkout"]

ABOUT = """\
Runs benchmarks one after another, each in a process of its own, and prints their tables: medians, and below them the
least and the greatest of the repeats. Writes one HTML page with tables, plots (with matplotlib: pip install '.[bench]')
and the targets that are met and missed. Ctrl-C ends it; what was measured until then is written.

--compare prints how each figure of ours has changed that has a better and a worse, and ends with 1 if a median is worse
by more than the tolerance and the repeats of both runs say so, too, or if a figure is no longer measured. Another
machine, Python or version of a package is said; results of other settings, such as --quick, are not compared."""
NO_CHECKOUT = (
    "actormem bench: benchmarks are not part of the installed package; run it in a checkout of the project"
)
TOLERANCE = 0.2


def add_bench(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    measure = add_parser(
        "bench", help="run the benchmarks of a checkout, and compare them", description=ABOUT
    )
    measure.add_argument("names", nargs="*", metavar="NAME", help="a benchmark (default: each)")
    measure.add_argument("--quick", action="store_true", help="small sizes, to see that they run")
    measure.add_argument("--json", type=_file, metavar="FILE", help="write all figures there")
    measure.add_argument(
        "--html",
        type=_file,
        metavar="FILE",
        default="actormem-bench.html",  # checked as one that is given
        help="the page (default: actormem-bench.html)",
    )
    measure.add_argument("--compare", type=Path, metavar="OLD", help="a file that --json wrote before")
    measure.add_argument(
        "--tolerance",
        type=_share,
        default=TOLERANCE,
        metavar="SHARE",
        help=f"how much worse a figure may be (default: {TOLERANCE})",
    )
    measure.set_defaults(run=bench)


async def bench(options: argparse.Namespace) -> int:
    """Run them; 0, 1 where one failed or is worse than it may be, 2 where there are none."""
    folder = checkout()
    if folder is None:
        print(NO_CHECKOUT, file=sys.stderr)
        return 2
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    code: int = await import_module("benchmarks.suite").run(options)
    return code


def checkout() -> Path | None:
    """The folder that holds the benchmarks: the package's own, or the current one."""
    folders = (Path(actormem.__file__).parents[1], Path.cwd())
    return next((folder for folder in folders if (folder / "benchmarks" / "suite.py").is_file()), None)


def _file(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be a file in a folder that exists, not {text!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"may not be written: {text!r}")
    return path


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a share such as 0.2, not {text!r}")
    return share
