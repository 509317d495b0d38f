"""A memory in a task of its own."""

from pathlib import Path

import anyio
import pytest

import actormem

pytestmark = pytest.mark.anyio


async def test_a_memory_runs_until_its_task_is_cancelled(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        runtime = await group.start(actormem.run, actormem.open(tmp_path, embedder="hashing"))
        await runtime.remember("The boat is called Heron", user="ada")
        group.cancel_scope.cancel()
    async with actormem.open(tmp_path, embedder="hashing") as again:
        assert [item.text for item in await again.items("ada")] == ["The boat is called Heron"]


async def test_what_cannot_be_opened_is_said_where_it_is_started(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    async with anyio.create_task_group() as group:
        with pytest.raises(actormem.ActorMemError):
            await group.start(actormem.run, actormem.open(file, embedder="hashing"))
