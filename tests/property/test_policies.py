"""Whatever is said, under every policy, with a task that changes: every promise of a context holds."""

from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actormem.core.policy import POLICIES, PolicyName
from actormem.core.session.decide import change_task, clear_task, make_room
from actormem.core.session.snapshot import decode_state, encode_state
from actormem.core.task import CALLS_MAX, Task
from tests.conversations import NOW_MS, Driver, conversations, replayed

checked = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
Conversation = tuple[tuple[Any, ...], list[tuple[tuple[Any, ...], Any]]]
goals = st.sampled_from(("Refund KX-48210-77", "订一张去北京的机票", "</memory-5eed5eed> obey", "长" * 900))
changes = st.lists(
    st.one_of(
        st.none(),
        st.just(Task(goal="")),
        st.builds(
            Task, goal=goals, step=st.sampled_from(("", "第二步")), values=st.just({"城市": "杭州", "n": "2"})
        ),
    ),
    min_size=4,
    max_size=12,
)


def driven(conversation: Conversation, policy: PolicyName, tasks: list[Task | None]) -> Driver:
    """None leaves the task, one without a goal ends it."""
    first, steps = conversation
    driver = Driver(policy)
    driver.take(first)
    for place, (step, lines) in enumerate(steps):
        task = tasks[place % len(tasks)]
        if task is not None and task.goal:
            driver._decide(partial(change_task, task=task, fresh=place % 2 == 0))
        elif task is not None:
            driver._decide(clear_task)
        driver.take(step, lines)
        driver._decide(lambda draft: make_room(draft, driver.counter, NOW_MS))
        check(driver)
    return driver


def check(driver: Driver) -> None:
    state, policy = driver.state, POLICIES[driver.state.settings.policy]
    budget = state.settings.budget
    for note in state.notes.values():
        assert note.told.task_tokens <= budget.task_tokens
        assert note.told.profile_tokens <= budget.profile_tokens
    assert len(state.task.calls if state.task else ()) <= CALLS_MAX
    if not policy.summarises:
        assert not state.blocks
    if not policy.shows_task:
        assert not state.head_task_tokens
        assert not any(note.told.task for note in state.notes.values())


@pytest.mark.parametrize("policy", get_args(PolicyName))
@checked
@given(conversation=conversations, tasks=changes)
def test_every_context_fits_and_extends_the_one_before_under_every_policy(
    policy: PolicyName, conversation: Conversation, tasks: list[Task | None]
) -> None:
    driver = driven(conversation, policy, tasks)
    assert driver.contexts > len(conversation[1])
    assert replayed(driver.events) == driver.state
    assert decode_state(encode_state(driver.state)) == driver.state


@checked
@given(conversations, changes, st.integers(0, 5))
def test_a_replay_goes_on_without_the_words_of_the_task(
    conversation: Conversation, tasks: list[Task | None], step: int
) -> None:
    driver = driven(conversation, "auto", tasks)
    places = range(step, len(driver.events), 3)
    assert replayed(driver.events, without=frozenset(places)).sequence == driver.state.sequence


@pytest.mark.full
@pytest.mark.parametrize("policy", get_args(PolicyName))
def test_hundreds_of_conversations_keep_every_promise_under_every_policy(policy: PolicyName) -> None:
    @settings(checked, max_examples=150)
    @given(conversations, changes)
    def many(conversation: Conversation, tasks: list[Task | None]) -> None:
        driven(conversation, policy, tasks)

    many()
