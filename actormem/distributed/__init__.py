"""A memory on more machines than one: owners placed on shards, each a runtime of its own in a Ray actor.
Needs `actormem[ray]`.

    owner ──rendezvous hashing──▶ shard ──Ray──▶ node
                                    │
                     one runtime, one record, one writer

A shard is one memory: a sub folder of a folder that all nodes see, or a schema of one PostgreSQL. Its record's lock (of
a folder the kernel's, in PostgreSQL a lease with a fencing number) is what keeps two processes from serving it: Ray
restarts what has died, and may be wrong about it. What is said to a shard are the operations of `actormem.remote`, so
sessions and turns are the same classes as of `actormem.connect`; only Ray carries them in the place of HTTP.

Where to read on: `cluster` opens and closes it; `shard` is the actor; `calling` asks one shard and rides out its death,
`asking` all of them; `notes` is what a place knows of its shards; `core.placement` says who belongs where.

Example: a job, for `ray job submit -- python job.py`.

    import anyio, ray
    from actormem.distributed import Cluster

    async def main() -> None:
        async with Cluster("/data/memory", shards=8) as runtime:
            session = await runtime.spawn("s-1", user="ada", model="gpt-4o")
            async with session.turn("Where is my order KX-48210?") as turn:
                turn.reply("Your model's answer to turn.messages.")
            print(turn.trace)

    if __name__ == "__main__":
        ray.init()  # in a job of a cluster: joins it
        anyio.run(main)

Example: a Ray Serve deployment of any number of replicas, in `docs/ray_serve_app.py`. Its replicas share the shards, so
they open them with `detached=True`: the shards outlive the replica that happened to make them.
"""

from actormem.distributed.cluster import Cluster
from actormem.distributed.runtime import ClusterRuntime

__all__ = ["Cluster", "ClusterRuntime"]
