"""kill -9 at any moment loses nothing that was acknowledged.

A child process appends events and prints the last sequence of each commit once it is told of it; the parent
kills it after so many lines, opens the record and looks. A child that acknowledges before the commit is
caught by the same look, which shows that the look can fail.
"""

import random
from collections.abc import Iterator

import pytest

from actormem.core.values import Owner, SessionKey
from tests.crash.killing import heard
from tests.crash.places import is_database, opened

TALK = SessionKey(Owner("shop", "ada"), "s-1")
BATCH = 3  # events in one transaction

CHILD = """
import os, sys
import anyio
from actormem.core.values import Item, Owner, SessionKey
from actormem.ports import AppendEvents, PutItems, StoredEvent
from tests.crash.places import is_database, opened

BATCH = 3
TALK = SessionKey(Owner("shop", "ada"), "s-1")
place, durability, early = sys.argv[1], sys.argv[2], sys.argv[3] == "early"

def event(sequence):
    text = f"words {sequence} " + "w" * (sequence * 37 % 900)
    return StoredEvent(sequence=sequence, name=f"m-{sequence}", body=b"b", text=text)

def say(last, number):
    os.write(1, b"%d %d\\n" % (last, number))

async def main():
    async with opened(place, durability=durability) as record:
        history = await record.load_session(TALK)
        last = len(history.events) if history else 0
        while True:
            first, last = last + 1, last + BATCH
            number = record.next_item_number()
            writes = [AppendEvents(TALK, tuple(map(event, range(first, last + 1))), last),
                      PutItems((Item(id=f"m{number}", owner=TALK.owner, kind="fact", text=f"fact {last}"),))]
            if early:
                say(last, number)  # the bug: told before the commit, which the kill then never lets happen
                await anyio.sleep_forever()
            record.submit(writes, lambda error, told=(last, number): say(*told))
            if last % (BATCH * 5) == 0:
                await record.sync()

anyio.run(main)
"""


def acknowledged(place: str, durability: str, *, early: bool, lines: int) -> list[tuple[int, int]]:
    """What a child acknowledged before it was killed: pairs of the last event and the item's number."""
    arguments = [place, durability, "early" if early else "honest"]
    return [(int(last), int(number)) for last, number in heard(CHILD, arguments, lines)]


async def losses(place: str, told: list[tuple[int, int]]) -> list[str]:
    """What was acknowledged and is not there, or is there and should not be. Empty for a sound record."""
    found: list[str] = []
    async with opened(place) as record:
        history = await record.load_session(TALK)
        sequences = [event.sequence for event in history.events] if history else []
        if sequences != list(range(1, len(sequences) + 1)):
            found.append("the events have a gap")
        if len(sequences) % BATCH:
            found.append("a transaction is there in part")
        if history and any(
            not (event.text or "").startswith(f"words {event.sequence} ") for event in history.events
        ):
            found.append("an event has other words")
        stored = await record.load_items(TALK.owner, "e")
        if len(stored.items) * BATCH != len(sequences):
            found.append("events and items of one transaction are apart")
        ids = {item.id for item in stored.items}
        found += [f"event {last} is lost" for last, _ in told if last > len(sequences)]
        found += [f"item {number} is lost" for _, number in told if f"m{number}" not in ids]
        if record.next_item_number() <= max((number for _, number in told), default=0):
            found.append("an item number is given twice")
    return found


def rounds(count: int) -> Iterator[tuple[int, str]]:
    """For each round: how many lines to hear before the kill, and the level of durability."""
    chance = random.Random("record")
    for number in range(count):
        yield chance.randrange(1, 60), ("power", "process")[number % 2]


async def kill_and_look(place: str, count: int) -> None:
    told: list[tuple[int, int]] = []
    for lines, durability in rounds(count):
        told += acknowledged(place, durability, early=False, lines=lines)
        assert await losses(place, told) == []
    assert len(told) >= count


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what dies is the process."""
    return str(request.param)


@pytest.mark.anyio
async def test_nothing_acknowledged_is_lost_by_a_kill(place: str) -> None:
    await kill_and_look(place, 1 if is_database(place) else 3)


@pytest.mark.anyio
@pytest.mark.full
async def test_nothing_acknowledged_is_lost_by_many_kills(place: str) -> None:
    await kill_and_look(place, 10 if is_database(place) else 30)  # a lease is waited for after each


@pytest.mark.anyio
async def test_a_child_that_acknowledges_before_the_commit_is_caught(place: str) -> None:
    told = acknowledged(place, "process", early=True, lines=1)
    assert await losses(place, told) == ["event 3 is lost", "item 1 is lost"]
