"""Kernel promise 6: idle actors rest, the next message wakes them, and nothing is lost over it."""

from __future__ import annotations

from collections.abc import Hashable

import anyio
import pytest

from actormem.kernel import ActorSystem, KindStatistics, Reply, Scope
from actormem.kernel.passivation import Residents
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio


class Sleeper:
    """Says what it went through to its world."""

    def __init__(self, world: World, key: Hashable) -> None:
        self.world = world
        self.key = key
        self.kept: list[Reply] = []
        self.ready = True
        world.made[key] = world.made.get(key, 0) + 1
        world.latest[key] = self

    async def started(self, scope: Scope) -> None:
        self.scope = scope
        self.world.alive[self.key] = self.world.alive.get(self.key, 0) + 1
        assert self.world.alive[self.key] == 1

    async def receive(self, message: object, reply: Reply | None) -> None:
        self.world.handled.append((self.key, message))
        match message:
            case "keep":
                assert reply is not None
                self.kept.append(reply)
                return
            case "busy":
                self.ready = False
            case "takes 1 s":
                await self.scope.clock.sleep(1)
            case "child":
                self.scope.start(self.scope.clock.sleep, 100.0)
            case _:
                pass
        if reply is not None:
            reply.answer(message)

    async def stopped(self, reason: str) -> None:
        self.world.reasons.append((self.key, reason))
        if self.world.farewell is not None:
            await self.world.farewell.wait()
        self.world.alive[self.key] -= 1
        if self.world.broken_farewell:
            raise OSError

    def idle(self) -> bool:
        return self.ready


class World:
    def __init__(self, system: ActorSystem, *, idle_s: float | None = 10, resident_limit: int | None = None):
        self.system = system
        self.made: dict[Hashable, int] = {}
        self.alive: dict[Hashable, int] = {}
        self.latest: dict[Hashable, Sleeper] = {}
        self.handled: list[tuple[Hashable, object]] = []
        self.reasons: list[tuple[Hashable, str]] = []
        self.farewell: anyio.Event | None = None
        self.broken_farewell = False
        system.register(
            "sleeper", lambda key: Sleeper(self, key), idle_s=idle_s, resident_limit=resident_limit
        )

    async def ask(self, key: Hashable, message: str = "hello") -> None:
        assert await self.system.ref("sleeper", key).ask(message, timeout_s=1000) == message

    def counts(self) -> KindStatistics:
        return self.system.statistics().kinds["sleeper"]


async def test_an_actor_idle_for_long_enough_rests_and_the_next_message_wakes_a_new_instance() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=10)
        await world.ask("a")
        await clock.advance(9.999)
        assert system.residents("sleeper") == 1
        await clock.advance(0.001)
        assert system.residents("sleeper") == 0
        assert world.reasons == [("a", "passivated")]
        await world.ask("a")
        assert world.made == {"a": 2}
        assert (world.counts().passivations, world.counts().activations) == (1, 2)


async def test_each_message_starts_the_idle_time_again() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=10)
        for _ in range(5):
            await world.ask("a")
            await world.ask("b")
            await clock.advance(6)
        await clock.advance(3)
        await world.ask("b")
        await clock.advance(1)
        assert world.reasons == [("a", "passivated")]


async def test_without_an_idle_time_nothing_rests() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=None)
        await world.ask("a")
        await clock.advance(1_000_000)
        assert system.residents("sleeper") == 1


async def test_an_actor_with_a_kept_reply_a_child_or_its_own_veto_does_not_rest_until_that_is_over() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=10)
        await world.ask("vetoes", "busy")
        await world.ask("has a child", "child")
        async with anyio.create_task_group() as group:
            group.start_soon(world.ask, "keeps", "keep")
            await settle()
            await clock.advance(50)
            assert world.reasons == []
            world.latest["vetoes"].ready = True
            world.latest["keeps"].kept[0].answer("keep")
        await clock.advance(20)
        assert sorted(world.reasons) == [("keeps", "passivated"), ("vetoes", "passivated")]
        await clock.advance(60)
        assert ("has a child", "passivated") in world.reasons


async def test_a_message_that_comes_while_it_rests_is_handled_by_the_next_instance_after_that() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=10)
        world.farewell = anyio.Event()
        await world.ask("a")
        await clock.advance(10)
        assert world.reasons == [("a", "passivated")]
        async with anyio.create_task_group() as group:
            group.start_soon(world.ask, "a", "in between")
            await settle()
            assert world.made == {"a": 1}
            world.farewell.set()
        assert world.made == {"a": 2}
        assert world.handled == [("a", "hello"), ("a", "in between")]
        assert system.residents("sleeper") == 1


async def test_a_message_that_comes_first_wins_over_the_wish_to_rest() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system, idle_s=None, resident_limit=1)
        await world.ask("a")
        system.ref("sleeper", "b").tell("hello")  # asks a to rest
        system.ref("sleeper", "a").tell("hello again")
        await settle()
        assert world.made["a"] == 1
        assert ("a", "hello again") in world.handled


async def test_stopping_an_actor_while_it_rests_loses_no_tell() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=10)
        world.farewell = anyio.Event()
        await world.ask("a")
        await clock.advance(10)
        system.ref("sleeper", "a").tell("told meanwhile")
        async with anyio.create_task_group() as group:
            group.start_soon(system.stop, "sleeper", "a", "closed")
            await settle()
            world.farewell.set()
        assert world.handled == [("a", "hello"), ("a", "told meanwhile")]
        assert world.reasons == [("a", "passivated"), ("a", "closed")]


async def test_beyond_the_limit_the_least_recently_used_rest_first() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system, idle_s=None, resident_limit=3)
        for key in (1, 2, 3, 1, 4):
            await world.ask(key)
        await settle()
        assert world.reasons == [(2, "passivated")]
        assert system.residents("sleeper") == 3


async def test_busy_actors_may_exceed_the_limit_and_rest_when_they_can() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system, idle_s=None, resident_limit=2)
        for key in range(5):
            await world.ask(key, "child")
        await settle()
        assert system.residents("sleeper") == 5
        await clock.advance(100)
        assert system.residents("sleeper") == 2
        assert world.counts().passivations == 3


async def test_actors_that_were_handling_a_message_make_room_when_they_have_handled_it() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        World(system, idle_s=None, resident_limit=2)
        for key in range(5):
            system.ref("sleeper", key).tell("takes 1 s")
        await settle()
        assert system.residents("sleeper") == 5
        await clock.advance(1)
        assert system.residents("sleeper") == 2


async def test_a_farewell_that_fails_or_never_ends_is_counted_and_the_actor_rests_all_the_same() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock, stop_s=5) as system:
        world = World(system, idle_s=10)
        world.broken_farewell = True
        await world.ask("a")
        await clock.advance(10)
        assert (system.residents("sleeper"), world.counts().last_error) == (0, "OSError")
        world.farewell = anyio.Event()
        await world.ask("b")
        await clock.advance(10)
        assert system.residents("sleeper") == 1
        await clock.advance(5)
        assert (system.residents("sleeper"), world.counts().last_error) == (0, "TimeoutError")
        assert world.counts().errors == 2


async def test_thousands_of_refs_keep_no_actor_in_memory() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        refs = [system.ref("sleeper", key) for key in range(10_000)]
        assert system.residents("sleeper") == 0
        assert await refs[7_777].ask("hello", timeout_s=1) == "hello"
        assert world.made == {7_777: 1}


async def test_a_sweep_over_many_looks_at_a_bounded_number_before_others_run() -> None:
    class Member:
        used_s = 0.0
        asked = 0

        def is_idle(self) -> bool:
            return True

        def rest(self) -> None:
            Member.asked += 1

    clock = FakeClock()
    residents: Residents[Member] = Residents(clock, idle_s=1, limit=None)
    for key in range(200):
        residents.enter(key, Member())
    assert residents.expire() == 1
    clock.hold(2)
    assert residents.expire() == 0
    assert 0 < Member.asked < 200
    while residents.expire() == 0:
        pass
    assert Member.asked == 200
