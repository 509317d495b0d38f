"""What is published: the sdist and the wheel made of it, and the wheel's own `actormem demo`.

Needs nothing but what the tests need, and the package index where hatchling is not installed.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
STEP_S = 300.0  # a step that hangs fails the test instead of stopping the suite


class Built:
    """A fresh interpreter, and what was built with it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "venv"
        self.clean = folder / "clean"
        self.clean.mkdir()
        run([sys.executable, "-m", "venv", str(self.home)], folder)
        # Our dependencies are those of the interpreter that runs the tests: a path line shows its packages
        # but not what is installed there in editable mode, for it reads no path lines of theirs.
        [site] = self.home.glob("lib/python*/site-packages")
        (site / "tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
        if find_spec("hatchling") is None:
            self.run("python", "-m", "pip", "install", "--quiet", "hatchling")
        self.run("python", "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder / "dist"), cwd=ROOT)
        [self.sdist] = (folder / "dist").glob("*.tar.gz")
        options = ["--quiet", "--no-deps", "--no-build-isolation"]
        self.run("python", "-m", "pip", "wheel", *options, "-w", str(folder), str(self.sdist))
        [self.wheel] = folder.glob("*.whl")
        self.run("python", "-m", "pip", "install", *options, "--force-reinstall", str(self.wheel))

    def run(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run a program of the fresh interpreter; what it printed."""
        return run([str(self.home / "bin" / program), *arguments], cwd or self.clean)


def run(words: list[str], cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        words, cwd=cwd, env={**environment, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUTF8": "1"},
        capture_output=True, encoding="utf-8", timeout=STEP_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("packaging"))


def test_the_sdist_holds_all_that_is_needed_to_build_and_test_and_nothing_else(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("README.md", "LICENSE", "pyproject.toml", "actormem/py.typed", "tests/conftest.py"):
        assert name in names
    assert {name.partition("/")[0] for name in names} <= {
        "README.md", "LICENSE", "pyproject.toml", "actormem", "benchmarks", "docs", "tests", "PKG-INFO",
        ".gitignore",
    }  # fmt: skip
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db"))]


def test_the_wheel_holds_the_package_with_its_data_and_no_tests(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())
    assert "actormem/py.typed" in names
    assert "actormem/cli/demo_conversation.json" in names
    page = {path.relative_to(ROOT).as_posix() for path in (ROOT / "actormem/server/page").iterdir()}
    assert len(page) > 20
    assert page <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"actormem"}
    assert not [name for name in names if "test_" in name or "__pycache__" in name]
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "actormem").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules


def test_the_installed_wheel_is_the_one_that_runs(built: Built) -> None:
    place = built.run("python", "-c", "import actormem; print(actormem.__file__)")
    assert Path(place.strip()).is_relative_to(built.home)
    assert built.run("actormem", "--version").startswith("actormem ")


def test_the_demo_of_the_installed_wheel_ends_well_and_leaves_nothing(built: Built) -> None:
    assert "probes answered" in built.run("actormem", "demo")
    assert list(built.clean.iterdir()) == []
