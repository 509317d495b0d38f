"""Fills a folder, or opens it, and ends without closing it, as a killed process does; run by `benchmarks.durability`.

python -m benchmarks.durability_folder fill FOLDER MESSAGES
python -m benchmarks.durability_folder recover FOLDER       prints the seconds of each step as one JSON object
"""

import os
import sys
from collections.abc import Iterator
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
from actormem.storage.record import open_record
from benchmarks.flat_cost import Talker

__all__ = ["fill", "recover"]

SESSION_MESSAGES = 200
EMBEDDER = "hashing"
EMBEDDER_NAME = HashingEmbedder().name  # under which its vectors are stored
SEED = 3
TIME_MS = 1_700_000_000_000
LEFT_MESSAGES = 5  # said before each end, so that a log is left to be read


async def fill(folder: Path, message_count: int) -> None:
    """Play a session, and copy it until there are so many messages."""
    talker = Talker(SEED)
    first = SessionKey(Owner("", "user-0"), "talk")
    async with actormem.open(folder, embedder=EMBEDDER, durability="process") as runtime:
        session = await runtime.spawn("talk", user="user-0", budget=actormem.Budget(context=4_000))
        for _ in range(min(message_count, SESSION_MESSAGES) // 2):
            await session.add_many([talker.message("user"), talker.message("assistant")])
        await runtime.settle()
    async with open_record(folder, durability="process") as record:
        history = await record.load_session(first)
        assert history is not None
        last = history.events[-1].sequence if history.events else history.snapshot_sequence
        events = await record.read_events(first, 1, last)
        items = await record.load_items(first.owner, EMBEDDER_NAME)
        for number in range(1, message_count // SESSION_MESSAGES):
            owner = Owner("", f"user-{number}")
            await record.sync(list(_copied(record, owner, history, events, items)))
    await recover(folder)


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


async def recover(folder: Path) -> None:
    """Open it, print how long each step took, say a little, and end at once."""
    talker = Talker(os.getpid())
    began_s, used_s = perf_counter(), process_time()
    async with actormem.open(folder, embedder=EMBEDDER) as runtime:
        opened_s = perf_counter()
        session = await runtime.spawn("talk", user="user-0")
        spawned_s = perf_counter()
        await session.context(query="which order number was it?")
        ready_s, used_s = perf_counter(), process_time() - used_s
        for _ in range(LEFT_MESSAGES):
            await session.add(talker.message("user"))
        found = {
            "recovery_s": ready_s - began_s,
            "recovery_processor_s": used_s,
            "open_s": opened_s - began_s,
            "spawn_s": spawned_s - opened_s,
            "context_s": ready_s - spawned_s,
        }
        sys.stdout.buffer.write(msgspec.json.encode(found))
        sys.stdout.flush()
        end_at_once()


def end_at_once() -> None:
    """Leave no time for anything to be closed."""
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        anyio.run(fill, Path(sys.argv[2]), int(sys.argv[3]))
    else:
        anyio.run(recover, Path(sys.argv[2]))
