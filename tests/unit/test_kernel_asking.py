"""Kernel promises 3, 4 (answers) and 7: every asker is answered once, and may go away at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import pytest

from actormem.errors import ActorMemError, AskTimeoutError, NotFoundError, OverloadedError, StoppedError
from actormem.kernel import ActorSystem, Ref, Reply, Scope
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio


class Doer:
    """Does what the message says: a message is an async function of the actor and the reply."""

    def __init__(self) -> None:
        self.kept: list[Reply] = []
        self.handled = 0

    async def started(self, scope: Scope) -> None:
        self.scope = scope

    async def receive(self, message: object, reply: Reply | None) -> None:
        await message(self, reply)  # type: ignore[operator]
        self.handled += 1

    async def stopped(self, reason: str) -> None: ...

    def idle(self) -> bool:
        return True


Message = Callable[[Doer, Reply | None], Awaitable[None]]


def says(value: object) -> Message:
    async def message(actor: Doer, reply: Reply | None) -> None:
        if reply is not None:
            reply.answer(value)

    return message


def raises(error: Exception) -> Message:
    async def message(actor: Doer, reply: Reply | None) -> None:
        raise error

    return message


async def keep(actor: Doer, reply: Reply | None) -> None:
    assert reply is not None
    actor.kept.append(reply)


def build(system: ActorSystem) -> tuple[Doer, Ref]:
    doer = Doer()
    system.register("doer", lambda _: doer)
    return doer, system.ref("doer", "k")


async def outcome(ref: Ref, message: Message, into: list[object], timeout_s: float = 10.0) -> None:
    """Ask and write down what came of it."""
    try:
        into.append(await ref.ask(message, timeout_s=timeout_s))
    except ActorMemError as error:
        into.append(error)


async def test_an_ask_gives_the_value_that_was_answered() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)
        assert await ref.ask(says("你好"), timeout_s=1) == "你好"
        assert await ref.ask(says(None), timeout_s=1, control=True) is None


async def test_an_error_of_ours_raised_in_receive_is_the_answer_and_no_crash() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)
        with pytest.raises(NotFoundError) as caught:
            await ref.ask(raises(NotFoundError("no such thing", id="x")), timeout_s=1)
        assert caught.value.id == "x"
        assert await ref.ask(says(1), timeout_s=1) == 1
        assert system.statistics().kinds["doer"].activations == 1
        assert system.statistics().kinds["doer"].errors == 0


async def test_an_error_of_ours_that_nobody_waits_for_is_counted_and_remembered() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)
        ref.tell(raises(NotFoundError("no item 7", id="7")))
        await settle()
        counts = system.statistics().kinds["doer"]
        assert (counts.errors, counts.last_error, counts.activations) == (1, "NotFoundError: no item 7", 1)


async def test_the_error_given_to_fail_is_raised_in_the_asker_whatever_its_type() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        doer, ref = build(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, ref, keep, results)
            await settle()
            doer.kept[0].fail(OverloadedError("no", mailbox="m", waiting=1, limit=1))
        assert isinstance(results[0], OverloadedError)


async def test_a_kept_reply_is_answered_after_receive_returned_and_only_once() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        doer, ref = build(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, ref, keep, results)
            group.start_soon(outcome, ref, keep, results)
            await settle()
            assert doer.handled == 2
            assert not doer.kept[0].answered
            for number, reply in enumerate(doer.kept):
                reply.answer(number)
                assert reply.answered
                reply.answer("second")
                reply.fail(ValueError())
        assert sorted(results) == [0, 1]  # type: ignore[type-var]


async def test_without_an_answer_the_asker_gets_a_timeout_at_its_deadline_and_not_before() -> None:
    clock = FakeClock()
    async with ActorSystem(clock=clock) as system:
        doer, ref = build(system)
        results: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, ref, keep, results, 2.0)
            await clock.advance(1.999)
            assert results == []
            await clock.advance(0.001)
            assert isinstance(results[0], AskTimeoutError)
            assert "outcome is unknown" in str(results[0])
        assert doer.kept[0].answered
        doer.kept[0].answer("too late")
        assert await ref.ask(says("next"), timeout_s=1) == "next"


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
async def test_a_deadline_that_has_passed_is_a_timeout(timeout_s: float) -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)
        with pytest.raises(AskTimeoutError):
            await ref.ask(keep, timeout_s=timeout_s)


async def test_an_asker_cancelled_by_scope_does_not_disturb_the_actor() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        doer, ref = build(system)
        gate = anyio.Event()

        async def wait(actor: Doer, reply: Reply | None) -> None:
            await gate.wait()
            assert reply is not None
            assert reply.answered
            reply.answer("nobody hears this")

        async with anyio.create_task_group() as group:
            group.start_soon(outcome, ref, wait, [])
            group.start_soon(outcome, ref, says("queued"), [])
            await settle()
            group.cancel_scope.cancel()
        gate.set()
        assert await ref.ask(says("next"), timeout_s=1) == "next"
        assert doer.handled == 3
        assert system.statistics().kinds["doer"].activations == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_asker_cancelled_by_its_asyncio_task_does_not_disturb_the_actor(anyio_backend: str) -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        doer, ref = build(system)
        tasks = [asyncio.create_task(ref.ask(keep, timeout_s=9)) for _ in range(3)]
        await settle()
        doer.kept[0].answer("given, and then cancelled in the same breath")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(reply.answered for reply in doer.kept)
        assert await ref.ask(says("next"), timeout_s=1) == "next"
        assert doer.handled == 4


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_future_inside_an_actor_ends_it_and_nothing_else(anyio_backend: str) -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)

        async def awaits_a_cancelled_future(actor: Doer, reply: Reply | None) -> None:
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future

        async def cleans_up() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.lowlevel.checkpoint()
                cleaned.append(True)

        async def starts_a_child(actor: Doer, reply: Reply | None) -> None:
            actor.scope.start(cleans_up)
            await says(cleaned)(actor, reply)

        cleaned: list[bool] = []
        await ref.ask(starts_a_child, timeout_s=1)
        await settle()
        with pytest.raises(StoppedError, match="ForeignCancelError"):
            await ref.ask(awaits_a_cancelled_future, timeout_s=1)

        async def looks(actor: Doer, reply: Reply | None) -> None:
            await says(list(cleaned))(actor, reply)

        # Asked at once: what was cleaned up by then was cleaned up before the next instance began.
        with pytest.raises(StoppedError):
            await ref.ask(looks, timeout_s=1)
        await settle()
        assert await ref.ask(looks, timeout_s=1) == [True]
        assert system.statistics().kinds["doer"].last_crash == "ForeignCancelError"


async def test_an_actor_may_ask_another_and_itself_only_by_tell() -> None:
    async with ActorSystem(clock=FakeClock()) as system:
        _, ref = build(system)
        other = system.ref("doer", "other")

        async def forward(actor: Doer, reply: Reply | None) -> None:
            assert reply is not None
            reply.answer(await other.ask(says("from the other"), timeout_s=1))

        assert await ref.ask(forward, timeout_s=1) == "from the other"
