"""Under every layout every context fits, holds whole groups, and is taken by the templates it is for."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actormem.core.context.layout import Layout
from tests.conversations import conversations, replayed
from tests.layouts import LAYOUTS, CostlyJoins, LayoutDriver

checked = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
Conversation = tuple[tuple[Any, ...], list[tuple[tuple[Any, ...], Any]]]


def driven(conversation: Conversation, driver: LayoutDriver) -> LayoutDriver:
    first, steps = conversation
    driver.take(first)
    for step, lines in steps:
        driver.take(step, lines)
    return driver


@checked
@given(conversations, st.sampled_from(LAYOUTS))
def test_every_context_of_a_layout_keeps_what_it_promises(conversation: Conversation, layout: Layout) -> None:
    driver = driven(conversation, LayoutDriver(layout))
    assert replayed(driver.events) == driver.state


@checked
@given(conversations)
def test_every_context_that_is_joined_is_taken_by_strict_templates(conversation: Conversation) -> None:
    driven(conversation, LayoutDriver(Layout(join="all")))


@settings(checked, max_examples=6)
@given(conversations)
def test_a_vocabulary_in_which_joined_texts_cost_more_changes_no_promise(conversation: Conversation) -> None:
    driven(conversation, LayoutDriver(Layout(join="all"), CostlyJoins()))


@pytest.mark.full
def test_many_conversations_of_every_layout() -> None:
    @settings(checked, max_examples=1_000)
    @given(conversations, st.sampled_from(LAYOUTS))
    def many(conversation: Conversation, layout: Layout) -> None:
        driven(conversation, LayoutDriver(layout))

    many()
