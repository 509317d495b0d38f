"""The n-th call of the disk, of the LLM, of the embedder fails, for n = 1 and on until none is left to fail.

What was acknowledged is there afterwards, once and in order; nothing else is but what was asked for and left open.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem.ports import Record
from actormem.testing.faults import DiskFault, FailingEmbedder, FailingLLM, FailingRecord, ModelFault
from tests.runtimes import FakeClock, ScriptedEmbedder, ScriptedLLM, answered, files_holding, opened

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

CANARY = "zanzibar-7719"
LONG = "We spoke of the delivery, of the colour and of the price, and nothing was decided yet. " * 4
CALLS_MAX = 60  # of one kind in this short life: a loop over them ends
SOME = 11  # one call in so many fails by default; each one with `pytest -m full`
EACH = pytest.param(1, marks=pytest.mark.full)


class Model:
    """What a life was told and asked for, in plain words.

    Attributes:
        kept: Texts that were acknowledged, in order.
        open: Texts whose outcome nobody was told.
    """

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.open: set[str] = set()
        self.remembered: set[str] = set()
        self.forgotten = False

    async def does(self, texts: list[str], call: Callable[[], Awaitable[object]]) -> bool:
        """Do it; with an error of ours its outcome is open, with any other the test fails."""
        try:
            await call()
        except actormem.ActorMemError:
            self.open |= set(texts)
            return False
        self.kept += texts
        return True


async def live(runtime: actormem.Runtime, model: Model) -> None:
    """A short life: two turns, an item remembered, one edited, one forgotten with its words."""
    session: list[actormem.Session] = []

    async def spawn() -> None:
        session.append(await runtime.spawn("s", user="ada", budget=actormem.Budget(context=400)))

    for _ in range(2):  # a question that was not answered is asked again
        if not session:
            await model.does([], spawn)
    if not session:
        return
    first, second = f"My new address is 5 Hill Street. {LONG}", f"我对花生过敏。{LONG}"
    await model.does([first, "I see."], lambda: answered(session[0], first, "I see."))
    await model.does([second, "好的。"], lambda: answered(session[0], second, "好的。"))

    async def remember(text: str) -> None:
        await runtime.remember(text, user="ada")
        model.remembered.add(text)

    await model.does([], lambda: remember("The user likes green tea."))

    async def forget() -> None:
        item = await runtime.remember(f"The user likes {CANARY}.", user="ada")
        await runtime.forget(item.id, user="ada")
        model.forgotten = True

    await model.does([], forget)
    third = f"What is my address? {LONG}"
    await model.does([third, "5 Hill Street."], lambda: answered(session[0], third, "5 Hill Street."))


async def compare(folder: Path, model: Model) -> None:
    """The folder, opened again with nothing that fails, against the model."""
    async with opened(folder) as runtime:
        await runtime.settle()
        session = await runtime.spawn("s", user="ada")
        said = [message.content for message in await session.messages()]
        assert len(said) == len(set(said)), "something is there twice"
        assert [text for text in said if text not in model.open] == model.kept
        items = {item.text for item in await runtime.items("ada")}
        assert model.remembered <= items
        for words in ("5 Hill Street", "花生"):
            told = any(words in text for text in said if isinstance(text, str))
            assert any(words in item for item in items) or not told
        seen = await answered(session, "Is all as it was?")
        assert seen
    if model.forgotten:
        assert files_holding(folder, CANARY) == []


@pytest.mark.parametrize("stride", [SOME, EACH])
@pytest.mark.parametrize(("fault", "first"), [("full", 3), ("unsynced", 5), ("unread", 1)])
async def test_a_disk_that_fails_at_any_call_loses_nothing_acknowledged(
    tmp_path: Path, fault: DiskFault, first: int, stride: int
) -> None:
    made: list[FailingRecord] = []

    def wrap(record: Record) -> Record:
        made.append(FailingRecord(record, at=at, fault=fault))
        return made[-1]

    for at in range(first if stride > 1 else 1, CALLS_MAX, stride):
        folder, model = tmp_path / str(at), Model()
        options: dict[str, Any] = {"embedder": ScriptedEmbedder(), "clock": FakeClock()}
        with suppress(actormem.StorageError):
            async with actormem.open(folder, durability="process", wrap_record=wrap, **options) as runtime:
                await live(runtime, model)
                with suppress(actormem.StorageError):
                    await runtime.settle()
                if fault != "unread" and made[-1].failed:
                    await first_failure_stops_acknowledging(runtime, model)
        await compare(folder, model)
        if not made[-1].failed:
            assert at > 5
            assert not model.open
            assert len(model.kept) == 6
            return
    raise AssertionError("there is always one more call")


async def first_failure_stops_acknowledging(runtime: actormem.Runtime, model: Model) -> None:
    """A conversation goes on; that it is stored is said of nothing any more."""
    for number in range(2):
        text = f"Said later, number {number}."
        assert not await model.does([text], lambda text=text: say(runtime, text))


async def say(runtime: actormem.Runtime, text: str) -> None:
    session = await runtime.spawn("s", user="ada")
    await session.add({"role": "user", "content": text})


async def passing(clock: FakeClock, models: list[Any], settling: anyio.Event, over: anyio.Event) -> None:
    """Time passes while a call hangs, and slowly while background work is waited for; else it stands still."""
    while not over.is_set():
        hanging = any(one.hanging_count for one in models)
        if hanging or settling.is_set():
            # Slowly while threads may be at work that somebody waits for with a deadline.
            await clock.advance(1.0 if hanging and settling.is_set() else 0.02)
        await anyio.lowlevel.checkpoint()


def reply(messages: Any) -> str:
    return "The user asked about a delivery and a price; nothing was decided."


@pytest.mark.parametrize("stride", [SOME, EACH])
@pytest.mark.parametrize(
    "fault",
    [
        "hang",
        "garbage",
        pytest.param("error", marks=pytest.mark.full),
        pytest.param("bug", marks=pytest.mark.full),
        pytest.param("drip", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("kind", ["llm", "embedder"])
async def test_a_model_that_fails_at_any_call_changes_nothing_that_is_kept(
    tmp_path: Path, kind: str, fault: ModelFault, stride: int
) -> None:
    for at in range(1, CALLS_MAX, stride):
        folder, model, clock = tmp_path / str(at), Model(), FakeClock()
        llm = FailingLLM(ScriptedLLM(reply), at=at if kind == "llm" else 0, fault=fault, clock=clock)
        embedder = FailingEmbedder(
            ScriptedEmbedder(), at=at if kind == "embedder" else 0, fault=fault, clock=clock
        )
        settling, over = anyio.Event(), anyio.Event()
        async with AsyncExitStack() as stack:
            stack.enter_context(anyio.fail_after(30))
            group = await stack.enter_async_context(anyio.create_task_group())
            group.start_soon(passing, clock, [llm, embedder], settling, over)
            async with actormem.open(
                folder, llm=llm, embedder=embedder, clock=clock, durability="process"
            ) as runtime:
                await live(runtime, model)
                assert len(model.kept) == 6
                assert not model.open
                assert model.forgotten
                settling.set()
                await runtime.settle()
                statistics = runtime.statistics()
                for one in (statistics.sessions, statistics.summarizer, statistics.longterm):
                    assert one.restarts == one.given_up == 0, one.last_crash
            over.set()
        await compare(folder, model)
        if not (llm if kind == "llm" else embedder).failed:
            assert at > 2
            return
    raise AssertionError("there is always one more call")
