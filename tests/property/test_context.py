"""Whatever is said, at whatever budget: every context fits, groups are whole, and an epoch only grows."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actormem.core.context.assembly import assemble, rendered
from tests.conversations import Driver, conversations, replayed

FULL_CONTEXTS = 20_000
checked = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
Conversation = tuple[tuple[Any, ...], list[tuple[tuple[Any, ...], Any]]]


def driven(conversation: Conversation) -> Driver:
    first, steps = conversation
    driver = Driver()
    driver.take(first)
    for step, lines in steps:
        driver.take(step, lines)
    return driver


@checked
@given(conversations)
def test_every_context_fits_holds_whole_groups_and_extends_the_one_before(conversation: Conversation) -> None:
    driver = driven(conversation)
    assert driver.contexts > len(conversation[1])


@settings(checked, max_examples=40)
@given(conversations, st.randoms(use_true_random=False))
def test_replay_gives_the_same_state_and_goes_on_without_erased_words(
    conversation: Conversation, chance: random.Random
) -> None:
    driver = driven(conversation)
    assert replayed(driver.events) == driver.state
    places = range(len(driver.events))
    erased = replayed(driver.events, without=frozenset(place for place in places if chance.random() < 0.3))
    assert erased.sequence == driver.state.sequence
    rendered(assemble(erased))


@pytest.mark.full
def test_twenty_thousand_contexts_keep_every_promise() -> None:
    made = 0

    @settings(checked, max_examples=1_500)
    @given(conversations)
    def many(conversation: Conversation) -> None:
        nonlocal made
        made += driven(conversation).contexts

    many()
    assert made >= FULL_CONTEXTS
