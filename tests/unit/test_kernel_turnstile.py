"""The turnstile: alone nobody waits; of many who are ready, few are handled in one round, in order."""

import anyio
import pytest
from anyio.lowlevel import checkpoint

from actormem.kernel.turnstile import ROUND_S, Turnstile
from actormem.testing.clock import FakeClock, settle

pytestmark = pytest.mark.anyio


MIXED_MAX = 6  # of nine: a round of two and, before that one was seen to be long, one of four


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


async def test_those_who_wait_come_in_order_and_a_round_that_was_long_is_followed_by_short_ones() -> None:
    clock = SetClock()
    turnstile = Turnstile(clock)
    passed: list[int] = []
    rounds: list[int] = []

    async def work(number: int) -> None:
        await turnstile.wait()
        passed.append(number)
        clock.spent_s += 2 * ROUND_S  # each takes longer than a round may

    async def count_rounds() -> None:
        while len(passed) < 9:
            before = len(passed)
            await checkpoint()
            rounds.append(len(passed) - before)

    async with anyio.create_task_group() as group:
        assert turnstile.passes()
        clock.spent_s += ROUND_S
        for number in range(9):
            group.start_soon(work, number)
            await settle()
        assert not turnstile.passes(), "who comes now stands behind them"
        group.start_soon(turnstile.run)
        group.start_soon(count_rounds)
        await settle()
        # trio resumes the tasks of one round in any order, this count and the turnstile's own task among them.
        assert all(abs(place - number) <= MIXED_MAX for place, number in enumerate(passed)), "round by round"
        assert max(rounds) <= MIXED_MAX
        await settle()
        assert turnstile.passes(), "it is free again"
        group.cancel_scope.cancel()


async def test_one_who_leaves_takes_nobodys_place() -> None:
    clock = SetClock()
    turnstile = Turnstile(clock)
    passed: list[str] = []

    async def work(name: str) -> None:
        await turnstile.wait()
        passed.append(name)

    async with anyio.create_task_group() as group:
        assert turnstile.passes()
        clock.spent_s += ROUND_S
        with anyio.CancelScope() as scope:
            scope.cancel()
            await turnstile.wait()
        group.start_soon(work, "the other")
        await checkpoint()
        group.start_soon(turnstile.run)
        await settle()
        assert passed == ["the other"]
        group.cancel_scope.cancel()
