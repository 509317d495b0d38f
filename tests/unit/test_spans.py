"""Where a compaction ends: between turns, between topics, and inside a long turn between its tool groups."""

import json

import pytest

from actormem.core.budget import Budget
from actormem.core.context.assembly import assemble
from actormem.core.context.blocks import BLOCKS_MAX, mark_tokens, plan_compaction
from actormem.core.session.decide import Draft, fit
from actormem.core.session.snapshot import decode_state, encode_state
from actormem.core.session.working import groups
from tests.unit.test_blocks import TOKENIZER, add, begun, due, shown, swap

TRAINS = "The night train to the northern coast has a sleeping car and a dining car for the long ride"
CAKES = "The lemon cake wants four eggs and soft butter and an hour of patience in the oven"
NIGHT_TRAIN = "去北方海边的夜班火车有卧铺车厢和餐车，路程很长，最好提前订票"
LEMON_CAKE = "柠檬蛋糕需要四个鸡蛋和软化的黄油，还要在烤箱里耐心等一个小时"


def say(draft: Draft, topic: str, turns: int) -> None:
    for number in range(turns):
        add(draft, "user", f"{topic}, {number}. " * 2)
        add(draft, "assistant", f"{topic}. " * 2)


def tool_group(draft: Draft, number: int, words: int = 40) -> None:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    add(draft, "assistant", None, tool_calls=[call])
    found = json.dumps({"order_id": f"KX-{number:05d}", "note": "word " * words})
    add(draft, "tool", found, tool_call_id=f"c{number}")


def long_turn(draft: Draft, tool_groups: int, start: int = 0) -> None:
    for number in range(start, start + tool_groups):
        tool_group(draft, number)
        fit(draft, TOKENIZER, 1)


def wires(draft: Draft) -> list[str]:
    return [part.wire for part in assemble(draft.state)]


@pytest.mark.parametrize(("one", "other"), [(TRAINS, CAKES), (NIGHT_TRAIN, LEMON_CAKE)], ids=["en", "zh"])
def test_a_span_ends_where_the_topic_changes_near_by(one: str, other: str) -> None:
    ends: list[int] = []
    for before in range(8, 16):
        draft = begun(Budget(context=2_000, keep_recent=2))
        say(draft, one, before)
        change = draft.state.entries[-1].sequence
        while plan_compaction(draft.state) is None:
            say(draft, other, 1)
        ends.append(due(draft).last - change)
    assert 0 in ends, "somewhere the change is near, and the span ends there"


def test_a_span_ends_behind_a_reply_rather_than_behind_its_question() -> None:
    for keep_recent in range(7):
        draft = begun(Budget(context=1_200, keep_recent=keep_recent))
        while plan_compaction(draft.state) is None:
            say(draft, TRAINS, 1)
        last = next(one for one in draft.state.entries if one.sequence == due(draft).last)
        assert last.message.role == "assistant"


def test_a_span_that_moves_still_covers_what_is_out_of_view_and_spares_the_newest_message() -> None:
    for turns in range(12, 30):
        draft = begun(Budget(context=1_200, keep_recent=4))
        say(draft, TRAINS, turns // 2)
        say(draft, CAKES, turns - turns // 2)
        fit(draft, TOKENIZER, 1)
        plan = due(draft)
        newest = draft.state.newest_user
        assert newest is not None
        assert plan.last >= max(draft.state.out, default=0)
        assert plan.last < newest.sequence


def test_finished_tool_groups_of_a_long_turn_become_a_block_behind_its_message() -> None:
    draft = begun(Budget(context=1_500))
    say(draft, CAKES, 1)
    add(draft, "user", "Where are all of my orders?")
    question = draft.state.entries[-1]
    long_turn(draft, 24)
    while (plan := plan_compaction(draft.state)) is not None:
        swap(draft, plan, f"tool: find({{}}) → orders were found, {plan.first}")
        fit(draft, TOKENIZER, 1)
    inner = [block for block in draft.state.blocks if block.first > question.sequence]
    assert len(inner) == 1
    shown_wires = wires(draft)
    assert shown_wires.index(question.wire) + 1 == shown_wires.index(inner[0].wire)
    assert question in draft.state.entries
    assert [group[0].message.role for group in groups(draft.state.view)[1:]].count("user") == 0
    assert inner[0].last < draft.state.entries[-1].group, "the newest group stays verbatim"
    assert draft.state.tokens <= 1_500


def test_the_next_block_of_a_turn_takes_in_the_one_before_and_the_turns_own_compaction_takes_it_in_too() -> (
    None
):
    draft = begun(Budget(context=1_500))
    add(draft, "user", "Where are all of my orders?")
    for start in range(0, 60, 12):
        long_turn(draft, 12, start)
        if plan := plan_compaction(draft.state):
            swap(draft, plan, f"round {start}")
            assert len(draft.state.blocks) == 1
            assert plan.previous in ("", f"round {start - 12}")
    add(draft, "assistant", "All of them are on their way.")
    inner = draft.state.blocks[0]
    say(draft, CAKES, 12)
    plan = due(draft)
    assert plan.first < inner.first
    assert plan.last > inner.last
    assert plan.previous == inner.summary
    swap(draft, plan, "The user asked where the orders are; all are on their way.")
    assert [block.first for block in draft.state.blocks] == [plan.first]
    assert inner.wire not in wires(draft)


def test_what_a_long_turn_found_is_reachable_in_it_and_after_it() -> None:
    draft = begun(Budget(context=1_500))
    add(draft, "user", "Where are all of my orders?")
    long_turn(draft, 20)
    plan = due(draft)
    swap(draft, plan, f"tool: find({{}}) → orders were found, {plan.first}")
    for number in range(20):
        assert f"KX-{number:05d}" in shown(draft)
    assert decode_state(encode_state(draft.state)) == draft.state


def test_a_turn_that_is_nothing_but_its_question_and_one_group_is_left_alone() -> None:
    draft = begun(Budget(context=600))
    add(draft, "user", "word " * 280)
    tool_group(draft, 1, words=420)
    assert draft.state.tokens > mark_tokens(draft.state, 0.8)
    assert plan_compaction(draft.state) is None


def test_blocks_stay_few_however_many_long_turns_there_are() -> None:
    draft = begun(Budget(context=1_500))
    for turn in range(30):
        add(draft, "user", f"Turn {turn}: where are my orders?")
        fit(draft, TOKENIZER, 1)
        long_turn(draft, 8, 10 * turn)
        while plan := plan_compaction(draft.state):
            swap(draft, plan, f"tool: find({{}}) → orders were found, {plan.first}")
            fit(draft, TOKENIZER, 1)
        add(draft, "assistant", "There they are.")
        assert len(draft.state.blocks) <= BLOCKS_MAX + 3
        assert draft.state.tokens <= 1_500
        sequences = [(block.first, block.last) for block in draft.state.blocks]
        ends = [place for span in sequences for place in span]
        assert ends == sorted(ends), "spans are in order and never cross"
