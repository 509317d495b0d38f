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
SHARDS = 4
RESUME_S = 10.0
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
                group.start_soon(talk.run, 0.2)
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
    """Kill the node that has most of the shards; seconds until the last of them has recorded a turn that began after.

    A node takes its place, for the next to be killed.
    """
    pids = [ran[-1] for ran in lives(log).values()]
    node = nodes.busiest(pids)
    before = {session: len(done) for session, done in talk.acknowledged.items()}
    killed_s = time.monotonic()
    await anyio.to_thread.run_sync(nodes.kill, node)
    waited = dict.fromkeys({talk.shard(session) for session in talk.sessions}, 0.0)
    while not all(waited.values()):
        await anyio.sleep(0.05)
        for session, done in talk.acknowledged.items():
            new = [one for one in done[before[session] :] if one.at_s > killed_s]
            if len(new) > 1 and not waited[talk.shard(session)]:  # the first may have been on its way
                waited[talk.shard(session)] = new[1].at_s - killed_s
    nodes.add()  # Ray does so in the main thread alone
    return max(waited.values())
