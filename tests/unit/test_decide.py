"""What a session decides: calls closed, late results hidden, messages cut, epochs named, prompts refused."""

import json
from typing import Any

import msgspec
import pytest

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.budget import Budget
from actormem.core.context.assembly import assemble, note, rendered
from actormem.core.context.blocks import plan_compaction
from actormem.core.context.notes import Line
from actormem.core.session import events as ev
from actormem.core.session.decide import (
    Draft,
    add_message,
    after_redaction,
    close_turn,
    configure,
    fit,
    open_turn,
    swap_block,
)
from actormem.core.session.working import Working
from actormem.core.values import Message
from actormem.core.wire import message_tokens, parse_message
from actormem.errors import BudgetError
from tests.conversations import CUT, check_groups, replayed, wire_tokens

TOKENIZER = ToktokTokenizer()
OTHER = ToktokTokenizer("cl100k_base")
NO_RESULT = "[no result was recorded for this call]"
TOOLS = json.dumps([{"type": "function", "function": {"name": "find"}}])


def wanted(context: int = 1_000, **changes: Any) -> ev.Configured:
    text = {"system": changes.pop("system", ""), "tools": changes.pop("tools", "")}
    asked = ev.Configured(
        model="gpt-4o",
        budget=Budget(context=context),
        timezone="",
        nonce="5eed5eed",
        system_tokens=0,
        tools_tokens=0,
        time_ms=1,
        text=json.dumps(text),
    )
    return msgspec.structs.replace(asked, **changes)


def begun(context: int = 1_000, **changes: Any) -> Draft:
    draft = Draft(Working())
    configure(draft, wanted(context, **changes), TOKENIZER)
    return draft


def add(draft: Draft, role: str, content: Any = "", **fields: Any) -> Message:
    message = parse_message({"role": role, "content": content, **fields})
    return add_message(draft, message, message_tokens(message, TOKENIZER.count), TOKENIZER)


def ask(draft: Draft, *ids: str) -> None:
    calls = [{"id": id, "type": "function", "function": {"name": "find", "arguments": "{}"}} for id in ids]
    add(draft, "assistant", None, tool_calls=calls)


def answer(draft: Draft, id: str, content: str = "done") -> None:
    add(draft, "tool", content, tool_call_id=id)


def context(draft: Draft) -> list[dict[str, Any]]:
    fit(draft, TOKENIZER, 1)
    messages: list[dict[str, Any]] = json.loads(json.dumps(rendered(assemble(draft.state))))
    check_groups(messages, draft.state.open_calls)
    return messages


def epochs(draft: Draft) -> list[str]:
    return [event.reason for event in draft.events if isinstance(event, ev.EpochStarted)]


def added(draft: Draft) -> list[ev.MessageAdded]:
    return [event for event in draft.events if isinstance(event, ev.MessageAdded)]


# --- tool calls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_an_open_call_is_closed_with_a_marked_no_result_when_the_next_message_comes(role: str) -> None:
    draft = begun()
    add(draft, "user", "find both")
    ask(draft, "c1", "c2", "c3")
    answer(draft, "c2")
    add(draft, role, "never mind")
    shown = context(draft)
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool", "tool", role]
    assert [(one["tool_call_id"], one["content"]) for one in shown[2:5]] == [
        ("c2", "done"),
        ("c1", NO_RESULT),
        ("c3", NO_RESULT),
    ]
    assert [event.marked for event in added(draft)] == [False, False, False, True, True, False]
    assert draft.state.open_calls == ()


def test_a_context_with_an_open_call_stays_a_prefix_when_the_call_is_closed() -> None:
    draft = begun()
    add(draft, "user", "find")
    ask(draft, "c1")
    before = context(draft)
    add(draft, "user", "hello?")
    assert context(draft)[: len(before)] == before


def test_a_late_result_is_recorded_and_listed_and_never_shown() -> None:
    draft = begun()
    add(draft, "user", "find")
    ask(draft, "c1")
    add(draft, "user", "never mind")
    before = context(draft)
    answer(draft, "c1", "order KX-48210 is found")
    answer(draft, "unknown", "x")
    assert context(draft) == before
    assert [event.late for event in added(draft)[-2:]] == [True, True]
    assert "KX-48210" in (added(draft)[-2].text or "")
    assert any(row.entity.value == "KX-48210" for row in draft.state.entities.rows.values())


def test_a_second_result_for_the_same_call_is_late() -> None:
    draft = begun()
    ask(draft, "c1")
    answer(draft, "c1", "first")
    answer(draft, "c1", "second")
    assert [message.get("content") for message in context(draft)] == [None, "first"]


def test_the_same_call_id_in_two_groups_is_two_calls() -> None:
    draft = begun()
    ask(draft, "c1")
    answer(draft, "c1", "first")
    ask(draft, "c1")
    answer(draft, "c1", "second")
    add(draft, "user", "and?")
    assert [message.get("content") for message in context(draft)] == [None, "first", None, "second", "and?"]
    groups = [entry.group for entry in draft.state.entries]
    assert groups[0] == groups[1] != groups[2] == groups[3] != groups[4]


def test_results_of_a_group_that_is_out_of_view_stay_out_with_it() -> None:
    draft = begun(64)
    add(draft, "user", "find all of it")
    ask(draft, "call_8fJ2kQ", "call_9gK3lR", "call_0hL4mS")
    context(draft)
    for id in ("call_8fJ2kQ", "call_9gK3lR", "call_0hL4mS"):
        answer(draft, id)
        assert [message["role"] for message in context(draft)][:1] == ["user"]


# --- ids --------------------------------------------------------------------------------------------------


def test_a_message_without_an_id_gets_one_and_one_with_an_id_keeps_it() -> None:
    draft = begun()
    first, second = add(draft, "user", "a").id, add(draft, "user", "b").id
    assert first != second
    assert first.startswith("#")
    assert add(draft, "user", "c", id="mine").id == "mine"
    assert [event.id for event in added(draft)] == [first, second, "mine"]


# --- size -------------------------------------------------------------------------------------------------


def test_a_message_over_its_share_is_shortened_in_contexts_and_whole_in_the_record() -> None:
    draft = begun(400)
    text = "the quick brown fox " * 400 + "合同编号 HT-2031-0007"
    add(draft, "user", text)
    (shown,) = context(draft)
    kept, mark, values = shown["content"].partition(CUT)
    assert mark
    assert kept.startswith("the quick")
    assert "HT-2031-0007" in values, "the exact values of what is left out stand behind the mark"
    (entry,) = draft.state.entries
    assert entry.message.content == text
    assert json.loads(added(draft)[0].text or "")["content"] == text
    assert entry.tokens <= Budget(context=400).message_tokens < entry.whole_tokens
    assert draft.state.history_tokens == entry.whole_tokens


def test_a_message_at_its_share_is_not_shortened() -> None:
    draft = begun(1_000)
    message = parse_message({"role": "user", "content": "x"})
    add_message(draft, message, 500, TOKENIZER)
    add_message(draft, message, 501, TOKENIZER)
    assert [event.shortened is None for event in added(draft)] == [True, False]


def test_the_newest_user_message_and_the_group_behind_it_stay_when_the_budget_is_met() -> None:
    draft = begun(400)
    for number in range(30):
        add(draft, "user", f"question {number} " + "word " * 20)
        add(draft, "assistant", f"answer {number} " + "word " * 20)
    add(draft, "user", "the newest question")
    ask(draft, "c1")
    answer(draft, "c1", "result " * 300)
    shown = context(draft)
    assert [message["role"] for message in shown[-3:]] == ["user", "assistant", "tool"]
    assert shown[-3]["content"] == "the newest question"
    assert CUT in shown[-1]["content"]
    assert epochs(draft) == ["the session's beginning"]
    for _ in range(2):
        add(draft, "user", "word " * 190)
    context(draft)
    assert epochs(draft) == ["the session's beginning", "the budget"]


def test_a_context_that_fits_begins_no_new_epoch() -> None:
    draft = begun()
    add(draft, "user", "a")
    context(draft)
    events = len(draft.events)
    context(draft)
    assert len(draft.events) == events
    assert epochs(draft) == ["the session's beginning"]


# --- settings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"system": "Answer in French."}, "a changed system"),
        ({"tools": TOOLS}, "a changed tools"),
        ({"budget": Budget(context=900)}, "a changed budget"),
        ({"model": "gpt-4"}, "a changed model"),
        ({"system": "x", "tools": TOOLS, "model": "gpt-4"}, "a changed model and system and tools"),
    ],
)
def test_changed_settings_end_the_epoch_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    draft = begun()
    add(draft, "user", "a")
    context(draft)
    configure(draft, wanted(**changes), TOKENIZER)
    assert epochs(draft) == ["the session's beginning", reason]
    assert draft.state.epoch_count == 2


def test_the_same_settings_again_decide_nothing() -> None:
    before = begun(system="x").state
    draft = Draft(before)
    configure(draft, wanted(system="x"), TOKENIZER)
    assert draft.events == []
    assert draft.state == before


def test_the_same_settings_again_leave_what_was_decided_before_them() -> None:
    draft = begun()
    add(draft, "user", "a")
    events, state = list(draft.events), draft.state
    configure(draft, wanted(), TOKENIZER)
    assert (draft.events, draft.state) == (events, state)


def test_before_the_first_context_new_settings_begin_no_epoch() -> None:
    draft = begun()
    configure(draft, wanted(system="x"), TOKENIZER)
    assert epochs(draft) == []


def test_another_model_counts_everything_anew() -> None:
    draft = begun(600)
    for number in range(24):
        add(draft, "user", f"订单 {number} 的退款要多久？" + "我们明天再讨论这个问题，" * 3)
    plan = plan_compaction(draft.state)
    assert plan is not None
    swap_block(draft, plan, "用户多次询问退款的时间，我们明天再讨论这个问题。" * 2, "model", TOKENIZER, 1)
    context(draft)
    configure(draft, wanted(600, model="gpt-4"), OTHER)
    fit(draft, OTHER, 1)
    shown: list[dict[str, Any]] = json.loads(json.dumps(rendered(assemble(draft.state))))
    assert any("摘要" in str(message["content"]) for message in shown)
    assert wire_tokens(shown, "", OTHER.count) <= draft.state.tokens <= 600


@pytest.mark.parametrize(("system", "tools"), [("word " * 400, ""), ("", "[" + '"word",' * 300 + '""]')])
def test_a_prompt_that_cannot_fit_is_refused_with_both_numbers(system: str, tools: str) -> None:
    draft = Draft(Working())
    with pytest.raises(BudgetError) as caught:
        configure(draft, wanted(300, system=system, tools=tools), TOKENIZER)
    words = TOKENIZER.count(system) + TOKENIZER.count(tools)
    assert words < caught.value.needed_tokens < words + 64
    assert caught.value.budget_tokens == 300
    assert "word" not in str(caught.value)
    assert (draft.events, draft.state) == ([], Working())


def test_the_largest_prompt_that_is_taken_leaves_room_for_a_short_question() -> None:
    for length in range(1, 64):
        draft = Draft(Working())
        try:
            configure(draft, wanted(64, system="word " * length), TOKENIZER)
        except BudgetError:
            assert length > 20
            return
        add(draft, "user", "退款要多久？")
        assert context(draft)[-1] == {"role": "user", "content": "退款要多久？"}
    raise AssertionError("nothing was refused")


# --- blocks, notes, turns -----------------------------------------------------------------------------------


def test_a_compaction_ends_the_epoch_and_keeps_the_newest_words() -> None:
    draft = begun(600)
    for number in range(12):
        add(draft, "user", f"question {number} about order KX-{number:05d} " + "word " * 30)
    context(draft)
    plan = plan_compaction(draft.state)
    assert plan is not None
    swap_block(draft, plan, "The user asked about orders.", "model", TOKENIZER, 1)
    assert epochs(draft)[-1] == "compaction"
    shown = context(draft)
    assert "The user asked about orders." in shown[0]["content"]
    assert shown[0]["role"] == "user"
    assert shown[-1]["content"].startswith("question 11")


def test_a_summary_with_a_lone_surrogate_is_taken_without_it() -> None:
    draft = begun(400)
    for number in range(12):
        add(draft, "user", f"question {number} " + "word " * 30)
    plan = plan_compaction(draft.state)
    assert plan is not None
    swap_block(draft, plan, "asked \ud83d\0 often", "model", TOKENIZER, 1)
    assert "asked \ufffd often" in context(draft)[0]["content"]


def test_a_summary_far_over_its_ceiling_never_takes_the_budget() -> None:
    draft = begun(400)
    for number in range(12):
        add(draft, "user", f"question {number} " + "word " * 30)
    plan = plan_compaction(draft.state)
    assert plan is not None
    swap_block(draft, plan, "word " * 5_000, "model", TOKENIZER, 1)
    shown = context(draft)
    assert wire_tokens(shown, "", TOKENIZER.count) <= 400
    assert shown[-1]["content"].startswith("question 11")


def test_forgetting_ends_the_epoch_and_takes_every_note_away() -> None:
    draft = begun()
    add(draft, "user", "a")
    context(draft)
    draft.emit(note(draft.state, [Line(text="- [m1 2031-03-09] tea", marks=(("m1", 1),))], TOKENIZER))
    assert "tea" in str(context(draft))
    assert draft.state.shown == {"m1": 1}
    after_redaction(draft, TOKENIZER, 1)
    assert epochs(draft)[-1] == "forgetting"
    assert "tea" not in str(context(draft))
    assert draft.state.shown == {}


def test_a_note_takes_at_most_its_share_and_the_room_there_is() -> None:
    draft = begun(2_000)
    lines = [Line(text=f"- [m{number} 2031-03-09] " + "tea " * 60) for number in range(9)]
    for number in range(6):
        add(draft, "user", f"question {number}")
        fit(draft, TOKENIZER, 1)
        written = note(draft.state, lines, TOKENIZER)
        assert 0 < written.tokens <= 300
        draft.emit(written)
    assert draft.state.note_tokens > 600
    add(draft, "assistant", "word " * 400)
    add(draft, "user", "word " * (2_000 - draft.state.tokens - 60))
    fit(draft, TOKENIZER, 1)
    assert 2_000 - 60 < draft.state.tokens <= 2_000
    assert note(draft.state, lines, TOKENIZER).tokens == 0
    fit(draft, TOKENIZER, 1, reserve=300)
    assert 0 < note(draft.state, lines, TOKENIZER).tokens <= 300


def test_a_turn_is_open_until_its_outcome_is_known() -> None:
    draft = begun()
    message = add(draft, "user", "a")
    open_turn(draft, message.id, 1)
    assert draft.state.turn_id == message.id
    close_turn(draft, "partial", 2)
    assert (draft.state.turn_id, draft.state.outcomes) == ("", {message.id: "partial"})


# --- erased words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("erased", [2, 3, 4, 5])
def test_a_group_whose_words_are_erased_in_part_is_never_shown_in_part(erased: int) -> None:
    draft = begun()
    add(draft, "user", "find")
    ask(draft, "c1", "c2")
    answer(draft, "c1")
    answer(draft, "c2")
    state = replayed(draft.events, without=frozenset((erased,)))
    after = Draft(state)
    add(after, "user", "and?")
    context(after)


def test_a_picture_is_kept_whole_where_the_budget_has_room_for_it() -> None:
    draft = begun(2_000)
    parts = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "data:,x"}},
    ]
    add(draft, "user", parts)
    (shown,) = context(draft)
    assert shown["content"] == parts
