"""Which events count after rewinds, and the state and the turns they tell of."""

from datetime import UTC, datetime

import msgspec
import pytest

from actormem.core.budget import Budget
from actormem.core.session import events as ev
from actormem.core.session.past import past_turns
from actormem.core.session.replay import Placed, reach, removed, replay, survivors
from actormem.core.session.working import Working
from tests.conversations import Driver


def settings(system: str = "") -> ev.Configured:
    return ev.Configured(
        model="gpt-4o",
        budget=Budget(context=400),
        timezone="",
        nonce="5eed",
        system_tokens=0,
        tools_tokens=0,
        time_ms=1,
        text=msgspec.json.encode({"system": system, "tools": ""}).decode(),
    )


def message(id: str, role: str = "user") -> ev.MessageAdded:
    wire = msgspec.json.encode({"role": role, "content": f"words of {id}"}).decode()
    return ev.MessageAdded(id=id, tokens=9, time_ms=1, offset_minutes=0, text=wire)


def rewound(first: int, sequence: int) -> ev.Rewound:
    return ev.Rewound(first=first, sequence=sequence, epoch_count=7, time_ms=3_000)


def placed(*events: ev.SessionEvent) -> list[Placed]:
    return list(enumerate(events, 1))


def ids(state: Working) -> list[str]:
    return [entry.message.id for entry in state.entries]


def test_without_a_rewind_every_event_counts() -> None:
    events = placed(settings(), message("a"), message("b"))
    assert survivors(events) == events
    assert removed(events) == []
    assert reach(events, 2) == 2


def test_a_rewind_takes_out_everything_from_its_first_event_on_but_the_settings() -> None:
    events = placed(
        settings(), message("a"), message("b"), settings("new"), message("c"), rewound(3, 6), message("d")
    )
    assert [sequence for sequence, _ in survivors(events)] == [1, 2, 4, 6, 7]
    state = replay(Working(), events)
    assert ids(state) == ["a", "d"]
    assert [entry.sequence for entry in state.entries] == [2, 7]
    assert (state.sequence, state.rewound, state.settings.system) == (7, 6, "new")
    assert (state.message_count, state.history_tokens, state.epoch_count) == (2, 18, 7)
    assert [event.id for event in removed(events) if isinstance(event, ev.MessageAdded)] == ["b", "c"]


def test_a_rewind_may_go_back_further_than_the_one_before_or_less_far() -> None:
    begun = [settings(), message("a"), message("b"), message("c"), rewound(4, 5), message("d"), message("e")]
    less = placed(*begun, rewound(7, 8))
    assert ids(replay(Working(), less)) == ["a", "b", "d"]
    further = placed(*begun, rewound(3, 8), message("f"))
    assert ids(replay(Working(), further)) == ["a", "f"]
    assert replay(Working(), further).sequence == 9
    assert reach(further, 9) == 3


def test_settings_stay_in_order_through_rewinds_over_rewinds() -> None:
    events = placed(
        settings("one"), message("a"), settings("two"), rewound(2, 4), settings("three"), message("b"),
        rewound(2, 7),
    )  # fmt: skip
    assert [sequence for sequence, _ in survivors(events)] == [1, 3, 5, 7]
    assert replay(Working(), events).settings.system == "three"


def test_the_same_id_may_be_said_again_after_a_rewind() -> None:
    events = placed(settings(), message("a"), rewound(2, 3), message("a"))
    state = replay(Working(), events)
    assert [(entry.message.id, entry.sequence) for entry in state.entries] == [("a", 4)]


def test_a_replay_goes_on_from_a_state_that_is_older_than_the_rewinds_first_event() -> None:
    events = placed(settings(), message("a"), message("b"), message("c"), rewound(3, 5), message("d"))
    start = replay(Working(), events[:2])
    assert replay(start, events[2:]) == replay(Working(), events)


def test_a_turn_whose_end_was_rewound_is_not_open_but_unanswered() -> None:
    events = placed(
        settings(),
        message("t"),
        ev.TurnOpened(turn_id="t", time_ms=1_000),
        message("r", "assistant"),
        ev.TurnClosed(turn_id="t", outcome="complete", time_ms=2_000),
        rewound(4, 6),
    )
    state = replay(Working(), events)
    assert (state.turn_id, state.outcomes) == ("", {"t": "unanswered"})
    [turn] = past_turns(event for _, event in survivors(events))
    assert (turn.outcome, turn.message_ids, turn.context_tokens) == ("unanswered", ("t",), 0)
    assert (turn.began, turn.ended) == (datetime.fromtimestamp(1, UTC), datetime.fromtimestamp(3, UTC))


def test_a_turn_that_was_resumed_is_one_turn_with_all_of_its_messages() -> None:
    events = [
        message("t"),
        ev.TurnOpened(turn_id="t", time_ms=1_000),
        message("half", "assistant"),
        ev.TurnClosed(turn_id="t", outcome="partial", time_ms=2_000),
        message("aside"),
        ev.TurnOpened(turn_id="t", time_ms=3_000),
        message("rest", "assistant"),
    ]
    [turn] = past_turns(events)
    assert (turn.outcome, turn.ended, turn.message_ids) == ("open", None, ("t", "half", "rest"))
    [turn] = past_turns([*events, ev.TurnClosed(turn_id="t", outcome="complete", time_ms=4_000)])
    assert (turn.outcome, turn.began, turn.ended) == (
        "complete",
        datetime.fromtimestamp(1, UTC),
        datetime.fromtimestamp(4, UTC),
    )


@pytest.mark.parametrize(
    "event", [rewound(2, 9), ev.TurnClosed(turn_id="t", outcome="x", time_ms=1, trace=b"t")]
)
def test_new_events_are_read_back_as_they_were(event: ev.SessionEvent) -> None:
    assert ev.decode_event(*ev.encode_event(event)) == event


def test_a_turns_end_that_was_recorded_without_a_trace_is_read_back() -> None:
    fields = {"type": "turn_closed", "turn_id": "t", "outcome": "complete", "time_ms": 5, "text": None}
    event = ev.decode_event(msgspec.msgpack.encode(fields), None)
    assert event == ev.TurnClosed(turn_id="t", outcome="complete", time_ms=5, trace=b"")


def test_messages_are_counted_for_the_model_that_is_set_now() -> None:
    driver = Driver()
    driver.take(("configure", Budget(context=2_000), "", "", "gpt-4o"))
    driver.take(("message", "user", "我们明天再讨论这个问题，" * 10))
    counted = driver.state.entries[0].tokens
    driver.take(("message", "user", "明天见"))
    driver.take(("configure", Budget(context=2_000), "", "", "gpt-4"))
    driver.take(("rewind", 0))  # which checks the context by a count of its own
    [entry] = driver.state.entries
    assert entry.tokens > counted


def test_without_a_new_count_a_shortened_message_stays_as_it_was_shown() -> None:
    driver = Driver()
    driver.take(("configure", Budget(context=300), "", "", "gpt-4o"))
    driver.take(("message", "user", "the quick brown fox " * 60))
    shown = driver.state.entries[0].wire
    driver.take(("message", "assistant", "ok"))
    driver.take(("rewind", 0))
    [entry] = driver.state.entries
    assert entry.wire == shown != entry.message.wire
