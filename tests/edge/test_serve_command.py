"""`actormem serve` as a process: where it listens, how it ends, how it dies, and four workers that share it."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

import actormem
from actormem.cli import main as command
from actormem.remote.transport import client_library
from tests.edge.worker_app import URL
from tests.loopback import Drip, LoopbackServer

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Of the client's own loop; the server has another one in its own process."""
    return str(request.param)


on_trio = pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)


class Child:
    """A process and what it prints."""

    def __init__(self, process: Process) -> None:
        self.process = process
        assert process.stdout is not None
        self._lines = TextReceiveStream(process.stdout)
        self.printed = ""

    async def until(self, words: str) -> str:
        """The rest of the first line that holds these words."""
        with anyio.fail_after(PATIENCE_S):
            while words not in self.printed or "\n" not in self.printed.partition(words)[2]:
                self.printed += await self._lines.receive()
        return self.printed.partition(words)[2].partition("\n")[0]

    async def ended(self) -> int:
        """Its exit code, when all it printed is read."""
        with anyio.fail_after(PATIENCE_S):
            async for text in self._lines:
                self.printed += text
            return await self.process.wait()


@asynccontextmanager
async def child(*arguments: object, **variables: str) -> AsyncGenerator[Child]:
    words = [sys.executable, "-m", *map(str, arguments)]
    process = await anyio.open_process(
        words, cwd=ROOT, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(ROOT), **variables}
    )
    async with process:
        try:
            yield Child(process)
        finally:
            if process.returncode is None:
                process.kill()


@asynccontextmanager
async def serving(folder: Path, *options: object) -> AsyncGenerator[tuple[Child, str]]:
    arguments = ("serve", folder, "--embedder", "hashing", *options)
    async with child("actormem.cli.main", *arguments) as one:
        yield one, await one.until(" at ")


@on_trio
@pytest.mark.anyio
async def test_a_signal_ends_it_in_time_and_what_was_left_is_told(tmp_path: Path) -> None:
    async with serving(tmp_path / "memory", "--port", 0, "--drain", 5) as (one, url):
        assert url.startswith("http://127.0.0.1:")
        async with client_library().AsyncClient(base_url=url) as client:
            assert "<title>actormem</title>" in (await client.get("/")).text
        async with actormem.connect(url) as runtime, runtime.events("ada") as events:
            session = await runtime.spawn("s", user="ada")
            await session.turn("hello", id="q").__aenter__()
            one.process.send_signal(signal.SIGTERM)
            with pytest.raises(actormem.StoppedError, match="no more events"):
                async for _ in events:
                    pass
            assert await one.ended() == 0
        assert (
            "0 requests cut off; 1 turns ended without a reply; for the next start: 0 summaries"
            in one.printed
        )
        assert "Traceback" not in one.printed
    async with actormem.open(tmp_path / "memory", embedder="hashing") as runtime:
        [turn] = await (await runtime.spawn("s", user="ada")).turns()
        assert (turn.id, turn.outcome) == ("q", "unanswered")


@pytest.mark.anyio
async def test_what_still_runs_at_the_deadline_is_cut_off_and_has_recorded_what_it_had(
    tmp_path: Path,
) -> None:
    with LoopbackServer() as model:
        model.faults.append(Drip())
        options = ("--port", 0, "--drain", 0.2, "--upstream", model.base_url)
        async with serving(tmp_path / "memory", *options) as (one, url), anyio.create_task_group() as group:

            async def ask() -> None:
                library = client_library()
                who = {"x-actormem-user": "ada", "x-actormem-session": "s"}
                body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
                async with library.AsyncClient(timeout=PATIENCE_S) as client:
                    answer = await client.post(f"{url}/v1/chat/completions", json=body, headers=who)
                assert answer.status_code == 503
                assert "the same message id may be sent again" in answer.json()["error"]["message"]

            group.start_soon(ask)
            with anyio.fail_after(PATIENCE_S):
                while not model.seen:
                    await anyio.lowlevel.checkpoint()
            one.process.send_signal(signal.SIGINT)
            assert await one.ended() == 130
            assert "1 requests cut off; 0 turns" in one.printed
            assert "Traceback" not in one.printed
    async with actormem.open(tmp_path / "memory", embedder="hashing") as runtime:
        [turn] = await (await runtime.spawn("s", user="ada")).turns()
        assert turn.outcome == "unanswered"


@pytest.mark.anyio
async def test_killed_in_the_middle_errors_say_what_to_conclude_and_the_same_id_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.sock"
    async with serving(tmp_path / "memory", "--unix", path) as (one, url):
        assert url == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with actormem.connect(url) as runtime:
            session = await runtime.spawn("s", user="ada", system="You are a shop.")
            async with session.turn("first", id="q-1") as turn:
                turn.reply("1")
            turn = session.turn("second", id="q-2")
            await turn.__aenter__()
            turn.reply("lost")
            one.process.kill()
            await one.ended()
            with pytest.raises(actormem.StoppedError) as lost:
                await turn.end()
            assert "unknown" in str(lost.value) or "nothing changed" in str(lost.value)
            with pytest.raises(actormem.StoppedError, match="nothing changed"):
                await session.messages()
            async with serving(tmp_path / "memory", "--unix", path):
                async with session.turn("second", id="q-2") as again:
                    again.reply("2")
                assert [m.text for m in await session.messages()] == ["first", "1", "second", "2"]
                assert again.messages[0]["content"] == "You are a shop."


@pytest.mark.full
@pytest.mark.anyio
async def test_four_workers_share_one_memory(tmp_path: Path) -> None:
    memory = tmp_path / "m.sock"
    address = f"unix:{memory}"
    workers = ("uvicorn", "tests.edge.worker_app:app", "--workers", 4, "--port", 0)
    async with child(*workers, **{URL: address}) as one, serving(tmp_path / "memory", "--unix", memory):
        port = (await one.until("running on http://127.0.0.1:")).partition(" ")[0]
        seen: dict[int, int] = {}
        processes: set[int] = set()

        async def ask(number: int) -> None:
            library = client_library()
            async with library.AsyncClient(timeout=PATIENCE_S) as client:
                body = {"session": "s", "user": "ada", "words": f"word {number}", "id": f"q{number}"}
                answer = (await client.post(f"http://127.0.0.1:{port}/chat", json=body)).json()
                seen[number] = answer["seen"]
                processes.add(answer["process"])

        with anyio.fail_after(PATIENCE_S):
            count = 0
            while len(processes) < 2 or count < 40:  # the system spreads connections over the workers
                async with anyio.create_task_group() as group:
                    for number in range(count, count + 20):
                        group.start_soon(ask, number)
                count += 20
        async with actormem.connect(address) as runtime:
            session = await runtime.spawn("s", user="ada")
            messages, turns = await session.messages(), await session.turns()
        assert len(messages) == 2 * count
        assert {turn.outcome for turn in turns} == {"complete"}
        assert [one.text for one in messages[1::2]] == [f"{one.text} indeed" for one in messages[::2]]
        assert sorted(seen.values()) == [2 * place + 1 for place in range(count)]  # each saw all before it
        one.process.send_signal(signal.SIGTERM)
        await one.ended()


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = command.main([str(one) for one in arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_another_address_needs_keys_and_wrong_calls_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("[]")
    folder = tmp_path / "memory"
    for arguments, says in (
        (["--host", "0.0.0.0", "--port", 0], "there is no key"),
        (["--host", "::", "--port", 0], "there is no key"),
        (["--host", "no.such.host.invalid"], "cannot listen"),
        (["--port", 99_999], "cannot listen"),
        (["--unix", tmp_path / "file"], "is no socket"),
        (["--unix", "/" + "x" * 300], "cannot listen"),
        (["--unix", tmp_path / "s", "--host", "0.0.0.0"], "without --host"),
        (["--keys", tmp_path / "file"], "must hold keys"),
        (["--keys", tmp_path / "none"], "no such file"),
        (["--upstream", "ftp://x"], "http or https"),
        (["--budget", 3], "at least 64"),
        (["--drain", -1], "--drain"),
    ):
        code, out, err = run(capsys, "serve", folder, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert says in err
    assert not folder.exists()


def test_keys_are_drawn_once_and_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "keys.json"
    code, key, _ = run(capsys, "key", path, "--name", "a", "--tenant", "shop", "--user", "ada")
    assert code == 0
    assert key.strip() not in path.read_text()
    assert run(capsys, "key", path, "--name", "b", "--all-users")[0] == 0
    before = path.read_text()
    for arguments in (["--name", "a", "--all-users"], ["--name", "c"], ["--name", "c", "--user", ""]):
        code, out, err = run(capsys, "key", path, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert path.read_text() == before


def test_without_its_libraries_it_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.startswith(("uvicorn", "actormem.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = run(capsys, "serve", tmp_path / "memory")
    assert (code, err.count("\n")) == (2, 1)
    assert "pip install 'actormem[server]'" in err
