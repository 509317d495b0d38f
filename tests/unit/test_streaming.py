"""Replies put together from chunks, as servers send them and as they should not."""

from types import SimpleNamespace
from typing import Any

import pytest

from actormem.core.session.streaming import ReplyDraft
from actormem.errors import UsageError


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(
    arguments: str | None = None, *, id: str | None = None, name: str | None = None, index: int | None = None
) -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    return made | ({"id": id} if id is not None else {}) | ({"index": index} if index is not None else {})


def fed(*chunks: object) -> ReplyDraft:
    draft = ReplyDraft()
    for one in chunks:
        draft.feed(one)
    return draft


def calls(draft: ReplyDraft, *, whole: bool = True) -> list[tuple[str, str, str]]:
    message: dict[str, Any] = draft.message(whole=whole) or {}
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls", ())
    ]


def test_words_are_joined_in_order_and_empty_chunks_change_nothing() -> None:
    draft = fed(chunk(role="assistant", content=""), chunk(content="退款"), chunk(), chunk(content="三天"))
    assert draft.message(whole=True) == {"role": "assistant", "content": "退款三天"}
    assert (draft.said, draft.whole) == (True, False)
    draft.feed(chunk("stop"))
    assert draft.whole


def test_nothing_said_is_no_message() -> None:
    draft = fed(chunk(role="assistant", content=""), chunk("stop"))
    assert draft.message(whole=True) is None
    assert not draft.said


def test_chunks_may_be_objects() -> None:
    delta = SimpleNamespace(content="hi", tool_calls=None)
    choice = SimpleNamespace(index=0, delta=delta, finish_reason="stop")
    assert fed(SimpleNamespace(choices=[choice], usage=None)).message(whole=True) == {
        "role": "assistant",
        "content": "hi",
    }


def test_a_whole_completion_that_was_not_streamed_is_taken_too() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"message": message, "finish_reason": "tool_calls"}
    draft = fed({"choices": [choice], "usage": {"prompt_tokens": 9}})
    assert calls(draft, whole=False) == [("c1", "find", "{}")]
    assert draft.prompt_tokens == 9


def test_pieces_with_index_are_put_to_their_call() -> None:
    draft = fed(
        chunk(tool_calls=[piece("", id="c1", name="find", index=0)]),
        chunk(tool_calls=[piece("", id="c2", name="book", index=1)]),
        chunk(tool_calls=[piece('{"q":', index=0)]),
        chunk(tool_calls=[piece('{"n":1}', index=1)]),
        chunk("tool_calls", tool_calls=[piece('"x"}', index=0)]),
    )
    assert calls(draft) == [("c1", "find", '{"q":"x"}'), ("c2", "book", '{"n":1}')]
    assert (draft.message(whole=True) or {})["content"] is None


def test_pieces_without_index_go_to_the_call_before() -> None:
    draft = fed(
        chunk(tool_calls=[piece('{"q"', id="c1", name="find")]),
        chunk(tool_calls=[piece(":1}")]),
        chunk(tool_calls=[piece('{"n"', id="c2", name="book")]),
        chunk("tool_calls", tool_calls=[piece(":2}", id="")]),
    )
    assert calls(draft) == [("c1", "find", '{"q":1}'), ("c2", "book", '{"n":2}')]


def test_pieces_that_are_all_numbered_zero_are_told_apart_by_id() -> None:
    draft = fed(
        chunk(tool_calls=[piece('{"q"', id="c1", name="find", index=0)]),
        chunk(tool_calls=[piece(":1}", index=0)]),
        chunk(tool_calls=[piece('{"n"', id="c2", name="book", index=0)]),
        chunk("tool_calls", tool_calls=[piece(":2}", index=0)]),
    )
    assert calls(draft) == [("c1", "find", '{"q":1}'), ("c2", "book", '{"n":2}')]


def test_pieces_that_all_carry_the_id_and_the_name_are_one_call() -> None:
    draft = fed(
        chunk(tool_calls=[piece('{"q"', id="c1", name="find", index=0)]),
        chunk("tool_calls", tool_calls=[piece(":1}", id="c1", name="find", index=0)]),
    )
    assert calls(draft) == [("c1", "find", '{"q":1}')]


def test_a_call_that_never_gets_an_id_or_a_name_is_left_out() -> None:
    draft = fed(
        chunk(content="wait"),
        chunk("tool_calls", tool_calls=[piece("{}", name="find", index=0), piece("{}", id="c2", index=1)]),
    )
    assert draft.message(whole=True) == {"role": "assistant", "content": "wait"}


def test_a_stream_that_broke_off_keeps_its_words_and_drops_its_calls() -> None:
    draft = fed(chunk(content="looking"), chunk(tool_calls=[piece("{}", id="c1", name="find", index=0)]))
    assert draft.message(whole=False) == {"role": "assistant", "content": "looking"}
    assert calls(draft, whole=True) == [("c1", "find", "{}")]


@pytest.mark.parametrize("finish", [None, "length", "content_filter"])
def test_a_half_call_is_dropped_where_the_model_was_not_done(finish: str | None) -> None:
    draft = fed(
        chunk(tool_calls=[piece('{"q": 1}', id="c1", name="find", index=0)]),
        chunk(finish, tool_calls=[piece('{"q": "x', id="c2", name="find", index=1)]),
    )
    assert calls(draft, whole=True) == [("c1", "find", '{"q": 1}')]


def test_arguments_that_are_no_json_stay_as_the_model_wrote_them_where_it_was_done() -> None:
    draft = fed(chunk("tool_calls", tool_calls=[piece("{q: x", id="c1", name="find", index=0)]))
    assert calls(draft) == [("c1", "find", "{q: x")]


def test_only_the_first_of_several_answers_is_the_reply() -> None:
    second = {"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}
    draft = fed({"choices": [{"index": 0, "delta": {"content": "one"}}, second]})
    assert draft.message(whole=True) == {"role": "assistant", "content": "one"}
    assert not draft.whole


def test_a_chunk_of_usage_alone_is_learned_from() -> None:
    draft = fed({"choices": [], "usage": {"prompt_tokens": 812, "completion_tokens": 4}})
    assert (draft.prompt_tokens, draft.said, draft.message(whole=True)) == (812, False, None)
    assert fed({"choices": [], "usage": None}, {"choices": []}).prompt_tokens == 0


@pytest.mark.parametrize("wrong", [None, "data: {}", 7, {}, {"error": {"message": "x"}}, {"choices": None}])
def test_what_is_no_chunk_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"^a chunk must have choices or usage"):
        ReplyDraft().feed(wrong)


@pytest.mark.parametrize(
    "odd", [7, "x", [None], [7], [{"delta": None}], [{"delta": {"tool_calls": [None, {}]}}]]
)
def test_odd_choices_do_no_harm(odd: Any) -> None:
    draft = fed({"choices": odd})
    assert draft.message(whole=True) is None
