"""Kernel promises 1 and 2: order and bounds."""

from __future__ import annotations

import gc
import weakref

import anyio
import pytest

from actormem.errors import AskTimeoutError, OverloadedError, StoppedError, UsageError
from actormem.kernel import ActorSystem, KindStatistics, Ref, Reply, Scope
from actormem.kernel.cell import HOLD_COUNT
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio


class Gate:
    """Handles a message only when the gate is open; remembers what it handled, and how many at once."""

    def __init__(self) -> None:
        self.open = anyio.Event()
        self.handled: list[object] = []
        self.now = 0
        self.most = 0

    async def started(self, scope: Scope) -> None: ...

    async def receive(self, message: object, reply: Reply | None) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.open.wait()
        await anyio.lowlevel.checkpoint()
        self.handled.append(message)
        self.now -= 1
        if reply is not None:
            reply.answer(message)

    async def stopped(self, reason: str) -> None: ...

    def idle(self) -> bool:
        return True


def build(system: ActorSystem, *, limit: int = 2) -> tuple[Gate, Ref]:
    gate = Gate()
    system.register("gate", lambda _: gate, mailbox_limit=limit)
    return gate, system.ref("gate", 1)


def counts(system: ActorSystem) -> KindStatistics:
    return system.statistics().kinds["gate"]


async def test_one_message_at_a_time_though_many_tasks_send() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system)
        gate.open.set()
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(ref.send, number)
        await ref.ask("last", timeout_s=1)
        assert gate.most == 1
        assert sorted(gate.handled[:-1]) == list(range(20))  # type: ignore[type-var]


async def test_what_one_task_sends_arrives_in_order_though_the_mailbox_is_short() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=1)
        gate.open.set()

        async def send(sender: str) -> None:
            for number in range(10):
                await ref.send((sender, number))

        async with anyio.create_task_group() as group:
            group.start_soon(send, "甲")
            group.start_soon(send, "b")
        await ref.ask("last", timeout_s=1)
        for sender in ("甲", "b"):
            assert [m for m in gate.handled if m[0] == sender] == [(sender, n) for n in range(10)]  # type: ignore[index]


async def test_the_control_lane_goes_first() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=3)
        ref.tell("being handled")
        await settle()
        ref.tell("user 1")
        ref.tell("user 2")
        ref.tell("control 1", control=True)
        ref.tell("control 2", control=True)
        gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "control 1", "control 2", "user 1", "user 2"]


async def test_a_tell_to_a_full_lane_is_refused_with_the_numbers_and_counted() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=2)
        ref.tell("being handled")
        await settle()
        ref.tell(1)
        ref.tell(2)
        with pytest.raises(OverloadedError, match="2 of 2") as caught:
            ref.tell(3)
        assert (caught.value.waiting, caught.value.limit) == (2, 2)
        ref.tell("control", control=True)
        assert counts(system).refused == 1
        assert counts(system).waiting == 3
        gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "control", 1, 2]
        assert counts(system).messages == 4


async def test_send_waits_for_room_and_enters_in_the_order_it_came() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=1)
        ref.tell("being handled")
        await settle()
        ref.tell("in the mailbox")
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(ref.send, number)
                await settle()
            assert counts(system).waiting == 4
            assert counts(system).waited == 3
            with pytest.raises(OverloadedError):
                ref.tell("jumps the line")
            gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "in the mailbox", 0, 1, 2]


async def test_a_sender_cancelled_while_it_waits_for_room_leaves_no_message() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        gate, ref = build(system, limit=1)
        ref.tell("being handled")
        await settle()
        ref.tell("in the mailbox")
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(ref.send, "cancelled")
                await settle()
                scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(ref.send, "stays")
            await settle()
            gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "in the mailbox", "stays"]


async def test_an_ask_that_found_no_room_in_time_was_not_handled_and_says_so() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        gate, ref = build(system, limit=1)
        ref.tell("being handled")
        await settle()
        ref.tell("in the mailbox")

        async def ask() -> None:
            with pytest.raises(AskTimeoutError, match="not handled"):
                await ref.ask("late", timeout_s=2)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await clock.advance(2)
        gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "in the mailbox"]


async def test_a_waiting_message_with_the_same_key_is_replaced_in_its_place() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=2)
        ref.tell("being handled", coalesce="k")
        await settle()
        ref.tell("old", coalesce="k")
        ref.tell("other")
        ref.tell("new", coalesce="k")  # the lane is full, yet there is room for this
        assert counts(system).coalesced == 1
        assert counts(system).refused == 0
        gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "new", "other"]
        ref.tell("again", coalesce="k")
        await settle()
        assert gate.handled[-1] == "again"


async def test_a_key_in_one_lane_does_not_touch_the_other() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system)
        ref.tell("being handled")
        await settle()
        ref.tell("user", coalesce="k")
        ref.tell("control", coalesce="k", control=True)
        gate.open.set()
        await settle()
        assert gate.handled == ["being handled", "control", "user"]


async def test_senders_in_line_are_told_when_the_actor_is_stopped() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        gate, ref = build(system, limit=1)
        ref.tell("being handled")
        await settle()
        ref.tell("in the mailbox")

        async def send() -> None:
            with pytest.raises(StoppedError, match="before it handled this: closed"):
                await ref.send("in line")

        async with anyio.create_task_group() as group:
            group.start_soon(send)
            await settle()
            group.start_soon(system.stop, "gate", 1, "closed")
            await settle()
            gate.open.set()
        assert gate.handled == ["being handled", "in the mailbox"]


async def test_a_message_before_the_system_is_entered_is_a_usage_error() -> None:
    system = ActorSystem(clock=FakeClock())
    _, ref = build(system)
    with pytest.raises(UsageError, match="not entered"):
        ref.tell(1)


async def test_an_actor_that_never_waits_lets_other_tasks_run() -> None:
    class Talker(Gate):
        async def started(self, scope: Scope) -> None:
            self.scope = scope

        async def receive(self, message: object, reply: Reply | None) -> None:
            self.handled.append(message)
            if not self.open.is_set():
                self.scope.ref.tell(message)

    async with ActorSystem(clock=FakeClock()) as system:
        talker = Talker()
        system.register("talker", lambda _: talker)
        system.ref("talker", 1).tell("to myself")
        while not talker.handled:
            await anyio.lowlevel.checkpoint()
        talker.open.set()  # reached only because the talker lets go
        assert len(talker.handled) <= 2 * HOLD_COUNT, "in the first round, or at the latest in the second"


class Words:
    """A message of which one can see whether anybody still has it."""


class Echo(Gate):
    async def receive(self, message: object, reply: Reply | None) -> None:
        assert reply is not None
        reply.answer(Words())


async def test_an_actor_that_waits_keeps_neither_its_last_message_nor_the_answer() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        system.register("echo", lambda _: Echo(), mailbox_limit=2)
        message = Words()
        answer = await system.ref("echo", 1).ask(message, timeout_s=1)
        kept = [weakref.ref(message), weakref.ref(answer)]
        del message, answer
        await settle()
        gc.collect()
        assert [one() for one in kept] == [None, None]
