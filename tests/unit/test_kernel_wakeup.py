"""Promises of a wakeup: one waiter, woken once, on both event loops."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actormem.kernel.wakeup import FutureWakeup, wakeup_maker

pytestmark = pytest.mark.anyio


async def test_asyncio_has_a_wakeup_of_its_own_and_others_an_event(anyio_backend_name: str) -> None:
    assert isinstance(wakeup_maker()(), FutureWakeup) == (anyio_backend_name == "asyncio")


async def test_whoever_waits_is_woken_and_a_second_set_changes_nothing() -> None:
    wakeup, woken = wakeup_maker()(), list[str]()

    async def wait() -> None:
        await wakeup.wait()
        woken.append("woken")

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await checkpoint()
        assert woken == []
        wakeup.set()
        wakeup.set()
    assert woken == ["woken"]


async def test_one_that_is_set_already_does_not_wait() -> None:
    wakeup = wakeup_maker()()
    wakeup.set()
    with anyio.fail_after(5):
        await wakeup.wait()


async def test_a_waiter_that_was_cancelled_may_still_be_woken() -> None:
    wakeup = wakeup_maker()()
    async with anyio.create_task_group() as group:
        group.start_soon(wakeup.wait)
        await checkpoint()
        group.cancel_scope.cancel()
    wakeup.set()
