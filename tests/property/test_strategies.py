"""What the public strategies draw is what they say: valid, wild, and taken by the runtime; or wrong, and survived."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from actormem import Budget, ProviderError, UsageError
from actormem.core.facts.reply import read_facts
from actormem.core.facts.request import Said
from actormem.core.hidden import HIDDEN
from actormem.core.ids import checked_id
from actormem.core.summary import checked_summary
from actormem.core.values import Message, Owner
from actormem.core.wire import parse_message
from actormem.testing import strategies
from tests.conversations import check_groups
from tests.runtimes import opened


@given(strategies.messages())
def test_every_message_is_one(message: dict[str, Any]) -> None:
    assert json.loads(parse_message(message).wire)["role"] == message["role"]


@settings(max_examples=30)
@given(strategies.conversations())
def test_every_call_has_its_results_right_behind_it_and_the_last_word_is_the_assistants(
    conversation: list[dict[str, Any]],
) -> None:
    check_groups(conversation, ())
    assert conversation[-1]["role"] == "assistant"
    assert [one["role"] for one in conversation].count("user") >= 1
    for message in conversation:
        parse_message(message)


@given(strategies.budgets(context_max=300))
def test_every_budget_can_be_had(budget: Budget) -> None:
    assert 64 <= budget.context <= 300


@given(strategies.owners(), strategies.wrong_ids())
def test_ids_of_owners_are_taken_and_wrong_ones_are_refused(owner: Owner, wrong: str) -> None:
    assert checked_id(owner.user, "user") == owner.user
    with pytest.raises(UsageError):
        checked_id(wrong, "user")


SEEN = {
    "Chinese": lambda text: any("一" <= one <= "龥" for one in text),
    "English": lambda text: "order is KX-90311" in text,
    "both at once": lambda text: ("你" in text and "budget" in text) or ("的" in text and "My" in text),
    "hidden characters": lambda text: len(HIDDEN.findall(text)) > 3,
    "half of a pair": lambda text: any("\ud800" <= one <= "\udfff" for one in text),
    "a control word": lambda text: "<|endoftext|>" in text,
    "a delimiter of ours": lambda text: "</memory-" in text,
    "thousands of characters": lambda text: len(text) > 3_000,
}


CARRIED = {
    "three calls at once": lambda said: any(len(one.get("tool_calls") or ()) == 3 for one in said),
    "a picture": lambda said: any(strategies.IMAGE in [*one["content"]] for one in said if one["content"]),
    "a system prompt": lambda said: said[0]["role"] == "system",
    "a call without words": lambda said: any(one["content"] is None for one in said),
    "no call": lambda said: all(one["role"] != "tool" for one in said),
}


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, the same at each run."""
    found: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True, phases=[Phase.generate])
    @given(strategy)
    def draw(one: Any) -> None:
        found.append(one)

    draw()
    return found


def test_texts_come_in_every_kind() -> None:
    texts = drawn(strategies.texts(), 400)
    assert [what for what, holds in SEEN.items() if not any(map(holds, texts))] == []


def test_conversations_come_in_every_kind() -> None:
    conversations = drawn(strategies.conversations(turns_max=3, long=False), 150)
    assert [what for what, holds in CARRIED.items() if not any(map(holds, conversations))] == []


def test_owners_come_that_only_look_alike() -> None:
    owners = set(drawn(strategies.owners(), 400))
    joined = [f"{owner.tenant}:{owner.user}" for owner in owners]
    folded = [(owner.tenant, owner.user.casefold()) for owner in owners]
    assert len(set(joined)) < len(owners)
    assert len(set(folded)) < len(owners)


async def live(conversation: list[dict[str, Any]], owner: Owner, budget: Budget) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user=owner.user, tenant=owner.tenant, budget=budget)
        for message in conversation:
            await session.add(message)
        context = await session.context()
        assert context.trace.tokens <= budget.context
        check_groups(context.messages, ())
        assert len(await session.messages()) == len(conversation)


@settings(max_examples=8, phases=[Phase.generate])
@given(strategies.conversations(turns_max=3), strategies.owners(), strategies.budgets(context_max=600))
def test_a_runtime_takes_any_conversation_of_any_owner(
    conversation: list[dict[str, Any]], owner: Owner, budget: Budget
) -> None:
    anyio.run(live, conversation, owner, budget)


@given(strategies.faulty_replies())
def test_whatever_a_model_replies_is_read_as_a_summary_and_as_facts_or_refused(
    reply: str | Exception,
) -> None:
    if isinstance(reply, Exception):
        assert isinstance(reply, ProviderError)
        return
    said = "My order is KX-90311 and the budget is $2,500."
    checked_summary(reply, sources=[Message(role="user", content=said)], previous="", tokens=400, count=len)
    read_facts(reply, [Said(session_id="s", message_id="u", text=said)])
