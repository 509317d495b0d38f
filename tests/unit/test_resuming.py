"""Summaries in flight when the process ends are made at the next opening, without anybody asking for the sessions."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget
from actormem.actors.resuming import SUMMARY_INTENTS
from actormem.core.values import Owner
from actormem.limits import RESUMED_AT_ONCE
from actormem.storage.record import open_record
from tests.copied import copied
from tests.runtimes import ScriptedLLM, Wire, opened, words

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

BUDGET = Budget(context=300, recall=0)
LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


def told(_: Sequence[Wire]) -> str:
    return "They spoke about travelling north."


@asynccontextmanager
async def waited_for(
    folder: Path, names: Sequence[str] = ("s",), user: str = "ada"
) -> AsyncGenerator[actormem.Runtime, None]:
    """A runtime whose sessions wait for summaries that do not come."""
    async with opened(folder, llm=ScriptedLLM(told, wait_for=anyio.Event())) as runtime:
        for name in names:
            await over_budget(runtime, name, user)
        yield runtime


async def over_budget(runtime: actormem.Runtime, name: str, user: str = "ada") -> actormem.Session:
    session = await runtime.spawn(name, user=user, budget=BUDGET)
    await session.add_many([{"role": "user", "content": f"Turn {n} of {name}. {LONG}"} for n in range(12)])
    return session


async def noted(folder: Path) -> list[str]:
    """Sessions that are noted in the folder as waiting for a summary."""
    async with open_record(folder) as record:
        return [
            name.removeprefix(SUMMARY_INTENTS)
            for owner in await record.owners_with_intents(SUMMARY_INTENTS)
            for name, _ in await record.intents(owner)
        ]


async def test_a_session_that_waited_has_its_block_after_a_kill_and_nobody_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "memory"
    copies = copied(monkeypatch, folder, tmp_path)
    async with opened(folder, llm=ScriptedLLM(told, wait_for=anyio.Event())) as runtime:
        await over_budget(runtime, "s")
        copies.start()  # as a kill would leave it, the request being out
        copies.stop()
    [killed] = copies.made
    assert await noted(killed) == ["s"]
    llm = ScriptedLLM(told)
    async with opened(killed, llm=llm) as runtime:
        await runtime.settle()
        assert llm.call_count == 1
        assert runtime.statistics().summaries_llm == 1
    assert await noted(killed) == []
    async with opened(killed, llm=llm) as runtime:
        context = await (await runtime.spawn("s", user="ada")).context()
        assert "They spoke about travelling north." in words(context.messages)
    assert llm.call_count == 1, "it was made once"


async def test_what_is_left_in_flight_at_closing_is_noted_and_made_at_the_next_opening(
    tmp_path: Path,
) -> None:
    names = [f"s{number}" for number in range(RESUMED_AT_ONCE + 3)]
    async with waited_for(tmp_path, names):
        pass
    assert sorted(await noted(tmp_path)) == sorted(names)
    llm = ScriptedLLM(told)
    async with opened(tmp_path, llm=llm) as runtime:
        await runtime.settle()
    assert llm.call_count == len(names)
    assert await noted(tmp_path) == []


async def test_summaries_are_resumed_a_few_at_a_time_with_those_of_each_owner_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actormem.actors.resuming.RESUMED_AT_ONCE", 2)
    async with waited_for(tmp_path, ["a1", "a2", "a3", "a4"], "ada") as runtime:
        await over_budget(runtime, "b1", "bob")
    llm = ScriptedLLM(told)
    async with opened(tmp_path, llm=llm) as runtime:
        await runtime.settle()
    asked = [words(prompt) for prompt in llm.prompts]
    assert len(asked) == 5
    assert any("of b1." in prompt for prompt in asked[:2])


async def test_a_note_whose_summary_is_not_due_any_more_is_struck(tmp_path: Path) -> None:
    async with waited_for(tmp_path) as runtime:
        await runtime.spawn("s", user="ada", budget=Budget(context=30_000))
    assert await noted(tmp_path) == ["s"]
    llm = ScriptedLLM(told)
    async with opened(tmp_path, llm=llm) as runtime:
        await runtime.settle()
    assert llm.call_count == 0
    assert await noted(tmp_path) == []


async def test_a_note_is_forgotten_with_its_user(tmp_path: Path) -> None:
    async with waited_for(tmp_path) as runtime:
        await runtime.forget_user("ada")
        assert await runtime._services.record.intents(Owner("", "ada")) == ()
    assert await noted(tmp_path) == []


async def test_a_note_goes_with_the_session_in_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "memory"
    copies = copied(monkeypatch, folder, tmp_path)
    async with waited_for(folder) as runtime:
        copies.start()
        await runtime.forget_session("s", user="ada")
        copies.stop()
    seen: set[tuple[bool, bool]] = set()
    for killed in copies.made:
        async with open_record(killed) as record:
            sessions = await record.sessions(Owner("", "ada"))
        seen.add((bool(sessions), bool(await noted(killed))))
    assert seen == {(True, True), (False, False)}
