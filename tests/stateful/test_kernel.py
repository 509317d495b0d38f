"""Any sequence of operations on a small actor system keeps the kernel's promises.

Every operation is followed by `settle`, so the order in which messages were issued is known, and the
model is a few dictionaries: what was issued, what was handled, what came of each ask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actormem.errors import ActorMemError, NotFoundError, OverloadedError, StoppedError
from actormem.kernel import ActorSystem, Crash, Reply, RestartWindow, Scope
from actormem.testing.clock import FakeClock, settle

KEYS = (0, 1, 2)
LIMIT = 2
PLANS = ("answer", "answer", "keep", "refuse", "crash", "slow", "child", "child crash", "silent")


class Message(NamedTuple):
    number: int
    plan: str
    way: str  # tell, control, coalesce, send, ask


class Operation(NamedTuple):
    name: str
    key: int
    plan: str
    seconds: float


OPERATIONS = st.builds(
    Operation,
    st.sampled_from(
        [
            "tell",
            "control",
            "coalesce",
            "send",
            "ask",
            "ask",
            "cancel",
            "answer-kept",
            "advance",
            "stop",
            "veto",
        ]
    ),
    st.sampled_from(KEYS),
    st.sampled_from(PLANS),
    st.sampled_from((0.5, 2.0, 6.0, 30.0)),
)


class World:
    """The model, and the checks that hold at every moment."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.issued = 0
        self.current: dict[Hashable, Player] = {}
        self.handled: dict[Hashable, list[Message]] = {key: [] for key in KEYS}
        self.taken: list[Message] = []
        self.outcomes: dict[int, list[object]] = {}
        self.askers: list[anyio.CancelScope] = []
        self.kept: list[tuple[Reply, Message]] = []
        self.veto: set[Hashable] = set()
        self.broken: list[AssertionError] = []

    def report(self, crash: Crash) -> None:
        if isinstance(crash.error, AssertionError):  # the kernel takes it for a crash of the actor
            self.broken.append(crash.error)

    def make(self, key: Hashable) -> Player:
        before = self.current.get(key)
        assert before is None or (before.busy, before.children) == (0, 0), "two instances at once"
        player = self.current[key] = Player(self, key)
        return player


class Player:
    """Does what the plan of a message says."""

    def __init__(self, world: World, key: Hashable) -> None:
        self.world = world
        self.key = key
        self.busy = 0
        self.children = 0
        self.over = False

    async def started(self, scope: Scope) -> None:
        self.scope = scope
        await anyio.lowlevel.checkpoint()

    async def receive(self, message: object, reply: Reply | None) -> None:
        assert isinstance(message, Message)
        assert self.world.current[self.key] is self
        assert not self.over
        assert self.busy == 0
        self.world.handled[self.key].append(message)
        self.busy += 1
        try:
            await self.play(message, reply)
        finally:
            self.busy -= 1

    async def play(self, message: Message, reply: Reply | None) -> None:
        match message.plan:
            case "keep" if reply is not None:
                self.world.kept.append((reply, message))
                return
            case "silent":
                return
            case "refuse":
                raise NotFoundError("no", id="x")
            case "crash":
                raise ValueError
            case "slow":
                await self.scope.clock.sleep(3)
            case "child" | "child crash":
                self.scope.start(self.child, message.plan == "child crash")
            case _:
                pass
        if reply is not None:
            reply.answer(message.number)

    async def child(self, crash: bool) -> None:
        self.children += 1
        try:
            await self.scope.clock.sleep(4)
            if crash:
                raise KeyError
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            self.children -= 1

    async def stopped(self, reason: str) -> None:
        assert self.busy == 0
        if reason == "passivated":
            assert self.children == 0
            assert self.key not in self.world.veto
        await anyio.lowlevel.checkpoint()
        self.over = True

    def idle(self) -> bool:
        return self.key not in self.world.veto


async def ask(
    world: World, system: ActorSystem, key: int, message: Message, scope: anyio.CancelScope
) -> None:
    results = world.outcomes.setdefault(message.number, [])
    with scope:
        try:
            if message.way == "send":
                await system.ref("player", key).send(message)
                world.taken.append(message)
                results.append("sent")
            else:
                results.append(await system.ref("player", key).ask(message, timeout_s=20))
        except ActorMemError as error:
            results.append(error)
    if scope.cancelled_caught:
        results.append("cancelled")


async def perform(
    world: World, system: ActorSystem, group: anyio.abc.TaskGroup, operation: Operation
) -> None:
    name, key, plan, seconds = operation
    match name:
        case "tell" | "control" | "coalesce" | "ask" | "send":
            world.issued += 1
            message = Message(world.issued, plan, name)
            if name in ("ask", "send"):
                world.askers.append(anyio.CancelScope())
                group.start_soon(ask, world, system, key, message, world.askers[-1])
            else:
                coalesce = "k" if name == "coalesce" else None
                try:
                    system.ref("player", key).tell(message, control=name == "control", coalesce=coalesce)
                    world.taken.append(message)
                except (OverloadedError, StoppedError):
                    pass
        case "cancel" if world.askers:
            world.askers.pop().cancel()
        case "answer-kept" if world.kept:
            reply, message = world.kept.pop()
            reply.answer(message.number)
            reply.answer("a second answer")
        case "advance":
            await world.clock.advance(seconds)
        case "stop":
            group.start_soon(system.stop, "player", key, "closed")
        case "veto":
            world.veto ^= {key}
        case _:
            pass
    await settle()
    assert system.residents("player") <= len(KEYS)


async def play(operations: list[Operation], leave_early: bool) -> None:
    clock = FakeClock()
    world = World(clock)
    window = RestartWindow(count=2, within_s=20, cooldown_s=5)
    system = ActorSystem(clock=clock, stop_s=1, shutdown_s=5, on_crash=world.report)
    async with anyio.create_task_group() as group, system:
        system.register(
            "player", world.make, mailbox_limit=LIMIT, idle_s=10, resident_limit=2, restarts=window
        )
        for operation in operations:
            await perform(world, system, group, operation)
        world.veto.clear()
        if leave_early:
            group.start_soon(clock.advance, 1000)  # what is slow needs time while the system ends
        else:
            await clock.advance(1000)
            assert all(world.outcomes.values()), "an asker still waits"
            assert system.residents("player") == 0, "an idle actor stayed"
            for key in KEYS:
                message = Message(0, "answer", "ask")
                assert await system.ref("player", key).ask(message, timeout_s=1) == 0
    check(world, system)


def check(world: World, system: ActorSystem) -> None:
    """What must be true when all is over."""
    for error in world.broken:
        raise error
    counts = system.statistics().kinds["player"]
    assert not counts.last_error.startswith("AssertionError")
    assert (counts.residents, counts.waiting) == (0, 0)
    handled = Counter(m.number for messages in world.handled.values() for m in messages if m.number)
    assert all(times == 1 for times in handled.values()), "handled twice"
    for number, results in world.outcomes.items():
        assert len(results) == 1, "an asker has exactly one outcome"
        if isinstance(results[0], int):
            assert results[0] == number
            assert handled[number] == 1
        if isinstance(results[0], StoppedError) and "before it handled" in str(results[0]):
            assert handled[number] == 0
    # Nothing is dropped silently: each tell that was taken was handled, replaced, or counted as discarded.
    lost = [message for message in world.taken if not handled[message.number]]
    assert len(lost) == counts.coalesced + counts.discarded
    for messages in world.handled.values():
        for ways in (("control",), ("tell", "send", "ask")):
            numbers = [m.number for m in messages if m.way in ways and m.number]
            assert numbers == sorted(numbers), "out of order"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(operations=st.lists(OPERATIONS, max_size=40), leave_early=st.booleans())
def test_any_sequence_of_operations_keeps_the_promises(
    backend: str, operations: list[Operation], leave_early: bool
) -> None:
    anyio.run(play, operations, leave_early, backend=backend)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=1000, deadline=None)
@given(operations=st.lists(OPERATIONS, min_size=20, max_size=100), leave_early=st.booleans())
def test_any_long_sequence_of_operations_keeps_the_promises(
    backend: str, operations: list[Operation], leave_early: bool
) -> None:
    anyio.run(play, operations, leave_early, backend=backend)
