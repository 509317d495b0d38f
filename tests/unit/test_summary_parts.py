"""A span larger than the model's window is summarised part by part, and no request is larger than the window."""

import json

import pytest

from actormem.adapters.toktok import ToktokTokenizer
from actormem.core.summary import WINDOW_TOKENS_MIN, Request, SpanRequests, extractive_summary
from actormem.core.values import Message, ToolCall

TOKENIZER = ToktokTokenizer()
count = TOKENIZER.count
ENGLISH = "The night train to the coast leaves late and the dining car is closed on weekdays, alas"
CHINESE = "去海边的夜班火车很晚才开，餐车在工作日不营业，我们得自己带些吃的"


def conversation(text: str, tokens: int) -> list[Message]:
    messages: list[Message] = []
    while sum(count(message.text) for message in messages) < tokens:
        role = "assistant" if len(messages) % 2 else "user"
        words = f"{text}; {len(messages)}. KX-{len(messages):05d}."
        messages.append(Message(role=role, content=words, time_ms=1_900_000_000_000))
    return messages


def tool_group(results: int, words: int) -> list[Message]:
    calls = tuple(ToolCall(f"c{number}", "find", '{"q": "train"}') for number in range(results))
    call = Message(role="assistant", content=None, tool_calls=calls)
    return [call, *(Message(role="tool", content="word " * words, tool_call_id=one.id) for one in calls)]


def requests(messages: list[Message], window: int, *, tokens: int = 200, previous: str = "") -> list[Request]:
    """All requests for a span, each answered by a summary that is as long as it may be."""
    parts = SpanRequests(messages, tokens=tokens, window_tokens=window, count=count)
    found: list[Request] = []
    summary = previous
    while (request := parts.next(summary)) is not None:
        found.append(request)
        summary = TOKENIZER.truncate(
            "- user: wants the train and nothing else, thanks\n" * 200, request.tokens
        )
        assert len(found) < 500
    return found


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("window", [WINDOW_TOKENS_MIN, 500, 1_999, 2_000, 8_192])
def test_every_request_fits_the_window_and_all_messages_are_read_once_in_order(
    text: str, window: int
) -> None:
    messages = conversation(text, 2_000)
    found = requests(messages, window)
    assert [one for request in found for one in request.messages] == messages
    for request in found:
        wire = sum(4 + count(message["content"]) for message in request.prompt)
        assert wire <= request.prompt_tokens
        assert request.prompt_tokens + request.reply_tokens <= window
        assert request.reply_tokens == 2 * request.tokens
    assert (len(found) == 1) is (window == 8_192)


def test_the_summary_so_far_goes_in_with_each_part_and_the_earlier_one_with_the_first() -> None:
    found = requests(conversation(ENGLISH, 2_000), 500, previous="Needs:\n- user: a berth by the window")
    assert "a berth by the window" in found[0].prompt[1]["content"]
    for request in found[1:]:
        assert "wants the train" in request.prompt[1]["content"]


def test_an_earlier_summary_too_large_for_the_window_keeps_its_first_lines() -> None:
    lines = "\n".join(f"- user: berth {number} by the window of the night train" for number in range(200))
    [first, *_] = requests(conversation(ENGLISH, 200), 600, previous=f"Needs:\n{lines}")
    assert "berth 0 " in first.previous
    assert count(first.previous) <= 150


@pytest.mark.parametrize(("results", "words"), [(1, 4_000), (40, 30), (3, 500)])
def test_a_group_too_large_for_the_window_is_cut_rather_than_left_out(results: int, words: int) -> None:
    messages = [*conversation(ENGLISH, 100), *tool_group(results, words), *conversation(CHINESE, 100)]
    for window in (WINDOW_TOKENS_MIN, 600):
        found = requests(messages, window)
        assert [one for request in found for one in request.messages] == messages
        for request in found:
            assert request.prompt_tokens + request.reply_tokens <= window


def test_groups_stay_whole_where_the_window_holds_them() -> None:
    messages = [one for _ in range(12) for one in tool_group(2, 20)]
    for request in requests(messages, 800):
        assert request.messages[0].role == "assistant"
        assert len(request.messages) % 3 == 0


def test_a_span_that_says_nothing_asks_for_nothing() -> None:
    silent = [Message(role="system", content="You help."), Message(role="user", content="  ")]
    assert requests(silent, 8_192) == []
    assert requests([], 8_192) == []


def test_the_time_stands_where_the_day_is_another_than_before() -> None:
    day_ms = 86_400_000
    messages = [
        Message(role="user", content=f"word {number}", time_ms=1_900_000_000_000 + number // 2 * day_ms)
        for number in range(6)
    ]
    [request] = requests(messages, 8_192)
    rows = [json.loads(line) for line in request.prompt[1]["content"].splitlines() if line.startswith("{")]
    assert ["time" in row for row in rows] == [True, False] * 3


def test_two_summaries_of_two_spans_carry_both_values() -> None:
    first = [Message(role="user", content="My email has changed to a@x.test, please.")]
    second = [Message(role="user", content="My seat is 14C, by the window.")]
    one = extractive_summary(first, tokens=200, count=count)
    both = extractive_summary(second, previous=one.text, tokens=200, count=count)
    told = "\n".join((both.text, *both.attached))
    assert "a@x.test" in told
    assert "14C" in told
