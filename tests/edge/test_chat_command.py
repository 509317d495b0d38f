"""`actormem chat`: a conversation with a real server on the loopback, piped in, interrupted, and on a terminal."""

import contextlib
import io
import json
import os
import pty
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

import actormem
from actormem.cli import main as command
from tests.edge.served import served
from tests.edge.test_cli import Said, refused, run
from tests.loopback import Answer, LoopbackServer

LONG = "word " * 60_000  # takes so long to stream that it can be interrupted


class Pressing(io.StringIO):
    """A stdout at which somebody presses Ctrl-C when these words have come."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self._pressed = False

    def write(self, text: str) -> int:
        written = super().write(text)
        if not self._pressed and self._words in self.getvalue():
            self._pressed = True
            signal.raise_signal(signal.SIGINT)
        return written


class Person:
    """Talks to the server, from a folder."""

    def __init__(self, place: object, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.server = server
        self._monkeypatch = monkeypatch
        self.arguments = ("--model", "m", "--user", "ada", "--base-url", server.base_url)

    def says(
        self, *lines: str, more: tuple[object, ...] = ("--embedder", "hashing"), press: str = ""
    ) -> Said:
        """What `actormem chat` did with these lines."""
        reading, writing = os.pipe()
        os.write(writing, "".join(f"{line}\n" for line in lines).encode())
        os.close(writing)
        out = Pressing(press) if press else io.StringIO()
        with (
            os.fdopen(reading) as stdin,
            self._monkeypatch.context() as patched,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            patched.setattr(sys, "stdin", stdin)
            words = ["chat", self.place, *self.arguments, *more]
            code = command.main([str(word) for word in words])
        return Said(code, out.getvalue(), err.getvalue())

    def kept(self) -> tuple[tuple[actormem.Message, ...], tuple[actormem.PastTurn, ...]]:
        """The messages and turns of the session."""

        async def read() -> Any:
            async with actormem.open(self.place, embedder="hashing") as runtime:
                session = await runtime.spawn("chat", user="ada")
                return await session.messages(), await session.turns()

        return anyio.run(read)


@pytest.fixture
def server() -> Any:
    with LoopbackServer(lambda body: f"你说了: {body['messages'][-1]['content']}") as one:
        yield one


@pytest.fixture
def person(tmp_path: Path, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Person:
    return Person(tmp_path / "memory", server, monkeypatch)


def sent(server: LoopbackServer) -> list[dict[str, Any]]:
    return server.seen[-1].body["messages"]


def test_replies_are_streamed_and_the_session_goes_on_another_day(
    person: Person, server: LoopbackServer
) -> None:
    said = person.says(
        "我叫 Ada。", "", "  I live in Hangzhou.  ", more=("--embedder", "hashing", "--system", "Be kind.")
    )
    assert (said.code, said.err) == (0, "")
    assert said.out == "你说了: 我叫 Ada。\n你说了: I live in Hangzhou.\n"
    assert server.seen[-1].body["stream"] is True
    assert sent(server)[0] == {"role": "system", "content": "Be kind."}
    assert person.says("Where do I live?").code == 0
    assert [one["content"] for one in sent(server) if one["role"] == "user"][-2:] == [
        "I live in Hangzhou.", "Where do I live?",
    ]  # fmt: skip
    assert sent(server)[0]["content"].startswith("Be kind.")
    assert [turn.outcome for turn in person.kept()[1]] == ["complete"] * 3


def test_commands_tell_of_the_memory_and_do_not_reach_the_model(
    person: Person, server: LoopbackServer
) -> None:
    said = person.says(
        "I am allergic to peanuts.", "/memories", "/memories 花生 peanuts", "/why", "/budget", "/budget 700", "/help",
        "/quit", "never said",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert len(server.seen) == 1
    for words in (
        "score",
        "allergic to peanuts",
        "context ",
        "recall: ",
        "4096 tokens",
        "700 tokens",
        "/forget ID",
    ):
        assert words in said.out
    again = person.says("/why", "/budget", "//budget")
    assert "context " in again.out
    assert "700 tokens" in again.out
    assert again.out.endswith("你说了: /budget\n")


def test_why_shows_the_words_of_the_memories_that_were_recalled(person: Person) -> None:
    person.says("My order number is KX-48210.")
    said = person.says(
        "What is my order number?", "/why", more=("--embedder", "hashing", "--session", "other")
    )
    assert "KX-48210" in said.out.rpartition("steps")[2]


def test_a_memory_is_forgotten_by_its_id(person: Person) -> None:
    said = person.says("I live in Hangzhou.", "/forget m1", "/forget m1", "/forget", "/memories")
    assert said.code == 0
    assert "2 items erased, 2 texts rewritten" in said.out
    assert "Hangzhou" not in said.out.partition("erased")[2]
    assert said.faults[0] == "actormem: this user has no item of that id"
    assert "needs the id" in said.faults[1]


@pytest.mark.parametrize("line", ["/sing", "/budget x", "/budget ²", "/budget 3", "/again", "/why", "/"])
def test_a_wrong_command_is_one_line_and_changes_nothing(
    person: Person, server: LoopbackServer, line: str
) -> None:
    said = person.says(line, "/budget")
    assert (said.code, said.out, len(said.faults)) == (0, "4096 tokens\n", 1)
    assert server.seen == []


def test_a_server_that_fails_is_one_line_and_the_conversation_goes_on(
    person: Person, server: LoopbackServer
) -> None:
    server.faults += [Answer({"error": {"message": "no such\nmodel\x1b[2J", "code": "model_not_found"}}, 404)]
    said = person.says("first", "/again", "/again", "second")
    assert said.code == 1
    assert said.out == "你说了: first\n你说了: second\n"
    fault, nothing = said.faults
    assert fault.startswith(f"actormem: {server.base_url} answered with status 404: ")
    assert "no such model" in fault
    assert "\x1b" not in fault
    assert nothing == "actormem: nothing is left unanswered"
    assert [one.content for one in person.kept()[0]] == ["first", "你说了: first", "second", "你说了: second"]


def test_a_server_that_is_down_is_one_line(person: Person, server: LoopbackServer) -> None:
    person.arguments = (*person.arguments[:-1], "http://127.0.0.1:1/v1")
    said = person.says("are you there?", "and now?")
    assert (said.code, said.out) == (1, "")
    assert len(said.faults) == 2
    assert all("http://127.0.0.1:1/v1" in line and "/again" in line for line in said.faults)
    assert [turn.outcome for turn in person.kept()[1]] == ["unanswered"] * 2


def test_a_stream_that_breaks_off_keeps_its_part(person: Person, server: LoopbackServer) -> None:
    chunk = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": "The first half"}, "finish_reason": None}],
    }  # fmt: skip
    body = (
        f"data: {json.dumps(chunk)}\n\ndata: {json.dumps({'error': {'message': 'overloaded'}})}\n\n".encode()
    )
    server.faults += [Answer(body, content_type="text/event-stream")]
    said = person.says("hello")
    assert (said.code, said.out) == (1, "The first half\n")
    assert "overloaded; what was said is kept" in said.faults[0]
    messages, [turn] = person.kept()
    assert (messages[1].content, turn.outcome) == ("The first half", "partial")


def test_a_request_that_is_too_long_is_made_smaller(person: Person, server: LoopbackServer) -> None:
    person.says(*(f"number {number} " * 30 for number in range(8)))
    full = len(json.dumps(sent(server)))
    server.faults += [Answer({"error": {"message": "too long", "code": "context_length_exceeded"}}, 400)]
    assert person.says("and now?").err == ""
    assert len(json.dumps(sent(server))) < full


def test_what_a_model_says_does_not_steer_the_terminal(person: Person, server: LoopbackServer) -> None:
    server.reply = "one\n\ttwo\x1b[2J"
    assert person.says("go").out == "one\n\ttwo·[2J\n"


def test_ctrl_c_ends_the_reply_keeps_its_part_and_the_conversation_goes_on(
    person: Person, server: LoopbackServer
) -> None:
    server.reply = LONG
    said = person.says("tell me all", "/budget", press="word word")
    assert said.code == 0
    assert said.out.endswith("\n4096 tokens\n")
    assert said.faults == ["actormem: ended; what was said is kept"]
    messages, [turn] = person.kept()
    assert turn.outcome == "partial"
    assert messages[1].content == said.out.partition("\n")[0]
    assert len(messages[1].text) < len(LONG)


def test_ctrl_c_where_nothing_was_said_yet_leaves_a_question_to_ask_anew(
    person: Person, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(body: dict[str, Any]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        server.released.wait(5)
        return "too late"

    server.reply = pressed
    said = person.says("first", "/budget")
    assert (said.code, said.out) == (0, "4096 tokens\n")
    assert said.faults == ["actormem: ended; /again asks anew"]
    assert person.kept()[1][0].outcome == "unanswered"


def test_it_talks_through_a_server_that_has_the_memory(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(served()) as memory:
        said = Person(memory.url, server, monkeypatch).says(
            "I live in Hangzhou.", "/memories", "/why", "/budget 700", more=()
        )
        items = portal.call(memory.runtime.items, "ada")
    assert (said.code, said.err) == (0, "")
    for words in ("lives in Hangzhou", "context ", "700 tokens"):
        assert words in said.out
    assert len(items) == 3


class Terminal:
    """A terminal whose person answers what it shows."""

    def __init__(self) -> None:
        self.ours, its_end = pty.openpty()
        self.file = os.fdopen(its_end, "r+b", buffering=0)
        self.stdout = io.TextIOWrapper(self.file, "utf-8", write_through=True)

    def until(self, words: str) -> None:
        """Read until these words are shown."""
        shown = b""
        while words.encode() not in shown:
            shown += os.read(self.ours, 1)

    def types(self, keys: str) -> None:
        """Type them."""
        os.write(self.ours, keys.encode())

    def close(self) -> None:
        """Switch it off."""
        self.stdout.close()
        os.close(self.ours)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    one = Terminal()
    yield one
    one.close()


def at(
    terminal: Terminal, answering: Callable[[], None], person: Person, monkeypatch: pytest.MonkeyPatch
) -> int:
    """The exit code of a chat at this terminal, whose person does this beside."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, terminal.stdout)
    answers = Thread(target=answering, daemon=True)
    answers.start()
    code = command.main(["chat", str(person.place), *person.arguments, "--embedder", "hashing"])
    answers.join()
    return code


def press() -> None:
    """What a terminal does on Ctrl-C to the process it belongs to."""
    os.kill(os.getpid(), signal.SIGINT)


def test_on_a_terminal_it_prompts_and_ctrl_c_twice_leaves(
    person: Person, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answering() -> None:
        terminal.until("session chat; /help tells of commands")
        terminal.until("> ")
        terminal.types("你好\n")
        terminal.until("你说了: 你好")
        terminal.until("> ")
        press()
        terminal.until("Ctrl-C again, or Ctrl-D, leaves")
        press()

    assert at(terminal, answering, person, monkeypatch) == 130


def test_ctrl_c_twice_in_a_reply_leaves_and_keeps_its_part(
    person: Person, server: LoopbackServer, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = LONG

    def answering() -> None:
        terminal.until("> ")
        terminal.types("tell me all\n")
        terminal.until("word word")
        press()
        terminal.until("ended; what was said is kept")
        press()

    with monkeypatch.context() as patched:
        assert at(terminal, answering, person, patched) == 130
    assert person.kept()[1][0].outcome == "partial"


def test_ctrl_d_leaves(person: Person, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def answering() -> None:
        terminal.until("> ")
        terminal.types("\x04")

    assert at(terminal, answering, person, monkeypatch) == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["new"], "--model"),
        (["new", "--model", "m", "--base-url", "ftp://x"], "ftp://x"),
        (["new", "--model", "m", "--budget", "3", "--base-url", "http://127.0.0.1:1"], "64"),
        (
            ["new", "--model", "m", "--session", "", "--base-url", "http://127.0.0.1:1"],
            "session id must not be empty",
        ),
        (["new", "--model", "m", "--user", "", "--base-url", "http://127.0.0.1:1"], "user must not be empty"),
        (["new", "--model", "m", "--budget", "64", "--system", "word " * 99, "--base-url", "http://x"], "64"),
        (["new", "--model", "m"], "OPENAI_API_KEY"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_refused_and_makes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    refused(run("chat", *arguments), word)
    assert list(tmp_path.iterdir()) == []


def test_the_server_and_its_key_are_taken_from_the_environment(
    person: Person, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    person.arguments = person.arguments[:-2]
    assert person.says("hello").code == 0
    assert server.seen[0].headers["authorization"] == "Bearer sk-mine"
