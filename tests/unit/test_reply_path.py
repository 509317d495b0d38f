"""The reply path waits for no LLM, no embedder, no index and no disk: no time passes on the clock meanwhile."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem import Budget, StorageError
from actormem.adapters.flat import FlatIndex
from tests.gated import gated
from tests.runtimes import FakeClock, ScriptedEmbedder, ScriptedLLM, answered, opened, settle, until, words

pytestmark = pytest.mark.anyio

BUDGET = Budget(context=400, recall=40)
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


class SlowForSome(ScriptedEmbedder):
    """Holds up every text that says `slow`, and no other, while it has a door."""

    door: anyio.Event | None = None

    async def embed(self, texts: Sequence[str]) -> Any:
        """Vectors, once the door is open where a text asks for it."""
        if self.door is not None and any("slow" in text for text in texts):
            await self.door.wait()
        return await super().embed(texts)


class Heedless(ScriptedLLM):
    """Never answers and keeps no deadline, as a caller's own may."""

    async def complete(self, messages: Any, *, tokens_max: int, deadline_s: float, schema: Any = None) -> str:
        """Nothing, for ever."""
        return await super().complete(messages, tokens_max=tokens_max, deadline_s=1e9, schema=schema)


async def over_budget(session: actormem.Session, llm: ScriptedLLM) -> None:
    """Talk until a summary is being made."""
    for number in range(60):
        await answered(session, f"Turn {number}. {LONG}")
        await settle()
        if llm.in_flight_count:
            return
    raise AssertionError("no summary was asked for")


async def test_a_summary_that_takes_three_seconds_holds_nothing_up_and_is_made_once() -> None:
    """openai-agents-python#2343, adk-python#5194, adk-go 1234: compaction awaited, refused, made four times."""
    clock = FakeClock()
    llm = ScriptedLLM(lambda _: "They spoke about the weather and a train.", delay_s=3, clock=clock)
    async with opened(llm=llm, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await over_budget(session, llm)
        traces: list[actormem.Trace] = []

        async def look() -> None:
            traces.append((await session.context()).trace)

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(look)
        for number in range(6):
            await session.add({"role": "user", "content": f"More {number}. {LONG}"})
            await look()
            async with session.turn(f"And then? {number}") as turn:
                traces.append(turn.trace)
                turn.reply("OK.")
        assert all(one.tokens <= 400 for one in traces)
        assert any(one.epoch_end == "the budget" for one in traces), "cut, since the block is not there"
        assert clock.monotonic_s() == 0
        assert (llm.call_count, llm.in_flight_count) == (1, 1)
        await clock.advance(3)

        async def swapped_in() -> bool:
            return "the weather and a train" in words((await session.context()).messages)

        await until(swapped_in)
        assert llm.in_flight_max_count == 1
        said = [m.text for m in await session.messages() if m.role == "user"]
        assert [text[:6] for text in said if text.startswith("More")] == [f"More {n}" for n in range(6)]


@pytest.mark.parametrize("model", [ScriptedLLM, Heedless])
async def test_a_model_that_never_answers_stops_no_conversation(model: type[ScriptedLLM]) -> None:
    clock = FakeClock()
    llm = model(lambda _: "never", wait_for=anyio.Event(), clock=clock)
    async with opened(llm=llm, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await over_budget(session, llm)
        for number in range(8):
            await answered(session, f"Still here, {number}. {LONG}")
        assert clock.monotonic_s() == 0
        for _ in range(9):  # three tries of a minute each, and pauses between them
            await clock.advance(30)
            await runtime.sessions("nobody")  # real threads have had their time
        assert runtime.statistics().summaries_extractive == 1, "the extractive summary has taken its place"


async def test_new_items_that_are_slow_to_embed_hold_no_context_up() -> None:
    clock, embedder = FakeClock(), SlowForSome()
    async with opened(clock=clock, embedder=embedder) as runtime:
        session = await runtime.spawn("s", user="ada")
        embedder.door = anyio.Event()
        await session.add({"role": "user", "content": "I like slow trains."})
        async with anyio.create_task_group() as group:
            group.start_soon(runtime.settle)
            await settle()
            for said in (
                "What are the things that I like to do on a day off?",
                "And where in the world do I live?",
            ):
                async with session.turn(said) as turn:
                    assert turn.trace.degraded == ()
                    turn.reply("OK.")
            assert clock.monotonic_s() == 0
            embedder.door.set()
        assert runtime.statistics().embedded_texts > 0


async def test_an_index_that_is_being_built_holds_no_context_up(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, door = threading.Event(), threading.Event()

    def build(labels: Any, vectors: Any, _: Any) -> FlatIndex:
        begun.set()
        assert door.wait(30), "the test has let it wait"
        index = FlatIndex(vectors.shape[1])
        index.add(labels, vectors)
        return index

    monkeypatch.setattr("actormem.actors.vectors.HNSW_ROWS_MIN", 4)
    monkeypatch.setattr("actormem.wiring.build_index", build)
    clock = FakeClock()
    async with opened(clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(3):
            await answered(session, f"My order number is KX-4821{number}.")
        async with anyio.create_task_group() as group:
            group.start_soon(runtime.settle)
            await anyio.to_thread.run_sync(begun.wait)
            assert "KX-48211" in words(await answered(session, "What was my order number?"))
            assert await runtime.recall("order", user="ada")
            assert clock.monotonic_s() == 0
            door.set()


async def test_a_record_that_is_stuck_in_a_commit_holds_no_context_up_and_acknowledges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, clock = gated(monkeypatch), FakeClock()
    async with opened(tmp_path, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My order number is KX-48210.")
        gate.shut()
        acknowledged: list[str] = []

        async def add(said: str) -> None:
            acknowledged.append((await session.add({"role": "user", "content": said})).text)

        async with anyio.create_task_group() as group, session.turn("Where is it?") as turn:
            assert "KX-48210" in words(turn.messages)
            turn.reply("On its way.")
            group.start_soon(add, "And when?")
            await settle()
            assert "And when?" in words((await session.context()).messages)
            assert clock.monotonic_s() == 0
            assert acknowledged == []
            gate.open()
        assert acknowledged == ["And when?"]
        texts = [m.text for m in await session.messages()]
        assert texts == ["My order number is KX-48210.", "OK.", "Where is it?", "And when?", "On its way."]


async def test_after_the_disk_has_failed_contexts_go_on_and_nothing_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, clock = gated(monkeypatch), FakeClock()
    async with opened(tmp_path, clock=clock) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await answered(session, "My new address is 5 Hill Street.")
        await runtime.settle()
        gate.failing = True
        for number in range(12):
            turn = session.turn(f"Turn {number}. {LONG}")
            with pytest.raises(StorageError, match="full"):  # noqa: PT012
                async with turn:
                    assert turn.messages[-1]["content"] == f"Turn {number}. {LONG}"
                    assert turn.trace.tokens <= 400
                    turn.reply("OK.")
        for refused in (
            session.add({"role": "user", "content": "x"}),
            runtime.remember("The user likes jazz", user="ada"),
            runtime.spawn("s", user="ada", system="You help."),
        ):
            with pytest.raises(StorageError):
                await refused
        assert await runtime.recall("address", user="ada", kinds=["fact"])
        assert clock.monotonic_s() == 0
    gate.failing = False
    async with opened(tmp_path) as runtime:
        texts = [m.text for m in await (await runtime.spawn("s", user="ada")).messages()]
        assert texts == ["My new address is 5 Hill Street.", "OK."], "what was not acknowledged is not there"


async def test_settling_ends_though_the_disk_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gated(monkeypatch)
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        gate.failing = True
        with pytest.raises(StorageError):
            await answered(session, "My new address is 5 Hill Street.")
        with pytest.raises(StorageError):
            await runtime.remember("The user likes jazz", user="ada")
        with pytest.raises(StorageError):
            await runtime.settle()
