"""The page of `actormem.testing` is true: its programs, put together, are tests that pass as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import actormem.testing

BLOCKS = re.findall(r"^```python\n(.*?)^```$", actormem.testing.__doc__ or "", re.MULTILINE | re.DOTALL)
PROGRAM = "\n".join(BLOCKS)
PROGRAM_S = 180.0  # a program that hangs fails the test instead of stopping the suite
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"}


def run(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=ENVIRONMENT, capture_output=True, encoding="utf-8", timeout=PROGRAM_S, check=False,
    )  # fmt: skip


def outcome_of(program: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """What pytest says of a program, in a folder of a user's own."""
    (folder / "test_page.py").write_text(program, encoding="utf-8")
    return run(
        "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_page.py", *words, folder=folder
    )


def test_the_page_shows_every_part() -> None:
    for name in (*actormem.testing.__all__, "strategies", "wrap_record="):
        assert name in PROGRAM or name in ("DiskFault", "FailingEmbedder", "ModelFault", "settle")


def test_the_tests_of_the_page_pass_as_written(tmp_path: Path) -> None:
    done = outcome_of(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stdout
    [count] = re.findall(r"(\d+) passed", done.stdout)
    checks = len(actormem.testing.contracts.EMBEDDER)
    assert int(count) == 2 * (2 + 6 + 1 + checks) + 1, (
        "each test on asyncio and trio, the last one for itself"
    )


def test_the_tests_of_the_page_can_fail(tmp_path: Path) -> None:
    forgetful = PROGRAM.replace('"support", user="ada", budget', 'said, user="eve", budget')
    assert forgetful != PROGRAM
    done = outcome_of(forgetful, tmp_path, "-k", "shown or full_disk")
    failed = set(re.findall(r"^FAILED test_page.py::(\w+)", done.stdout, re.MULTILINE))
    assert failed == {
        "test_the_model_is_shown_what_ada_said_before",
        "test_a_full_disk_loses_nothing_that_was_acknowledged",
    }


@pytest.mark.parametrize(
    "module", ["actormem.testing", "actormem.testing.contracts", "actormem.testing.corpus"]
)
def test_nothing_but_the_strategies_needs_hypothesis_and_nothing_needs_pytest(
    module: str, tmp_path: Path
) -> None:
    program = f"import sys; sys.modules['hypothesis'] = sys.modules['pytest'] = None; import {module}"
    done = run("-c", program, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_hypothesis_the_strategies_say_what_to_install(tmp_path: Path) -> None:
    done = run(
        "-c",
        "import sys; sys.modules['hypothesis'] = None; import actormem.testing.strategies",
        folder=tmp_path,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: actormem.testing.strategies needs Hypothesis: pip install 'actormem[testing]'"
    )
