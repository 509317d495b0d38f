"""The turnstile: alone nobody waits; of many who are ready, few are handled in one round, those who are asked first."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actormem.kernel.turnstile import PATIENT_EVERY, ROUND_S, Turnstile
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio


class SetClock(FakeClock):
    """A clock whose seconds pass as the test says, without waking anybody."""

    spent_s = 0.0

    def monotonic_s(self) -> float:
        """Seconds, those spent with them."""
        return super().monotonic_s() + self.spent_s


async def test_alone_and_in_a_short_round_everybody_passes() -> None:
    clock = SetClock()
    turnstile = Turnstile(clock)
    assert turnstile.passes()
    assert turnstile.passes()
    clock.spent_s = ROUND_S
    assert not turnstile.passes(), "the round is used up"


async def test_those_who_wait_come_round_by_round_and_those_who_are_asked_first() -> None:
    clock = SetClock()
    turnstile = Turnstile(clock)
    passed: list[str] = []

    async def work(name: str, asked: bool) -> None:
        await turnstile.wait(asked=asked)
        passed.append(name)
        clock.spent_s += 2 * ROUND_S  # each takes longer than a round may

    async with anyio.create_task_group() as group:
        group.start_soon(turnstile.run)
        assert turnstile.passes()
        clock.spent_s += ROUND_S
        for number in range(3):
            group.start_soon(work, f"told {number}", False)
        for number in range(6):
            group.start_soon(work, f"asked {number}", True)
        await settle()
        assert len(passed) == 9
        assert passed[0].startswith("asked")
        told = [place for place, name in enumerate(passed) if name.startswith("told")]
        assert told[0] < PATIENT_EVERY, "nobody waits for ever"
        assert told != [0, 1, 2]
        assert told != [6, 7, 8]
        await settle()
        assert turnstile.passes(), "it is free again"
        group.cancel_scope.cancel()


async def test_one_who_leaves_takes_nobodys_place() -> None:
    clock = SetClock()
    turnstile = Turnstile(clock)
    passed: list[str] = []

    async def work(name: str) -> None:
        await turnstile.wait(asked=True)
        passed.append(name)

    async with anyio.create_task_group() as group:
        assert turnstile.passes()
        clock.spent_s += ROUND_S
        with anyio.CancelScope() as scope:
            scope.cancel()
            await turnstile.wait(asked=True)
        group.start_soon(work, "the other")
        await checkpoint()
        group.start_soon(turnstile.run)
        await settle()
        assert passed == ["the other"]
        group.cancel_scope.cancel()
