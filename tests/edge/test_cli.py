"""The command line, as a new user tries it: what it prints, what it refuses, and how it ends.

The full demo is played once for all tests that look at it. Logs are played with the hashing embedder, which
needs no second to load; what is looked at does not depend on it.
"""

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import pytest
from toktok import batch_count

import actormem
from actormem.cli import main as command
from actormem.cli.demo import is_current
from actormem.cli.show import Calls, clip, table, width

INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # children of a suite in the background ignore it
from actormem.cli.main import main
sys.exit(main())
"""
HOLDER = """
import sys, anyio, actormem
async def hold():
    async with actormem.open(sys.argv[1], embedder="hashing"):
        print("held", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
anyio.run(hold)
"""
DEMO: dict[str, Any] = json.loads((files("actormem.cli") / "demo_conversation.json").read_text("utf-8"))
CHILD_S = 120.0  # a child that hangs fails the test instead of stopping the suite
COLUMNS = 100

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "find_order", "arguments": '{"order": "KX-55120"}'},
}
TALK = [
    {"role": "system", "content": "You sell tea."},
    {"role": "user", "content": "你好，我的订单 KX-55120 到哪里了？"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"place": "Hangzhou"}'},
    {"role": "assistant", "content": "在杭州，明天送到。"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is in this picture?"}, {"type": "text", "text": "好吗"}],
    },
    {"role": "assistant", "content": "A teapot."},
]


class Said:
    """What a run of the command line printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def faults(self) -> list[str]:
        """The lines of stderr, without the progress bar."""
        lines = [line.strip() for line in re.split(r"[\r\n]", self.err)]
        # A busy machine takes more than a second for one: then it is seconds a turn.
        return [
            line
            for line in lines
            if line and not re.search(r"(it|turns|messages)/s\]|s/ ?(it|turns|messages)\]", line)
        ]


def run(*arguments: object) -> Said:
    """Run the command line in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = command.main([str(argument) for argument in arguments])
        except SystemExit as ended:  # argparse's own way out
            code = int(ended.code or 0)
    return Said(code, out.getvalue(), err.getvalue())


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def child(*arguments: object, **options: Any) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-c", INTERRUPTIBLE, *map(str, arguments)]
    return subprocess.Popen(words, env=environment(), **options)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runtimes of this test open with the hashing embedder."""
    monkeypatch.setattr(actormem, "open", partial(actormem.open, embedder="hashing"))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A log of these lines; what is not text is written as JSON."""

    def write(*lines: object) -> Path:
        log = tmp_path / "log.jsonl"
        log.write_text(
            "\n".join(
                line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines
            ),
            encoding="utf-8",
        )
        return log

    return write


def wire_tokens(messages: list[dict[str, Any]]) -> int:
    """OpenAI's published count of a request, made without this library: a lower bound of ours."""

    def tokens(text: str) -> int:
        return batch_count([text], "o200k_base", threads=1)[0]

    total = 3
    for message in messages:
        content = message.get("content")
        total += 3
        total += tokens(content) if isinstance(content, str) else 0
        total += sum(tokens(part.get("text", "")) for part in content) if isinstance(content, list) else 0
        for call in message.get("tool_calls") or ():
            total += tokens(call["function"]["name"]) + tokens(call["function"]["arguments"])
    return total


def orphans(messages: list[dict[str, Any]]) -> list[str]:
    """Ids of tool results that no call stands before."""
    called: set[str] = set()
    found: list[str] = []
    for message in messages:
        called |= {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool" and message["tool_call_id"] not in called:
            found.append(message["tool_call_id"])
    return found


# --- the demo -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Said:
    return run("demo", "--folder", tmp_path_factory.mktemp("demo") / "memory")


def figure(demo: Said, name: str) -> str:
    [line] = [line for line in demo.out.splitlines() if line.startswith(name)]
    return line


def test_the_demo_shows_its_progress_on_stderr_alone(demo: Said) -> None:
    assert f"/{len(DEMO['turns'])} [" in demo.err
    assert "turns/s" not in demo.out
    assert demo.faults == []


def test_the_demo_sends_at_most_35_percent_of_the_full_history(demo: Said) -> None:
    found = re.search(r"([\d,]+) of ([\d,]+) \((\d+)% of full history\)", figure(demo, "tokens sent"))
    assert found
    sent, full = (int(number.replace(",", "")) for number in found.groups()[:2])
    assert 0 < sent <= 0.35 * full
    assert int(found[3]) == round(100 * sent / full)


def test_the_demo_compacts_and_stays_within_its_budget(demo: Said) -> None:
    assert int(figure(demo, "compactions").split()[-1]) > 0
    [tokens] = re.findall(r"([\d,]+) tokens", figure(demo, "largest context"))
    assert int(tokens.replace(",", "")) <= 2_000


def test_the_demo_shows_how_long_a_message_takes_to_become_a_context(demo: Said) -> None:
    found = re.search(
        r"p50 ([\d.]+) ms, p95 ([\d.]+) ms, max ([\d.]+) ms", figure(demo, "message to context")
    )
    assert found
    p50, p95, longest = map(float, found.groups())
    assert 0 < p50 <= p95 <= longest


def test_three_quarters_of_the_demos_tokens_stood_in_the_request_before(demo: Said) -> None:
    found = re.search(r"\d\.\d\d", figure(demo, "prefix share"))
    assert found
    assert float(found[0]) >= 0.75


@pytest.mark.parametrize("probe", DEMO["probes"], ids=lambda probe: probe["about"])
def test_the_demo_shows_the_line_that_answers_a_probe(demo: Said, probe: dict[str, Any]) -> None:
    lines = demo.out.splitlines()
    [place] = [place for place, line in enumerate(lines) if line.endswith(probe["question"])]
    shown = lines[place + 1 : place + 1 + len(probe["expected"])]
    assert lines[place].startswith("✓ "), "\n".join(lines[place : place + 4])
    for value, line in zip(probe["expected"], shown, strict=True):
        assert value in line
        assert width(line) <= COLUMNS


def test_the_reopened_folder_remembers_the_same_user_and_not_another(demo: Said) -> None:
    after = demo.out.partition("Reopened")[2]
    assert DEMO["user"] in after
    for value in DEMO["second_session"]["expected"]:
        assert value in after.partition(DEMO["newcomer"]["user"])[0]
    for value in DEMO["newcomer"]["must_not_see"]:
        assert value not in after.partition(DEMO["newcomer"]["user"])[2]
    assert "nothing of another user's memory is in the context" in after


def test_the_demo_ends_well(demo: Said) -> None:
    assert "6 of 6 probes answered" in demo.out.splitlines()[-1]
    assert demo.code == 0


def test_no_line_of_the_demo_is_wider_than_a_terminal(demo: Said) -> None:
    assert [line for line in demo.out.splitlines() if width(line) > COLUMNS and "Reopened" not in line] == []


# --- replay -------------------------------------------------------------------------------------------


def test_a_json_list_of_messages_is_one_conversation(quick: None, written: Callable[..., Path]) -> None:
    said = run("replay", written(json.dumps(TALK, indent=2)), "--budget", 900)
    assert (said.code, said.faults) == (0, [])
    assert re.search(r"conversations +1 played, 0 with faults", said.out)
    assert "contexts" in said.out
    assert "find_order" in said.out, "a call is shown by its name"
    assert "What is in this picture? 好吗" in said.out, "so are the words of parts"


def test_what_is_printed_of_a_log_fits_a_terminal_and_cannot_steer_it(
    quick: None, written: Callable[..., Path]
) -> None:
    nasty = [{"role": "user", "content": "\x1b[2J长" * 90}, {"role": "assistant", "content": "\x9b31m ok"}]
    said = run("replay", written({"id": "\x1b]0;名" * 50, "messages": [*nasty, *nasty]}), "--budget", 900)
    assert said.code == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said.out)
    assert max(map(width, said.out.splitlines())) <= COLUMNS


def test_every_call_is_written_with_messages_tokens_sections_and_trace(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    log = written({"id": "tea", "messages": TALK}, {"messages": TALK[1:]})
    said = run("replay", log, "--budget", 900, "--out", out)
    assert (said.code, said.faults) == (0, [])
    calls = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(call["conversation"], call["turn"]) for call in calls] == [
        ("tea", 1), ("tea", 1), ("tea", 2), ("line 2", 1), ("line 2", 1), ("line 2", 2)
    ]  # fmt: skip
    for call in calls:
        assert set(call) == {"conversation", "turn", "tokens", "sections", "messages", "trace"}
        assert sum(call["sections"].values()) == call["tokens"] == call["trace"]["tokens"]
        assert wire_tokens(call["messages"]) <= call["tokens"] <= 900
    assert calls[1]["messages"][:3] == TALK[:3], "nulls and calls are as they were"
    assert calls[0]["messages"][0] == {"role": "system", "content": "You sell tea."}
    assert calls[3]["messages"][0]["role"] == "user"
    assert "find_order" not in said.out


def test_no_context_of_a_long_log_is_over_its_budget_or_has_a_result_without_its_call(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    messages: list[dict[str, Any]] = []
    for number in range(40):
        calls = [{**CALL, "id": f"c{number}-{place}"} for place in range(1 + number % 3)]
        messages.append(
            {"role": "user", "content": f"第 {number} 次：where is order KX-{55_000 + number}? " * 4}
        )
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": "result " * 70} for call in calls
        ]
        messages.append({"role": "assistant", "content": f"Order {number} is on its way. " * 6})
    out = tmp_path / "out.jsonl"
    said = run("replay", written({"messages": messages}), "--budget", 700, "--out", out)
    assert said.code == 0
    contexts = [json.loads(line)["messages"] for line in out.read_text("utf-8").splitlines()]
    assert len(contexts) == 80
    assert [wire_tokens(messages) for messages in contexts if wire_tokens(messages) > 700] == []
    assert [orphans(messages) for messages in contexts if orphans(messages)] == []
    assert max(map(wire_tokens, contexts)) > 350, "the budget is used"


def test_each_malformed_line_is_named_with_its_reason_and_the_rest_is_played(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    good = {"messages": TALK}
    log = written(
        good,
        "not json",
        {"id": "no messages"},
        {"messages": [{"content": "who said this?"}]},
        {"messages": [TALK[1], {"role": "wizard", "content": "b"}]},
        {"messages": [{"role": "tool", "content": "b"}]},
        "",
        ["text"],
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": TALK, "tools": "none"},
        "[" * 50_000 + "]" * 50_000,
        good,
    )
    said = run("replay", log, "--budget", 900, "--out", tmp_path / "out.jsonl")
    assert said.code == 1
    expected = {
        2: "not JSON",
        3: "no messages",
        4: "message 1 is not an object with a role",
        5: "message 2: a message's role must be one of",
        6: "message 1: a tool message must have a tool_call_id",
        8: "message 1 is not an object with a role",
        9: "message 1: a message's content must be",
        10: "tools must be",
        11: "not JSON",
    }
    assert len(said.faults) == len(expected)
    for (number, reason), line in zip(expected.items(), said.faults, strict=True):
        assert line.startswith(f"line {number}: ")
        assert reason in line
        assert "who said this?" not in line
    assert re.search(r"conversations +2 played, 9 with faults", said.out)


NOTHING = {
    "empty": (b"", ""),
    "empty list": (b"[]", "no messages"),
    "empty object": (b"{}", "no messages"),
    "number": (b"7", "neither a list"),
    "cut off": (b"[\n1,\n2", "not JSON"),
    "binary": (b"\x00\xff", "not JSON"),
}


@pytest.mark.parametrize(("data", "reason"), NOTHING.values(), ids=NOTHING)
def test_a_log_with_nothing_to_play_is_refused(
    written: Callable[..., Path], tmp_path: Path, data: bytes, reason: str
) -> None:
    log, out = written(""), tmp_path / "out.jsonl"
    log.write_bytes(data)
    said = run("replay", log, "--budget", 900, "--out", out)
    assert said.code == 2
    assert said.faults[-1] == "actormem: nothing in this log could be played"
    assert all(reason in line for line in said.faults[:-1])
    assert len(said.faults) == (2 if data else 1)
    assert said.out == ""
    assert not out.exists()


def test_a_byte_order_mark_does_no_harm(quick: None, written: Callable[..., Path]) -> None:
    log = written("")
    log.write_bytes(b"\xef\xbb\xbf" + json.dumps(TALK).encode())
    assert run("replay", log, "--budget", 900).code == 0


def test_a_system_prompt_takes_the_place_of_the_logs_own(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    log = written({"messages": TALK}, {"messages": TALK[1:]})
    run("replay", log, "--budget", 900, "--out", out, "--system", "你卖咖啡。")
    for line in out.read_text("utf-8").splitlines():
        first, *rest = json.loads(line)["messages"]
        assert first == {"role": "system", "content": "你卖咖啡。"}
        assert all(message["role"] != "system" for message in rest)


def test_a_replay_ends_with_a_table_of_its_figures(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    said = run("replay", written({"messages": TALK}), "--budget", 900, "--out", tmp_path / "out.jsonl")
    names = [re.split(r"  +", line.strip())[0] for line in said.out.splitlines()]
    assert names[:3] == ["conversations", "contexts", "tokens sent"]
    assert names[names.index("prefix share") + 1] == "context ready in"
    assert {"format", "system", "newest"} <= set(names)


def test_the_tools_of_a_log_are_counted(quick: None, written: Callable[..., Path], tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "find_order", "parameters": {"type": "object"}}}
    out = tmp_path / "out.jsonl"
    run("replay", written({"messages": TALK, "tools": [tool]}), "--budget", 900, "--out", out)
    assert all(json.loads(line)["sections"]["tools"] > 10 for line in out.read_text("utf-8").splitlines())


# --- bad input ----------------------------------------------------------------------------------------


def refused(said: Said, *words: str) -> None:
    """One clear line, exit code 2, nothing on stdout."""
    assert said.code == 2
    assert said.out == ""
    [line] = said.faults
    assert line.startswith("actormem")
    for word in words:
        assert word in line
    assert "Traceback" not in line


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "COMMAND"),
        (["sing"], "sing"),
        (["demo", "--loud"], "--loud"),
        (["demo", "now"], "now"),
        (["replay", "log.jsonl"], "--budget"),
        (["replay", "--budget", "900"], "LOG"),
        (["replay", "log.jsonl", "--budget", "0"], "'0'"),
        (["replay", "log.jsonl", "--budget", "-5"], "'-5'"),
        (["replay", "log.jsonl", "--budget", "abc"], "'abc'"),
        (["replay", "log.jsonl", "--budget", "1.5"], "'1.5'"),
        (["demo", "--budget", "0"], "'0'"),
        (["replay", "log.jsonl", "--budget", "63"], "at least 64"),
        (["replay", "log.jsonl", "--budget", "99999999999"], "at most"),
        (["replay", "missing.jsonl", "--budget", "900"], "missing.jsonl"),
        (["replay", ".", "--budget", "900"], "directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run(*arguments), word)
    assert list(tmp_path.iterdir()) == []


def test_a_system_prompt_larger_than_the_budget_is_refused_with_both_numbers(
    quick: None, written: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("kept")
    log = written({"messages": TALK}, {"messages": TALK})
    said = run("replay", log, "--budget", 300, "--out", out, "--system", "word " * 400)
    refused(said)
    found = re.search(r"needs (\d+) tokens, has (\d+)", said.faults[0])
    assert found
    assert int(found[1]) > int(found[2]) == 300
    assert out.read_text() == "kept"


def test_a_logs_own_system_prompt_that_does_not_fit_is_a_fault_of_its_line(
    quick: None, written: Callable[..., Path]
) -> None:
    large = [{"role": "system", "content": "word " * 400}, *TALK[1:]]
    said = run("replay", written({"messages": TALK}, {"messages": large}), "--budget", 300)
    assert said.code == 1
    [line] = said.faults
    assert line.startswith("line 2: ")
    assert "300" in line


@pytest.mark.parametrize("place", ["missing/out.jsonl", "log.jsonl/out.jsonl", "."])
def test_an_output_that_cannot_be_written_is_refused(
    quick: None, written: Callable[..., Path], tmp_path: Path, place: str
) -> None:
    log = written({"messages": TALK})
    refused(run("replay", log, "--budget", 900, "--out", tmp_path / place), str(tmp_path))
    assert list(tmp_path.iterdir()) == [log]


def test_the_demo_does_not_fit_any_budget_and_says_so(tmp_path: Path, quick: None) -> None:
    refused(run("demo", "--folder", tmp_path, "--budget", 100), "100")


def test_a_file_cannot_be_the_demos_folder(written: Callable[..., Path]) -> None:
    file = written("mine")
    refused(run("demo", "--folder", file), str(file))
    assert file.read_text() == "mine"


def test_a_folder_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        refused(run("demo", "--folder", tmp_path), "in use", str(holder.pid))
    finally:
        holder.communicate(b"", timeout=CHILD_S)
    assert holder.returncode == 0


def test_a_record_that_is_garbage_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    record = tmp_path / "record.db"
    record.write_bytes(b"this is no database at all" * 300)
    before = record.read_bytes()
    refused(run("demo", "--folder", tmp_path), str(record))
    assert record.read_bytes() == before


def test_a_record_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path, quick: None) -> None:
    async def make() -> None:
        async with actormem.open(tmp_path) as runtime:
            session = await runtime.spawn("s", user="ada")
            await session.add({"role": "user", "content": "你好"})

    anyio.run(make)
    with contextlib.closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.execute("PRAGMA user_version=999")
    before = (tmp_path / "record.db").read_bytes()
    refused(run("demo", "--folder", tmp_path), "999")
    assert (tmp_path / "record.db").read_bytes() == before


def test_an_empty_user_is_refused_by_the_library_itself() -> None:
    async def spawn() -> None:
        async with actormem.open(None, embedder="hashing") as runtime:
            with pytest.raises(actormem.UsageError, match="user must not be empty"):
                await runtime.spawn("s", user="")
            assert await runtime.sessions("ada") == ()
            assert runtime.statistics() is not None

    anyio.run(spawn)


# --- help, and how it ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["replay", "--help"]])
def test_help_tells_of_every_option_and_of_exit_codes(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    said = run(*arguments)
    assert (said.code, said.err) == (0, "")
    chosen = command.parser()
    for action in list(chosen._actions):
        if action.choices and arguments[0] in action.choices:
            chosen = action.choices[arguments[0]]  # pyright: ignore[reportArgumentType, reportIndexIssue]
    for action in chosen._actions:
        assert action.help or action.choices, f"{action.dest} has no help"
        for option in action.option_strings:
            assert option in said.out
    assert chosen.description
    assert re.findall(r"^  (\d+) ", said.out, re.MULTILINE) == ["0", "1", "2", "130"]
    assert max(map(width, said.out.splitlines())) <= COLUMNS


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert run("--version").out == f"actormem {version('actormem')}\n"


@pytest.fixture
def playing(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A demo in a process of its own that has played some turns."""
    process = child("demo", "--folder", tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        seen = b""
        while not re.search(rb" [1-9]\d*/72 ", seen):
            read = process.stderr.read1()
            assert read, seen
            seen += read
        yield process
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_the_demo_with_one_line(playing: "subprocess.Popen[bytes]") -> None:
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=CHILD_S)
    assert playing.returncode == 130
    lines = [line.strip() for line in re.split(r"[\r\n]", err.decode()) if line.strip()]
    assert lines[-1] == "actormem: stopped"
    assert all(re.search(r"\d+/72 \[", line) for line in lines[:-1])
    assert b"Traceback" not in out


def test_a_reader_that_leaves_gets_no_traceback(written: Callable[..., Path]) -> None:
    log = written(*[{"messages": TALK * 8}] * 8)
    with child("replay", log, "--budget", 900, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"\n"
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 1
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_a_missed_deadline_is_told_of() -> None:
    def trace(*degraded: str) -> actormem.Trace:
        return actormem.Trace(
            turn_id="",
            tokens=5,
            budget_tokens=9,
            full_tokens=5,
            exact=True,
            tokenizer="t",
            sections=(),
            degraded=degraded,
        )

    calls = Calls()
    calls.add(trace())
    assert calls.degraded() == []
    calls.add(trace("vector"))
    assert calls.degraded() == [("missed deadlines", "vector: 1 of 2 contexts")]


@pytest.mark.parametrize(
    ("contents", "current"),
    [
        (["call me", "send mail"], False),
        (["send mail", "call me"], True),
        (["send mail\ncall me"], True),
        (["send mail (replaces: call me)"], False),
        (["call me"], True),
        ([None, "hello"], False),
    ],
)
def test_an_old_value_is_current_where_nothing_later_replaces_it(
    contents: list[str | None], current: bool
) -> None:
    messages = [{"role": "user", "content": content} for content in contents]
    assert is_current(messages, "call me", ["send mail"]) == current


# --- words and tables ---------------------------------------------------------------------------------


def test_a_table_is_straight_where_characters_are_wide() -> None:
    lines = table([("退款金额", "¥5"), ("name", "é"), ("é", "x")]).splitlines()  # fmt: skip
    assert {width(line[: -len(line.split()[-1])]) for line in lines} == {10}


@pytest.mark.parametrize("around", ["", "茶壶", "end", "缺"])
@pytest.mark.parametrize("columns", [20, 40, 99])
def test_a_clipped_line_fits_and_shows_what_it_is_about(around: str, columns: int) -> None:
    text = "一二三四五六七八九十" * 5 + "茶壶" + "abcdefghij" * 10 + "end"
    cut = clip(text, columns, around=around)
    assert columns - 2 <= width(cut) <= columns or around == "end"
    assert (around in cut) == (around in text)
    assert "…" in cut


def test_a_line_that_fits_is_not_clipped() -> None:
    assert clip("退款 refund", 11, around="refund") == "退款 refund"
