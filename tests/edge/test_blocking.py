"""The front door for programs without an event loop: the same methods, from many threads, interrupted and closed."""

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem import OverloadedError, StoppedError, UsageError, blocking
from actormem.task import SessionTask
from actormem.testing import ScriptedEmbedder

PAIRS = [
    (actormem.Runtime, blocking.Runtime),
    (actormem.Session, blocking.Session),
    (actormem.Turn, blocking.Turn),
    (SessionTask, blocking.SessionTask),
]
OF_THE_LOOP = {"ask", "ask_memory", "attached", "check_loop", "closed", "resume", "tell_of", "wake_bases"}
ROOT = Path(__file__).parents[2]
WAIT_S = 60.0


def open_memory(path: Path | None = None, **options: Any) -> Any:
    return blocking.open(
        path, **{"embedder": ScriptedEmbedder(), "extract": False, "durability": "process", **options}
    )


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What the work gives in so many threads at once, in order."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count), timeout=WAIT_S))


# --- the same front door ------------------------------------------------------------------------------


@pytest.mark.parametrize(("awaited", "waiting"), PAIRS, ids=lambda one: one.__name__)
def test_it_has_the_same_methods_and_attributes(awaited: type, waiting: type) -> None:
    public = {name for name in dir(awaited) if not name.startswith("_")} - OF_THE_LOOP
    assert public <= {name for name in dir(waiting) if not name.startswith("_")}


@pytest.mark.parametrize(("awaited", "waiting"), PAIRS, ids=lambda one: one.__name__)
def test_signatures_and_docstrings_are_those_of_the_methods_waited_for(awaited: type, waiting: type) -> None:
    handles = {"spawn": "Session", "turn": "Turn"}
    for name, method in inspect.getmembers(waiting, inspect.isfunction):
        if name.startswith("_"):
            continue
        original = getattr(awaited, name)
        assert inspect.signature(method) == inspect.signature(original), name
        assert method.__doc__ == original.__doc__
        assert not inspect.iscoroutinefunction(method)
        assert handles.get(name, "") in str(inspect.signature(method).return_annotation)


def test_a_thread_follows_what_happens_until_it_leaves_or_the_memory_is_closed() -> None:
    with open_memory() as runtime:
        with runtime.events("ada") as events:
            session = runtime.spawn("s-1", user="ada")
            with session.turn("hello") as turn:
                turn.reply("Hello.")
                assert turn.is_open
            assert not turn.is_open
            kinds = [*takewhile(lambda kind: kind != "turn_ended", (event.kind for event in events))]
            assert {"settings", "message", "turn_opened"} <= set(kinds)
        with session.turn("again") as turn:
            turn.end("failed")
        assert [one.outcome for one in session.turns()] == ["complete", "failed"]
        assert session.settings["scope"] == runtime.spawn("s-1", user="ada").settings["scope"]


def test_it_is_opened_by_the_same_options() -> None:
    assert inspect.signature(blocking.open) == inspect.signature(actormem.open)
    assert actormem.blocking.open is blocking.open


def test_type_checkers_see_names_types_and_results(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False, cwd=tmp_path)
    found = [line.rsplit(" - ", 1)[-1] for line in done.stdout.splitlines() if "program.py:" in line]
    assert len(found) == 8, done.stdout
    for line, words in zip(found, FOUND, strict=True):
        assert words in line


PROGRAM = """
from actormem import blocking
with blocking.open("memory/", idle_s=3.0) as runtime:
    reveal_type(runtime.recall)
    reveal_type(runtime.recall("q", user="ada"))
    reveal_type(runtime.spawn("s", user="ada"))
    with runtime.spawn("s", user="ada").turn("x") as turn:
        reveal_type(turn)
        reveal_type(turn.context())
    runtime.recall("q")
    runtime.recall("q", user="ada", limits=3)
    blocking.open("memory/", idle=3.0)
"""
FOUND = [
    'query: str, *, user: str, tenant: str = ""', '"Recall"', '"Session"', '"Turn"', '"list[dict[str, ',
    '"user"', '"limits"', '"idle"',
]  # fmt: skip


# --- at work ------------------------------------------------------------------------------------------


def test_a_conversation_is_remembered(tmp_path: Path) -> None:
    with open_memory(tmp_path) as runtime:
        session = runtime.spawn("s", user="ada", system="You help.")
        with session.turn("我的订单是 KX-48210。", id="t-1") as turn:
            assert turn.messages[-1] == {"role": "user", "content": "我的订单是 KX-48210。"}
            turn.feed({"choices": [{"index": 0, "delta": {"content": "好"}, "finish_reason": None}]})
            turn.feed(
                {
                    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 9},
                }
            )
            assert turn.first_token_ms is not None
            assert (turn.id, turn.prompt_tokens) == ("t-1", 9)
            assert turn.trace.turn_id == "t-1"
            assert len(turn.cache_breakpoints) > 0
        session.task.set("ship", values={"order": "KX-48210"})
        assert session.task.get().goal == "ship"
        runtime.settle()
        assert runtime.recall("KX-48210", user="ada").hits[0].item.text.startswith("我的订单")
        assert [one.role for one in session.messages()] == ["user", "assistant"]
        assert session.turns()[0].outcome == "complete"
        assert session.key.session_id == "s"
        assert runtime.statistics().sessions is not None
        assert repr(session) == "<Session 's'>"
    assert runtime.remaining is not None
    with open_memory(tmp_path) as runtime:
        assert len(runtime.spawn("s", user="ada").messages()) == 2


def test_the_example_of_the_module_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line[4:] for line in (blocking.__doc__ or "").splitlines() if line.startswith("    ")]
    exec("import actormem\n" + "\n".join(lines), {"ask_a_model": lambda messages: "On its way."})
    assert (tmp_path / "memory").is_dir()


def test_a_block_that_raises_is_a_failed_turn_and_the_error_is_its_own() -> None:
    with open_memory() as runtime:
        session = runtime.spawn("s", user="ada")
        with pytest.raises(KeyError), session.turn("q"):
            raise KeyError("mine")
        assert session.turns()[0].outcome == "failed"
        with session.turn("q2") as turn, pytest.raises(UsageError):
            turn.reply({"role": "user", "content": "no"})


def test_many_threads_in_sessions_of_their_own_and_in_one() -> None:
    with open_memory() as runtime:
        shared = runtime.spawn("shared", user="ada")

        def work(number: int) -> int:
            own = runtime.spawn(f"s-{number}", user=f"user-{number}")
            for turn_number in range(5):
                for session in (own, shared):
                    with session.turn(f"{number}.{turn_number}") as turn:
                        assert turn.messages[-1]["content"].endswith(f"{number}.{turn_number}")
                        turn.reply(f"re {number}.{turn_number}")
            return len(own.messages())

        assert in_threads(8, work) == [10] * 8
        told = [one.text for one in shared.messages()]
        assert len(told) == 80
        assert all(reply == f"re {said}" for said, reply in zip(told[::2], told[1::2], strict=True))


def test_turns_of_one_session_wait_for_each_other_across_threads() -> None:
    with open_memory(turn_wait_s=0.05) as runtime:
        session = runtime.spawn("s", user="ada")

        def second() -> None:
            with pytest.raises(OverloadedError), session.turn("second"):
                pass

        with session.turn("first") as turn, ThreadPoolExecutor(1) as pool:
            pool.submit(second).result(WAIT_S)
            turn.reply("done")
        assert [one.text for one in session.messages()] == ["first", "done"]


def test_progress_is_told_and_a_call_from_there_is_refused_instead_of_waiting_for_itself() -> None:
    with open_memory() as runtime:
        told: list[tuple[int, int]] = []

        def progress(done: int, total: int) -> None:
            told.append((done, total))
            runtime.items("ada")

        log = [{"role": "user", "content": f"line {number}"} for number in range(3)]
        with pytest.raises(UsageError, match="own thread"):
            runtime.import_history(log, session_id="old", user="ada", progress=progress)
        assert told == [(3, 3)]
        assert runtime.import_history(log, session_id="old", user="ada") == 0


def test_steps_are_observed_while_the_block_lasts() -> None:
    told: list[Any] = []
    with open_memory() as runtime:
        with runtime.observe(told.append):
            runtime.recall("q", user="ada")
        count = len(told)
        runtime.recall("q", user="ada")
        assert len(told) == count > 0
        with pytest.raises(UsageError):
            runtime.observe(3)


def test_a_program_with_a_loop_of_its_own_may_call_it_from_a_thread() -> None:
    async def main() -> int:
        with open_memory() as runtime:
            session = runtime.spawn("s", user="ada")
            await anyio.to_thread.run_sync(session.add, {"role": "user", "content": "hi"})
            return len(session.messages())

    assert anyio.run(main) == 1


# --- the end ------------------------------------------------------------------------------------------


def test_used_after_it_was_closed_it_says_so_in_one_error() -> None:
    with open_memory() as runtime:
        session = runtime.spawn("s", user="ada")
        turn = session.turn("q")
    for call in (
        lambda: runtime.recall("q", user="ada"),
        lambda: runtime.spawn("s", user="ada"),
        session.messages,
        lambda: session.turn("q"),
        session.task.get,
        turn.__enter__,
        lambda: turn.feed({"choices": []}),
        runtime.statistics,
    ):
        with pytest.raises(StoppedError, match="the memory is closed"):
            call()


def test_closing_ends_what_other_threads_wait_for() -> None:
    embedder, ended = ScriptedEmbedder(), []
    inside, at_work = threading.Event(), threading.Barrier(3)

    def works(session: Any) -> None:
        try:
            with session.turn("mine") as turn:
                at_work.wait(WAIT_S)
                inside.wait(WAIT_S)
                turn.reply("too late")
        except StoppedError as error:
            ended.append(str(error))

    def waits(session: Any) -> None:
        at_work.wait(WAIT_S)
        try:
            with session.turn("behind it"):
                raise AssertionError("a turn was opened")
        except StoppedError as error:
            ended.append(str(error))

    with open_memory(embedder=embedder) as runtime:
        session = runtime.spawn("s", user="ada")
        threads = [threading.Thread(target=work, args=(session,)) for work in (works, waits)]
        for thread in threads:
            thread.start()
        at_work.wait(WAIT_S)
    inside.set()
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()
    assert len(ended) == 2


def remember_and_raise(path: Path, error: BaseException) -> None:
    with open_memory(path) as runtime:
        runtime.remember("The boat is called Heron", user="ada")
        raise error


def test_an_error_in_the_block_closes_the_memory_and_comes_out_as_it_is(tmp_path: Path) -> None:
    for error in (KeyError("mine"), KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)) as raised:
            remember_and_raise(tmp_path, error)
        assert raised.value is error
    with open_memory(tmp_path) as runtime:
        assert len(runtime.items("ada")) == 1


def test_what_cannot_be_opened_is_said_and_leaves_no_thread(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path, options in ((file, {}), (None, {"idle_s": -1})):
        with pytest.raises(actormem.ActorMemError), open_memory(path, **options):
            pass
    with open_memory(tmp_path / "m"), pytest.raises(actormem.FolderInUseError), open_memory(tmp_path / "m"):
        pass
    assert not [thread for thread in threading.enumerate() if "portal" in thread.name]


def test_an_interrupt_ends_the_wait_and_the_memory_stays_sound(tmp_path: Path) -> None:
    """Ctrl-C while a turn waits for the one before it: the wait ends, the turn is withdrawn, all is closed."""
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "memory")],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["interrupted", "['first', 'reply', 'third', 'reply']", "closed"], (
        done.stderr
    )
    assert done.returncode == 0


INTERRUPTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
from actormem import blocking
from actormem.testing import ScriptedEmbedder

def interrupt_once_it_waits():
    main, names = threading.main_thread().ident, set()
    while not {"__enter__", "answer", "result", "wait"} <= names:
        frame, names = sys._current_frames()[main], set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
    signal.pthread_kill(main, signal.SIGINT)

try:
    with blocking.open(sys.argv[1], embedder=ScriptedEmbedder(), extract=False) as runtime:
        session = runtime.spawn("s", user="ada")
        with session.turn("first") as turn:
            try:
                threading.Thread(target=interrupt_once_it_waits).start()
                with session.turn("second") as second:
                    second.reply("never")
            except KeyboardInterrupt:
                print("interrupted")
            turn.reply("reply")
        with session.turn("third") as turn:
            turn.reply("reply")
        print([one.text for one in session.messages()])
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("closed")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_is_told_so_instead_of_waiting_for_ever() -> None:
    with open_memory() as runtime:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                runtime.items("ada")
            except UsageError as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
