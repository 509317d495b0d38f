"""What the public strategies draw is what they say: valid, wild, and taken by the runtime; or wrong, and survived."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from actormem import Budget, UsageError
from actormem.core.hidden import HIDDEN
from actormem.core.ids import checked_id
from actormem.core.values import Owner
from actormem.core.wire import parse_message
from actormem.testing import strategies
from tests.conversations import check_groups
from tests.runtimes import ScriptedEmbedder, ScriptedLLM, opened

QUICK = settings(database=None, max_examples=500, derandomize=True)


@given(strategies.messages())
def test_every_message_is_one(message: dict[str, Any]) -> None:
    assert json.loads(parse_message(message).wire)["role"] == message["role"]


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


@pytest.mark.parametrize("what", SEEN)
def test_texts_come_in_every_kind(what: str) -> None:
    find(strategies.texts(), SEEN[what], settings=settings(QUICK, max_examples=3_000))


@pytest.mark.parametrize(
    "holds",
    [
        lambda messages: any(len(one.get("tool_calls") or ()) == 3 for one in messages),
        lambda messages: any(
            strategies.IMAGE in one["content"] for one in messages if isinstance(one["content"], list)
        ),
        lambda messages: messages[0]["role"] == "system" and len(messages) > 6,
        lambda messages: any(one.get("tool_calls") and one["content"] is None for one in messages),
    ],
    ids=["three calls at once", "a picture", "a system prompt", "a call without words"],
)
def test_conversations_come_in_every_kind(holds: Any) -> None:
    find(strategies.conversations(), holds, settings=QUICK)


def test_owners_come_that_only_look_alike() -> None:
    def alike(pair: tuple[Owner, Owner]) -> bool:
        one, other = pair
        return one != other and f"{one.tenant}:{one.user}" == f"{other.tenant}:{other.user}"

    owners = strategies.owners()
    find(st.tuples(owners, owners), alike, settings=settings(QUICK, max_examples=20_000))


async def live(conversation: list[dict[str, Any]], owner: Owner, budget: Budget, replies: list[Any]) -> None:
    llm = ScriptedLLM([*replies] * 20)
    async with opened(llm=llm, embedder=ScriptedEmbedder(), extract=True) as runtime:
        session = await runtime.spawn("s", user=owner.user, tenant=owner.tenant, budget=budget)
        for message in conversation:
            await session.add(message)
            assert (await session.context()).trace.tokens <= budget.context
        await runtime.settle()
        assert len(await session.messages()) == len(conversation)
        context = await session.context()
        check_groups(context.messages, ())


@settings(max_examples=8)
@given(
    strategies.conversations(turns_max=4),
    strategies.owners(),
    strategies.budgets(context_max=600),
    st.lists(strategies.faulty_replies(), min_size=1, max_size=4),
)
def test_a_runtime_takes_any_conversation_of_any_owner_whatever_its_model_replies(
    conversation: list[dict[str, Any]], owner: Owner, budget: Budget, replies: list[Any]
) -> None:
    anyio.run(live, conversation, owner, budget, replies)
