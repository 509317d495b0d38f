"""A memory in a database, as a program uses it, on every loop."""

from pathlib import Path

import pytest

import actormem
from tests.postgres.server import Server


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_what_was_said_is_there_when_it_is_opened_again(postgres: Server, tmp_path: Path) -> None:
    url = postgres.url(postgres.schema_of(tmp_path))
    for count in range(1, 3):
        async with actormem.open(url, embedder="hashing") as runtime:
            session = await runtime.spawn("s-1", user="ada")
            async with session.turn("My address is 77 Quillon Walk.") as turn:
                turn.reply("Noted.")
            assert len(await session.messages()) == 2 * count
            await runtime.settle()
            value = await runtime.value("ada", "address")
            assert value is not None
            assert value.value == "77 Quillon Walk"
            assert [hit.item.id for hit in await runtime.recall("Quillon Walk", user="ada", limit=1)]
            assert await runtime.items("bob") == ()


def test_a_synchronous_program_has_it_too(postgres: Server, tmp_path: Path) -> None:
    from actormem import blocking

    url = postgres.url(postgres.schema_of(tmp_path))
    for known in (False, True):
        with blocking.open(url, embedder="hashing") as runtime:
            assert bool(runtime.items("ada")) == known
            runtime.remember("Ada lives in Hangzhou.", user="ada")
