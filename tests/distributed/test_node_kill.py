"""Nodes that die or stand still under load: every acknowledged message is there once, in order, and no session has
two shards.

`ACTORMEM_KILLS=3 pytest -m full -n0 -s tests/distributed/test_node_kill.py` for fewer rounds, and to see how long each
takes.
"""

import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from actormem.distributed import Cluster, ClusterRuntime
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
RESUME_S = 10.0  # until each shard has acknowledged a turn again
ALL_S = 20.0  # until every session has: they come all at once, to cores that other programs want too
LEASE_S = 3  # of a database; half the default: what a killed shard's successor waits for
THINKING_S = 2.0  # of a model, in a turn: 200 sessions are about 100 turns a second
ON_THE_WAY_S = 0.5  # answers of the dead may still come
CALM_TURNS = 2  # of each session between two kills: a new node takes a core for seconds to start
STILL_S = 12.0  # longer than a lease, and than it takes to be called dead
ON_NODES = {"resources": {RESOURCE: 1}}


@pytest.fixture(params=["folder", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the shards' records are."""
    if request.param == "folder":
        return str(tmp_path / "memory")
    if find_spec("psycopg") is None or not (Path(__file__).parents[1] / "postgres").is_dir():
        pytest.skip("no PostgreSQL here: pip install 'actormem[postgres,test]'")
    server = request.getfixturevalue("postgres")
    url: str = server.url(server.schema_of(tmp_path), lease_s=LEASE_S)
    return url


@asynccontextmanager
async def talking(place: str, log: Path) -> AsyncGenerator[tuple[ClusterRuntime, Talk, Nodes]]:
    """Sessions that talk to shards on two nodes until the block ends; then what they were told is looked for."""
    with started() as nodes:
        cluster = Cluster(
            place,
            shards=SHARDS,
            embedder="hashing",
            durability="process",
            wrap_record=Witness(log),
            ray_options=ON_NODES,
        )
        async with cluster as runtime:
            talk = Talk(runtime, SESSIONS)
            async with anyio.create_task_group() as group:
                group.start_soon(talk.run, THINKING_S)
                await talk.turns_of_all(1)
                yield runtime, talk, nodes
                talk.stopping = True
            await check_talk(runtime, talk)
            told(f"{sum(map(len, talk.acknowledged.values()))} turns; errors met: {dict(talk.errors)}")
    assert set(lives(log)) >= set(talk.sessions)
    assert all(map(took_turns, lives(log).values()))


async def test_a_node_that_is_killed_under_load_loses_nothing_and_its_turns_resume(
    place: str, tmp_path: Path
) -> None:
    log = tmp_path / "commits"
    async with talking(place, log) as (_, talk, nodes):
        for number in range(ROUNDS):
            first_s, all_s = await killed_and_back(nodes, talk, log)
            told(f"round {number + 1}: turns resume after {first_s:.1f} s, all sessions' after {all_s:.1f} s")
            assert first_s <= RESUME_S
            assert all_s <= ALL_S
    assert len(set().union(*lives(log).values())) > ROUNDS, "each kill had a shard begun anew"


async def test_a_node_that_stood_still_and_comes_back_writes_nothing_more(place: str, tmp_path: Path) -> None:
    log = tmp_path / "commits"
    async with talking(place, log) as (_, talk, nodes):
        node = nodes.busiest([ran[-1] for ran in lives(log).values()])
        nodes.pause(node)
        try:
            await anyio.sleep(STILL_S)  # it is real time that the database and Ray count
        finally:
            nodes.go_on(node)
        await talk.turns_of_all(2)


async def killed_and_back(nodes: Nodes, talk: Talk, log: Path) -> tuple[float, float]:
    """Kill the node that has most of the shards; seconds until each shard, and each session, has had a turn
    acknowledged since.

    A node takes its place, for the next to be killed.
    """
    node = nodes.busiest([ran[-1] for ran in lives(log).values()])
    killed_s = time.monotonic()
    await anyio.to_thread.run_sync(nodes.kill, node)
    late_s = killed_s + ON_THE_WAY_S
    await talk.until(lambda: all(done[-1].at_s > late_s for done in talk.acknowledged.values()))
    firsts = {
        session: next(one.at_s for one in done if one.at_s > late_s) - killed_s
        for session, done in talk.acknowledged.items()
    }
    by_shard: dict[int, float] = {}
    for session, first_s in firsts.items():
        shard = talk.shard(session)
        by_shard[shard] = min(first_s, by_shard.get(shard, first_s))
    nodes.add()  # Ray does so in the main thread alone
    await talk.turns_of_all(CALM_TURNS)
    return max(by_shard.values()), max(firsts.values())


def told(line: str) -> None:
    """For whoever looks on with `-s`."""
    sys.stdout.write(f"{line}\n")
