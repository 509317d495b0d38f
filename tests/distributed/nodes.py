"""Ray nodes of a test's own, on this machine, and killing one of them with everything it runs."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["RESOURCE", "Nodes", "started"]

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # loopback only, and nothing is written to the home folder
RESOURCE = "memory_node"
STORE_BYTES = 80 * 2**20  # the least that Ray takes
QUICK_TO_NOTICE = {
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1_000,
    "health_check_failure_threshold": 3,
}


class Nodes:
    """A head without shards, and nodes that take them."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.nodes: list[Any] = []

    def add(self) -> None:
        """One node more."""
        self.nodes.append(
            self._cluster.add_node(num_cpus=2, resources={RESOURCE: 1_000}, object_store_memory=STORE_BYTES)
        )

    def busiest(self, shard_pids: list[int]) -> Any:
        """The node that runs most of these processes."""
        return max(self.nodes, key=lambda node: len(processes_of(node).intersection(shard_pids)))

    def kill(self, node: Any) -> None:
        """End every process of a node at once, as a power cut does."""
        signalled(node, signal.SIGKILL)
        self.nodes.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)

    def pause(self, node: Any) -> None:
        """Have a node's processes stand still, as a machine that swaps."""
        signalled(node, signal.SIGSTOP)

    def go_on(self, node: Any) -> None:
        """Have them go on."""
        signalled(node, signal.SIGCONT)


def processes_of(node: Any) -> set[int]:
    """The processes of a node, and all that they have started."""
    found = {one.process.pid for kind in node.all_processes.values() for one in kind}
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def signalled(node: Any, number: signal.Signals) -> None:
    for pid in processes_of(node):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def started(count: int = 2) -> Generator[Nodes, None, None]:
    """A head and so many nodes, until the block ends; this process is a driver of theirs."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
            "_system_config": QUICK_TO_NOTICE,
        },
    )
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        nodes = Nodes(cluster)
        for _ in range(count):
            nodes.add()
        cluster.wait_for_nodes()
        yield nodes
    finally:
        ray.shutdown()
        cluster.shutdown()
