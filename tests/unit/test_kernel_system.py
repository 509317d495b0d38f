"""Kernel promises 5 (nothing reaches the caller), 8 and 9: entering, leaving, stopping."""

from __future__ import annotations

import asyncio
import contextvars

import anyio
import pytest

from actormem.errors import ActorMemError, StoppedError, UsageError
from actormem.kernel import ActorSystem, Reply, Scope
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio
WORD = contextvars.ContextVar("WORD", default="")


class Clerk:
    """Writes down what it did."""

    def __init__(self, log: list[object], name: object) -> None:
        self.log = log
        self.name = name
        self.kept: list[Reply] = []

    async def started(self, scope: Scope) -> None:
        self.scope = scope

    async def receive(self, message: object, reply: Reply | None) -> None:
        match message:
            case "keep":
                assert reply is not None
                self.kept.append(reply)
                return
            case "takes 1 s":
                await self.scope.clock.sleep(1)
            case "hang":
                await anyio.sleep_forever()
            case "child":
                self.scope.start(self.child)
            case "word":
                message = WORD.get()
            case _:
                pass
        self.log.append((self.name, message))
        if reply is not None:
            reply.answer(message)

    async def child(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.log.append((self.name, "child ended"))

    async def stopped(self, reason: str) -> None:
        for reply in self.kept:
            reply.answer("at the last moment")
        self.log.append((self.name, reason))

    def idle(self) -> bool:
        return True


def build(system: ActorSystem, *kinds: str) -> list[object]:
    log: list[object] = []
    for kind in kinds or ("clerk",):
        system.register(kind, lambda key, kind=kind: Clerk(log, key if kind == "clerk" else kind))
    return log


async def outcome(system: ActorSystem, key: object, message: str, into: list[object]) -> None:
    try:
        into.append(await system.ref("clerk", key).ask(message, timeout_s=100))  # type: ignore[arg-type]
    except ActorMemError as error:
        into.append(error)


async def test_kinds_end_in_reverse_order_of_registration() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        log = build(system, "first", "second", "third")
        for kind in ("second", "third", "first"):
            await system.ref(kind, 1).ask("hello", timeout_s=1)
        log.clear()
    assert log == [(kind, "the system stops") for kind in ("third", "second", "first")]


async def test_leaving_handles_queued_tells_answers_queued_askers_and_ends_children() -> None:
    clock = FakeClock()
    results: list[object] = []
    async with anyio.create_task_group() as group:
        async with ActorSystem(clock=clock) as system:
            log = build(system)
            ref = system.ref("clerk", "a")
            await ref.ask("child", timeout_s=1)
            ref.tell("takes 1 s")
            await settle()
            group.start_soon(outcome, system, "a", "queued ask", results)
            await settle()
            ref.tell("queued tell")
            log.clear()
            group.start_soon(clock.advance, 1)
        assert log == [
            ("a", "takes 1 s"),
            ("a", "queued tell"),
            ("a", "the system stops"),
            ("a", "child ended"),
        ]
    assert isinstance(results[0], StoppedError)
    assert results[0].reason == "the system stops"


async def test_a_kept_reply_may_be_answered_in_stopped_and_gets_an_error_otherwise() -> None:
    class Forgetful(Clerk):
        async def stopped(self, reason: str) -> None: ...

    results: list[object] = []
    async with anyio.create_task_group() as group, ActorSystem(clock=FakeClock()) as system:
        system.register("clerk", lambda key: Clerk([], 0) if key == "good" else Forgetful([], 0))
        group.start_soon(outcome, system, "good", "keep", results)
        await settle()
        group.start_soon(outcome, system, "bad", "keep", results)
        await settle()
    good, bad = sorted(results, key=lambda result: isinstance(result, Exception))
    assert good == "at the last moment"
    assert isinstance(bad, StoppedError)
    assert "outcome is unknown" in str(bad)


async def test_an_actor_that_hangs_is_cut_off_when_the_exit_has_run_out_and_its_asker_told() -> None:
    results: list[object] = []
    async with anyio.create_task_group() as group, ActorSystem(clock=FakeClock(), shutdown_s=0) as system:
        log = build(system)
        group.start_soon(outcome, system, "a", "hang", results)
        await settle()
        system.ref("clerk", "a").tell("never handled")
        await settle()
    assert isinstance(results[0], StoppedError)
    assert log == []
    counts = system.statistics().kinds["clerk"]
    assert (counts.residents, counts.waiting, counts.discarded, counts.cut_off) == (0, 0, 1, 1)


async def test_after_the_system_was_left_messages_are_refused() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        build(system)
    with pytest.raises(StoppedError, match="the system stops"):
        system.ref("clerk", 1).tell("late")
    with pytest.raises(UsageError, match="entered once"):
        await system.__aenter__()


async def test_an_error_of_the_body_comes_out_as_it_is_after_an_orderly_end() -> None:
    log: list[object] = []

    async def body() -> None:
        nonlocal log
        async with ActorSystem(clock=FakeClock()) as system:
            log = build(system)
            await system.ref("clerk", "a").ask("hello", timeout_s=1)
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await body()
    assert log == [("a", "hello"), ("a", "the system stops")]


async def test_a_cancelled_caller_gets_the_same_orderly_end() -> None:
    log: list[object] = []
    clock = FakeClock()
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            async with ActorSystem(clock=clock) as system:
                log = build(system)
                ref = system.ref("clerk", "a")
                await ref.ask("child", timeout_s=1)
                ref.tell("takes 1 s")
                ref.tell("queued tell")
                await settle()
                log.clear()
                group.start_soon(clock.advance, 1)
                scope.cancel()
                await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert log == [
        ("a", "takes 1 s"),
        ("a", "queued tell"),
        ("a", "the system stops"),
        ("a", "child ended"),
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_caller_cancelled_by_its_asyncio_task_gets_the_same_orderly_end(anyio_backend: str) -> None:
    log: list[object] = []

    async def main() -> None:
        nonlocal log
        async with ActorSystem(clock=FakeClock()) as system:
            log = build(system)
            await system.ref("clerk", "a").ask("hello", timeout_s=1)
            await anyio.sleep_forever()

    task = asyncio.create_task(main())
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == [("a", "hello"), ("a", "the system stops")]


async def test_stop_ends_one_actor_and_the_next_message_wakes_a_new_one() -> None:
    clock = FakeClock()
    results: list[object] = []
    async with ActorSystem(clock=clock) as system:
        log = build(system)
        ref = system.ref("clerk", "a")
        ref.tell("takes 1 s")
        await settle()
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, system, "a", "queued before", results)
            await settle()
            ref.tell("told before")
            for _ in range(2):
                group.start_soon(system.stop, "clerk", "a", "closed")
            await settle()
            assert isinstance(results[0], StoppedError)
            assert results[0].reason == "closed"
            group.start_soon(outcome, system, "a", "asked after", results)
            await clock.advance(1)
        assert results[1:] == ["asked after"]
        assert log == [("a", "takes 1 s"), ("a", "told before"), ("a", "closed"), ("a", "asked after")]
        await system.stop("clerk", "never used", "closed")
        assert system.residents("clerk") == 1
        await system.stop("clerk", "a", "again")
        await settle()
        assert system.residents("clerk") == 0


async def test_stop_cancels_an_actor_that_hangs_even_if_its_caller_went_away() -> None:
    clock = FakeClock()
    results: list[object] = []
    async with ActorSystem(clock=clock, stop_s=5) as system:
        build(system)
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, system, "a", "hang", results)
            await settle()
            with anyio.move_on_after(0):
                await system.stop("clerk", "a", "closed")
            group.start_soon(outcome, system, "a", "next", results)
            await clock.advance(4.9)
            assert results == []
            await clock.advance(0.1)
        hung = next(result for result in results if isinstance(result, StoppedError))
        assert hung.reason == "closed"
        results.remove(hung)
        assert results == ["next"]


async def test_an_actor_may_stop_itself() -> None:
    class Leaver(Clerk):
        async def receive(self, message: object, reply: Reply | None) -> None:
            await system.stop("leaver", "a", "done")
            await super().receive(message, reply)

    log: list[object] = []
    async with ActorSystem(clock=FakeClock()) as system:
        system.register("leaver", lambda key: Leaver(log, key))
        assert await system.ref("leaver", "a").ask("bye", timeout_s=1) == "bye"
        await settle()
        assert log == [("a", "bye"), ("a", "done")]
        assert system.residents("leaver") == 0


async def test_an_actor_does_not_inherit_the_context_variables_of_its_first_sender() -> None:
    WORD.set("of the host")
    async with ActorSystem(clock=FakeClock()) as system:
        build(system)
        WORD.set("of the sender")
        assert await system.ref("clerk", "a").ask("word", timeout_s=1) == "of the host"


async def test_wrong_registrations_and_unknown_kinds_are_refused() -> None:
    system = ActorSystem(clock=FakeClock())
    build(system)
    with pytest.raises(UsageError, match="already"):
        build(system)
    with pytest.raises(UsageError, match="no kind other"):
        system.ref("other", 1)
    for wrong in ({"mailbox_limit": 0}, {"idle_s": 0.0}, {"resident_limit": 0}):
        with pytest.raises(UsageError, match="above 0"):
            system.register("wrong", lambda _: Clerk([], 0), **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        system.residents("wrong")


async def test_statistics_are_frozen_and_stay_as_they_were() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        build(system)
        before = system.statistics()
        await system.ref("clerk", 1).ask("hello", timeout_s=1)
        assert before.kinds["clerk"].messages == 0
        assert system.statistics().kinds["clerk"].messages == 1
        with pytest.raises(AttributeError):
            before.kinds["clerk"].messages = 5  # type: ignore[misc]


async def test_these_tests_run_on_the_loop_that_their_names_say(request: pytest.FixtureRequest) -> None:
    named = request.node.callspec.params["anyio_backend"]  # type: ignore[attr-defined]
    if named == "trio":
        assert not running_asyncio()
    else:
        assert running_asyncio().startswith("uvloop" if named == "uvloop" else "asyncio")


def running_asyncio() -> str:
    """The module of the running asyncio loop; empty where there is none."""
    try:
        return type(asyncio.get_running_loop()).__module__
    except RuntimeError:
        return ""
