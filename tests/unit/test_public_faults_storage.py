"""Public faults of other memories in keeping things on disk, as tests of ours."""

from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget, UsageError
from tests.runtimes import answered, bytes_of, opened, words

pytestmark = pytest.mark.anyio

SESSIONS, ROUNDS = 8, 20


@pytest.mark.parametrize("users", [1, SESSIONS], ids=["of one user", "of eight users"])
async def test_eight_sessions_write_one_fresh_folder_at_once_and_nothing_fails(
    tmp_path: Path, users: int
) -> None:
    """https://github.com/mem0ai/mem0/issues/7196: the database was locked, at its first opening or under several."""

    def said(number: int, turn: int) -> list[str]:
        return [f"I put lamp {turn} into room {number}.", f"Lamp {turn}, room {number}."]

    async def talk(runtime: actormem.Runtime, number: int) -> None:
        for turn in range(ROUNDS):
            session = await runtime.spawn(f"s{number}", user=f"u{number % users}")
            await answered(session, *said(number, turn))

    async with opened(tmp_path) as runtime:
        async with anyio.create_task_group() as group:
            for number in range(SESSIONS):
                group.start_soon(talk, runtime, number)
        await runtime.settle()
        assert runtime.statistics().record.failed_commit_count == 0
    async with opened(tmp_path) as runtime:
        for number in range(SESSIONS):
            session = await runtime.spawn(f"s{number}", user=f"u{number % users}")
            kept = [message.text for message in await session.messages()]
            assert kept == [text for turn in range(ROUNDS) for text in said(number, turn)]
        episodes = [len(await runtime.items(f"u{user}", kinds=["episode"])) for user in range(users)]
        assert episodes == [2 * ROUNDS * SESSIONS // users] * users


async def test_messages_of_which_one_cannot_be_stored_change_nothing(tmp_path: Path) -> None:
    """https://github.com/run-llama/llama_index/pull/23183: the old history was deleted before the new one failed."""
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "I live in Turku.")
        before = await session.messages()
        good = {"role": "user", "content": "I moved to Oulu."}
        with pytest.raises(UsageError):
            await session.add_many([good, {"role": "user", "content": [{"type": "text", "text": {1, 2}}]}])
        with pytest.raises(UsageError):
            await runtime.import_history(
                [good, {"role": "user", "content": object()}], session_id="log", user="ada"
            )
        assert await session.messages() == before
    async with opened(tmp_path) as runtime:
        assert await (await runtime.spawn("s", user="ada")).messages() == before
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value == "Turku"


async def test_nothing_at_all_may_be_added_and_imported() -> None:
    """https://github.com/run-llama/llama_index/pull/23185: an empty batch raised."""
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        assert await session.add_many([]) == ()
        assert await runtime.import_history([], session_id="log", user="ada") == 0
        assert await session.messages() == ()


async def test_a_summary_is_after_a_restart_what_it_was(tmp_path: Path) -> None:
    """https://github.com/google/adk-python/issues/3530: it came back as a plain dict. And letta-ai/letta#2768: without
    a model that summarises, going over the budget failed an assertion."""
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300, recall=40))
        for number in range(12):
            await answered(session, f"I put lamp {number} into the hall, please remember where it is. " * 3)
            await runtime.settle()
        assert runtime.statistics().summaries_extractive >= 1
        before = await session.context()
        summaries = [item for item in await runtime.items("ada") if item.kind == "summary"]
        assert summaries
    async with opened(tmp_path) as runtime:
        after = await (await runtime.spawn("s", user="ada")).context()
        assert bytes_of(after.messages) == bytes_of(before.messages)
        assert "(extractive" in words(after.messages)
        kept = [item for item in await runtime.items("ada") if item.kind == "summary"]
        assert kept == summaries
