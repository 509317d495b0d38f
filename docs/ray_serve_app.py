# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""A chat server with memory on a Ray cluster: any number of Serve replicas, one memory on shards that they share.

On every node a folder that all of them see (or a postgresql:// URL), and `pip install 'actormem[ray]' 'ray[serve]'`:

    RAY_worker_niceness=0 ray start --head            # and on the other nodes: ray start --address=HEAD:6379
    CHAT_PLACE=/data/memory CHAT_SHARDS=8 serve run --app-dir docs ray_serve_app:app
    curl '127.0.0.1:8000/?user=ada&session=s-1&id=q-1' -d 'Where is my order KX-48210?'

A replica that dies is replaced by Serve, a shard that dies by Ray; who asks again with the same id is answered once.
"""

import asyncio
import os

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

import actormem
from actormem.distributed import Cluster, ClusterRuntime

PLACE, SHARDS = os.getenv("CHAT_PLACE", "memory"), int(os.getenv("CHAT_SHARDS", "2"))


@serve.deployment(num_replicas=2, max_ongoing_requests=200)
class Chat:
    async def __init__(self, place: str, shards: int) -> None:
        opened = asyncio.get_running_loop().create_future()
        self._holding = asyncio.create_task(hold(place, shards, opened))
        self._runtime = await opened

    async def __call__(self, request: Request) -> JSONResponse:
        who = request.query_params
        session = await self._runtime.spawn(who["session"], user=who["user"], model="gpt-4o")
        try:
            async with session.turn((await request.body()).decode(), id=who.get("id")) as turn:
                turn.reply("Your model's answer to turn.messages.")
        except actormem.UsageError as error:
            return JSONResponse({"error": str(error)}, status_code=409)
        return JSONResponse({"tokens": turn.trace.tokens, "shard": self._runtime.shard_of(who["user"])})


async def hold(place: str, shards: int, opened: asyncio.Future[ClusterRuntime]) -> None:
    """Enter and leave the cluster in one task; detached, for the shards are not this replica's alone."""
    try:
        async with Cluster(place, shards=shards, detached=True) as runtime:
            opened.set_result(runtime)
            await asyncio.Event().wait()  # until the replica ends
    except actormem.ActorMemError as error:
        opened.set_exception(error)


app = Chat.bind(PLACE, SHARDS)
