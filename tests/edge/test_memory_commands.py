"""`actormem memories`, `import`, `export` and `completion`: on a folder, at a server, and in a real bash."""

import argparse
import contextlib
import json
import re
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tqdm import tqdm

import actormem
from actormem.cli import main as command
from actormem.cli import transfer
from actormem.cli.completion import SHELLS, Command, commands_of
from actormem.cli.show import many_lines, moment, width
from tests.edge.served import served
from tests.edge.test_chat_command import Pressing
from tests.edge.test_cli import Said, refused, run

HASHING = ("--embedder", "hashing")
LOG: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Hangzhou.", "id": "old-1", "time": "2024-03-01T09:00:00+08:00"},
    {"role": "assistant", "content": "Noted.", "id": "old-2", "time": "2024-03-01T09:00:05+08:00"},
    {"role": "user", "content": "我对花生过敏。", "id": "old-3", "time": "2024-03-02T09:00:00+08:00"},
]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once") / "memory"

    async def fill() -> None:
        async with actormem.open(folder, embedder="hashing", durability="process") as runtime:
            for user, words in (
                ("ada", "My dog is called Zuzu. 我喜欢喝龙井茶。"),
                ("bob", "I own a zanzibar."),
            ):
                session = await runtime.spawn("s-1", user=user)
                async with session.turn(words, id=f"{user}-1") as turn:
                    turn.reply("I see.")
            await runtime.remember(
                "Ada lives in Hangzhou.", user="ada", attribute="address", value="Hangzhou"
            )
            await runtime.remember("Ada lives in 上海.", user="ada", attribute="address", value="上海")
            await runtime.settle()

    anyio.run(fill)
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path) -> Path:
    """A folder with two users, of this test alone."""
    return Path(shutil.copytree(once, tmp_path / "memory"))


def memories(name: str, folder: object, *arguments: object, user: str = "ada") -> Said:
    return run("memories", name, folder, *arguments, "--user", user)


def found(said: Said) -> Any:
    assert (said.code, said.faults) == (0, [])
    return json.loads(said.out)


def items(folder: object, *arguments: object) -> list[dict[str, Any]]:
    return found(memories("list", folder, "--json", *arguments))


# --- memories -----------------------------------------------------------------------------------------


def test_the_list_is_a_table_with_times_and_zones_that_fits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    said = memories("list", folder)
    head, *lines = said.out.splitlines()
    assert head.split() == ["id", "kind", "since", "text"]
    assert max(map(width, said.out.splitlines())) <= 72
    assert any("龙井茶" in line for line in lines)
    assert all(re.match(r"m\d+ +\w+ +\d{4}-\d\d-\d\d \d\d:\d\d[+-]\d\d:\d\d  ", line) for line in lines)
    assert "zanzibar" not in said.out


def test_the_list_as_json_holds_the_items_and_history_those_that_were_replaced(folder: Path) -> None:
    live, all_of_them = items(folder), items(folder, "--history")
    assert {one["state"] for one in live} == {"live"}
    [old] = [one for one in all_of_them if one["state"] == "superseded"]
    assert old["value"] == "Hangzhou"
    assert {one["kind"] for one in items(folder, "--kind", "fact")} == {"fact"}
    assert "superseded" in memories("list", folder, "--history").out


def test_nothing_remembered_is_said_in_words_and_as_an_empty_list(folder: Path) -> None:
    assert memories("list", folder, user="nobody").out == "nothing is remembered\n"
    assert memories("list", folder, "--json", user="nobody").out == "[]\n"


def test_looking_leaves_the_vectors_as_they_are(folder: Path) -> None:
    items(folder)
    assert found(run("checkup", folder, "--user", "ada", *HASHING, "--json"))["findings"] == {}


def test_one_item_is_shown_with_its_sources(folder: Path) -> None:
    [tea] = [one for one in items(folder) if one["kind"] == "preference"]
    said = memories("show", folder, tea["id"])
    assert "s-1/ada-1" in said.out
    assert tea["text"] in said.out
    assert found(memories("show", folder, tea["id"], "--json")) == tea


def test_search_finds_the_best_first_and_as_json_says_why(folder: Path) -> None:
    said = memories("search", folder, "龙井", *HASHING)
    assert "龙井茶" in said.out.splitlines()[1]
    hits = found(memories("search", folder, "龙井", *HASHING, "--limit", 2, "--json"))["hits"]
    assert len(hits) == 2
    assert hits[0]["why"]


def test_an_item_is_edited_and_then_forgotten_with_its_words(folder: Path) -> None:
    [tea] = [one for one in items(folder) if one["kind"] == "preference"]
    edited = found(memories("edit", folder, tea["id"], "Ada 喜欢喝乌龙茶。", *HASHING, "--json"))
    assert (edited["id"], edited["version"], edited["text"]) == (tea["id"], 2, "Ada 喜欢喝乌龙茶。")
    said = memories("forget", folder, tea["id"], tea["id"], *HASHING)
    assert said.code == 0
    assert said.out.splitlines()[1].split()[0] == tea["id"]
    assert tea["id"] not in [one["id"] for one in items(folder, "--history")]
    refused(memories("show", folder, tea["id"]), "no item of that id")


def test_forgetting_is_refused_as_a_whole_where_one_id_is_wrong(folder: Path) -> None:
    before = items(folder)
    refused(memories("forget", folder, before[0]["id"], "m999", *HASHING), "no item of that id")
    assert items(folder) == before


def test_another_users_items_are_out_of_reach(folder: Path) -> None:
    own = items(folder)[0]["id"]
    for step, *more in (["show"], ["edit", "mine", *HASHING], ["forget", *HASHING]):
        refused(memories(step, folder, own, *more, user="bob"), "no item of that id")
    assert "Zuzu" not in memories("search", folder, "Zuzu", *HASHING, user="bob").out


def test_the_items_are_exported_one_a_line(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    said = memories("export", folder, "--out", out)
    assert (said.code, said.out) == (0, "")
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert lines == items(folder, "--history")
    assert str(len(lines)) in said.err
    assert memories("export", folder).out == out.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["memories"], "COMMAND"),
        (["memories", "sing"], "sing"),
        (["memories", "list", "memory"], "--user"),
        (["memories", "list", "missing", "--user", "ada"], "missing"),
        (["memories", "list", "memory", "--user", ""], "user must not be empty"),
        (["memories", "list", "memory", "--user", "a\x1bb"], "control character"),
        (["memories", "list", "memory", "--user", "ada", "--kind", "gossip"], "gossip"),
        (["memories", "search", "memory", "x", "--user", "ada", "--limit", "0"], "'0'"),
        (["memories", "search", "memory", "x", "--user", "ada", "--limit", "101", *HASHING], "1 to 100"),
        (["memories", "edit", "memory", "m1", " ", "--user", "ada", *HASHING], "a memory must be text"),
        (["memories", "edit", "memory", "m1", "x", "--user", "ada", "--expires", "soon"], "soon"),
        (["memories", "forget", "memory", "--user", "ada"], "ID"),
        (["memories", "list", "http://127.0.0.1:1", "--user", "ada"], "127.0.0.1:1"),
        (["memories", "search", "unix:/nowhere", "x", "--user", "ada", *HASHING], "--embedder"),
        (["export", "missing", "--user", "ada"], "missing"),
        (["export", "memory", "--user", "ada", "--out", "."], "directory"),
        (["export", "memory", "--user", "ada", "--out", "no/such/place"], "no/such/place"),
        (["import", "new", "missing.json", "--user", "ada"], "missing.json"),
        (["import", "new", "memory", "--user", "ada"], "directory"),
        (["import", "new", "memory/support.json", "--user", ""], "user must not be empty"),
        (["completion"], "shell"),
        (["completion", "cmd"], "cmd"),
    ],
    ids=lambda value: " ".join(map(ascii, value)) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_refused_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    before = items(folder, "--history")
    (folder / "support.json").write_text(json.dumps(LOG))
    monkeypatch.chdir(folder.parent)
    refused(run(*arguments), word)
    assert [one.name for one in folder.parent.iterdir()] == ["memory"]
    assert items(folder, "--history") == before


# --- import and export ----------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "support.json"
    file.write_text(json.dumps(LOG, ensure_ascii=False), "utf-8")
    return file


def imported(log: Path, folder: object, *arguments: object) -> Said:
    return run("import", folder, log, "--user", "ada", *HASHING, *arguments)


def test_an_older_log_becomes_memories_with_its_ids_and_times_and_adds_nothing_twice(
    log: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "new"
    counts = json.loads(imported(log, folder, "--json").out)
    assert (counts["conversations"], counts["messages"], counts["lines_with_faults"]) == (1, 3, 0)
    assert counts["items_made_or_changed"] > 0
    kept = items(folder)
    assert {"old-1", "old-3"} <= {id for one in kept for id in one["source_ids"]}
    assert {one["session_id"] for one in kept} == {"support"}
    assert "2024-03-01 09:00+08:00" in memories("list", folder).out
    again = imported(log, folder)
    assert re.search(r"items made or changed +0", again.out)
    assert items(folder) == kept


def test_lines_of_a_log_keep_their_conversations_and_faults_are_named(tmp_path: Path) -> None:
    log, folder = tmp_path / "log.jsonl", tmp_path / "new"
    lines = [{"id": "c-7", "messages": LOG[:2]}, {"messages": LOG[2:]}, {"messages": [{"role": "wizard"}]}, 5]
    log.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    said = imported(log, folder, "--session", "shop")
    assert said.code == 1
    assert [line.split(":")[0] for line in said.faults] == ["line 3", "line 4"]
    assert re.search(r"conversations +2", said.out)
    assert {one["session_id"] for one in items(folder)} == {"c-7", "shop, line 2"}


def test_a_log_of_faults_alone_makes_no_folder(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text("not json", "utf-8")
    said = imported(log, tmp_path / "new")
    assert said.code == 2
    assert said.faults[-1] == "actormem: nothing of this log could be imported"
    assert not (tmp_path / "new").exists()


def test_an_import_that_ctrl_c_ends_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, folder = tmp_path / "log.json", tmp_path / "new"
    log.write_text(
        json.dumps(
            [{"role": "user", "content": f"I own boat {one}.", "id": f"b-{one}"} for one in range(130)]
        )
    )
    monkeypatch.setattr(transfer, "tqdm", partial(tqdm, mininterval=0, miniters=1))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    try:
        with contextlib.redirect_stderr(Pressing(" 64/130 ")) as err:
            assert command.main(["import", str(folder), str(log), "--user", "ada", *HASHING]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert err.getvalue().endswith("actormem: stopped\n")
    assert "130/130" not in err.getvalue()
    assert json.loads(imported(log, folder, "--json").out)["messages"] == 130
    ids = [id for one in items(folder) for id in one["source_ids"] if one["kind"] == "episode"]
    assert sorted(ids) == sorted(f"b-{one}" for one in range(130))


def test_all_of_a_user_is_exported_at_once(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "ada.json"
    out.write_text("older")
    assert run("export", folder, "--user", "ada", "--out", out).code == 0
    kept = json.loads(out.read_text("utf-8"))
    assert kept["owner"] == {"tenant": "", "user": "ada"}
    assert kept["sessions"][0]["messages"][0]["id"] == "ada-1"
    assert kept["items"] == items(folder, "--history")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ada.json", "memory"]
    printed = json.loads(run("export", folder, "--user", "ada").out)
    assert {**printed, "time_ms": 0} == {**kept, "time_ms": 0}


def test_the_commands_speak_to_a_server_too(once: Path, log: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(once, tmp_path / "memory"))

    async def ask(*words: object) -> Said:
        return await anyio.to_thread.run_sync(lambda: run(*words))

    async def main() -> list[Said]:
        async with served(path=path) as server:
            url = server.url
            return [
                await ask("memories", "list", url, "--user", "ada", "--json"),
                await ask("memories", "search", url, "龙井", "--user", "ada", "--json"),
                await ask("import", url, log, "--user", "ada", "--json"),
                await ask("export", url, "--user", "ada"),
            ]

    listed, searched, taken, exported = anyio.run(main)
    assert len(json.loads(listed.out)) > 2
    assert "龙井" in json.loads(searched.out)["hits"][0]["item"]["text"]
    assert json.loads(taken.out)["messages"] == len(LOG)
    assert "old-1" in exported.out


# --- completion and help ----------------------------------------------------------------------------------


COMMANDS = list(commands_of(command.parser()))
BASH = """
source {script}
COMP_WORDS=({words} "{begun}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_actormem 2>/dev/null; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    script = tmp_path_factory.mktemp("bash") / "script"
    script.write_text(run("completion", "bash").out)

    def complete(*asked: tuple[str, str]) -> list[list[str]]:
        lines = [
            BASH.format(script=script, words=f"actormem {words}", begun=begun) + "echo --"
            for words, begun in asked
        ]
        done = subprocess.run(
            ["bash", "-u", "-c", "\n".join(lines)], capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return [part.split() for part in done.stdout.split("--\n")[:-1]]

    return complete


def offered(one: Command) -> list[str]:
    return [name for choice in one.options for name in choice.names]


def test_bash_completes_every_command_and_every_option(bash: Any) -> None:
    parts = bash(*((one.path, "") for one in COMMANDS), *((one.path, "--") for one in COMMANDS))
    for one, steps, options in zip(COMMANDS, parts, parts[len(COMMANDS) :], strict=False):
        assert steps == [*(name for name, _ in one.steps), *one.values]
        assert options == [name for name in offered(one) if name.startswith("--")]
    assert {"chat", "memories list", "completion"} <= {one.path for one in COMMANDS}


def test_bash_completes_values_and_is_not_led_astray_by_them(bash: Any) -> None:
    kinds, shells, begun, user, named = bash(
        ("memories list memory --kind", ""), ("completion", "f"), ("memories", "ex"),
        ("memories list memory --user", ""), ("memories list list", "--j"),
    )  # fmt: skip
    assert kinds == ["fact", "preference", "event", "episode", "summary"]
    assert (shells, begun, user, named) == (["fish"], ["export"], [], ["--json"])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_of_every_command_and_option(shell: str, tmp_path: Path) -> None:
    said = run("completion", shell)
    for one in COMMANDS:
        for name, _ in one.steps:
            assert re.search(rf"\b{name}\b", said.out)
        for name in offered(one):
            assert (name if shell == "zsh" else re.sub("^--?", "", name)) in said.out
    if shutil.which(shell) is not None:
        script = tmp_path / "script"
        script.write_text(said.out)
        subprocess.run([shell, "-n", script], check=True)


def test_completion_follows_the_parser() -> None:
    parser = argparse.ArgumentParser(prog="actormem")
    parser.add_argument("--it's", help="50%% of: what's new")
    for script in SHELLS.values():
        assert "it" in script(list(commands_of(parser)))
    assert "'--it'\\''s:50% of\\: what'\\''s new'" in SHELLS["zsh"](list(commands_of(parser)))


@pytest.mark.parametrize("words", ["chat", "memories", "memories forget", "import", "export", "completion"])
def test_help_has_examples_and_exit_codes(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said = run(*words.split(), "--help")
    assert (said.code, said.err) == (0, "")
    assert "examples:\n" in said.out
    assert re.findall(r"^  (\d+) ", said.out, re.MULTILINE) == ["0", "1", "2", "130"]
    assert max(map(width, said.out.splitlines())) <= 100


def test_every_option_of_every_command_says_what_it_does() -> None:
    assert [(one.path, choice.names) for one in COMMANDS for choice in one.options if not choice.about] == []


def test_words_for_a_terminal() -> None:
    assert moment(1_709_254_800_000, 480) == "2024-03-01 09:00+08:00"
    assert many_lines("a\n\tb\x1b[2J\r") == "a\n\tb·[2J·"
