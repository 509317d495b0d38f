"""Fills a folder, is killed while it adds to it, and opens it again; each a process, run by
`benchmarks.durability_recovery`.

python -m benchmarks.durability_folder fill FOLDER SESSIONS MESSAGES   so many in each session; closes the folder
python -m benchmarks.durability_folder leave|hold FOLDER SESSIONS MESSAGES
                                                                       prints how many messages each session was told
                                                                       are safe, once these are so many in all, and
                                                                       kills itself while all sessions go on; `hold`
                                                                       reads meanwhile
python -m benchmarks.durability_folder recover FOLDER SESSIONS MESSAGES SAFE
                                                                       prints the seconds of each step; afterwards it
                                                                       looks for what SAFE says, and all else
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from time import perf_counter, process_time

import anyio
import msgspec

import actormem
from actormem.adapters.hashing import HashingEmbedder
from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    OwnerItems,
    PutItems,
    PutVectors,
    Record,
    SaveSnapshot,
    SessionHistory,
    SetProgress,
    StoredEvent,
    Write,
)
from actormem.storage.record import DATABASE_NAME, open_record
from benchmarks.flat_cost import Talker

__all__ = ["LEFT_SESSIONS", "fill", "hold", "leave", "log_bytes", "recover"]

LEFT_SESSIONS = 200  # that speak when the process is killed
EMBEDDER = "hashing"
EMBEDDER_NAME = HashingEmbedder().name  # under which its vectors are stored
SEED = 3
LEFT = "left-"  # with which their ids begin
TIME_MS = 1_700_000_000_000


async def fill(folder: Path, session_count: int, message_count: int) -> None:
    """Play a session, and copy it until there are so many; the folder is closed."""
    talker = Talker(SEED)
    first = SessionKey(Owner("", "user-0"), "talk")
    async with actormem.open(folder, embedder=EMBEDDER, durability="process") as runtime:
        session = await runtime.spawn("talk", user="user-0", budget=actormem.Budget(context=4_000))
        for _ in range(message_count // 2):
            await session.add_many([talker.message("user"), talker.message("assistant")])
        await runtime.settle()
    async with open_record(folder, durability="process") as record:
        history = await record.load_session(first)
        assert history is not None
        last = history.events[-1].sequence if history.events else history.snapshot_sequence
        events = await record.read_events(first, 1, last)
        items = await record.load_items(first.owner, EMBEDDER_NAME)
        for number in range(1, session_count):
            owner = Owner("", f"user-{number}")
            await record.sync(list(_copied(record, owner, history, events, items)))


def _copied(
    record: Record,
    owner: Owner,
    history: SessionHistory,
    events: tuple[StoredEvent, ...],
    items: OwnerItems,
) -> Iterator[Write]:
    key = SessionKey(owner, "talk")
    yield AppendEvents(key, events, TIME_MS)
    if history.snapshot is not None:
        yield SaveSnapshot(key, history.snapshot_sequence, history.snapshot)
    yield SetProgress(key, history.progress)
    ids = {item.id: f"m{record.next_item_number()}" for item in items.items}
    yield PutItems(tuple(_moved(item, ids[item.id], owner) for item in items.items))
    vectors = tuple((ids[name], vector) for name, vector in items.vectors.items())
    yield PutVectors(owner, EMBEDDER_NAME, vectors)


def _moved(item: Item, item_id: str, owner: Owner) -> Item:
    return msgspec.structs.replace(item, id=item_id, owner=owner)


async def leave(folder: Path, session_count: int, message_count: int) -> None:
    """Add to sessions of many users until so many messages are acknowledged, and be killed while they go on."""
    talker = Talker(os.getpid())
    safe = [0] * session_count

    async def talk(number: int) -> None:
        session = await runtime.spawn("talk", user=f"user-{number}")
        for place in count(1):
            await session.add(talker.message("user") | {"id": left_id(place)})
            safe[number] += 1
            if sum(safe) == message_count:
                print(msgspec.json.encode(safe).decode(), flush=True)
                kill_this_process()

    async with actormem.open(folder, embedder=EMBEDDER) as runtime, anyio.create_task_group() as group:
        for number in range(session_count):
            group.start_soon(talk, number)


async def hold(folder: Path, session_count: int, message_count: int) -> None:
    """The same while someone reads: nothing that is added can be checkpointed, all of it stays in the log."""
    with closing(sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sessions").fetchone()
        await leave(folder, session_count, message_count)


def left_id(place: int) -> str:
    """Of the message that a session adds so many-th."""
    return f"{LEFT}{place}"


def kill_this_process() -> None:
    """As `kill -9` does: nothing is closed."""
    os.kill(os.getpid(), signal.SIGKILL)


def log_bytes(folder: Path) -> int:
    """Of the log that the record has beside its file."""
    log = folder / f"{DATABASE_NAME}-wal"
    return log.stat().st_size if log.is_file() else 0


async def recover(folder: Path, session_count: int, message_count: int, safe: Sequence[int]) -> str:
    """Open it, tell how long each step took, and then look for all that was acknowledged: what is lost, in words."""
    began_s, used_s = perf_counter(), process_time()
    async with actormem.open(folder, embedder=EMBEDDER) as runtime:
        opened_s = perf_counter()
        session = await runtime.spawn("talk", user="user-0")
        spawned_s = perf_counter()
        await session.context(query="which order number was it?")
        ready_s, used_s = perf_counter(), process_time() - used_s
        lost = await losses(runtime, session_count, message_count // 2 * 2, safe)
    found = {
        "recovery_s": ready_s - began_s,
        "recovery_processor_s": used_s,
        "open_s": opened_s - began_s,
        "spawn_s": spawned_s - opened_s,
        "context_s": ready_s - spawned_s,
    }
    print(msgspec.json.encode(found).decode())
    return lost


async def losses(
    runtime: actormem.Runtime, session_count: int, message_count: int, safe: Sequence[int]
) -> str:
    """How many acknowledged messages are not there, and whose; empty where all are."""
    lost: dict[str, int] = {}
    for number in range(max(session_count, len(safe))):
        session = await runtime.spawn("talk", user=f"user-{number}")
        there = {message.id for message in await session.messages()}
        left = {left_id(place + 1) for place in range(safe[number] if number < len(safe) else 0)}
        older_count = sum(not name.startswith(LEFT) for name in there)
        missing = len(left - there) + (message_count if number < session_count else 0) - older_count
        if missing:
            lost[f"user-{number}"] = missing
    return f"{sum(lost.values())} acknowledged messages are lost, of {', '.join(lost)}" if lost else ""


def main(name: str, folder: str, session_count: int, message_count: int, safe: str = "[]") -> None:
    """One of the four."""
    work = {"fill": fill, "leave": leave, "hold": hold}
    if name in work:
        anyio.run(work[name], Path(folder), session_count, message_count)
        return
    said = msgspec.json.decode(safe, type=list[int])
    lost = anyio.run(recover, Path(folder), session_count, message_count, said)
    if lost:
        sys.exit(lost)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
