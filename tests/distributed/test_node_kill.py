"""Nodes that die under load: every acknowledged message is there once, in order, and no session has two shards."""

import os
import time
from pathlib import Path

import anyio
import pytest

from actormem.distributed import Cluster
from tests.distributed.conversing import Talk, check_talk
from tests.distributed.nodes import RESOURCE, Nodes, started
from tests.distributed.witness import Witness, lives, took_turns

pytest.importorskip("ray", reason="Ray is not installed: pip install 'actormem[ray]'")
pytestmark = [
    pytest.mark.full,
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROUNDS = int(os.environ.get("ACTORMEM_KILLS", "10"))
SESSIONS = 200
SHARDS = 2
RESUME_S = 10.0
THINKING_S = 2.0  # of a model, in a turn: about 100 turns a second
ON_THE_WAY_S = 0.5  # answers of the dead may still come
CALM_S = 4.0  # between two kills: a new node takes a core for seconds to start
ON_NODES = {"resources": {RESOURCE: 1}}


@pytest.fixture
def anyio_backend() -> str:
    """Ray knows no other."""
    return "asyncio"


async def test_a_node_that_is_killed_under_load_loses_nothing_and_its_turns_resume(tmp_path: Path) -> None:
    log = tmp_path / "commits"
    with started() as nodes:
        async with Cluster(
            tmp_path / "memory",
            shards=SHARDS,
            embedder="hashing",
            durability="process",
            wrap_record=Witness(log),
            ray_options=ON_NODES,
        ) as runtime:
            talk = Talk(runtime, SESSIONS)
            async with anyio.create_task_group() as group:
                group.start_soon(talk.run, THINKING_S)
                await all_have_said(talk, 1)
                for number in range(ROUNDS):
                    took_s = await killed_and_back(nodes, talk, log)
                    print(f"round {number + 1}: {took_s:.1f} s")
                    assert took_s <= RESUME_S
                talk.stopping = True
            await check_talk(runtime, talk)
            print(dict(talk.errors), sum(map(len, talk.acknowledged.values())))
    assert set(lives(log)) >= set(talk.sessions)
    assert all(map(took_turns, lives(log).values()))


async def all_have_said(talk: Talk, count: int) -> None:
    while len(talk.acknowledged) < len(talk.sessions) or min(map(len, talk.acknowledged.values())) < count:
        await anyio.sleep(0.05)


async def killed_and_back(nodes: Nodes, talk: Talk, log: Path) -> float:
    """Kill the node that has most of the shards; seconds until every session has had a turn acknowledged since.

    A node takes its place, for the next to be killed.
    """
    node = nodes.busiest([ran[-1] for ran in lives(log).values()])
    killed_s = time.monotonic()
    await anyio.to_thread.run_sync(nodes.kill, node)
    late_s = killed_s + ON_THE_WAY_S
    while not all(done[-1].at_s > late_s for done in talk.acknowledged.values()):
        await anyio.sleep(0.05)
    firsts = [next(one.at_s for one in done if one.at_s > late_s) for done in talk.acknowledged.values()]
    nodes.add()  # Ray does so in the main thread alone
    await anyio.sleep(CALM_S)
    return max(firsts) - killed_s
