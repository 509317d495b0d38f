"""The example of a server with memory, docs/chat_app.py: many streams at once, and clients that leave in the middle."""

import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.lowlevel
import msgspec
import pytest

import actormem
from actormem.remote.transport import client_library
from tests.edge.served import running
from tests.edge.stepped_model import SteppedModel, Stream, Watched, modelling
from tests.edge.test_serve_command import child
from tests.soak.process import held_now

pytestmark = pytest.mark.anyio

APP = Path(__file__).parents[2] / "docs" / "chat_app.py"
LINES_MAX = 60
COMMAND = ("uvicorn", "--app-dir", "docs", "chat_app:app", "--timeout-graceful-shutdown")
PATIENCE_S = 300.0
REPLY = "三天后到账，your parcel is on its way."
PART = REPLY[:4]
LEAVES_EVERY = 4  # of the clients of a round one in four leaves after the first words
SESSIONS = ("s-1", "第二")  # of each user
OUTCOMES = {"": "unanswered", PART: "partial"}
KINDS = ("sessions", "summarizer", "longterm", "embedding", "upkeep")

Said = list[tuple[str, str]]


@pytest.fixture
def anyio_backend() -> str:
    """Uvicorn's own loop."""
    return "asyncio"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """The example as it stands, with a folder of its own."""
    monkeypatch.setenv("CHAT_FOLDER", str(tmp_path / "memory"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    spec = spec_from_file_location("chat_app", APP)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return Watched(module.app)


def client_of(url: str) -> Any:
    """A client that opens as many connections as it is asked to."""
    library = client_library()
    return library.AsyncClient(
        base_url=url, timeout=PATIENCE_S, limits=library.Limits(max_connections=None), trust_env=False
    )


def path_of(user: str, session: str, id: str = "") -> str:
    return f"/chat/{quote(user)}/{quote(session)}" + (f"?id={id}" if id else "")


async def events_of(answer: Any) -> AsyncGenerator[tuple[str, Any]]:
    """Server-sent events: their kind and what they say."""
    kind = "message"
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))
        else:
            assert line == ""
            kind = "message"


async def read_to_the_end(events: AsyncGenerator[tuple[str, Any]]) -> tuple[str, str]:
    """The words that were still to come, and the id that `done` names."""
    words: list[str] = []
    async for kind, data in events:
        if kind == "done":
            return "".join(words), data
        words.append(data)
    raise AssertionError("the reply ended without `done`")


def key_of(place: int) -> tuple[str, str]:
    """User and session of a client."""
    return f"user-{place // 2}", SESSIONS[place % 2]


class Crowd:
    """Clients that ask at the same time, each in a session of its own; half of them share a user with another.

    Attributes:
        said: What each session must have heard.
    """

    def __init__(self, count: int) -> None:
        self.said: dict[tuple[str, str], Said] = {}
        self._count = count
        self._round = 0

    async def ask(self, url: str, model: SteppedModel) -> list[Stream]:
        """One question each. No model says its second words before every client has read the first ones."""
        self._round += 1
        asked_before = model.asked_count
        questions = [f"<{place:03}.{self._round}> 我的订单 KX-{place:05} 呢?" for place in range(self._count)]
        streams = [model.stream(one, f"{REPLY} {one}") for one in questions]
        all_begun = [anyio.Event() for _ in questions]
        async with client_of(url) as client, anyio.create_task_group() as group:
            for place, begun in enumerate(all_begun):
                group.start_soon(self._one, client, place, questions[place], streams[place], begun)
            for begun in all_begun:
                await begun.wait()
            assert all(one.sent == [PART] for one in streams)
            for one in streams:
                one.go_on.set()
        assert model.asked_count == asked_before + self._count
        return streams

    async def _one(self, client: Any, place: int, question: str, stream: Stream, begun: anyio.Event) -> None:
        key = key_of(place)
        id = f"{place}.{self._round}"
        leaves = place % LEAVES_EVERY == self._round % LEAVES_EVERY
        async with client.stream("POST", path_of(*key, id), content=question.encode()) as answer:
            assert answer.status_code == 200
            events = events_of(answer)
            assert await anext(events) == ("message", PART)
            if not leaves:
                begun.set()
                assert await read_to_the_end(events) == (stream.reply.removeprefix(PART), id)
        await stream.ended.wait()  # of those that leave before the model was let go on: it was told to stop
        begun.set()
        said = self.said.setdefault(key, [])
        said += [("user", question), ("assistant", PART if leaves else stream.reply)]


class AtRest(msgspec.Struct, frozen=True):
    """What a process holds when nobody speaks."""

    tasks: int
    threads: int
    files: int
    residents: tuple[int, ...]


async def at_rest(app: Watched, model: SteppedModel, folder: Path) -> AtRest:
    """What is held when every request has ended and background work is done; no actor may have crashed."""
    while app.open_count or model.app.open_count:
        await anyio.lowlevel.checkpoint()
    runtime: actormem.Runtime = app.state["runtime"]
    await runtime.settle()
    kinds = [getattr(runtime.statistics(), kind) for kind in KINDS]
    assert not any(one.restarts or one.given_up or one.errors for one in kinds)
    held = held_now(folder)
    return AtRest(held.tasks, held.threads, held.files, tuple(one.residents for one in kinds))


async def check(folder: Path, said: dict[tuple[str, str], Said]) -> None:
    """In the folder each session has heard exactly this, in this order."""
    async with actormem.open(folder, embedder="hashing") as runtime:
        for (user, session_id), expected in said.items():
            session = await runtime.spawn(session_id, user=user)
            assert [(one.role, one.text) for one in await session.messages()] == expected
            replies = [*(text for _, text in expected[1::2]), ""][: (len(expected) + 1) // 2]
            outcomes = [OUTCOMES.get(text, "complete") for text in replies]
            assert [one.outcome for one in await session.turns()] == outcomes
        users = {user for user, _ in said}
        assert sum([len(await runtime.sessions(user)) for user in users]) == len(said)


def test_it_is_short_and_says_how_it_is_run() -> None:
    text = APP.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES_MAX
    assert " ".join(COMMAND) in text.partition("import")[0]


@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")
@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.full)])
async def test_of_many_streams_nothing_is_lost_nothing_leaks_and_no_word_waits_for_the_next(
    app: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    crowd = Crowd(count)
    folder = tmp_path / "memory"
    with anyio.fail_after(PATIENCE_S):
        async with modelling() as model:
            monkeypatch.setenv("OPENAI_BASE_URL", model.url)
            async with running(app, lifespan="on") as url:
                held: list[AtRest] = []
                for _ in range(3):
                    await crowd.ask(url, model)
                    held.append(await at_rest(app, model, folder))
            assert held[0] == held[1] == held[2]
            assert held[0].residents[0] == count
        await check(folder, crowd.said)


@pytest.mark.full
async def test_started_again_on_the_same_folder_it_goes_on(
    app: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = Crowd(4)
    with anyio.fail_after(PATIENCE_S):
        async with modelling() as model:
            monkeypatch.setenv("OPENAI_BASE_URL", model.url)
            for _ in range(3):
                async with running(app, lifespan="on") as url:
                    streams = await crowd.ask(url, model)
        for place, stream in enumerate(streams):
            said = crowd.said[key_of(place)]
            texts = "\n".join(one["content"] for one in stream.seen)
            assert all(text in texts for _, text in said[:-1])
        await check(tmp_path / "memory", crowd.said)


@pytest.mark.parametrize("end", ["SIGTERM", pytest.param("SIGKILL", marks=pytest.mark.full)])
async def test_run_as_its_docstring_says_wrong_requests_change_nothing_and_an_end_in_the_middle_keeps_what_was_said(
    tmp_path: Path, end: str
) -> None:
    command = (*COMMAND, 0, "--port", 0)
    folder = tmp_path / "memory"
    crowd = Crowd(2)
    async with modelling() as model:
        variables = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "CHAT_FOLDER": str(folder)}
        async with child(*command, **variables) as one:
            url = "http://" + (await one.until("running on http://")).partition(" ")[0]
            with anyio.fail_after(PATIENCE_S):
                await crowd.ask(url, model)
                await wrong_requests(url, model, crowd.said)
                await cut_off(url, model, one.process, getattr(signal, end))
            await one.ended()
    crowd.said["cut", "s"] = [("user", "<cut> 呢?"), ("assistant", PART)][: 1 if end == "SIGKILL" else 2]
    await check(folder, crowd.said)


async def wrong_requests(url: str, model: SteppedModel, said: dict[tuple[str, str], Said]) -> None:
    """Each is told why; what the model refuses may be asked again by its id."""
    async with client_of(url) as client:
        for path, content, says in (
            (path_of("user-0", "s-1"), b"\xff", "utf-8"),
            (path_of("user-0", "s-1", "0.1"), b"again", "in the session already"),
            (path_of("user-0", "x" * 2_000), b"hello", "session id"),
        ):
            answer = await client.post(path, content=content)
            assert answer.status_code == 400
            assert says in answer.json()["error"]
        assert (await client.get(path_of("user-0", "s-1"))).status_code == 405
        question = "<new> 到哪了?"
        answer = await client.post(path_of("bob", "s", "q"), content=question.encode())
        assert answer.status_code == 503
        stream = model.stream(question, REPLY)
        stream.go_on.set()
        answer = await client.post(path_of("bob", "s", "q"), content=question.encode())
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        said["bob", "s"] = [("user", question), ("assistant", REPLY)]


async def cut_off(url: str, model: SteppedModel, process: Any, number: signal.Signals) -> None:
    """The server is told to end while a client reads."""
    stream = model.stream("<cut>", REPLY)
    async with client_of(url) as client:
        path = path_of("cut", "s")
        async with client.stream("POST", path, content="<cut> 呢?".encode()) as answer:
            events = events_of(answer)
            assert await anext(events) == ("message", PART)
            process.send_signal(number)
            with suppress(client_library().TransportError, AssertionError):
                await read_to_the_end(events)
                pytest.fail("a reply that was cut off must not look whole")
        await stream.ended.wait()
        assert stream.sent == [PART]
