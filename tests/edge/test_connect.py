"""`actormem.connect`: the same methods as in the process, through a real server, and what its failures tell."""

import inspect
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem.remote.runtime import RemoteRuntime
from tests.edge.served import Served, served
from tests.runtimes import chunk

INSIDE = {
    "ask",
    "ask_memory",
    "attached",
    "check_loop",
    "closed",
    "observe",
    "resume",
    "tell_of",
    "wake_bases",
}
"""Methods of a runtime that are for its own parts."""


@pytest.fixture
def anyio_backend() -> str:
    """The server stands in the same loop, and uvicorn runs on asyncio alone."""
    return "asyncio"


@asynccontextmanager
async def connected(**options: Any) -> AsyncGenerator[tuple[RemoteRuntime, Served]]:
    async with served(**options) as one, actormem.connect(one.url) as runtime:
        yield runtime, one


def test_every_method_has_the_signature_it_has_in_the_process() -> None:
    names = {name for name in dir(actormem.Runtime) if not name.startswith("_")} - INSIDE
    for name in names - {"statistics"}:
        here, there = getattr(actormem.Runtime, name), getattr(RemoteRuntime, name)
        assert inspect.signature(here) == inspect.signature(there), name
        assert inspect.iscoroutinefunction(here) == inspect.iscoroutinefunction(there), name
    assert inspect.iscoroutinefunction(RemoteRuntime.statistics)
    assert {name for name in dir(RemoteRuntime) if not name.startswith("_")} == names | {"check_loop"}


@pytest.mark.anyio
async def test_a_conversation_with_tools_is_what_it_is_in_the_process() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": "{}"}}

    async def talk(runtime: Any) -> list[Any]:
        session = await runtime.spawn(
            "s-1", user="阿达", system="You are a shop.", budget=actormem.Budget(context=2_000)
        )
        async with session.turn("我搬到杭州了。 Order KX-48210, where is it?", id="q-1") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [call]})
            await turn.add({"role": "tool", "tool_call_id": "call_1", "content": "in transit"})
            again = await turn.context()
            turn.feed(chunk("In "))
            turn.feed(chunk("transit.", finish="stop"))
        await runtime.settle()
        messages, turns = await session.messages(), await session.turns()
        trace = await session.trace("q-1")
        assert session.settings["system"] == "You are a shop."
        return [
            again,
            [(m.role, m.text, m.tool_calls) for m in messages],
            [(one.id, one.outcome) for one in turns],
            trace.sections,
            [item.text for item in await runtime.items("阿达")],
            (await runtime.value("阿达", "address")).value,
        ]

    async with connected() as (runtime, _):
        there = await talk(runtime)
    async with actormem.open(None, embedder="hashing") as runtime:
        assert await talk(runtime) == there


@pytest.mark.anyio
async def test_outcomes_arrive() -> None:
    async with connected() as (runtime, _):
        session = await runtime.spawn("s-1", user="ada")
        async with session.turn("one") as turn:
            turn.feed(chunk("half a rep"))
        async with session.turn("two"):
            pass
        with pytest.raises(KeyError):
            async with session.turn("three") as turn:
                raise KeyError
        async with session.turn("four") as turn:
            turn.reply(
                {
                    "choices": [{"message": {"role": "assistant", "content": "4"}}],
                    "usage": {"prompt_tokens": 9},
                }
            )
        assert [one.outcome for one in await session.turns()] == [
            "partial",
            "unanswered",
            "failed",
            "complete",
        ]
        assert [m.text for m in await session.messages()] == [
            "one",
            "half a rep",
            "two",
            "three",
            "four",
            "4",
        ]


@pytest.mark.anyio
async def test_memories_are_what_they_are_in_the_process() -> None:
    async with connected() as (runtime, one):
        since = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
        item = await runtime.remember(
            "The user likes tea.", user="ada", attribute="likes", value="tea", time=since
        )
        assert item == await one.runtime.item(item.id, user="ada")
        recalled = await runtime.recall("tea", user="ada", limit=3, kinds=["fact"])
        assert recalled[0].item.id == item.id
        assert recalled[0].why == (await one.runtime.recall("tea", user="ada", kinds=["fact"]))[0].why
        edited = await runtime.edit(
            item.id, "The user likes green tea.", user="ada", value="green tea", expires=None
        )
        assert (edited.version, edited.value) == (2, "green tea")
        assert (await runtime.archive(item.id, user="ada")).state == "archived"
        assert await runtime.items("ada") == ()
        assert await runtime.items("ada", kinds=()) == ()
        assert [one.id for one in await runtime.items("ada", history=True, kinds=["fact"])] == [item.id]
        log = [{"role": "user", "content": "I live in Paris."}, {"role": "assistant", "content": "Noted."}]
        told: list[tuple[int, int]] = []
        assert await runtime.import_history(
            log, session_id="old", user="ada", progress=lambda *at: told.append(at)
        )
        assert told == [(2, 2)]
        assert await runtime.import_history(log, session_id="old", user="ada") == 0
        assert (await runtime.checkup("ada")).owner == actormem.Owner("", "ada")
        exported = await runtime.export_user("ada")
        assert exported.items == (await one.runtime.export_user("ada")).items
        assert (await runtime.forget(item.id, user="ada")).item_count >= 1
        assert [row.owner.user for row in await runtime.owners(tenant="", prefix="a")] == ["ada"]
        assert await runtime.owners(prefix="b") == ()
        assert (await runtime.statistics()).record.commit_count > 0
        assert (await runtime.forget_user("ada")).found_count == 0
        assert await runtime.items("ada", history=True) == ()


@pytest.mark.anyio
async def test_knowledge_comes_from_files_of_the_client(tmp_path: Path) -> None:
    (tmp_path / "returns.md").write_text("# Returns\n\nParcels are returned within 14 days.\n")
    (tmp_path / "plain.txt").write_text("# no heading here\nGift cards never expire.\n")
    documents = [tmp_path / "returns.md", tmp_path / "plain.txt", {"text": "红包不退。", "id": "d"}]
    async with connected() as (runtime, _), actormem.open(None, embedder="hashing") as other:
        there = await runtime.import_knowledge("shop", documents, tenant="t")
        assert there == await other.import_knowledge("shop", documents, tenant="t")
        assert await runtime.knowledge("t") == await other.knowledge("t")
        session = await runtime.spawn("s", user="ada", tenant="t", knowledge=["shop"])
        assert session.settings["knowledge"] == ["shop"]
        found = await runtime.recall("gift cards", user="ada", tenant="t", knowledge=["shop"])
        assert "Gift cards" in found[0].item.text
        assert (await runtime.remove_knowledge("shop", tenant="t")).item_count == there.passage_count


@pytest.mark.anyio
async def test_sessions_can_all_that_they_can_in_the_process() -> None:
    async with connected() as (runtime, _):
        session = await runtime.spawn("a/../b?", user="ada")
        when = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
        first = await session.add({"role": "user", "content": "hello", "id": "m-1", "time": when})
        assert first.time == when
        assert (await session.add({"role": "user", "content": "other", "id": "m-1"})).id == "m-1"
        await session.task.set("refund", step="look", values={"order": "KX-1"})
        await session.task.update(step="pay", values={"order": None, "sum": 3})
        task = await session.task.get()
        assert task is not None
        assert (task.goal, task.step, dict(task.values)) == ("refund", "pay", {"sum": "3"})
        assert (await session.context("hello")).messages
        async with session.turn("a longer question " * 20) as turn:
            before = turn.trace.tokens
            await turn.shrink(before - 20)
            assert turn.trace.tokens <= before - 20
        await session.task.clear()
        assert await session.task.get() is None
        assert next(iter(await session.rewind("m-1"))).text == "hello"
        assert await session.messages() == ()
        [row] = await runtime.sessions("ada")
        assert row.session_id == "a/../b?"


@pytest.mark.anyio
async def test_errors_arrive_as_they_are_with_their_numbers() -> None:
    async with connected() as (runtime, _):
        with pytest.raises(actormem.BudgetError) as full:
            await runtime.spawn("s", user="ada", system="long " * 9_000, budget=actormem.Budget(context=500))
        assert full.value.needed_tokens > full.value.budget_tokens == 500
        with pytest.raises(actormem.NotFoundError) as lost:
            await runtime.item("m99", user="ada")
        assert lost.value.id == "m99"
        session = await runtime.spawn("s", user="ada")
        with pytest.raises(actormem.NotFoundError):
            await session.trace("none")
        async with session.turn("one", id="q") as turn:
            turn.reply("1")
        with pytest.raises(actormem.UsageError, match="already"):
            async with session.turn("one", id="q"):
                pass
        for wrong in (
            lambda: runtime.recall("x", user=""),
            lambda: runtime.recall("x", user="ada", limit=0),
            lambda: runtime.recall("x", user="ada", kinds=["secret"]),  # type: ignore[list-item]
            lambda: runtime.remember("x", user="ada", time=datetime(2026, 1, 1)),  # noqa: DTZ001
            lambda: runtime.remember(object(), user="ada"),  # type: ignore[arg-type]
            lambda: runtime.owners(limit=0),
            lambda: runtime.forget("m1", user="ada", sources="none"),  # type: ignore[arg-type]
        ):
            with pytest.raises(actormem.UsageError) as refused:
                await wrong()
            assert "secret" not in str(refused.value)


@pytest.mark.anyio
async def test_turns_of_a_session_are_serial_across_clients_and_none_waits_for_ever() -> None:
    async with (
        served() as one,
        actormem.connect(one.url) as first,
        actormem.connect(one.url, turn_wait_s=30) as other,
    ):
        order: list[str] = []
        began = anyio.Event()

        async def second() -> None:
            await began.wait()
            session = await other.spawn("s", user="ada")
            async with session.turn("two") as turn:
                order.append("two")
                turn.reply("2")

        async with anyio.create_task_group() as group:
            group.start_soon(second)
            session = await first.spawn("s", user="ada")
            async with session.turn("one") as turn:
                began.set()
                with anyio.fail_after(10):
                    while not one.state.turns.waiting_count:
                        await anyio.lowlevel.checkpoint()
                order.append("one")
                turn.reply("1")
        assert order == ["one", "two"]


@pytest.mark.anyio
async def test_who_is_cancelled_while_he_waits_begins_no_turn() -> None:
    async with connected() as (runtime, one):
        session = await runtime.spawn("s", user="ada")
        async with session.turn("one") as turn:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:

                    async def wait() -> None:
                        async with (await runtime.spawn("s", user="ada")).turn("two"):
                            raise AssertionError

                    group.start_soon(wait)
                    while not one.state.turns.waiting_count:
                        await anyio.lowlevel.checkpoint()
                    scope.cancel()
            while one.state.turns.waiting_count:
                await anyio.lowlevel.checkpoint()
            turn.reply("1")
        assert [m.text for m in await session.messages()] == ["one", "1"]


@pytest.mark.anyio
async def test_a_cancelled_turn_is_recorded() -> None:
    async with connected() as (runtime, _):
        session = await runtime.spawn("s", user="ada")
        with anyio.CancelScope() as scope:
            async with session.turn("one") as turn:
                turn.feed(chunk("part"))
                scope.cancel()
                await anyio.sleep_forever()
        [past] = await session.turns()
        assert past.outcome == "partial"


@pytest.mark.anyio
async def test_a_turn_whose_client_vanished_ends_and_the_same_id_goes_on_with_it() -> None:
    now = 0.0
    async with served() as one:
        one.state.turns.monotonic_s = lambda: now
        async with actormem.connect(one.url) as vanishing:
            session = await vanishing.spawn("s", user="ada")
            turn = session.turn("one", id="q")
            await turn.__aenter__()
            assert len(one.state.turns) == 1
        now = 30.0
        assert await one.state.turns.sweep() == 0
        async with actormem.connect(one.url) as other:
            session = await other.spawn("s", user="ada")
            async with session.turn("one", id="q") as again:  # taken over at once
                again.reply("1")
            turn = session.turn("two", id="r")
            await turn.__aenter__()
            now = 80.0
            assert await one.state.turns.sweep() == 1
            with pytest.raises(actormem.UsageError, match="not open"):
                await turn.end()
            async with session.turn("two", id="r") as again:
                again.reply("2")
            assert [m.text for m in await session.messages()] == ["one", "1", "two", "2"]


@pytest.mark.anyio
async def test_live_events_tell_what_happens_without_a_word_of_it() -> None:
    async with connected() as (runtime, _):
        session = await runtime.spawn("s", user="ada")
        async with runtime.events("ada") as events:
            async with session.turn("I live in Zanzibar.", id="q") as turn:
                turn.reply("Noted.")
            kinds: list[str] = []
            with anyio.fail_after(10):
                async for event in events:
                    kinds.append(event.kind)
                    assert "Zanzibar" not in repr(event)
                    if {"turn_ended", "items"} <= set(kinds):
                        break
        assert kinds.index("turn_opened") < kinds.index("turn_ended")


@pytest.mark.anyio
async def test_no_server_is_told_and_the_blocks_own_error_comes_out_as_it_is() -> None:
    with pytest.raises(actormem.StoppedError, match="nothing changed"):
        async with actormem.connect("http://127.0.0.1:9"):
            pass
    with pytest.raises(actormem.UsageError, match="unix:PATH"):
        async with actormem.connect("ftp://here"):
            pass
    async with served() as one:
        with pytest.raises(KeyError):
            async with actormem.connect(one.url):
                raise KeyError
