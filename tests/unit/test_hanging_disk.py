"""A disk that hangs, and one that drips: contexts go on, acknowledgements wait or fail in time, closing ends."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import actormem
from actormem import opening
from actormem.kernel import ActorSystem
from actormem.limits import ASK_TIMEOUT_S
from actormem.storage.record import open_record
from actormem.testing.failing_record import FailingRecord
from tests.runtimes import FakeClock, ScriptedEmbedder, answered, settle, words

pytestmark = pytest.mark.anyio

CALLS_MAX = 60  # of this short life: a loop over them ends
SOME = 7  # one commit in so many hangs by default; each one with `pytest -m full`
EACH = pytest.param(1, marks=pytest.mark.full)


@asynccontextmanager
async def hanging(
    folder: Path, at: int, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> AsyncGenerator[tuple[actormem.Runtime, FailingRecord], None]:
    """A runtime whose disk hangs from its n-th commit on; closing gives nobody any time."""
    made: list[FailingRecord] = []

    @asynccontextmanager
    async def open_hanging(*given: Any, **named: Any) -> AsyncGenerator[FailingRecord, None]:
        async with open_record(*given, **named) as record:
            made.append(FailingRecord(record, at=at, fault="hang"))
            yield made[-1]

    with monkeypatch.context() as patch:
        patch.setattr(opening, "open_record", open_hanging)
        patch.setattr(opening, "ActorSystem", partial(ActorSystem, shutdown_s=0.0))
        patch.setattr("actormem.closing.CLOSE_REPORT_S", 0.0)
        async with actormem.open(
            folder, embedder=ScriptedEmbedder(), clock=clock, durability="process"
        ) as runtime:
            yield runtime, made[0]


@asynccontextmanager
async def time_passing(clock: FakeClock, record: FailingRecord) -> AsyncGenerator[None, None]:
    """Time goes on while the disk hangs."""

    async def passing() -> None:
        while True:
            if record.hanging_count:
                await clock.advance(1.0)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(passing)
        yield
        group.cancel_scope.cancel()


async def outcome(
    does: Callable[[], Awaitable[object]], kept: list[str], unknown: set[str], text: str
) -> None:
    """Note whether it was acknowledged; one that failed may have been done or not."""
    try:
        await does()
        kept.append(text)
    except actormem.ActorMemError:
        unknown.add(text)


@pytest.mark.parametrize("stride", [SOME, EACH])
async def test_a_disk_that_hangs_at_any_commit_keeps_nobody_for_ever_and_loses_nothing(
    tmp_path: Path, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(1, CALLS_MAX, stride):
        folder, clock = tmp_path / str(at), FakeClock()
        kept, remembered, unknown = list[str](), list[str](), set[str]()
        with anyio.fail_after(60):
            async with (
                hanging(folder, at, monkeypatch, clock) as (runtime, record),
                time_passing(clock, record),
            ):
                for number in range(4):
                    text = f"My new address is {number} Hill Street."

                    async def add(text: str = text) -> None:
                        session = await runtime.spawn("s", user="ada")
                        await session.add({"role": "user", "content": text})

                    async def remember(text: str = text) -> None:
                        await runtime.remember(f"Remember this: {text}", user="ada")

                    await outcome(add, kept, unknown, text)
                    await outcome(remember, remembered, unknown, f"Remember this: {text}")
        async with actormem.open(folder, embedder=ScriptedEmbedder(), durability="process") as runtime:
            said = [str(one.content) for one in await (await runtime.spawn("s", user="ada")).messages()]
            items = [item.text for item in await runtime.items("ada", history=True)]
        assert [text for text in said if text not in unknown] == kept
        assert len(said) == len(set(said))
        assert set(remembered) <= set(items)
        if not record.hanging_count:
            assert not unknown
            assert len(kept) == len(remembered) == 4
            return
        assert unknown or at > SOME, "the first commits are what somebody waits for"
    raise AssertionError("there is always one more commit")


async def test_contexts_go_on_while_the_disk_hangs_and_what_was_said_is_stored_when_it_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    async with hanging(tmp_path, CALLS_MAX, monkeypatch, clock) as (runtime, record):
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My order is KX-48210.")
        await runtime.settle()
        record.call_count = CALLS_MAX - 1
        seen: list[str] = []

        async def ask(question: str) -> None:
            async with session.turn(question) as turn:
                seen.append(words(turn.messages))
                turn.reply(f"An answer to {question}")

        async def ask_in_vain(question: str) -> None:
            with pytest.raises(actormem.AskTimeoutError):
                await ask(question)

        for question in ("Where is it?", "And when will it be here?"):
            async with anyio.create_task_group() as group:
                group.start_soon(ask_in_vain, question)
                await settle()
                assert "KX-48210" in seen[-1]
                assert question in seen[-1]
                await clock.advance(ASK_TIMEOUT_S)
        assert "An answer to Where is it?" in seen[-1]
        assert record.hanging_count
        record.release()
        await runtime.settle()
        said = [str(one.content) for one in await session.messages()]
    assert said == [
        "My order is KX-48210.",
        "OK.",
        "Where is it?",
        "An answer to Where is it?",
        "And when will it be here?",
        "An answer to And when will it be here?",
    ]


async def test_a_disk_that_drips_acknowledges_in_order_and_never_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, acknowledged = FakeClock(), list[int]()
    async with hanging(tmp_path, CALLS_MAX, monkeypatch, clock) as (runtime, record):
        session = await runtime.spawn("s", user="ada")
        record.call_count = CALLS_MAX - 1
        behind = record._record

        async def add(number: int) -> None:
            await session.add({"role": "user", "content": f"Message {number}."})
            acknowledged.append(number)

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(add, number)
                await settle()
            while len(acknowledged) < 4:
                assert record.hanging_count
                record.release(1)
                await behind.sync()
                await settle()
                history = await behind.load_session(session.key)
                events = history.events if history else ()
                stored = sum(1 for event in events if event.name)
                assert acknowledged == list(range(len(acknowledged)))
                assert len(acknowledged) <= stored
        record.release()
    assert acknowledged == [0, 1, 2, 3]
