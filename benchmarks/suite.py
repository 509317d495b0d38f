"""A set of benchmarks, each in a process of its own, one after another: tables, one JSON file, one page.

Law: what was measured is written, also when Ctrl-C ends the rest; what could not be measured is named with the reason.
No process and no file of a benchmark outlives it: all its processes are one group, and their temporary folder is here.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from benchmarks.comparison import Measured, changes, differences, read_results, shown, uncompared
from benchmarks.page import page
from benchmarks.report import SMALL, Result, columns_of, spread_table, tables_of
from benchmarks.targets import told

__all__ = ["Progress", "Suite", "benchmark_names", "run"]

FOLDER = Path(__file__).parent
BENCHMARK_S_MAX = 7_200.0  # with all peers at 100,000 memories
END_S_MAX = 10.0  # for a benchmark to end by itself once it is told to
WRONG_CALL = 2
LAST_LINES = 20  # kept of what a benchmark says while it runs
STATUS_COLUMNS = 100

Command = Callable[[str, Path], Sequence[str]]


def benchmark_names() -> tuple[str, ...]:
    """Every benchmark of the checkout: the modules that have a name."""
    named = re.compile(r"^NAME = ", re.MULTILINE)
    files = sorted(FOLDER.glob("*.py"))
    return tuple(path.stem for path in files if named.search(path.read_text(encoding="utf-8")))


def command_of(name: str, file: Path, *, quick: bool) -> list[str]:
    """How one is run."""
    return [sys.executable, "-m", f"benchmarks.{name}", "--json", str(file), *(["--quick"] if quick else [])]


class Progress:
    """What is being measured: a line that is rewritten on a terminal, else one for each benchmark."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begun = 0
        self._name = ""
        self._since_s = 0.0
        self._live = sys.stderr.isatty()

    def begin(self, name: str) -> None:
        """The next one."""
        self._begun += 1
        self._name, self._since_s = name, monotonic()
        self.say("")

    def say(self, line: str) -> None:
        """What it says of itself."""
        status = f"[{self._begun}/{self._total}] {self._name}"
        if self._live:
            text = f"{status}  {monotonic() - self._since_s:.0f} s  {line}"[:STATUS_COLUMNS]
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif not line:
            print(status, file=sys.stderr, flush=True)

    def end(self) -> None:
        """It has ended: its line is cleared."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Suite:
    """Benchmarks that were run so far.

    Attributes:
        results: What was measured.
        not_run: Why one was not, by name.
        failed: Names of those that ended with a fault of their own.
    """

    def __init__(self, command: Command, progress: Progress) -> None:
        self.results: list[Result] = []
        self.not_run: dict[str, str] = {}
        self.failed: list[str] = []
        self._command = command
        self._progress = progress

    async def measure(self, name: str, folder: Path) -> None:
        """Run one, in a process that ends with this call, whatever becomes of it."""
        file = folder / f"{name}.json"
        self._progress.begin(name)
        said = deque[str](maxlen=LAST_LINES)
        code = None
        try:
            with anyio.move_on_after(BENCHMARK_S_MAX):
                code = await self._run(self._command(name, file), folder, said)
        finally:
            self._progress.end()
        self._take(name, file, code, said[-1] if said else "it said nothing")

    async def _run(self, command: Sequence[str], folder: Path, said: deque[str]) -> int:
        paths = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder)}
        async with await anyio.open_process(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            async with anyio.create_task_group() as group:
                group.start_soon(_lines, process.stdout, deque[str](maxlen=1).append)
                group.start_soon(_lines, process.stderr, partial(self._heard, said))
                try:
                    await process.wait()
                finally:
                    await _end(process)
            return await process.wait()

    def _heard(self, said: deque[str], line: str) -> None:
        said.append(line)
        self._progress.say(line)

    def _take(self, name: str, file: Path, code: int | None, last: str) -> None:
        if file.is_file():
            self.results.append(msgspec.json.decode(file.read_bytes(), type=Result))
            if code:
                self.failed.append(name)
            return
        if code != WRONG_CALL:
            self.failed.append(name)
        reason = f"no end after {BENCHMARK_S_MAX:.0f} s" if code is None else last
        self.not_run[name] = reason if code in (None, WRONG_CALL) else f"exit code {code}: {reason}"


async def _end(process: Process) -> None:
    """Let a benchmark end that has not, then end whatever is left of its group."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            _signal(process.pid, signal.SIGINT)
            with anyio.move_on_after(END_S_MAX):
                await process.wait()
        _signal(process.pid, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # nobody is left
        os.killpg(group, number)


async def _lines(stream: ByteReceiveStream, heard: Callable[[str], object]) -> None:
    rest = b""
    async for chunk in stream:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                heard(line.decode("utf-8", "replace").strip())
    if rest.strip():
        heard(rest.decode("utf-8", "replace").strip())


async def run(options: argparse.Namespace, command: Command | None = None) -> int:
    """Run what is asked for, print it, write it, compare it.

    Args:
        options: names, quick, json, html, compare, tolerance: as `actormem bench` has them.
        command: How one is run; None runs its module.

    Returns:
        0, 1 where one failed, a figure is worse than the tolerance allows, or a file could not be written, 2 for a
        wrong call.
    """
    known = benchmark_names()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(
            f"actormem bench: no benchmark {', '.join(unknown)}; there are {', '.join(known)}",
            file=sys.stderr,
        )
        return WRONG_CALL
    try:
        old = read_results(options.compare) if options.compare else ()
    except (OSError, ValueError) as wrong:
        print(f"actormem bench: {wrong}", file=sys.stderr)
        return WRONG_CALL
    names = list(dict.fromkeys(options.names)) or list(known)
    suite = Suite(command or partial(command_of, quick=options.quick), Progress(len(names)))
    made = partial(tempfile.TemporaryDirectory, prefix="actormem-bench-", ignore_cleanup_errors=True)
    folder, written = await to_thread.run_sync(made), False
    try:
        with as_interrupts(signal.SIGTERM, signal.SIGHUP):
            for name in names:
                before = len(suite.results)
                await suite.measure(name, Path(folder.name))
                for result in suite.results[before:]:
                    print(told_result(result), flush=True)
                if name in suite.not_run:
                    print(f"\n{name}: not measured, {suite.not_run[name]}", flush=True)
    finally:
        folder.cleanup()
        written = write(options, suite, len(names))
    return max(conclude(options, suite, old), int(not written))


@contextmanager
def as_interrupts(*numbers: signal.Signals) -> Generator[None, None, None]:
    """Signals that would end this process at once end it as Ctrl-C does; its benchmarks do not get them themselves."""

    def interrupt(_: int, __: FrameType | None) -> None:
        # A shell has it ignored by what it starts in the background.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def write(options: argparse.Namespace, suite: Suite, asked_count: int) -> bool:
    """Write what there is, each file whether or not the other can be written; whether all were."""
    measured = Measured(results=tuple(suite.results), not_run=suite.not_run)
    parts: list[tuple[Path | None, Callable[[], bytes]]] = [
        (options.json, lambda: msgspec.json.format(msgspec.json.encode(measured), indent=2) + b"\n"),
        (options.html, lambda: page(measured.results, measured.not_run).encode()),
    ]
    asked = [(path, made) for path, made in parts if path]
    written: list[str] = []
    for path, made in asked:
        try:
            path.write_bytes(made())
            written.append(str(path))
        except OSError as wrong:
            print(f"actormem bench: {path} is not written: {wrong}", file=sys.stderr)
    print(f"\n{len(suite.results)} of {asked_count} measured; written: {', '.join(written) or 'nothing'}")
    return len(written) == len(asked)


def conclude(options: argparse.Namespace, suite: Suite, old: Sequence[Result]) -> int:
    """Say how targets and comparison came out; the exit code."""
    verdicts = [verdict for result in suite.results for verdict in result.targets]
    counts = [sum(verdict.met is met for verdict in verdicts) for met in (True, False, None)]
    size = SMALL if any(result.quick for result in suite.results) else ""
    print(f"targets: {counts[0]} met, {counts[1]} missed, {counts[2]} not measured{size}")
    if not options.compare:
        return int(bool(suite.failed))
    found = changes(old, suite.results, options.tolerance, suite.not_run)
    warnings = [f"warning: {line}" for line in differences(old, suite.results)]
    print("\n".join(["", *warnings, *uncompared(old, suite.results), shown(found, options.tolerance)]))
    return int(bool(suite.failed) or any(change.worse for change in found))


def told_result(result: Result) -> str:
    """A result as the terminal shows it."""
    lines = [f"\n{result.name}: {result.question}"]
    for columns, found in tables_of(result.columns or columns_of(result.figures), result.figures):
        lines += ["", spread_table("", columns, found)]
    return "\n".join([*lines, *result.notes, *map(told, result.targets)])
