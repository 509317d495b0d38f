"""`actormem bench`: what it runs, prints, writes and compares, and how it ends."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from actormem.cli import bench as command
from actormem.cli.main import main
from benchmarks import report, suite
from benchmarks.comparison import Measured, better, changes, read_results
from benchmarks.page import page

CHART = report.Chart(
    name="c", title="<b>", x_title="", y_title="", series=(report.Series("a", (1.0,), (2.0,)),)
)


def result(name: str = "tokens", wait_ms: float = 2.0, rate: float = 100.0, **changed: Any) -> report.Result:
    found = {"asyncio": {"wait_ms": report.Spread(wait_ms, 1, 3), "asks_per_s": report.spread([rate])}}
    given = {
        "columns": [report.Column("wait ms", "wait_ms")],
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
    assert re.search(r"asyncio +2\.0\n +1\.0–3\.0\n", captured.out)
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
@pytest.mark.parametrize(("wait_ms", "code"), [(2.3, 0), (2.5, 1), (1.0, 0)])
async def test_a_figure_worse_than_the_tolerance_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wait_ms: float, code: int
) -> None:
    assert await suite.run(options(tmp_path, "tokens"), Programs(tokens=result())) == 0
    old = (tmp_path / "all.json").rename(tmp_path / "old.json")
    given = options(tmp_path, "tokens", compare=old)
    assert await suite.run(given, Programs(tokens=result(wait_ms=wait_ms))) == code
    out = capsys.readouterr().out
    assert f"{code} of 2 figures are worse by more than 20%" in out
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
    assert [better(name) for name in ("asks_per_s", "wait_ms", "first_s", "question_count")] == [1, -1, -1, 0]
    slow = changes([result()], [result(rate=70.0)], 0.2)
    assert [change.worse for change in slow] == [False, True]
    assert not any(change.worse for change in changes([result()], [result(rate=85.0, wait_ms=0.0)], 0.2))


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
    assert "Nothing was measured" in page([], {})


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


@pytest.mark.parametrize("given", [["--tolerance", "-1"], ["--tolerance", "x"], ["--json", "nowhere/a.json"]])
def test_wrong_arguments_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["bench", *given])
    assert capsys.readouterr().err.count("\n") == 1
