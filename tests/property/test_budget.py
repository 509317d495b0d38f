"""Promise 1: whatever is said, at whatever budget, for whatever model, no context is above its budget."""

import pytest

from actormem.core.session.events import Calibrated, Configured, EpochStarted
from tests.budgets import TRUE, Play
from tests.conversations import replayed

STEPS = 25
PLAYS, CONTEXTS = 16, 300
FULL_CONTEXTS = 20_000
ABOVE_MAX = 0.02  # of a context, in tokens: of text unlike all that was measured, before its own bill


def checked(seed: int, *, replay: bool) -> Play:
    """One conversation; every context was within its budget, or just learned that it was not."""
    play = Play(seed)
    try:
        play.run(STEPS)
    except Exception as error:
        error.add_note(f"seed {seed}")
        raise
    for bill, budget in play.above:
        assert bill <= budget * (1 + ABOVE_MAX), f"seed {seed}: a measured model was counted far too low"
    if replay:
        assert replayed(play.events) == play.state
    return play


def test_no_context_of_some_hundred_is_above_its_budget() -> None:
    plays = [checked(seed, replay=seed % 4 == 0) for seed in range(PLAYS)]
    assert sum(play.contexts for play in plays) >= CONTEXTS
    assert sum(len(play.above) for play in plays) == 0
    events = [event for play in plays for event in play.events]
    assert any(isinstance(one, Calibrated) and one.factor for one in events), "some models were measured"
    reasons = {one.reason for one in events if isinstance(one, EpochStarted)}
    assert reasons >= {"shrink", "the budget", "compaction"}
    assert {one.model for one in events if isinstance(one, Configured)} >= set(TRUE)


@pytest.mark.full
def test_no_context_of_twenty_thousand_is_above_its_budget() -> None:
    contexts = above = 0
    seed = 1_000
    while contexts < FULL_CONTEXTS:
        play = checked(seed, replay=seed % 40 == 0)
        contexts, above, seed = contexts + play.contexts, above + len(play.above), seed + 1
    assert above <= contexts // 1_000
