"""The task of a session: set, changed, shown, kept, forgotten."""

import json
from pathlib import Path
from typing import Any

import pytest

import actormem
from actormem import Budget, UsageError
from tests.runtimes import answered, bytes_of, files_holding, opened, words

pytestmark = pytest.mark.anyio

GOAL = "Move the booking to Friday"
ROOMY = Budget(context=1_500, task=300)


def call(number: int, **arguments: Any) -> dict[str, Any]:
    function = {"name": "find_room", "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def result(number: int, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(fields)}


async def test_a_task_is_set_changed_and_cleared() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        assert await session.task.get() is None
        await session.task.set(GOAL, step="find a room", values={"guests": 2, "city": "Oslo"})
        assert await session.task.get() == actormem.Task(
            goal=GOAL, step="find a room", values={"guests": "2", "city": "Oslo"}
        )
        await session.task.update(values={"city": None, "room": "204"})
        await session.task.update(step="pay")
        assert await session.task.get() == actormem.Task(
            goal=GOAL, step="pay", values={"guests": "2", "room": "204"}
        )
        await session.task.set("另一件事")
        assert await session.task.get() == actormem.Task(goal="另一件事")
        await session.task.clear()
        await session.task.clear()
        assert await session.task.get() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goal": ""}, "goal must not be empty"),
        ({"goal": "x" * 1_001}, "goal has 1001 characters, at most 1000"),
        ({"goal": None}, "goal must be text, not NoneType"),
        ({"step": "x" * 501}, "step has 501 characters, at most 500"),
        ({"values": {f"k{number}": "1" for number in range(33)}}, "a task has 33 values, at most 32"),
        ({"values": {"k": "x" * 201}}, "a value has 201 characters, at most 200"),
        ({"values": {"x" * 65: "1"}}, "the name of a value must be text of 1 to 64"),
        ({"values": {"": "1"}}, "the name of a value must be text of 1 to 64"),
        ({"values": {"k": True}}, "a value must be text, a number, or None"),
        ({"values": {"k": None}}, "a new task has no value to take away"),
        ({"values": ["k"]}, "values must be a mapping, not list"),
    ],
)
async def test_what_is_too_much_is_refused_and_changes_nothing(change: dict[str, Any], said: str) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.task.set(GOAL)
        with pytest.raises(UsageError, match=said) as caught:
            await session.task.set(**{"goal": "other", **change})
        assert "xx" not in str(caught.value), "none of the words"
        assert await session.task.get() == actormem.Task(goal=GOAL)


async def test_there_is_nothing_to_update_without_a_task_and_values_add_up_to_the_limit() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        with pytest.raises(UsageError, match="no task is set"):
            await session.task.update(step="pay")
        await session.task.set(GOAL, values={f"k{number}": number for number in range(32)})
        with pytest.raises(UsageError, match="a task has 33 values"):
            await session.task.update(values={"one": 1})
        await session.task.update(values={"one": 1, "k0": None})
        task = await session.task.get()
        assert task is not None
        assert len(task.values) == 32


async def test_a_context_begins_with_the_task_and_a_note_says_what_changed_once() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=ROOMY)
        await session.task.set(GOAL, values={"guests": 2})
        async with session.turn("Hello") as turn:
            first = turn.messages
            assert GOAL in first[0]["content"]
            assert "- guests: 2" in first[0]["content"]
            assert any(section.name == "task" for section in turn.trace.sections)
            assert sum(section.tokens for section in turn.trace.sections) == turn.trace.tokens
            turn.reply("Hi.")
        await session.task.update(step="choose a room")
        changed = await answered(session, "Which rooms are there?")
        assert bytes_of(changed)[: len(first)] == bytes_of(first), "what stands there stays"
        news = words(changed[len(first) :])
        assert news.count("takes the place of the one told before") == 1
        assert "choose a room" in news
        assert all(
            "choose a room" not in one["content"] or "not said by the user" in one["content"]
            for one in changed
        )
        again = await answered(session, "And the price?")
        assert words(again).count("choose a room") == 1, "each thing once"
        await session.task.clear()
        assert "task told before has ended" in words(await answered(session, "Fine."))
        assert words(await answered(session, "Fine, then.")).count("has ended") == 1


async def test_a_chinese_conversation_is_told_in_chinese() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=ROOMY)
        await session.task.set("把预订改到周五", step="找房间")
        assert "任务：把预订改到周五" in words(await answered(session, "您好，帮我看看房间"))
        await session.task.update(step="付款")
        assert "任务（取代前面所述）：把预订改到周五" in words(await answered(session, "就这间吧"))


async def test_calls_that_are_no_longer_verbatim_stand_in_the_task_newest_first() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=640, task=220))
        await session.task.set(GOAL)
        async with session.turn("Find me a room.") as turn:
            for number in range(8):
                await turn.add(call(number, floor=number))
                await turn.add(result(number, room=f"R-{number}04", price=90 + number, text="nice " * 40))
                shown = await turn.context()
            head = next(one["content"] for one in shown if GOAL in str(one["content"]))
            assert 'called find_room({"floor": 2})' in head
            assert "R-204" in head
            assert head.index("R-204") < head.index("R-104"), "newest first"
            assert '{\\"floor\\": 7}' in words(shown), "the newest is verbatim"
            assert "R-704" not in head
            assert turn.trace.tokens <= 640
            turn.reply("Room R-204.")
        task = await session.task.get()
        assert task is not None
        assert [one.name for one in task.calls] == ["find_room"] * 8
        await session.task.set("Another one")
        assert (await session.task.get()) == actormem.Task(goal="Another one"), "its calls begin anew"


async def test_the_task_keeps_to_its_share_and_yields_to_the_budget() -> None:
    for budget in (
        Budget(context=64),
        Budget(context=300),
        Budget(context=1_000),
        Budget(context=300, task=0),
    ):
        async with opened() as runtime:
            session = await runtime.spawn("s", user="ada", budget=budget)
            await session.task.set(
                "长目标" * 300, step="步" * 400, values={f"k{n}": "v" * 200 for n in range(30)}
            )
            async with session.turn("hello") as turn:
                assert turn.trace.tokens <= budget.context
                told = sum(one.tokens for one in turn.trace.sections if one.name == "task")
                assert told <= budget.task_tokens + 40
                assert bool(told) == (budget.task_tokens >= 80)
                turn.reply("Hi.")


async def test_a_task_survives_restart_and_compaction(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=600))
        await session.task.set(GOAL, values={"guests": 2})
        for number in range(20):
            await answered(
                session, f"Tell me about room {number}, and what can be seen from there.", "A lake. " * 9
            )
            await runtime.settle()
        task, context = await session.task.get(), await session.context()
        assert context.trace.epoch > 1
        assert GOAL in words(context.messages)
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert await session.task.get() == task
        assert bytes_of((await session.context()).messages) == bytes_of(context.messages)


async def test_a_window_shows_no_task_and_keeps_it() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", policy="window")
        await session.task.set(GOAL)
        assert GOAL not in words(await answered(session, "Hello"))
        session = await runtime.spawn("s", user="ada", policy="auto")
        assert GOAL in words(await answered(session, "Hello again"))


async def test_what_is_forgotten_leaves_the_task_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "My new address is 77 Quarry Lane.")
        await session.task.set("Send it to 77 Quarry Lane", values={"to": "77 Quarry Lane", "by": "post"})
        assert "77 Quarry Lane" in words(await answered(session, "Go on."))
        await runtime.settle()
        item = await runtime.value("ada", "address")
        assert item is not None
        await runtime.forget(item.id, user="ada")
        task = await session.task.get()
        assert task is not None
        assert "77 Quarry Lane" not in f"{task.goal} {task.values}"
        assert task.goal.startswith("Send it to ")
        assert task.values["by"] == "post"
        assert "77 Quarry Lane" not in words((await session.context()).messages)
        await runtime.forget_session("s", user="ada")
        assert await session.task.get() is None
    assert files_holding(tmp_path, "77 Quarry Lane") == []
