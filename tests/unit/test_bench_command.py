"""`actormem bench`: what it runs, prints, writes and compares, and how it ends."""

import argparse
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from actormem.cli import bench as command
from actormem.cli.main import main
from benchmarks import report, suite
from benchmarks.comparison import Measured, changes, differences, read_results, uncompared
from benchmarks.page import page

CHART = report.Chart(
    name="c", title="<b>", x_title="", y_title="", series=(report.Series("a", (1.0,), (2.0,)),)
)


COLUMNS = (
    report.Column("wait ms", "wait_ms", better="less"),
    report.Column("/s", "asks_per_s", better="more"),
    report.Column("n", "count"),
)


def result(name: str = "tokens", wait_ms: float = 2.0, rate: float = 100.0, **changed: Any) -> report.Result:
    found = {
        "asyncio": {
            "wait_ms": report.spread([wait_ms, wait_ms + 1, wait_ms - 1]),
            "asks_per_s": report.spread([rate]),
        },
        "another": {"wait_ms": report.spread([wait_ms])},
    }
    given = {
        "columns": COLUMNS,
        "is_peer": lambda row: row == "another",
        "targets": [report.Target(about="wait", row="asyncio", figure="wait_ms", at_most=2.0)],
        "charts": [CHART],
        "notes": ["a <peer> is not installed"],
    }
    made = report.result_of(name, "Fast?\n\n<more>", report.machine(), {"turns": 3}, found, **given)
    return msgspec.structs.replace(made, **changed)


def options(tmp_path: Path, *names: str, **changed: Any) -> argparse.Namespace:
    given = {"quick": True, "json": tmp_path / "all.json", "html": tmp_path / "page.html", "compare": None}
    return argparse.Namespace(**({"names": list(names), "tolerance": 0.2} | given | changed))


def python(*lines: str) -> list[str]:
    """A program that says and does this; -S -E: it need not load anything."""
    return [sys.executable, "-S", "-E", "-c", "\n".join(("import sys, time", *lines))]


class Programs:
    """Stands for the benchmarks: what each does when it is run."""

    def __init__(self, **results: report.Result | Sequence[str]) -> None:
        self._results = results

    def __call__(self, name: str, file: Path) -> Sequence[str]:
        made = self._results[name]
        if isinstance(made, report.Result):
            body = msgspec.json.encode(made)
            return python(
                "print('repeat 1 of 1', file=sys.stderr)", f"open({str(file)!r}, 'wb').write({body!r})"
            )
        return python(*made)


MISSING_DATA = ("sys.stderr.write('the data is missing\\n')", "sys.exit(2)")
BROKEN = ("sys.stderr.write('Traceback\\nKeyError: 3\\n')", "sys.exit(1)")


@pytest.mark.anyio
async def test_a_set_prints_its_tables_and_writes_one_file_and_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = Programs(tokens=result(), recall=MISSING_DATA)
    assert await suite.run(options(tmp_path, "tokens", "recall"), programs) == 0, "missing data is no failure"
    captured = capsys.readouterr()
    assert re.search(r"asyncio +2\.0 +100\.0 +-\n +1\.0–3\.0\n", captured.out)
    assert "recall: not measured, the data is missing" in captured.out
    assert "1 of 2 measured" in captured.out
    assert "targets: 1 met, 0 missed, 0 not measured" in captured.out
    assert captured.err.splitlines() == ["[1/2] tokens", "[2/2] recall"]
    held = msgspec.json.decode((tmp_path / "all.json").read_bytes(), type=Measured)
    assert [one.name for one in held.results] == ["tokens"]
    assert held.not_run == {"recall": "the data is missing"}
    assert "the data is missing" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_one_that_breaks_is_named_and_the_rest_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        await suite.run(options(tmp_path, "recall", "tokens"), Programs(recall=BROKEN, tokens=result())) == 1
    )
    out = capsys.readouterr().out
    assert "recall: not measured, exit code 1: KeyError: 3" in out
    assert "1 of 2 measured" in out


@pytest.mark.anyio
async def test_ctrl_c_ends_the_running_one_and_keeps_what_was_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = anyio.Event()
    monkeypatch.setattr(suite.Suite, "_heard", lambda self, said, line: line == "asleep" and began.set())
    asleep = ("print('asleep', file=sys.stderr, flush=True)", "time.sleep(3600)")
    async with anyio.create_task_group() as group:
        group.start_soon(
            suite.run, options(tmp_path, "tokens", "recall"), Programs(tokens=result(), recall=asleep)
        )
        with anyio.fail_after(30):
            await began.wait()
        group.cancel_scope.cancel()
    held = msgspec.json.decode((tmp_path / "all.json").read_bytes(), type=Measured)
    assert [one.name for one in held.results] == ["tokens"]
    assert "1 of 2 measured" in capsys.readouterr().out


@pytest.mark.anyio
@pytest.mark.parametrize(("wait_ms", "code"), [(2.3, 0), (4.5, 1), (1.0, 0)])
async def test_a_figure_worse_than_the_tolerance_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wait_ms: float, code: int
) -> None:
    assert await suite.run(options(tmp_path, "tokens"), Programs(tokens=result())) == 0
    old = (tmp_path / "all.json").rename(tmp_path / "old.json")
    given = options(tmp_path, "tokens", compare=old)
    assert await suite.run(given, Programs(tokens=result(wait_ms=wait_ms))) == code
    out = capsys.readouterr().out
    assert f"{code} of 2 are worse by more than 20%" in out
    assert f"{wait_ms / 2:.2f}" in out


@pytest.mark.anyio
async def test_wrong_calls_are_refused_in_a_line_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await suite.run(options(tmp_path, "recal"), Programs()) == 2
    assert await suite.run(options(tmp_path, compare=tmp_path / "nowhere"), Programs()) == 2
    (tmp_path / "other.json").write_bytes(b"{}")
    assert await suite.run(options(tmp_path, compare=tmp_path / "other.json"), Programs()) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert said[0].startswith("actormem bench: no benchmark recal; there are ")
    assert "holds no results" in said[2]


def test_more_a_second_is_better_and_fewer_milliseconds_are() -> None:
    slow = changes([result()], [result(rate=70.0)], 0.2)
    assert [change.worse for change in slow] == [False, True]
    assert not any(change.worse for change in changes([result()], [result(rate=85.0, wait_ms=1.0)], 0.2))


def worse(
    old: Sequence[float], new: Sequence[float], way: Literal["less", "more", ""] = "less"
) -> list[bool]:
    def made(values: Sequence[float]) -> report.Result:
        return result(
            figures={"row": {"x": report.spread(values)}}, columns=(report.Column("x", "x", better=way),)
        )

    return [change.worse for change in changes([made(old)], [made(new)], 0.2)]


def test_a_figure_is_worse_only_where_its_spread_says_so_too() -> None:
    assert worse([9, 10, 14], [13, 13.5, 16]) == [False], "the spreads overlap"
    assert worse([9, 10, 14], [15, 16, 17]) == [True]
    assert worse([9, 10, 30], [18, 20, 60]) == [True], "they overlap, and each end is worse"
    assert worse([10], [9, 13, 20]) == [True], "one repeat has no spread"
    assert worse([0], [1]) == [True]
    assert worse([0], [0]) == [False]
    assert worse([90, 100, 110], [50, 60, 70], "more") == [True]
    assert worse([50, 60, 70], [90, 100, 110], "more") == [False]
    assert worse([1], [9], "") == [], "neither way is better"


def test_what_was_measured_and_is_no_longer_is_worse_but_for_rows_of_others() -> None:
    both = result()
    row = changes([both], [msgspec.structs.replace(both, figures={})], 0.2)
    assert [(one.where, one.new, one.worse) for one in row] == [("tokens · asyncio", None, True)]
    left = {"asyncio": {"wait_ms": both.figures["asyncio"]["wait_ms"]}}
    figure = changes([both], [msgspec.structs.replace(both, figures=left)], 0.2)
    assert [(one.where, one.worse) for one in figure] == [
        ("tokens · asyncio · wait_ms", False),
        ("tokens · asyncio · asks_per_s", True),
    ]
    assert changes([both], [], 0.2) == [], "it was not asked for"
    assert [one.worse for one in changes([both], [], 0.2, {"tokens": "the data is missing"})] == [True]
    fewer = msgspec.structs.replace(both, figures={})
    assert uncompared([fewer], [both]) == ["tokens · asyncio: not in the old file, not compared"]


def test_another_machine_version_or_load_is_said_and_another_commit_is_not() -> None:
    old = result()
    assert differences([old], [old]) == []
    other = result(
        machine=old.machine | {"processor": "Another", "load": "0 0 0"},
        versions=old.versions | {"numpy": "1", "commit": "abc"},
        load={"before": (old.load["before"][0] + 3, 0, 0), "after": (0, 0, 0)},
    )
    said = differences([old], [other, other])
    assert len(said) == 3
    assert said[0].endswith("now Another")
    assert said[1] == f"another numpy: {old.versions['numpy']}, now 1"
    assert said[2].startswith("tokens: another load before it: ")


def test_results_of_other_settings_or_without_an_older_one_are_not_compared() -> None:
    assert changes([result(settings={"turns": 9})], [result()], 0.0) == []
    assert changes([result("another")], [result()], 0.0) == []


def test_a_file_of_one_benchmark_may_be_compared_with(tmp_path: Path) -> None:
    single, made = tmp_path / "one.json", result()
    single.write_bytes(msgspec.json.encode(made))
    assert read_results(single) == (made,)


def test_a_page_needs_no_network_and_escapes_what_it_shows() -> None:
    text = page([result()], {"recall": "no <data>"})
    assert "http" not in text.replace("http://www.w3.org", "")
    assert "<more>" not in text
    assert "a &lt;peer&gt;" in text
    assert "no &lt;data&gt;" in text
    assert "prefers-color-scheme: dark" in text
    assert ("<svg" in text) or "plots need matplotlib" in text
    assert "at a small size" not in text
    assert "at a small size" in page([result(quick=True)], {})
    assert "Nothing was measured" in page([], {})


def test_tables_of_a_page_are_named_and_no_two_columns_are_called_alike() -> None:
    columns = [report.Column("p95", "wait_ms"), report.Column("p95", "asks_per_s")]
    text = page([result(columns=columns)], {"recall": "no data"})
    assert text.count("<caption>") == text.count("<table") == 4
    assert "<th></th>" not in text
    assert '<th scope="col">wait ms</th><th scope="col">asks / s</th>' in text
    assert '<th scope="row">asyncio</th>' in text


def test_more_columns_than_fit_are_shown_in_a_table_for_each_set_of_rows() -> None:
    names = [f"figure_{number}" for number in range(14)]
    columns = [report.Column(name, name) for name in names]
    found = {
        "ours": dict.fromkeys(names, report.spread([1])),
        "peer": dict.fromkeys(names[:9], report.spread([1])),
    }
    assert len(report.tables_of(columns[:13], found)) == 1
    [common, own] = report.tables_of(columns, found)
    assert ([len(common[0]), *common[1]], [len(own[0]), *own[1]]) == ([9, "ours", "peer"], [5, "ours"])


def test_outside_a_checkout_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "checkout", lambda: None)
    assert main(["bench"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "in a checkout" in captured.err
    assert captured.out == ""


def test_the_command_finds_this_checkout_and_refuses_unknown_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.checkout() == Path(suite.__file__).parents[1]
    assert main(["bench", "nothing"]) == 2
    assert "there are " in capsys.readouterr().err


class Kept:
    """A file that the system does not let anyone write."""

    def write_bytes(self, _: bytes) -> int:
        raise PermissionError("kept")

    def __str__(self) -> str:
        return "kept.json"


@pytest.mark.anyio
async def test_a_file_that_cannot_be_written_in_the_end_takes_nothing_else_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await suite.run(options(tmp_path, "tokens", json=Kept()), Programs(tokens=result())) == 1
    captured = capsys.readouterr()
    assert "kept.json is not written: kept" in captured.err
    assert (tmp_path / "page.html").is_file()
    assert "page.html" in captured.out


def test_files_that_may_not_be_written_are_refused_before_anything_is_run_the_default_page_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.os, "access", lambda path, way: False)
    for given in (["--json", "a.json"], []):
        with pytest.raises(SystemExit, match="2"):
            main(["bench", *given])
        assert "may not be written" in capsys.readouterr().err


def test_a_benchmark_is_run_as_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACTORMEM_DATA", str(tmp_path))  # none
    given = options(tmp_path, "survival")
    assert anyio.run(suite.run, given) == 0
    [found] = read_results(tmp_path / "all.json")
    assert found.quick
    assert f"survival: {found.question}" in capsys.readouterr().out


LEAVES_A_CHILD = (
    "import os, subprocess",
    "code = 'import time; time.sleep(3600)'",
    "child = subprocess.Popen([sys.executable, '-S', '-E', '-c', code], stdin=subprocess.DEVNULL)",
    "open(os.path.join(os.environ['TMPDIR'], 'left'), 'w').write('x')",
    "print(child.pid, os.environ['TMPDIR'], file=sys.stderr, flush=True)",
)


@pytest.mark.anyio
@pytest.mark.parametrize("way", ["it ends", "it is cancelled"])
async def test_no_process_and_no_file_of_a_benchmark_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    said, heard = list[str](), anyio.Event()

    def hear(self: suite.Suite, lines: object, line: str) -> None:
        said.append(line)
        heard.set()

    monkeypatch.setattr(suite.Suite, "_heard", hear)
    program = (*LEAVES_A_CHILD, *(["time.sleep(3600)"] if way == "it is cancelled" else []))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(suite.run, options(tmp_path, "tokens"), Programs(tokens=program))
            await heard.wait()
            if way == "it is cancelled":
                group.cancel_scope.cancel()
        child, folder = said[0].split()
        while not ended(int(child)):  # it was killed, and dies when the system comes to it
            await checkpoint()
    assert not await anyio.Path(folder).exists()


def ended(process: int) -> bool:
    """Whether it is gone, or waits only for somebody to ask how it ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


@pytest.mark.parametrize("given", [["--tolerance", "-1"], ["--tolerance", "x"], ["--json", "nowhere/a.json"]])
def test_wrong_arguments_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["bench", *given])
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_a_request_to_end_is_an_interrupt_in_the_background_too(handler: Any) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt), suite.as_interrupts(signal.SIGTERM):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
