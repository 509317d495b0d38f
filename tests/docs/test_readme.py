"""README.md is true: its code runs as written, its commands parse, its tables name all that can be set."""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import actormem
from actormem.cli.main import parser
from actormem.core.policy import POLICIES
from tests.loopback import LoopbackServer

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
PROGRAM_LINES_MAX = 25
PROGRAM_S = 120.0  # a program that hangs fails the test instead of stopping the suite
HEADER = ("option", "default")
FRAGMENT = """
import anyio, actormem
from openai import AsyncOpenAI

tools = [{{"type": "function", "function": {{"name": "find_parcel", "parameters": {{"type": "object"}}}}}}]

async def main() -> None:
    async with AsyncOpenAI() as client, actormem.open(None, embedder="hashing") as runtime:
        session = await runtime.spawn("s-1", user="ada", tools=tools)
{block}

anyio.run(main)
"""


class Table(msgspec.Struct, frozen=True):
    """A table of options: the paragraph before it, and default and meaning by option."""

    about: str
    rows: dict[str, tuple[str, str]]


def blocks(language: str) -> list[str]:
    """Code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Lines of shell blocks that call our own command."""
    lines = [line.strip() for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if re.match(r"actormem\b", line)]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables() -> list[Table]:
    """Tables whose columns are option, default and meaning."""
    found: list[Table] = []
    for paragraph, lines in re.findall(r"([^\n]*(?:\n[^|\n]+)*)\n\n((?:\|[^\n]*\n)+)", TEXT):
        header, _, *rest = map(cells, lines.splitlines())
        if tuple(header[:2]) == HEADER:
            rows = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rest}
            assert len(rows) == len(rest), f"an option stands twice in the table after {paragraph!r}"
            found.append(Table(paragraph, rows))
    return found


def table_of(name: str) -> Table:
    found = [table for table in tables() if f"{name}(" in table.about]
    assert len(found) == 1, (
        f"README.md must hold one table with the columns option, default and meaning after a paragraph that"
        f" says `{name}(…)`; there are {len(found)}"
    )
    return found[0]


def defaults_of(function: Any) -> dict[str, object]:
    """Options with their defaults; what must be given is not an option."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer("您的退款三到五个工作日到账。") as server:
        yield server


def run(program: str, server: LoopbackServer, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a program in a folder of its own, with the server as OpenAI."""
    environment: Mapping[str, str] = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONUTF8": "1",
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "dummy",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=PROGRAM_S, check=False,
    )  # fmt: skip


def first_program() -> str:
    found = blocks("python")
    assert found, "README.md must hold a ```python block: the program that a new user runs first"
    return found[0]


def test_the_first_program_is_short() -> None:
    lines = [line for line in first_program().splitlines() if line.strip()]
    assert len(lines) <= PROGRAM_LINES_MAX


def test_the_first_program_shows_the_whole_front_door() -> None:
    for part in ("actormem.open(", "llm=", "embedder=", ".spawn(", ".turn(", ".feed(", ".trace", ".recall("):
        assert part in first_program(), f"the first program of README.md does not show {part}"


def test_the_first_program_runs_as_written(server: LoopbackServer, tmp_path: Path) -> None:
    done = run(first_program(), server, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^context \d+ of \d+ tokens", done.stdout, re.MULTILINE), "the trace is printed"
    assert re.findall(r"^\d\.\d{3} \S", done.stdout, re.MULTILINE), "hits are printed, with their scores"
    asked = [seen for seen in server.seen if seen.path.endswith("/chat/completions")]
    assert [seen.body["stream"] for seen in asked if "stream" in seen.body] == [True]
    assert asked[0].body["messages"][0]["role"] == "system"
    assert any(seen.path.endswith("/embeddings") for seen in server.seen)
    assert {path.name for path in tmp_path.iterdir()} == {"memory"}


def test_the_first_program_runs_again_and_remembers(server: LoopbackServer, tmp_path: Path) -> None:
    first, again = (run(first_program(), server, tmp_path) for _ in range(2))
    assert (again.returncode, again.stderr) == (0, "")
    last = [seen for seen in server.seen if seen.body.get("stream")][-1]
    assert "您的退款三到五个工作日到账。" in str(last.body["messages"])
    assert first.stdout != again.stdout


PROGRAMS = [block for block in blocks("python")[1:] if "anyio.run(" in block]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_other_program_runs_as_written(server: LoopbackServer, tmp_path: Path, program: str) -> None:
    done = run(program, server, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "杭州" in done.stdout


@pytest.mark.parametrize("block", [block for block in blocks("python")[1:] if block not in PROGRAMS])
def test_what_follows_the_first_program_runs_inside_of_it(
    server: LoopbackServer, tmp_path: Path, block: str
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "find_parcel", "arguments": "{}"}}
    server.reply = {"content": None, "tool_calls": [call]}
    done = run(FRAGMENT.format(block=textwrap.indent(block, " " * 8)), server, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_commands_to_try() -> None:
    named = {words[1] for words in map(shlex.split, commands()) if len(words) > 1}
    assert {"demo", "replay"} <= named, "README.md must show `actormem demo` and `actormem replay` in ```sh"


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_readme_parses(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, *words = shlex.split(line, comments=True)
    try:
        parser().parse_args(words)
    except SystemExit:
        pytest.fail(f"`{line}`: {capsys.readouterr().err}")


FRONT_DOOR = {
    "actormem.open": defaults_of(actormem.open),
    "runtime.spawn": defaults_of(actormem.Runtime.spawn),
    "actormem.Budget": defaults_of(actormem.Budget),
}


@pytest.mark.parametrize("name", FRONT_DOOR)
def test_a_table_names_every_option_and_no_other(name: str) -> None:
    options, told = set(FRONT_DOOR[name]), set(table_of(name).rows)
    assert not options - told, f"README.md does not tell of {sorted(options - told)} of {name}"
    assert not told - options, f"README.md tells of {sorted(told - options)}, which {name} does not have"


@pytest.mark.parametrize("name", FRONT_DOOR)
def test_the_defaults_of_a_table_are_the_defaults(name: str) -> None:
    wrong: dict[str, object] = {}
    for option, (default, meaning) in table_of(name).rows.items():
        assert meaning, f"README.md does not say what {option} means"
        told: object = actormem.UNSET if default == "UNSET" else ast.literal_eval(default.replace(",", ""))
        actual = FRONT_DOOR[name].get(option, told)
        if (told, type(told)) != (actual, type(actual)):
            wrong[option] = actual
    assert not wrong, f"README.md gives other defaults for {name} than these: {wrong}"


def test_no_promise_of_the_design_is_left_out() -> None:
    assert re.findall(r"^\| (P\d+) \|", TEXT, re.MULTILINE) == [f"P{number}" for number in range(1, 15)]


def test_every_policy_is_told_with_when_to_use_it() -> None:
    told = re.findall(r"^\| `(\w+)` \| [^|]{20,} \| [^|]{20,} \|$", TEXT, re.MULTILINE)
    assert [name for name in told if name in POLICIES] == list(POLICIES)
