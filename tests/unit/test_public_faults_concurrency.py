"""Public faults of other memories in doing things at once, as tests of ours: held loops, caps, lost work, two loops.

Nothing is timed: work that must not hold the loop is stopped in its thread, and the loop is seen to go on.
"""

import gc
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import numpy as np
import pytest

import actormem
from actormem import Budget, ProviderError
from actormem.actors import longterm
from actormem.adapters import local
from actormem.adapters.local import LocalEmbedder
from actormem.adapters.openai import OpenAIEmbedder, OpenAILLM
from actormem.core.recall.partition import Partition
from actormem.limits import LARGE_TEXT_CHARS, SEARCHING_THREADS
from actormem.storage.record import SqliteRecord
from tests.loopback import Answer, Handler, Hang, LoopbackServer
from tests.runtimes import FakeClock, ScriptedEmbedder, ScriptedLLM, answered, opened, until, words

with_loops = pytest.mark.anyio
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


class Door:
    """Stops whoever comes through in its thread, until it is opened; nobody may come from the loop."""

    def __init__(self) -> None:
        self.inside_count = 0
        self.inside_max_count = 0
        self._open = threading.Event()
        self._lock = threading.Lock()
        self._loop = threading.get_ident()

    def guarded(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def through(*args: Any, **named: Any) -> Any:
            assert threading.get_ident() != self._loop, "on the loop"
            with self._lock:
                self.inside_count += 1
                self.inside_max_count = max(self.inside_max_count, self.inside_count)
            try:
                assert self._open.wait(60)
                return work(*args, **named)
            finally:
                with self._lock:
                    self.inside_count -= 1

        return through

    async def entered(self) -> bool:
        return self.inside_count > 0

    def open(self) -> None:
        self._open.set()


async def goes_on(runtime: actormem.Runtime) -> None:
    """Somebody else's whole conversation, from waking to the record."""
    session = await runtime.spawn("s", user="bystander")
    for said in ("Hello.", "I live in Turku."):
        await answered(session, said)
    address = await runtime.value("bystander", "address")
    assert address is not None
    assert address.value == "Turku"


@with_loops
async def test_two_hundred_recalls_at_once_take_the_threads_there_are_and_leave_the_loop_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """https://github.com/mem0ai/mem0/issues/6070: they were parked on the default pool, which filled up."""
    door = Door()
    found: Counter[str] = Counter()
    async with opened() as runtime:
        for number in range(20):
            await runtime.remember(f"The locker is number {number}", user=f"u{number}")
        await runtime.settle()
        monkeypatch.setattr("actormem.actors.finding.SEARCH_INLINE_ROWS", 0)
        monkeypatch.setattr(Partition, "search", door.guarded(Partition.search))

        async def recall(number: int) -> None:
            hits = await runtime.recall(f"locker {number}", user=f"u{number % 20}")
            found.update(hit.item.text for hit in hits)

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(recall, number)
            await until(door.entered)
            for number in range(20):  # no recall in it: recalls wait, and nothing else does
                session = await runtime.spawn("s", user=f"v{number}")
                await session.add({"role": "user", "content": "I live in Turku."})
            assert not found
            door.open()
    assert found == Counter({f"The locker is number {number}": 10 for number in range(20)})
    assert door.inside_max_count <= SEARCHING_THREADS


async def import_document(runtime: actormem.Runtime) -> None:
    await runtime.import_knowledge("base", ["The shed is green.\n\n" * 50])


async def add_a_large_message(runtime: actormem.Runtime) -> None:
    session = await runtime.spawn("s", user="ada")
    await session.add({"role": "user", "content": "word " * LARGE_TEXT_CHARS})


async def look_through(runtime: actormem.Runtime) -> None:
    await runtime.remember("The shed is green", user="ada")
    await runtime.checkup("ada")


async def rewind(runtime: actormem.Runtime) -> None:
    session = await runtime.spawn("s", user="ada")
    await answered(session, "I live in Oulu.")
    await session.rewind((await session.messages())[0].id)


@with_loops
@pytest.mark.parametrize(
    ("place", "name", "work"),
    [
        ("actormem.documents", "split", import_document),
        ("actormem.actors.adding", "message_tokens", add_a_large_message),
        ("actormem.upkeep", "findings", look_through),
        ("actormem.actors.longterm", "decoded", rewind),
    ],
)
async def test_long_work_holds_no_loop(
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    name: str,
    work: Callable[[actormem.Runtime], Awaitable[None]],
) -> None:
    """https://github.com/langchain-ai/langmem/issues/66: async methods did blocking work."""
    door = Door()
    module = import_module(place)
    whole = getattr(module, name)
    guarded = door.guarded(whole)

    def long_alone(*args: Any, **named: Any) -> Any:
        """Short messages are counted at once, and may be."""
        short = name == "message_tokens" and len(args[0].wire) < LARGE_TEXT_CHARS
        return whole(*args, **named) if short else guarded(*args, **named)

    async with opened() as runtime:
        monkeypatch.setattr(module, name, long_alone)
        async with anyio.create_task_group() as group:
            group.start_soon(work, runtime)
            await until(door.entered)
            if name != "message_tokens":
                await goes_on(runtime)
            else:
                await runtime.remember("The user lives in Turku", user="bystander")
            door.open()
        await runtime.settle()


@with_loops
@pytest.mark.parametrize("stored", [False, True], ids=["new", "stored"])
async def test_fifty_first_reads_at_once_make_one_memory_and_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    """https://github.com/run-llama/llama_index/pull/23184: the first reads met tables that were not there yet."""
    expected: tuple[actormem.Item, ...] = ()
    if stored:
        async with opened(tmp_path) as runtime:
            for number in range(5):
                await runtime.remember(f"The locker is number {number}", user="ada")
            expected = await runtime.items("ada")
    made: list[object] = []
    loads: list[object] = []
    begin, load = longterm.LongTermActor.__init__, SqliteRecord.load_items

    def counted(self: Any, *args: Any) -> None:
        made.append(self)
        begin(self, *args)

    async def loaded(self: Any, *args: Any) -> Any:
        loads.append(args)
        return await load(self, *args)

    monkeypatch.setattr(longterm.LongTermActor, "__init__", counted)
    monkeypatch.setattr(SqliteRecord, "load_items", loaded)
    async with opened(tmp_path) as runtime:
        answers: list[object] = []

        async def read() -> None:
            answers.append(await runtime.items("ada"))

        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(read)
    assert answers == [expected] * 50
    assert (len(made), len(loads)) == (1, 1)


class Refusing(Handler):
    """Refuses each of the first callers once, and asks them to wait three seconds."""

    server: Any

    def usual(self, body: dict[str, Any]) -> Answer | None:
        """A 429 where it is one of them, and else what OpenAI would answer."""
        if self.server.owner.refuses(msgspec.json.encode(body["messages"]).decode()):
            return Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "3"})
        return super().usual(body)


class RefusingServer(LoopbackServer):
    """Knows whom it has refused, and when they came back."""

    def __init__(self, clock: FakeClock, refusals: int) -> None:
        super().__init__("They spoke about the weather and a train to the north.")
        self._http.RequestHandlerClass = Refusing
        self.refused_at_s: dict[str, float] = {}
        self.retried_at_s: dict[str, float] = {}
        self._clock = clock
        self._refusals = refusals
        self._lock = threading.Lock()

    def refuses(self, asked: str) -> bool:
        now_s = self._clock.monotonic_s()
        with self._lock:
            if asked in self.refused_at_s:
                self.retried_at_s.setdefault(asked, now_s)
                return False
            if len(self.refused_at_s) < self._refusals:
                self.refused_at_s[asked] = now_s
                return True
            return False

    @property
    def is_waiting(self) -> bool:
        """Whether somebody who was refused has not come back."""
        return len(self.retried_at_s) < len(self.refused_at_s)


class CountedLLM(OpenAILLM):
    """Counts its calls that are on their way."""

    in_flight_count = 0
    in_flight_max_count = 0

    async def complete(self, *args: Any, **named: Any) -> str:
        """The answer, as the server gives it."""
        self.in_flight_count += 1
        self.in_flight_max_count = max(self.in_flight_max_count, self.in_flight_count)
        try:
            return await super().complete(*args, **named)
        finally:
            self.in_flight_count -= 1


@with_loops
async def test_fifty_jobs_keep_the_cap_wait_as_they_are_asked_to_and_all_come_to_their_end() -> None:
    """https://github.com/getzep/graphiti/issues/1398: 2 were allowed, 200 were sent, and a refusal lost the batch."""
    clock = FakeClock()
    with RefusingServer(clock, refusals=10) as server:
        llm = CountedLLM("m", base_url=server.base_url)
        async with opened(llm=llm, clock=clock, summaries_at_once=2, llm_deadline_s=1e6) as runtime:  # type: ignore[arg-type]
            sessions: list[actormem.Session] = []
            for number in range(50):
                budget = Budget(context=300, recall=0)
                sessions.append(await runtime.spawn(f"s{number}", user=f"u{number % 7}", budget=budget))
                said = [{"role": "user", "content": f"Talk {number}, {part}. {LONG}"} for part in range(9)]
                await sessions[-1].add_many(said)
            await settled_with_pauses(runtime, clock, server)
            after = runtime.statistics()
            assert after.summaries_llm >= 50
            assert after.summaries_extractive == 0
            assert after.llm_failures == 10
            for session in sessions:
                assert "a train to the north" in words((await session.context()).messages)
    assert llm.in_flight_max_count == 2
    waits = [server.retried_at_s[asked] - at_s for asked, at_s in server.refused_at_s.items()]
    assert len(waits) == 10
    assert min(waits) >= 3


async def settled_with_pauses(runtime: actormem.Runtime, clock: FakeClock, server: RefusingServer) -> None:
    """All background work is done; time goes on only while somebody waits for his next try."""

    async def settled() -> None:
        await runtime.settle()
        group.cancel_scope.cancel()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(settled)
            while True:
                await clock.advance(0.05 if server.is_waiting else 0)


@with_loops
async def test_background_work_outlives_every_collection_of_garbage(tmp_path: Path) -> None:
    """https://github.com/topoteretes/cognee/issues/3183: tasks that nobody held were collected while they ran."""
    llm = ScriptedLLM(lambda _: "They spoke about the weather and a train.", wait_for=anyio.Event())
    embedder = ScriptedEmbedder(wait_for=anyio.Event())
    async with opened(tmp_path, llm=llm, embedder=embedder) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300, recall=0))
        await session.add_many([{"role": "user", "content": f"Part {part}. {LONG}"} for part in range(9)])

        async def both_begun() -> bool:
            return bool(llm.in_flight_count and embedder.call_count)

        await until(both_begun)
        assert llm.wait_for is not None
        assert embedder.wait_for is not None
        for door in (llm.wait_for, embedder.wait_for):
            for _ in range(5):
                gc.collect()
                await anyio.lowlevel.checkpoint()
            door.set()
        await runtime.settle()
        assert "the weather and a train" in words((await session.context()).messages)
        assert (await runtime.recall("Part 3", user="ada")).degraded == ()
        checkup = await runtime.checkup("ada")
        assert [one for one in checkup.findings if one.repair == "embed"] == []


@with_loops
async def test_an_embedding_that_fails_is_told_where_it_is_missed_and_is_made_up_for() -> None:
    """https://github.com/getzep/graphiti/issues/1483: it was told to be queued, and its failure stood in a log."""
    clock, embedder = FakeClock(), ScriptedEmbedder()
    async with opened(embedder=embedder, clock=clock) as runtime:
        await runtime.remember("The user keeps bees", user="ada")
        await runtime.settle()
        embedder.failure = ProviderError("down", provider="scripted")
        item = await runtime.remember("The user keeps a zebra", user="ada")
        await runtime.settle()
        assert runtime.statistics().embed_failures >= 1
        found = await runtime.recall("zebra", user="ada")
        assert found.degraded == ("vector",)
        assert found[0].item.id == item.id, "words find it meanwhile"
        unreached = [one for one in (await runtime.checkup("ada")).findings if one.repair == "embed"]
        assert [one.item_ids for one in unreached] == [(item.id,)]
        embedder.failure = None
        done = await runtime.checkup("ada", apply=True)
        assert [one.applied for one in done.findings if one.repair == "embed"] == [True]
        await runtime.settle()
        assert [one for one in (await runtime.checkup("ada")).findings if one.repair == "embed"] == []
        assert (await runtime.recall("zebra", user="ada")).degraded == ()


BACKENDS = ("asyncio", "trio", "asyncio", "trio")


async def one_life(folder: Path, number: int, **ports: Any) -> None:
    """A memory is opened, is told something, finds it with what was told before, and is left."""
    async with opened(folder, **ports) as runtime:
        await runtime.remember(f"The locker is number {number}", user="ada")
        await runtime.settle()
        found = await runtime.recall("Which locker?", user="ada")
        assert found.degraded == ()
        assert len(found) == number + 1
        assert runtime.statistics().embed_failures == 0
        unreached = [one for one in (await runtime.checkup("ada")).findings if one.repair == "embed"]
        assert unreached == []


def test_clients_that_are_the_callers_serve_one_loop_after_the_other(tmp_path: Path) -> None:
    """https://github.com/Smart-AI-Memory/attune-ai/pull/588: a client stayed bound to the first loop."""
    with LoopbackServer() as server:
        embedder = OpenAIEmbedder("m", base_url=server.base_url)
        llm = OpenAILLM("m", base_url=server.base_url)
        for number, backend in enumerate(BACKENDS):
            anyio.run(lambda n=number: one_life(tmp_path, n, embedder=embedder, llm=llm), backend=backend)
        assert sum("/embeddings" in one.path for one in server.seen) >= 2 * len(BACKENDS)


def test_the_local_embedder_serves_one_loop_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """https://github.com/Smart-AI-Memory/attune-ai/pull/588: here a limiter stayed bound to it."""
    rows = ScriptedEmbedder(local.DIMENSIONS)
    monkeypatch.setattr(
        local, "load_encoder", lambda: lambda texts: [vector_of(rows, text) for text in texts]
    )
    embedder = LocalEmbedder()
    for number, backend in enumerate(BACKENDS):
        anyio.run(lambda n=number: one_life(tmp_path, n, embedder=embedder), backend=backend)


@pytest.mark.parametrize("closed", [False, True], ids=["left open", "closed between"])
@pytest.mark.parametrize("kind", ["local", "openai"])
def test_an_embedder_by_itself_serves_one_loop_after_the_other(
    monkeypatch: pytest.MonkeyPatch, closed: bool, kind: str
) -> None:
    rows = ScriptedEmbedder(local.DIMENSIONS)
    monkeypatch.setattr(
        local, "load_encoder", lambda: lambda texts: [vector_of(rows, text) for text in texts]
    )

    async def embed() -> None:
        vectors = await embedder.embed(["a lamp", "灯"])
        assert vectors.any(axis=1).all()
        if closed or kind == "openai":  # a connection that is left open is a leak of the caller's
            await embedder.aclose()

    with LoopbackServer() as server:
        embedder = LocalEmbedder() if kind == "local" else OpenAIEmbedder("m", base_url=server.base_url)
        for backend in BACKENDS:
            anyio.run(embed, backend=backend)


def vector_of(embedder: ScriptedEmbedder, text: str) -> Any:
    row = np.zeros(embedder.dimensions, np.float32)
    embedder._count_pairs(row, text)
    return row


@with_loops
async def test_a_memory_is_left_while_its_providers_say_nothing_and_nothing_of_it_stays(
    tmp_path: Path,
) -> None:
    """https://github.com/Smart-AI-Memory/attune-ai/pull/588: calls in flight outlived the loop."""
    with LoopbackServer() as server:
        llm = OpenAILLM("m", base_url=server.base_url)
        async with opened(tmp_path, llm=llm) as runtime:  # type: ignore[arg-type]
            session = await runtime.spawn("s", user="ada", budget=Budget(context=300, recall=0))
            server.always = Hang()
            await session.add_many([{"role": "user", "content": f"Part {part}. {LONG}"} for part in range(9)])

            async def asked() -> bool:
                return bool(server.seen)

            await until(asked)
        named = [thread.name for thread in threading.enumerate() if "actormem" in thread.name]
        assert named == []
        server.always = None
        async with opened(tmp_path, llm=llm) as runtime:  # type: ignore[arg-type]
            session = await runtime.spawn("s", user="ada")
            await runtime.settle()
            assert len(await session.messages()) == 9
            assert runtime.statistics().summaries_llm >= 1, "what was cut off is asked for again"
