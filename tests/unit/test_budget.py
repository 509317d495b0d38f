"""The budget: every refusal with its numbers, and shares that work from 64 tokens to a billion."""

import math
from fractions import Fraction
from typing import Any

import msgspec
import pytest

from actormem.core.budget import TOKENS_MAX, Budget
from actormem.errors import BudgetError, UsageError
from actormem.limits import BUDGET_TOKENS_MIN, FIRST_TOKENS


@pytest.mark.parametrize("given", [0, -1, 1, BUDGET_TOKENS_MIN - 1, -(10**30)])
def test_a_context_below_the_smallest_is_refused_with_the_number(given: int) -> None:
    with pytest.raises(UsageError, match=rf"^context must be at least {BUDGET_TOKENS_MIN}, not {given}$"):
        Budget(context=given)


@pytest.mark.parametrize("given", [True, 300.0, math.nan, math.inf, "300", None, Fraction(300)])
def test_a_context_that_is_no_whole_number_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"^context must be a whole number of tokens, not "):
        Budget(context=given)


@pytest.mark.parametrize(
    "name",
    ["context", "summary", "recall", "entities", "profile", "task", "keep_recent", "repeat_after_tokens"],
)
def test_a_number_that_storage_cannot_hold_is_refused(name: str) -> None:
    given: dict[str, Any] = {"context": 1_000, name: TOKENS_MAX + 1}
    with pytest.raises(UsageError, match=rf"^{name} must be at most {TOKENS_MAX}$"):
        Budget(**given)


@pytest.mark.parametrize(
    "name", ["summary", "recall", "entities", "profile", "task", "keep_recent", "repeat_after_tokens"]
)
@pytest.mark.parametrize("value", [-1, False, 1.5, math.nan, "1"])
def test_a_share_that_is_no_whole_number_from_zero_is_refused_by_name(name: str, value: Any) -> None:
    given: dict[str, Any] = {"context": 1_000, name: value}
    with pytest.raises(UsageError, match=rf"^{name} must be "):
        Budget(**given)


@pytest.mark.parametrize("name", ["compact_at", "compact_to"])
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, math.nan, math.inf, True, "0.5", None])
def test_a_mark_outside_zero_and_one_is_refused_by_name(name: str, value: Any) -> None:
    given: dict[str, Any] = {"context": 1_000, name: value}
    with pytest.raises(UsageError, match=rf"^{name} must lie between 0 and 1, not "):
        Budget(**given)


@pytest.mark.parametrize(("at", "to"), [(0.5, 0.5), (0.4, 0.6)])
def test_compact_to_must_be_below_compact_at(at: float, to: float) -> None:
    with pytest.raises(UsageError, match=rf"^compact_to \({to}\) must be below compact_at \({at}\)$"):
        Budget(context=1_000, compact_at=at, compact_to=to)


@pytest.mark.parametrize("shares", [(400, 300, 300), (1_000, 0, 0), (0, 2_000, 0)])
def test_shares_that_leave_nothing_for_messages_are_refused_with_both_numbers(
    shares: tuple[int, int, int],
) -> None:
    summary, recall, entities = shares
    with pytest.raises(BudgetError) as caught:
        Budget(context=1_000, summary=summary, recall=recall, entities=entities)
    assert (caught.value.needed_tokens, caught.value.budget_tokens) == (sum(shares), 1_000)
    assert f"needs {sum(shares)} tokens, has 1000" in str(caught.value)


@pytest.mark.parametrize(("context", "keep_recent"), [(64, 9), (1_000, 126), (4_096, TOKENS_MAX)])
def test_messages_to_keep_that_cannot_fit_are_refused_with_both_numbers(
    context: int, keep_recent: int
) -> None:
    with pytest.raises(BudgetError, match=r"^keep_recent \(\d+ messages, 8 tokens each") as caught:
        Budget(context=context, keep_recent=keep_recent)
    assert (caught.value.needed_tokens, caught.value.budget_tokens) == (8 * keep_recent, context)
    assert Budget(context=context, keep_recent=context // 8).keep_recent == context // 8


def test_shares_one_token_below_the_total_are_taken() -> None:
    assert Budget(context=1_000, summary=400, recall=300, entities=299).entities_tokens == 299


@pytest.mark.parametrize("context", [64, 300, 4_096, 200_000, TOKENS_MAX])
def test_default_shares_grow_with_the_context_and_leave_most_of_it_to_messages(context: int) -> None:
    budget = Budget(context=context)
    shares = budget.summary_tokens + budget.recall_tokens + budget.entities_tokens
    assert 0 < shares < context * (0.7 if context >= 2_000 else 0.95)
    first = min(context, FIRST_TOKENS)
    assert budget.summary_tokens == int(first * 0.06 + (context - first) * 0.12)
    assert context // 100 < budget.recall_tokens <= max(int(context * 0.15), min(100, context // 4))
    assert 2 * budget.message_tokens == context - context % 2


@pytest.mark.parametrize(
    "name",
    ["summary_tokens", "recall_tokens", "entities_tokens", "profile_tokens", "task_tokens", "message_tokens"],
)
def test_a_default_share_never_falls_when_the_context_grows(name: str) -> None:
    shares: list[int] = [getattr(Budget(context=context), name) for context in range(64, 50_000, 97)]
    assert shares == sorted(shares)
    assert shares[0] > 0


def test_shares_of_profile_and_task_count_where_they_are_given_and_yield_where_they_are_not() -> None:
    assert Budget(context=1_000, summary=400, recall=300, entities=299).task_tokens == 80
    with pytest.raises(BudgetError, match="needs 1000 tokens, has 1000"):
        Budget(context=1_000, summary=400, recall=300, entities=299, task=1)
    with pytest.raises(BudgetError, match="needs 1001 tokens, has 1000"):
        Budget(context=1_000, summary=400, recall=300, entities=299, profile=2)


@pytest.mark.parametrize(("context", "recall"), [(300, 120), (500, 250), (1_000, 600)])
def test_a_share_that_is_given_leaves_less_to_exact_values_and_is_not_refused_for_them(
    context: int, recall: int
) -> None:
    given = Budget(context=context, recall=recall)
    assert 0 < given.entities_tokens < Budget(context=context).entities_tokens
    assert given.summary_tokens + given.recall_tokens + given.entities_tokens < context


def test_shares_are_of_what_prompt_and_tools_leave() -> None:
    budget = Budget(context=1_750)
    assert budget.entities_within(500) == Budget(context=500).entities_tokens
    assert budget.summary_within(500) == Budget(context=500).summary_tokens
    assert budget.recall_within(500) == Budget(context=500).recall_tokens
    assert Budget(context=1_750, entities=90).entities_within(500) == 90


def test_a_share_that_is_given_stands_as_it_is_zero_too() -> None:
    budget = Budget(context=300, summary=0, recall=7, entities=0)
    assert (budget.summary_tokens, budget.recall_tokens, budget.entities_tokens) == (0, 7, 0)


def test_a_stored_budget_is_read_back_and_a_damaged_one_is_refused() -> None:
    budget = Budget(context=200_000, recall=600, compact_at=0.7)
    body = msgspec.msgpack.encode(budget)
    assert msgspec.msgpack.decode(body, type=Budget) == budget
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode({"context": 3}), type=Budget)
