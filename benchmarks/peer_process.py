"""One peer in a process of its own, which nothing of ours or of another peer's runs in: prints one JSON object.

    python -m benchmarks.peer_process JOB

One turn of a session of its own goes before, so that what is loaded late is loaded.
"""

import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import anyio
import msgspec
from anyio import to_thread

from benchmarks.conversation import SpokenTurn, conversation
from benchmarks.peers import Given, Make, Peer, installed, missing, opened
from benchmarks.process import ChildError, output_of
from benchmarks.scripted import percentiles, watched
from benchmarks.server import Counts, counts_at

__all__ = ["Job", "each", "figures", "main", "measured"]

PEER_S_MAX = 900.0
TALKS_MAX = 20  # made once, and held by several sessions


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a peer does.

    Attributes:
        peer: Its name in `benchmarks.peers`.
        base_url: The server of all its calls.
        budget_tokens: Of a request, where the peer has budgets.
        session_count: Held at once; with one, LLM calls are counted by the part of a turn that waited for them.
        pause_s: Between context and reply.
        seed: Of the first conversation, which is that of `benchmarks.conversation`.
    """

    peer: str = ""
    base_url: str
    budget_tokens: int
    session_count: int = 1
    turn_count: int
    pause_s: float = 0.0
    seed: int


class _Turns:
    """What came of the turns."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._alone = job.session_count == 1
        self.contexts_ms: list[float] = []
        self.ends_ms: list[float] = []
        self.context_calls = self.end_calls = 0

    async def talk(self, peer: Peer, talk: Sequence[SpokenTurn], began_s: float) -> None:
        """One conversation; its first turn began with the run, whenever its task comes to it."""
        for place, spoken in enumerate(talk):
            before = await self._counts()
            from_s = began_s if place == 0 and not self._alone else perf_counter()
            await peer.take(spoken.user)
            self.contexts_ms.append((perf_counter() - from_s) * 1000)
            between = await self._counts()
            await anyio.sleep(self._job.pause_s)
            from_s = perf_counter()
            await peer.reply(spoken.reply)
            self.ends_ms.append((perf_counter() - from_s) * 1000)
            after = await self._counts()
            self.context_calls += between.chats_ended - before.chats_ended
            self.end_calls += after.chats_ended - between.chats_ended

    async def _counts(self) -> Counts:
        return await counts_at(self._job.base_url) if self._alone else Counts()


async def figures(job: Job) -> dict[str, float]:
    """Waits for contexts and for the ends of turns; gaps of the loop; LLM calls that were waited for."""
    folder = await to_thread.run_sync(partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-"))
    try:
        given = Given(base_url=job.base_url, folder=Path(folder.name), budget_tokens=job.budget_tokens)
        async with opened(job.peer, given) as make:
            return await _figures(job, make)
    finally:
        await to_thread.run_sync(folder.cleanup)


async def _figures(job: Job, make: Make) -> dict[str, float]:
    talks = [
        conversation(job.turn_count, job.seed + number) for number in range(min(TALKS_MAX, job.session_count))
    ]
    warm = await make(job.session_count)
    await warm.take(talks[0][0].user)
    await warm.reply(talks[0][0].reply)
    sessions = [await make(number) for number in range(job.session_count)]
    turns = _Turns(job)
    async with watched() as watch:
        began_s, used_s = perf_counter(), process_time()
        async with anyio.create_task_group() as group:
            for number, session in enumerate(sessions):
                group.start_soon(turns.talk, session, talks[number % len(talks)], began_s)
        wall_s, used_s = perf_counter() - began_s, process_time() - used_s
    count = len(turns.contexts_ms)
    found = {
        **percentiles("context", turns.contexts_ms),
        **percentiles("end", turns.ends_ms),
        **watch.figures,
        "wall_s": wall_s,
        "turns_per_s": count / wall_s,
        "processor_ms": used_s * 1000 / count,
    }
    if job.session_count == 1:
        found |= {"context_calls": turns.context_calls, "end_calls": turns.end_calls}
    return found


async def each(
    peers: Sequence[str], job: Job, note: Callable[[str], object]
) -> AsyncIterator[tuple[str, dict[str, float]]]:
    """The figures of each that can be measured, one after another; `note` is told why others are not."""
    for said in missing(peers):
        note(said)
    for peer in installed(peers):
        print(f"once, {peer}", file=sys.stderr)
        found = await measured(msgspec.structs.replace(job, peer=peer))
        if isinstance(found, str):
            note(found)
        else:
            yield peer, found


async def measured(job: Job) -> dict[str, float] | str:
    """The figures, from a process of its own; or, in a line, why there are none."""
    wanted = msgspec.json.encode(job).decode()
    try:
        said = await output_of("benchmarks.peer_process", wanted, seconds_max=PEER_S_MAX)
    except ChildError as error:
        return f"{job.peer} is not measured: {error}"
    except TimeoutError:
        return f"{job.peer} is not measured: no end after {PEER_S_MAX:.0f} s"
    return msgspec.json.decode(said, type=dict[str, float])


def main(job: Job) -> dict[str, float]:
    """The figures of one peer, on asyncio: it is what all of them are written for."""
    logging.disable(logging.WARNING)
    return anyio.run(figures, job)


if __name__ == "__main__":
    print(msgspec.json.encode(main(msgspec.json.decode(sys.argv[1], type=Job))).decode())
