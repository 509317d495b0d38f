"""Do owners and shards stay evenly spread, how much moves when a node comes or goes, and do two owners ever write?

Measured, by simulation, in this process:
  owners       on the fullest shard, of those on a mean one; beside it what drawing by lot gives
  moved        share of the owners that a shard name more would move, of the least there can be
  nodes        shards on the fullest node, of those on a mean one, over deaths and additions of nodes
  moves        shards that a death of a node moves, of all; an addition moves none: it takes what dies next
  two owners   commits that the record took from a shard's process after it had taken one of its successor's
  without      the same, where the record does not compare the fencing number
  refused      commits of processes that had lost their lease and did not know

The model of a failover: each shard has a lease in the record, with a number that grows each time it is taken. Whoever
holds it commits with his number, and renews it; he believes in it by a clock of his own, which runs fast or slow.
Processes stand still for as long as they like, between looking at the clock and sending too; messages arrive late and
out of order; the supervisor takes the living for dead. The record compares the number in the commit's transaction.

Not measured: any process, network or disk (`tests/distributed` kills real ones), the kernel's lock of a folder.

Corpus: drawn from the seed; the same at every run. Owners are numbered users.

To read it: every figure but `owners` is exact for its seed. `two owners` must be 0, `without` must not: a check that
finds nothing without the fence would find nothing with it.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from random import Random
from typing import Any

import msgspec

from actormem.core.placement import shard_name, shard_of
from actormem.core.values import Owner
from benchmarks import report

__all__ = ["FULL", "QUICK", "Faults", "Record", "Size", "Took", "failover", "main", "measure", "two_owners"]

NAME = "failover"
LEASE_S = 6.0  # as the record's
RENEW_S = 2.0
COMMIT_S = 1.0
COLUMNS = (
    report.Column("owners", "owners_of_mean", "{:.2f}", better="less"),
    report.Column("by lot", "by_lot_of_mean", "{:.2f}"),
    report.Column("moved", "moved_of_least", "{:.2f}", better="less"),
    report.Column("nodes", "node_of_mean", "{:.2f}", better="less"),
    report.Column("moves, death", "death_moves_share", "{:.4f}", better="less"),
    report.Column("commits", "commits", "{:,.0f}"),
    report.Column("two owners", "two_owners", "{:,.0f}", better="less"),
    report.Column("without", "two_owners_without_fence", "{:,.0f}", better="more"),
    report.Column("refused", "refused", "{:,.0f}"),
)
TARGETS = (
    report.Target(
        about="commits of two owners", row="1,000 shards", figure="two_owners", at_most=0, worst=True
    ),
    report.Target(
        about="found without the fence", row="1,000 shards", figure="two_owners_without_fence", at_least=1
    ),
    report.Target(
        about="owners on the fullest shard, of a mean one",
        row="1,000 shards",
        figure="owners_of_mean",
        at_most=2,
    ),
)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How much is simulated."""

    shard_count: int = 1_000
    owner_count: int = 50_000
    node_count: int = 100
    change_count: int = 400
    simulated_s: float = 300.0
    seed: int = 1


FULL = Size()
QUICK = Size(owner_count=4_000, change_count=60, simulated_s=60.0)


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """How badly it goes. Chances are of each step of a process; times in seconds.

    Attributes:
        pause_chance, pause_s: A process stands still, for up to so long.
        delay_s: A message takes up to so long.
        skew: Clocks run up to this share fast or slow.
        death_chance: A process dies.
        false_alarm_chance: The supervisor begins a successor while the process lives.
    """

    pause_chance: float = 0.02
    pause_s: float = 30.0
    delay_s: float = 4.0
    skew: float = 0.2
    death_chance: float = 0.005
    false_alarm_chance: float = 0.01


class Took(msgspec.Struct, frozen=True):
    """A commit that the record took: of which process, with which number."""

    process: int
    number: int


class Record:
    """One shard's row of leases, and the commits it took. Its clock is the only one that a lease ends by.

    Attributes:
        refused_count: Commits with a number that was not the newest.
    """

    def __init__(self, *, fenced: bool) -> None:
        self.took: list[Took] = []
        self.refused_count = 0
        self._fenced = fenced
        self._number = 0
        self._ends_s = 0.0

    def take(self, now_s: float) -> int:
        """The lease's new number, where the one before has run out; else 0."""
        if now_s < self._ends_s:
            return 0
        self._number += 1
        self._ends_s = now_s + LEASE_S
        return self._number

    def renew(self, number: int, now_s: float) -> bool:
        """Make it last longer, if it is still this one, run out or not."""
        if number != self._number:
            return False
        self._ends_s = now_s + LEASE_S
        return True

    def commit(self, process: int, number: int) -> bool:
        """Take a commit; with the fence, of the newest number alone."""
        if self._fenced and number != self._number:
            self.refused_count += 1
            return False
        self.took.append(Took(process, number))
        return True


class Process:
    """One process of a shard, as it sees the world."""

    def __init__(self, number: int, shard: int, rate: float) -> None:
        self.number = number
        self.shard = shard
        self.rate = rate  # of its clock
        self.lease = 0
        self.believed_s = 0.0  # by its own clock, until when it holds the lease
        self.renewed_s = 0.0


class World:
    """Events in the order of their time. Everything is drawn from the seed."""

    def __init__(self, shard_count: int, faults: Faults, seed: int, *, fenced: bool) -> None:
        self.records = [Record(fenced=fenced) for _ in range(shard_count)]
        self._faults = faults
        self._random = Random(seed)
        self._events: list[tuple[float, int, str, Process, Any]] = []
        self._count = self._process_count = 0
        for shard in range(shard_count):
            self._begin(self._random.random(), shard)

    def run(self, until_s: float) -> None:
        """Let it happen."""
        while self._events and self._events[0][0] <= until_s:
            now_s, _, kind, process, given = heappop(self._events)
            getattr(self, f"_{kind}")(now_s, process, given)

    def _at(self, at_s: float, kind: str, process: Process, given: object = None) -> None:
        self._count += 1
        heappush(self._events, (at_s, self._count, kind, process, given))

    def _begin(self, at_s: float, shard: int) -> None:
        skew = self._faults.skew
        self._process_count += 1
        self._at(at_s, "step", Process(self._process_count, shard, 1 + self._random.uniform(-skew, skew)))

    def _sent_s(self, now_s: float) -> float:
        """When what is sent now arrives: the sender may stand still first, and the message takes its time."""
        faults, random = self._faults, self._random
        stood_s = random.uniform(0, faults.pause_s) if random.random() < faults.pause_chance else 0.0
        return now_s + stood_s + random.uniform(0, faults.delay_s)

    def _step(self, now_s: float, process: Process, _: object) -> None:
        """A process does what it thinks is its turn to do."""
        faults, random = self._faults, self._random
        if random.random() < faults.death_chance:
            self._begin(now_s + 2, process.shard)
            return
        if random.random() < faults.false_alarm_chance:
            self._begin(now_s + 2, process.shard)
        own_s = now_s * process.rate
        if not process.lease:
            self._at(self._sent_s(now_s), "taking", process)
            return
        if own_s < process.believed_s:
            self._at(self._sent_s(now_s), "commit", process, process.lease)
        if own_s - process.renewed_s >= RENEW_S:
            process.renewed_s = own_s
            self._at(self._sent_s(now_s), "renewing", process, (process.lease, own_s))
        stood_s = random.uniform(0, faults.pause_s) if random.random() < faults.pause_chance else 0.0
        self._at(now_s + COMMIT_S + stood_s, "step", process)

    def _taking(self, now_s: float, process: Process, _: object) -> None:
        number = self.records[process.shard].take(now_s)
        self._at(self._sent_s(now_s), "taken", process, number)

    def _taken(self, now_s: float, process: Process, number: int) -> None:
        process.lease, process.believed_s = number, now_s * process.rate + LEASE_S
        self._at(now_s + (0.0 if number else COMMIT_S), "step", process)

    def _renewing(self, now_s: float, process: Process, given: tuple[int, float]) -> None:
        number, asked_s = given
        if self.records[process.shard].renew(number, now_s):
            self._at(self._sent_s(now_s), "renewed", process, asked_s)

    def _renewed(self, _: float, process: Process, asked_s: float) -> None:
        process.believed_s = max(process.believed_s, asked_s + LEASE_S)

    def _commit(self, _: float, process: Process, number: int) -> None:
        if not self.records[process.shard].commit(process.number, number):
            process.lease = 0  # it is told, gives up, and is begun anew


def two_owners(took: Sequence[Took]) -> int:
    """Commits that were taken from a process after one of its successor's."""
    newest = count = 0
    for one in took:
        count += one.number < newest
        newest = max(newest, one.number)
    return count


def failover(
    shard_count: int, simulated_s: float, faults: Faults, seed: int, *, fenced: bool
) -> dict[str, int]:
    """What the records took, in all."""
    world = World(shard_count, faults, seed, fenced=fenced)
    world.run(simulated_s)
    return {
        "commits": sum(len(one.took) for one in world.records),
        "two_owners": sum(two_owners(one.took) for one in world.records),
        "refused": sum(one.refused_count for one in world.records),
        "takeovers": sum(len({took.number for took in one.took}) for one in world.records),
    }


# --- placement ------------------------------------------------------------------------------------------


def owners_spread(size: Size) -> dict[str, float]:
    """Owners on shards, and how many a name more would move."""
    names = [shard_name(number) for number in range(size.shard_count)]
    owners = [Owner(tenant="", user=f"user {number}") for number in range(size.owner_count)]
    places = [shard_of(owner, names) for owner in owners]
    drawn = Random(size.seed).choices(range(size.shard_count), k=size.owner_count)
    mean = size.owner_count / size.shard_count
    few, sample = names[:99], owners[: size.owner_count // 10]  # 99, that 100 be the names after
    moved = sum(shard_of(owner, few) != shard_of(owner, [*few, "another"]) for owner in sample)
    return {
        "owners_of_mean": max(Counter(places).values()) / mean,
        "by_lot_of_mean": max(Counter(drawn).values()) / mean,
        "moved_of_least": moved / (len(sample) / (len(few) + 1)),
    }


def nodes_spread(size: Size) -> dict[str, float]:
    """Shards on nodes while nodes die and come, as Ray moves them: those of the dead go where the fewest are."""
    random = Random(size.seed)
    nodes: dict[int, set[int]] = {number: set() for number in range(size.node_count)}
    for shard in range(size.shard_count):
        _fewest(nodes, random).add(shard)
    moved = deaths = 0
    fullest: list[float] = []
    for change in range(size.change_count):
        if change % 2:
            nodes[size.node_count + change] = set()
        else:
            gone = nodes.pop(random.choice(sorted(nodes)))
            moved, deaths = moved + len(gone), deaths + 1
            for shard in sorted(gone):
                _fewest(nodes, random).add(shard)
        fullest.append(max(map(len, nodes.values())) * len(nodes) / size.shard_count)
    return {
        "node_of_mean": max(fullest),
        "death_moves_share": moved / deaths / size.shard_count,
    }


def _fewest(nodes: dict[int, set[int]], random: Random) -> set[int]:
    least = min(map(len, nodes.values()))
    return nodes[random.choice([number for number, shards in sorted(nodes.items()) if len(shards) == least])]


async def measure(size: Size) -> dict[str, dict[str, report.Spread]]:
    """All of it."""
    faults = Faults()
    fenced = failover(size.shard_count, size.simulated_s, faults, size.seed, fenced=True)
    without = failover(size.shard_count, size.simulated_s, faults, size.seed, fenced=False)
    figures: dict[str, float] = {
        **owners_spread(size),
        **nodes_spread(size),
        **fenced,
        "two_owners_without_fence": without["two_owners"],
    }
    return report.single({f"{size.shard_count:,} shards": figures})


def main(given: Sequence[str] | None = None) -> int:
    """Simulate, print the table, write the file; 0."""
    return report.run(
        given,
        NAME,
        __doc__,
        (FULL, QUICK),
        measure,
        lambda size: (
            f"{size.owner_count:,} owners, {size.node_count} nodes, {size.simulated_s:g} s of failovers"
        ),
        columns=COLUMNS,
        targets=TARGETS,
    )


if __name__ == "__main__":
    sys.exit(main())
