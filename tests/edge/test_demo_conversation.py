"""The bundled demo conversation says what the demo claims it says.

The demo plays it under a budget of 2,000 tokens and then asks six questions. Its claims are worth nothing if
an answer still stands in the last few messages, or was never said: here the data is held to that.
"""

import json
import re
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any

import msgspec
import pytest
from toktok import batch_count

BUDGET_TOKENS = 2_000  # what the demo gives the context
OUT_OF_REACH_TOKENS = 3 * BUDGET_TOKENS  # said after an answer: no window of the budget can hold it still
LONG_MESSAGE_TOKENS = 1_500


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field too many or too few, or of the wrong type, is an error."""


class Function(Strict, frozen=True):
    name: str
    arguments: str


class Call(Strict, frozen=True):
    id: str
    type: str
    function: Function


class Step(Strict, frozen=True):
    role: str
    content: str | None
    tool_calls: tuple[Call, ...] = ()
    tool_call_id: str = ""


class Turn(Strict, frozen=True):
    user: str
    steps: tuple[Step, ...]


class Probe(Strict, frozen=True):
    about: str
    language: str
    question: str
    expected: tuple[str, ...]
    forbidden_as_current: tuple[str, ...]


class Newcomer(Strict, frozen=True):
    user: str
    question: str
    must_not_see: tuple[str, ...]


class SecondSession(Strict, frozen=True):
    question: str
    expected: tuple[str, ...]


class Demo(Strict, frozen=True):
    system: str
    user: str
    tools: tuple[dict[str, Any], ...]
    turns: tuple[Turn, ...]
    probes: tuple[Probe, ...]
    newcomer: Newcomer
    second_session: SecondSession


RAW = (files("actormem.cli") / "demo_conversation.json").read_text(encoding="utf-8")
DEMO = msgspec.json.decode(RAW.encode(), type=Demo)
PROBES = {probe.about: probe for probe in DEMO.probes}


def texts(turn: Turn) -> list[tuple[str, str]]:
    """Every text of a turn with its role, calls included, in wire order."""
    said = [("user", turn.user)]
    for step in turn.steps:
        said.append((step.role, step.content or ""))
        said.extend((step.role, call.function.name + call.function.arguments) for call in step.tool_calls)
    return said


def turns_with(value: str, *roles: str) -> list[int]:
    """Numbers, from 1, of the turns that hold the value; in texts of these roles alone, if any are given."""
    return [
        number
        for number, turn in enumerate(DEMO.turns, 1)
        if any(value in text and (not roles or role in roles) for role, text in texts(turn))
    ]


def count(parts: list[str]) -> list[int]:
    return batch_count(parts, "o200k_base", threads=1)


def tokens_by_turn() -> list[int]:
    return [sum(count([text for _, text in texts(turn)])) for turn in DEMO.turns]


def has_chinese(text: str) -> bool:
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def test_it_has_at_least_sixty_turns_and_far_more_tokens_than_the_budget() -> None:
    assert 60 <= len(DEMO.turns) <= 80
    assert 14_000 <= sum(tokens_by_turn()) <= 18_000


def test_system_prompt_and_tools_leave_most_of_the_budget_to_the_conversation() -> None:
    assert sum(count([DEMO.system, json.dumps(DEMO.tools, ensure_ascii=False)])) < BUDGET_TOKENS / 5


def test_every_turn_ends_with_a_reply_in_words() -> None:
    for turn in DEMO.turns:
        assert turn.user.strip() == turn.user != ""
        last = turn.steps[-1]
        assert (last.role, last.tool_calls, last.tool_call_id) == ("assistant", (), "")
        assert last.content


def test_every_tool_call_is_followed_by_its_own_result_in_order() -> None:
    seen: list[str] = []
    for turn in DEMO.turns:
        waiting: list[str] = []
        for step in turn.steps:
            if step.role == "tool":
                assert step.tool_call_id == waiting.pop(0)
                assert isinstance(json.loads(step.content or ""), dict)
                continue
            assert step.role == "assistant"
            assert waiting == [], "the model spoke before all results were in"
            assert (step.content is None) == bool(step.tool_calls)
            waiting = [call.id for call in step.tool_calls]
            seen += waiting
        assert waiting == []
    assert len(seen) == len(set(seen)) >= 20


def test_tool_calls_use_the_declared_tools_and_parameters() -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in DEMO.tools}
    used: set[str] = set()
    for call in (call for turn in DEMO.turns for step in turn.steps for call in step.tool_calls):
        schema, arguments = schemas[call.function.name], json.loads(call.function.arguments)
        assert call.type == "function"
        assert set(schema["required"]) <= set(arguments) <= set(schema["properties"])
        for name, value in arguments.items():
            assert value in schema["properties"][name].get("enum", [value])
        used.add(call.function.name)
    assert used == set(schemas)


def test_parallel_calls_and_results_of_a_page_occur() -> None:
    steps = [step for turn in DEMO.turns for step in turn.steps]
    assert any(len(step.tool_calls) > 1 for step in steps)
    assert sum(600 <= len(step.content or "") <= 1_500 for step in steps if step.role == "tool") >= 5


def test_exactly_one_message_is_very_long_and_it_stands_in_the_middle() -> None:
    long = [
        (number, role)
        for number, turn in enumerate(DEMO.turns, 1)
        for role, text in texts(turn)
        if count([text])[0] > LONG_MESSAGE_TOKENS
    ]
    [(number, role)] = long
    assert role == "user"
    assert len(DEMO.turns) / 3 < number < 2 * len(DEMO.turns) / 3


def test_users_write_chinese_english_and_both_at_once() -> None:
    chinese = [turn for turn in DEMO.turns if has_chinese(turn.user)]
    english = [turn for turn in DEMO.turns if len(re.findall(r"\b[a-z]{2,}\b", turn.user)) >= 5]
    mixed = [turn for turn in chinese if turn in english]
    assert min(len(chinese), len(english)) >= len(DEMO.turns) / 3
    assert len(mixed) >= 4


def test_there_are_six_probes_three_in_each_language() -> None:
    assert len(DEMO.probes) == len(PROBES) == 6
    assert sorted(probe.language for probe in DEMO.probes) == ["en"] * 3 + ["zh"] * 3
    for probe in DEMO.probes:
        assert has_chinese(probe.question) == (probe.language == "zh")


@pytest.mark.parametrize("probe", DEMO.probes, ids=lambda probe: probe.about)
def test_a_probe_asks_for_what_was_said_long_ago_and_does_not_give_it_away(probe: Probe) -> None:
    tokens_after = list(accumulate(reversed([*tokens_by_turn(), 0])))[::-1]
    for value in probe.expected:
        assert value not in probe.question
        assert tokens_after[turns_with(value)[-1]] > OUT_OF_REACH_TOKENS
    for value in probe.forbidden_as_current:
        assert value not in probe.question
        assert turns_with(value), "an old value that was never said forbids nothing"


@pytest.mark.parametrize("about", ["refund", "address", "allergies", "contact", "budget"])
def test_what_a_probe_asks_of_the_user_was_stated_by_the_user(about: str) -> None:
    for value in PROBES[about].expected:
        assert turns_with(value, "user")


def test_the_tracking_number_came_from_a_tool_more_than_forty_turns_before_the_end() -> None:
    [value] = PROBES["tracking"].expected
    assert turns_with(value, "tool") != []
    assert turns_with(value, "user") == []
    assert len(DEMO.turns) - turns_with(value)[-1] > 40


def test_the_old_address_comes_before_the_new_one_and_returns_in_passing() -> None:
    [new], [old] = PROBES["address"].expected, PROBES["address"].forbidden_as_current
    assert turns_with(old, "user")[-1] < turns_with(new)[0], "the user's last word is the new address"
    assert turns_with(old)[-1] > turns_with(new)[-1], "the most recent mention is the wrong one"
    assert turns_with(old, "user", "assistant")[-1] < turns_with(new)[0], "later only in a tool result"


def test_the_wish_for_calls_is_reversed_later_and_never_renewed() -> None:
    [new], [old] = PROBES["contact"].expected, PROBES["contact"].forbidden_as_current
    assert turns_with(old)[-1] < turns_with(new, "user")[0]
    reversal = DEMO.turns[turns_with(new, "user")[0] - 1].user
    assert "不要再打电话" in reversal


def test_the_two_allergies_are_stated_in_two_turns_and_two_languages() -> None:
    peanut, shrimp = PROBES["allergies"].expected
    [first], [second] = (
        turns_with(f"我对{peanut}过敏", "user"),
        turns_with(f"I'm allergic to {shrimp}", "user"),
    )
    assert first < second
    assert peanut not in DEMO.turns[second - 1].user
    assert has_chinese(DEMO.turns[first - 1].user)
    assert not has_chinese(DEMO.turns[second - 1].user)


def test_the_refund_and_its_order_have_neighbours_that_look_alike() -> None:
    amount, order = PROBES["refund"].expected
    said = "\n".join(text for turn in DEMO.turns for _, text in texts(turn))
    digits = [sorted(re.sub(r"\D", "", value)) for value in (amount, order)]
    amounts, orders = set(re.findall(r"\d,\d{3}\.\d{2}", said)), set(re.findall(r"KX-\d{5}-\d{2}", said))
    assert any(sorted(re.sub(r"\D", "", other)) == digits[0] for other in amounts - {amount})
    assert any(sorted(re.sub(r"\D", "", other)) == digits[1] for other in orders - {order})
    assert len(orders) >= 8
    assert any(amount in turn.user and order in turn.user for turn in DEMO.turns), "stated in one sentence"


def test_the_refund_lines_add_up() -> None:
    results = [
        json.loads(step.content or "") for turn in DEMO.turns for step in turn.steps if step.role == "tool"
    ]
    [refund] = [result for result in results if "refund_amount" in result]
    assert sum(float(line["amount"]) for line in refund["lines"]) == float(refund["refund_amount"])
    assert f"{float(refund['refund_amount']):,.2f}" == PROBES["refund"].expected[0]


def test_the_newcomer_is_someone_else_and_must_not_see_what_was_really_said() -> None:
    assert DEMO.newcomer.user != DEMO.user
    for value in DEMO.newcomer.must_not_see:
        assert turns_with(value)
        assert value not in DEMO.newcomer.question
    addresses = [*PROBES["address"].expected, *PROBES["address"].forbidden_as_current]
    assert all(any(value in address for value in DEMO.newcomer.must_not_see) for address in addresses)


def test_the_second_session_asks_for_both_allergies_without_naming_them() -> None:
    assert DEMO.second_session.expected == PROBES["allergies"].expected
    assert not any(value in DEMO.second_session.question for value in DEMO.second_session.expected)


def test_persons_cannot_be_reached_by_what_stands_there() -> None:
    assert {address.rpartition("@")[2] for address in re.findall(r"[\w.]+@[\w.]*\w", RAW)} == {"example.com"}
    phones = re.findall(r"(?<![\w-])1\d{2}[- ]?\d{4}[- ]?\d{4}(?![\w-])", RAW)
    assert phones
    assert all(phone.startswith("199-0000-") for phone in phones)


def test_no_two_users_messages_are_the_same() -> None:
    assert all(before != after for before, after in pairwise(sorted(turn.user for turn in DEMO.turns)))
