"""Conversations that are killed: what the child process does, what it acknowledges, and how one looks at what is left.

The child says, remembers and forgets, and writes a line for each thing once it is acknowledged, and one before it
forgets. `losses` opens the folder at the front door and gives what is wrong with it, in words.
"""

import re
from pathlib import Path

import msgspec

import actormem
from actormem.actors.history import decoded
from actormem.actors.rewinding import found_state
from actormem.core.session.events import MessageAdded
from actormem.core.session.replay import replay, survivors
from actormem.core.session.working import Working
from actormem.core.values import Owner, SessionKey
from actormem.storage.record import open_record

__all__ = ["CHILD", "Told", "compaction_count", "losses"]

USERS = ("ada", "bob")
TOKENS = re.compile(rb"(?:QZ|ZW)\d{6}")  # what stands in items, and in sessions that are forgotten
BUDGET_TOKENS = 400  # so small that a session of twenty turns is compacted several times

CHILD = f"""
import os, sys
import anyio, actormem

HELD = 40  # commits that the mutant holds back, and has acknowledged
LONG = "We spoke of the delivery, of the colour and of the price, and decided nothing yet. " * 2
users = {USERS!r}
folder, first, durability, early = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "early"
last = int(sys.argv[5]) if sys.argv[5:] else 100_000

def say(word, number):
    os.write(1, b"%s %d\\n" % (word.encode(), number))

class Early:
    "The bug: a commit is told of before it is durable, and comes later."

    def __init__(self, record):
        self.record, self.held = record, []

    def __getattr__(self, name):
        return getattr(self.record, name)

    def submit(self, writes, then=None):
        self.held.append(writes)
        if then is not None:
            then(None)
        while len(self.held) > HELD:
            self.record.submit(self.held.pop(0), lambda error: None)

    async def sync(self, writes=()):
        self.submit(writes)
        held, self.held = self.held, []
        for one in held:
            self.record.submit(one, lambda error: None)
        await self.record.sync()

async def main():
    async with actormem.open(folder, embedder="hashing", durability=durability) as runtime:
        if early:
            runtime._services.record = Early(runtime._services.record)
        for number in range(first, last):
            await step(runtime, number, users[number % 2])

async def step(runtime, number, user):
    session = await runtime.spawn("s", user=user, budget=actormem.Budget(context={BUDGET_TOKENS}))
    async with session.turn(f"Turn {{number}}: order KX-{{number:06d}}. {{LONG}}", id=f"t-{{number}}") as turn:
        turn.reply(f"Noted {{number}}. {{LONG}}")
    say("turn", number)
    if number % 3 == 0:
        item = await runtime.remember(f"The user keeps the token QZ{{number:06d}}.", user=user)
        say("item", number)
        if number % 2 == 0:
            say("forgetting", number)
            await runtime.forget(item.id, user=user)
            say("forgotten", number)
    if number % 5 == 0:
        aside = await runtime.spawn(f"aside-{{number}}", user=user)
        async with aside.turn(f"Between us: ZW{{number:06d}}.") as turn:
            turn.reply("I see.")
        say("aside", number)
        if number % 2 == 0:
            say("leaving", number)
            await runtime.forget_session(f"aside-{{number}}", user=user)
            say("left", number)

anyio.run(main)
"""


class Told:
    """What children acknowledged so far, by the word; numbers in order."""

    def __init__(self) -> None:
        self._numbers: dict[str, list[int]] = {}

    def add(self, lines: list[list[str]]) -> None:
        """Take in the lines of one child."""
        for word, number in lines:
            self._numbers.setdefault(word, []).append(int(number))

    def __getitem__(self, word: str) -> list[int]:
        return self._numbers.get(word, [])

    @property
    def next_number(self) -> int:
        """The number that no child has begun with."""
        return max((number for numbers in self._numbers.values() for number in numbers), default=-1) + 2

    def open(self, begun: str, done: str) -> set[int]:
        """What was begun and may or may not have been done."""
        return set(self[begun]) - set(self[done])


async def losses(folder: Path, told: Told) -> list[str]:
    """What is not as it was acknowledged, or is there and should not be. Empty for a sound folder."""
    found: list[str] = []
    async with actormem.open(folder, embedder="hashing") as runtime:
        await runtime.settle()
        for user in USERS:
            found += await conversation_losses(runtime, user, told)
            found += await memory_losses(runtime, user, told)
        counts = runtime.statistics()
        for kind in (counts.sessions, counts.summarizer, counts.longterm, counts.upkeep):
            if kind.restarts or kind.given_up:
                found.append(f"an actor crashed: {kind.last_crash}")
        if counts.erasures_failed:
            found.append("an erasure was not ended")
    for user in USERS:
        found += await block_losses(folder, SessionKey(Owner("", user), "s"))
    return found + byte_losses(folder, told)


async def conversation_losses(runtime: actormem.Runtime, user: str, told: Told) -> list[str]:
    """Every acknowledged turn is there once, in order, with its reply; the context is of what was said."""
    found: list[str] = []
    session = await runtime.spawn("s", user=user)
    messages = await session.messages()
    ids = [message.id for message in messages if message.role == "user"]
    numbers = [int(id.removeprefix("t-")) for id in ids]
    if numbers != sorted(set(numbers)):
        found.append(f"turns of {user} are doubled or out of order: {numbers}")
    own = [number for number in told["turn"] if USERS[number % 2] == user]
    found += [f"turn {number} is lost" for number in own if number not in numbers]
    outcomes = {turn.id: turn.outcome for turn in await session.turns()}
    found += [
        f"turn {one} is {outcomes[f't-{one}']}"
        for one in own
        if outcomes.get(f"t-{one}", "complete") != "complete"
    ]
    said = [str(message.content) for message in messages]
    places = {message.id: place for place, message in enumerate(messages)}
    for number in set(own) & set(numbers):
        place = places[f"t-{number}"]
        if not said[place].startswith(f"Turn {number}: ") or not said[place + 1].startswith(
            f"Noted {number}."
        ):
            found.append(f"turn {number} has other words")
    context = await session.context()
    shown = [str(message["content"]) for message in context.messages]
    # A note of what is remembered may stand beside what the user said, in one message.
    verbatim = [text for one in shown for text in said if text in one]
    if verbatim != said[len(said) - len(verbatim) :]:
        found.append(f"the context of {user} has a gap")
    if context.trace.tokens > BUDGET_TOKENS or not (verbatim or not said):
        found.append(f"the context of {user} is none")
    return found


async def memory_losses(runtime: actormem.Runtime, user: str, told: Told) -> list[str]:
    """Every acknowledged item is there once, and none that was forgotten."""
    found: list[str] = []
    texts = [item.text for item in await runtime.items(user, history=True)]
    open_items = told.open("forgetting", "forgotten")
    for number in told["item"]:
        if USERS[number % 2] != user:
            continue
        count = sum(text == f"The user keeps the token QZ{number:06d}." for text in texts)
        if number in told["forgotten"] and count:
            found.append(f"item {number} has come back")
        elif number not in told["forgotten"] and count != 1 and not (number in open_items and count == 0):
            found.append(f"item {number} is there {count} times")
    kept = {row.session_id for row in await runtime.sessions(user)}
    open_asides = told.open("leaving", "left")
    for number in told["aside"]:
        there = f"aside-{number}" in kept
        if USERS[number % 2] == user and there == (number in told["left"]) and number not in open_asides:
            found.append(f"session aside-{number} is {'back' if there else 'lost'}")
    everything = msgspec.json.encode(texts).decode()
    found += [f"words of aside-{one} have come back" for one in told["left"] if f"ZW{one:06d}" in everything]
    return found


def byte_losses(folder: Path, told: Told) -> list[str]:
    """What was forgotten and still stands in a file."""
    gone = {f"QZ{one:06d}" for one in told["forgotten"]} | {f"ZW{one:06d}" for one in told["left"]}
    return [
        f"{token} was forgotten and is in {path.name}"
        for path in folder.rglob("*")
        if path.is_file()
        for token in sorted({held.decode() for held in TOKENS.findall(path.read_bytes())} & gone)
    ]


async def compaction_count(folder: Path) -> int:
    """Compactions of all the conversations."""
    count = 0
    async with open_record(folder) as record:
        for user in USERS:
            history = await record.load_session(SessionKey(Owner("", user), "s"))
            found = history and found_state(history)
            if history and found:
                count += replay(found[0], decoded(history.events)).compaction_count
    return count


async def block_losses(folder: Path, key: SessionKey) -> list[str]:
    """Every message is verbatim or in the span of one block, in one of both; from the snapshot as from all events."""
    async with open_record(folder) as record:
        history = await record.load_session(key)
        if history is None:
            return []
        last = history.events[-1].sequence if history.events else history.snapshot_sequence
        events = decoded(await record.read_events(key, 1, last))
    found: list[str] = []
    states = [("all events", replay(Working(), events))]
    stored = found_state(history)
    if stored is not None:
        states.append(("the snapshot", replay(stored[0], decoded(history.events))))
    messages = [at for at, event in survivors(events) if isinstance(event, MessageAdded)]
    for source, state in states:
        blocks = (*state.dropped, *state.blocks)
        verbatim = {entry.sequence for entry in state.entries}
        for sequence in messages:
            places = (sequence in verbatim) + sum(block.first <= sequence <= block.last for block in blocks)
            if places != 1:
                found.append(f"message {sequence} stands {places} times in {source} of {key.owner.user}")
    return found
