"""kill -9 while people talk: what was acknowledged is there, what was forgotten is not, no compaction is half done.

A child that acknowledges before the commit is caught by the same look, which shows that the look can fail. More
kills than by default: `pytest -m full`, or as many as one likes with `--rounds N`.
"""

import random
from pathlib import Path

import pytest

from tests.crash.conversing import CHILD, Told, compaction_count, losses
from tests.crash.killing import heard

ROUNDS = 3
ROUNDS_FULL = 30


async def kill_and_look(folder: Path, count: int, chance: random.Random) -> Told:
    told = Told()
    for number in range(count):
        arguments = [str(folder), str(told.next_number), ("power", "process")[number % 2], "honest"]
        told.add(heard(CHILD, arguments, chance.randrange(1, 60)))
        assert await losses(folder, told) == [], f"in round {number}"
    assert len(told["turn"]) >= count
    assert await compaction_count(folder), "nothing was compacted"
    return told


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what dies is the process."""
    return str(request.param)


@pytest.mark.anyio
async def test_a_kill_leaves_conversations_as_they_were_acknowledged(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rounds = request.config.getoption("--rounds")
    if rounds:
        request.getfixturevalue("as_long_as_it_takes")
    await kill_and_look(tmp_path, rounds or ROUNDS, random.Random("conversation"))


@pytest.mark.anyio
@pytest.mark.full
async def test_thirty_kills_leave_conversations_as_they_were_acknowledged(tmp_path: Path) -> None:
    told = await kill_and_look(tmp_path, ROUNDS_FULL, random.Random("conversations"))
    assert told["left"], "no session was forgotten"
    assert told["forgotten"], "no item was forgotten"


@pytest.mark.anyio
async def test_a_child_that_acknowledges_before_the_commit_is_caught(tmp_path: Path) -> None:
    told = Told()
    told.add(heard(CHILD, [str(tmp_path), "1", "process", "early"], 3))
    assert any(one.endswith("is lost") for one in await losses(tmp_path, told))
