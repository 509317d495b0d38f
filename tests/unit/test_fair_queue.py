"""The queue before the summarizer: bounded, fair between owners, and never broken by being full."""

import anyio
import pytest

from actormem import Budget
from actormem.actors import summarizer
from actormem.actors.fair_queue import FairQueue
from actormem.actors.messages import Summarize
from actormem.core.values import Owner, SessionKey
from tests.runtimes import ScriptedLLM, answered, opened, settle

LONG = "We spoke about the weather, the train to the north and what to eat on the way, at some length."


def job(user: str, session_id: str, request: int = 1) -> Summarize:
    key = SessionKey(Owner("", user), session_id)
    return Summarize(key=key, request=request, messages=(), previous="", tokens=10, model="")


def taken(queue: FairQueue) -> list[str]:
    return [f"{(one := queue.next()).key.owner.user}{one.key.session_id}" for _ in range(len(queue))]


def test_owners_take_turns_whatever_each_has_waiting() -> None:
    queue = FairQueue(99)
    for one in (job("a", "1"), job("a", "2"), job("a", "3"), job("b", "1"), job("c", "1"), job("b", "2")):
        assert queue.put(one) is None
    assert taken(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    with pytest.raises(KeyError):
        queue.next()


def test_a_newer_request_of_a_session_takes_the_place_of_its_older_one() -> None:
    queue = FairQueue(2)
    queue.put(job("a", "1", 1))
    queue.put(job("b", "1", 2))
    assert queue.put(job("a", "1", 3)) is None
    assert len(queue) == 2
    assert queue.next().request == 3


def test_who_has_most_waiting_gives_way_when_there_is_no_room() -> None:
    queue = FairQueue(3)
    for session_id in "123":
        queue.put(job("flood", session_id))
    assert queue.put(job("flood", "4")) == job("flood", "4"), "its own newest"
    assert queue.put(job("quiet", "1")) == job("flood", "3")
    assert queue.put(job("new", "1")) == job("flood", "2")
    assert queue.put(job("late", "1")) == job("late", "1"), "nobody has more than one: who comes last"
    assert taken(queue) == ["flood1", "quiet1", "new1"]


@pytest.mark.anyio
async def test_a_flood_of_one_owners_sessions_is_refused_and_another_owner_still_gets_its_block(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(summarizer, "SUMMARY_QUEUE_MAX", 2)
    door = anyio.Event()
    llm = ScriptedLLM(lambda _: "They spoke of the weather.", wait_for=door)
    budget = Budget(context=300, recall=0)
    async with opened(llm=llm, summaries_at_once=1) as runtime:
        flood = [await runtime.spawn(f"s{number}", user="flood", budget=budget) for number in range(6)]
        quiet = await runtime.spawn("q", user="quiet", budget=budget)
        for session in (*flood, quiet):
            for number in range(12):
                await answered(session, f"Turn {number}. {LONG}", "I see.")
                await settle()
        assert runtime.statistics().summaries_refused > 0
        door.set()
        await runtime.settle()
        for session in (*flood, quiet):  # and who was refused asks again
            for number in range(12):
                await answered(session, f"And turn {number}. {LONG}", "I see.")
                await runtime.settle()
            context = await session.context()
            assert "They spoke of the weather." in str(context.messages), session.id
    assert "crashed" not in caplog.text
