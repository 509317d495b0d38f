"""Closing ends in time, and says in numbers what is left to do: in one line of the log, and to whoever asks."""

import logging
from functools import partial
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget
from actormem.kernel import ActorSystem
from tests.gated import gated
from tests.runtimes import FakeClock, ScriptedEmbedder, ScriptedLLM, answered, opened, settle

pytestmark = pytest.mark.anyio

LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."
CANARY = "zanzibar-7719"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == "actormem.closing"]


async def over_budget(runtime: actormem.Runtime, name: str) -> None:
    session = await runtime.spawn(name, user=CANARY, budget=Budget(context=300, recall=0))
    await session.add_many([{"role": "user", "content": f"Turn {n} {CANARY}. {LONG}"} for n in range(12)])


async def test_what_is_left_is_told_in_one_line_without_a_word_of_anybody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    llm = ScriptedLLM(wait_for=anyio.Event())
    async with opened(tmp_path, llm=llm, extract=True) as runtime:
        for number in range(3):
            await over_budget(runtime, f"s{number}")
        await answered(
            await runtime.spawn("t", user="bob"), "I have decided to move to Lisbon with Ann in May."
        )
        assert runtime.remaining is None
    left = runtime.remaining
    assert left is not None
    assert left.summaries == 3
    assert left.extractions > 0
    assert (left.erasures, left.sessions_behind, left.actors_cut_off) == (0, 0, 0)
    [line] = lines(caplog)
    assert "summaries 3" in line
    assert CANARY not in caplog.text


async def test_where_nothing_is_left_nothing_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened(tmp_path) as runtime:
        await over_budget(runtime, "s")
        await runtime.settle()
    left = runtime.remaining
    assert left is not None
    assert left.summaries == left.extractions == left.erasures == left.sessions_behind == 0
    assert lines(caplog) == []


async def test_a_memory_without_a_folder_has_nothing_left(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with opened(llm=ScriptedLLM(wait_for=anyio.Event())) as runtime:
        await over_budget(runtime, "s")
    assert runtime.remaining is None
    assert lines(caplog) == []


async def test_a_disk_that_hangs_holds_closing_up_no_longer_than_its_deadlines_and_who_waited_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("actormem.closing.CLOSE_REPORT_S", 0.0)
    monkeypatch.setattr("actormem.opening.ActorSystem", partial(ActorSystem, shutdown_s=0.0))
    gate, told = gated(monkeypatch), list[Exception]()

    async def goes_back(session: actormem.Session, message_id: str) -> None:
        try:
            await session.rewind(message_id)
        except actormem.ActorMemError as error:
            told.append(error)

    async with (
        anyio.create_task_group() as group,
        actormem.open(tmp_path, embedder=ScriptedEmbedder(), clock=FakeClock()) as runtime,
    ):
        session = await runtime.spawn("s", user="ada")
        added = await session.add({"role": "user", "content": "Hello."})
        gate.shut()
        group.start_soon(goes_back, session, added.id)
        await settle()
    [error] = told
    assert isinstance(error, actormem.StoppedError)
    assert runtime.remaining is None
    [line] = lines(caplog)
    told_line = "closed; the record does not say what is left to do; actors cut off: 2"
    assert line == told_line, (
        "the session that waits for the disk; with no time at all, its owner's memory too"
    )
