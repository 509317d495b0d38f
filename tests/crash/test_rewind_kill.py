"""kill -9 while a session is rewound leaves it as before or as after, and its memory with it.

A child process takes turns and rewinds them, and prints each once it is acknowledged; the parent kills it after
so many lines, opens the folder and looks.
"""

import random
from pathlib import Path

import pytest

import actormem
from tests.crash.killing import killed

CHILD = """
import os, sys
import anyio, actormem

async def main():
    async with actormem.open(sys.argv[1], embedder="hashing", durability="process") as runtime:
        session = await runtime.spawn("s", user="ada")
        users = [message.id for message in await session.messages() if message.role == "user"]
        if not users:
            await turn(session, 0)
        elif users[1:]:  # the one before was killed before it took this one back
            await session.rewind(users[1])
        for number in range(int(sys.argv[2]), 10_000):
            await turn(session, number)
            await session.rewind(f"t-{number}")
            os.write(1, b"back %d\\n" % number)

async def turn(session, number):
    async with session.turn(f"My new address is {number} Hill Street.", id=f"t-{number}") as turn:
        turn.reply("Noted.")
    os.write(1, b"said %d\\n" % number)

anyio.run(main)
"""


async def look(folder: Path, told: dict[str, int]) -> None:
    async with actormem.open(folder, embedder="hashing") as runtime:
        session = await runtime.spawn("s", user="ada")
        await runtime.settle()
        messages = await session.messages()
        ids = [message.id for message in messages]
        begun = {f"t-{number}" for number in (0, told["said"], told["said"] + 1)}
        users = [message.id for message in messages if message.role == "user"]
        assert set(users) <= begun, "what was taken back is there again"
        assert users[0] == "t-0"
        assert [turn.id for turn in await session.turns()] == users
        items = await runtime.items("ada", history=True)
        assert {id for item in items for id in item.source_ids} == set(ids), "memory is of another moment"
        address = await runtime.value("ada", "address")
        assert address is not None
        assert address.value.startswith(users[-1].removeprefix("t-"))


async def kill_and_look(folder: Path, count: int) -> None:
    chance = random.Random("rewind")
    first = 1
    for _ in range(count):
        told = killed(CHILD, folder, first, chance.randrange(3, 30))
        await look(folder, told)
        first = told["said"] + 2


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what dies is the process."""
    return str(request.param)


@pytest.mark.anyio
@pytest.mark.full
async def test_kills_leave_a_session_as_before_or_as_after_its_rewinds(tmp_path: Path) -> None:
    await kill_and_look(tmp_path, 12)
