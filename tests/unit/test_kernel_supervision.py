"""Kernel promises 3 (crash), 4 and 5: crashes are healed, and too many are not."""

from __future__ import annotations

import logging
from collections.abc import Hashable

import anyio
import pytest

from actormem.errors import ActorMemError, StoppedError, UsageError
from actormem.kernel import ActorSystem, Crash, KindStatistics, Ref, Reply, RestartWindow, Scope
from actormem.kernel.supervisor import CRASH_BOOK_LIMIT, CrashBook
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio
WINDOW = RestartWindow(count=2, within_s=10, cooldown_s=5)


class Fragile:
    """Crashes on demand. `born` is shared by all instances, which is how a test looks from outside."""

    def __init__(self, born: list[Fragile], fail_start: list[bool]) -> None:
        self.kept: list[Reply] = []
        self.children_ended = 0
        self.handled: list[object] = []
        self.fail_start = fail_start
        self.said: list[str] = []
        born.append(self)

    async def started(self, scope: Scope) -> None:
        self.scope = scope
        if self.fail_start:
            raise OSError("the secret of a user")

    async def receive(self, message: object, reply: Reply | None) -> None:
        self.handled.append(message)
        match message:
            case "crash":
                raise ValueError("the secret of a user")
            case "keep":
                assert reply is not None
                self.kept.append(reply)
            case "child":
                self.scope.start(self.child)
            case "child crashes":
                self.scope.start(self.crash, "late")
            case "wait":
                await anyio.sleep_forever()
            case "child crashes meanwhile":
                self.scope.start(self.crash, "early")
                with anyio.CancelScope(shield=True):
                    await settle()
                self.said.append("past its last wait")
            case "takes 1 s":
                await self.scope.clock.sleep(1)
            case _:
                pass
        if reply is not None and message != "keep":
            reply.answer(message)

    async def child(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await self.scope.clock.sleep(1)
            self.children_ended += 1

    async def crash(self, word: str) -> None:
        await anyio.lowlevel.checkpoint()
        raise UsageError(word)

    async def stopped(self, reason: str) -> None:
        self.said.append(reason)

    def idle(self) -> bool:
        return True


class World:
    """A system under test and what one sees of it."""

    def __init__(self, system: ActorSystem) -> None:
        self.system = system
        self.born: list[Fragile] = []
        self.fail_start: list[bool] = []
        self.factory_fails = False
        system.register("fragile", self.make, restarts=WINDOW, mailbox_limit=8)
        self.ref: Ref = system.ref("fragile", "k")

    def make(self, key: Hashable) -> Fragile:
        if self.factory_fails:
            raise RuntimeError("the secret of a user")
        return Fragile(self.born, self.fail_start)

    def counts(self) -> KindStatistics:
        return self.system.statistics().kinds["fragile"]

    async def outcome(self, message: str, into: list[object]) -> None:
        try:
            into.append(await self.ref.ask(message, timeout_s=100))
        except ActorMemError as error:
            into.append(error)

    async def crash(self) -> StoppedError:
        with pytest.raises(StoppedError) as caught:
            await self.ref.ask("crash", timeout_s=100)
        await settle()
        return caught.value


async def test_a_crash_tells_the_asker_its_type_but_not_its_text_and_a_new_instance_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "actormem.kernel")
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        error = await world.crash()
        assert error.reason == "ValueError"
        assert "outcome is unknown" in str(error)
        assert "secret" not in str(error) + caplog.text
        assert "ValueError at test_kernel_supervision.py" in caplog.text
        assert await world.ref.ask("next", timeout_s=1) == "next"
        assert len(world.born) == 2
        assert (world.counts().restarts, world.counts().last_crash) == (1, "ValueError")
        assert world.born[0].said == []


async def test_a_crash_keeps_the_mailbox() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        results: list[object] = []
        world.ref.tell("takes 1 s")
        await settle()
        world.ref.tell("crash")
        async with anyio.create_task_group() as group:
            for message in ("甲", "b"):
                group.start_soon(world.outcome, message, results)
                await settle()
            assert results == []
            await clock.advance(1)
        assert set(results) == {"甲", "b"}
        assert len(world.born) == 2


async def test_replies_kept_by_an_instance_that_crashes_are_answered() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(world.outcome, "keep", results)
            await settle()
            world.ref.tell("crash")
        assert isinstance(results[0], StoppedError)
        assert "outcome is unknown" in str(results[0])


async def test_the_children_of_an_instance_that_crashes_end_before_the_next_begins() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        await world.ref.ask("child", timeout_s=1)
        await world.crash()
        assert len(world.born) == 1
        await clock.advance(1)
        assert len(world.born) == 2
        assert world.born[0].children_ended == 1
        with pytest.raises(StoppedError, match="the instance has ended"):
            world.born[0].scope.start(world.born[0].child)


async def test_an_exception_in_a_child_crashes_the_actor_even_one_of_ours() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(world.outcome, "child crashes", results)
            await settle()
        assert results == ["child crashes"]
        assert (len(world.born), world.counts().last_crash) == (2, "UsageError")


async def test_a_child_that_crashes_interrupts_the_message_being_handled() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            world.ref.tell("child crashes")
            group.start_soon(world.outcome, "wait", results)
            await settle()
        assert isinstance(results[0], StoppedError)
        assert results[0].reason == "UsageError"
        assert await world.ref.ask("next", timeout_s=1) == "next"


async def test_an_instance_whose_child_crashed_handles_no_further_message() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        world.ref.tell("child crashes meanwhile")
        world.ref.tell("next")
        await anyio.lowlevel.checkpoint()
        assert await world.ref.ask("last", timeout_s=1) == "last"
        assert world.born[0].said == ["past its last wait"]
        assert [player.handled for player in world.born] == [["child crashes meanwhile"], ["next", "last"]]


async def test_a_crash_while_it_ends_discards_the_tells_left_and_counts_them() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        for message in ("takes 1 s", "crash", "discarded", "discarded"):
            world.ref.tell(message)
        await settle()
        async with anyio.create_task_group() as group:
            group.start_soon(system.stop, "fragile", "k", "closed")
            await clock.advance(1)
        counts = world.counts()
        assert (counts.discarded, counts.restarts, counts.residents) == (2, 0, 0)
        assert len(world.born) == 1


async def test_an_exception_in_started_or_in_the_factory_is_a_crash() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        world.fail_start.append(True)
        with pytest.raises(StoppedError, match="given up after OSError"):
            await world.ref.ask("hello", timeout_s=1)
        assert len(world.born) == WINDOW.count + 1
        world.fail_start.clear()
        world.factory_fails = True
        with pytest.raises(StoppedError, match="given up after RuntimeError"):
            await system.ref("fragile", "other").ask("hello", timeout_s=1)


async def test_more_crashes_than_the_window_allows_and_it_is_given_up_for_the_cooldown() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        for _ in range(WINDOW.count):
            await world.crash()
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(world.outcome, "keep", results)
            await settle()
            world.ref.tell("takes 1 s")
            await settle()
            group.start_soon(world.outcome, "crash", results)
            await settle()
            group.start_soon(world.outcome, "waits in the mailbox", results)
            world.ref.tell("discarded")
            await clock.advance(1)
        assert [type(each) for each in results] == [StoppedError] * 3
        counts = world.counts()
        assert (counts.given_up, counts.restarts, counts.discarded, counts.residents) == (1, 2, 1, 0)
        with pytest.raises(StoppedError, match=r"tried again in 5\.0 s"):
            world.ref.tell("refused")
        with pytest.raises(StoppedError, match="ValueError"):
            await world.ref.ask("refused", timeout_s=1)
        with pytest.raises(StoppedError):
            await world.ref.send("refused")
        assert world.counts().refused == 3
        await clock.advance(4.999)
        with pytest.raises(StoppedError):
            world.ref.tell("refused")
        await clock.advance(0.001)
        assert await world.ref.ask("tried again", timeout_s=1) == "tried again"


async def test_on_trial_one_crash_gives_it_up_again() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        for _ in range(WINDOW.count + 1):
            await world.crash()
        await clock.advance(1000)
        await world.crash()
        assert world.counts().given_up == 2
        with pytest.raises(StoppedError, match="tried again in"):
            world.ref.tell("refused")
        await clock.advance(5)
        await world.ref.ask("handled well", timeout_s=1)
        await world.crash()
        assert world.counts().given_up == 2
        assert await world.ref.ask("healed", timeout_s=1) == "healed"


async def test_crashes_further_apart_than_the_window_are_always_healed() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        world = World(system)
        for _ in range(10):
            await world.crash()
            await clock.advance(WINDOW.within_s / WINDOW.count + 0.1)
        assert world.counts().given_up == 0
        assert world.counts().restarts == 10


async def test_one_actor_given_up_leaves_its_neighbour_alone() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        world = World(system)
        for _ in range(WINDOW.count + 1):
            await world.crash()
        assert await system.ref("fragile", "neighbour").ask("hello", timeout_s=1) == "hello"


async def test_each_crash_is_reported_and_a_broken_report_is_counted() -> None:
    seen: list[Crash] = []

    def report(crash: Crash) -> None:
        seen.append(crash)
        raise KeyError("broken")

    async with ActorSystem(clock=FakeClock(), on_crash=report) as system:
        world = World(system)
        for _ in range(WINDOW.count + 1):
            await world.crash()
        assert [crash.given_up for crash in seen] == [False, False, True]
        assert isinstance(seen[0].error, ValueError)
        assert (seen[0].kind, seen[0].key) == ("fragile", "k")
        assert (world.counts().errors, world.counts().last_error) == (3, "KeyError")


async def test_an_exception_in_idle_is_a_crash() -> None:
    class Restless(Fragile):
        def idle(self) -> bool:
            raise ZeroDivisionError

    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        born: list[Fragile] = []
        system.register("restless", lambda _: Restless(born, []), idle_s=10)
        await system.ref("restless", 1).ask("hello", timeout_s=1)
        await clock.advance(10)
        assert system.statistics().kinds["restless"].last_crash == "ZeroDivisionError"
        assert await system.ref("restless", 1).ask("hello", timeout_s=1) == "hello"
        assert len(born) == 2


def test_the_crash_book_is_bounded() -> None:
    book = CrashBook(RestartWindow(count=0, within_s=1, cooldown_s=1))
    for key in range(CRASH_BOOK_LIMIT + 10):
        assert book.crashed(key, 0.0, "ValueError")
    assert len(book) == CRASH_BOOK_LIMIT
    assert book.refusal(0, 0.5) is None
    assert book.refusal(CRASH_BOOK_LIMIT, 0.5) == (0.5, "ValueError")
