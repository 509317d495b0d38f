"""Going back to just before a message: what leaves the session and its memory, and what stays."""

import shutil
import sqlite3
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget, NotFoundError, UsageError
from tests.runtimes import FakeClock, ScriptedLLM, answered, bytes_of, files_holding, opened, settle, words

pytestmark = pytest.mark.anyio

HILL = "My new address is 5 Hill Street."
LAKE = "My new address is 9 Lake Road."
CALL = {"id": "c-1", "type": "function", "function": {"name": "track", "arguments": "{}"}}


async def texts(session: actormem.Session) -> list[str]:
    return [message.text for message in await session.messages()]


async def facts(runtime: actormem.Runtime, **options: bool) -> list[str]:
    return [item.text for item in await runtime.items("ada", kinds=["fact"], **options)]


def altered(folder: Path, *statements: str) -> None:
    with sqlite3.connect(folder / "record.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


async def test_a_message_and_all_that_came_after_it_leave_the_session_and_its_memory() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, HILL, "Noted.")
        before = await session.messages()
        await answered(session, LAKE, "Noted again.")
        last = await answered(session, "我的订单号是 KX-48210。", "好的。")
        assert await facts(runtime, history=True) == [
            "The user's address is 5 Hill Street",
            "The user's address is 9 Lake Road",
        ]
        left = await session.rewind((await session.messages())[2].id)
        assert [message.text for message in left] == [
            LAKE,
            "Noted again.",
            "我的订单号是 KX-48210。",
            "好的。",
        ]
        assert await session.messages() == before
        assert [turn.message_ids for turn in await session.turns()] == [tuple(one.id for one in before)]
        messages = await answered(session, "What is my address?")
        assert "Lake Road" not in words(messages)
        assert "KX-48210" not in words((await session.context(query="我的订单号是多少？")).messages)
        assert messages[:2] == last[:2]
        assert await facts(runtime, history=True) == ["The user's address is 5 Hill Street"]
        address = await runtime.value("ada", "address")
        assert address is not None
        assert (address.state, address.superseded_by) == ("live", "")


async def test_recall_in_the_next_turn_shows_nothing_that_was_taken_back() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "Good morning to you all, I have a request.")
        async with session.turn("我对花生过敏。", id="allergy") as turn:
            turn.reply("记住了。")
        await session.rewind("allergy")
        other = await runtime.spawn("other", user="ada")
        async with other.turn("我对什么过敏？") as turn:
            assert "花生" not in words(turn.messages)
            assert "花生" not in repr((await runtime.recall("花生过敏", user="ada")).hits)
            turn.reply("我不知道。")


async def test_another_session_that_showed_it_is_told_that_it_was_withdrawn_once() -> None:
    async with opened() as runtime:
        session, other = await runtime.spawn("s", user="ada"), await runtime.spawn("o", user="ada")
        async with session.turn(HILL, id="hill") as turn:
            turn.reply("Noted.")
        assert "5 Hill Street" in words(await answered(other, "What is my address?"))
        await session.rewind("hill")
        told = await answered(other, "我的地址还对吗？请再说一遍")
        assert "已撤回" in words(told[2:])
        later = await answered(other, "And what else do you know about me?")
        assert later[: len(told)] == told, "its epoch goes on"
        assert "withdrawn" not in words(later[len(told) :])


async def test_the_ids_of_what_left_may_be_used_again() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for said in (HILL, LAKE):
            async with session.turn(said, id="again") as turn:
                turn.reply({"role": "assistant", "content": "Noted.", "id": "reply"})
            await runtime.settle()
            assert (await texts(session), await facts(runtime, history=True)) == (
                [said, "Noted."],
                [f"The user's address is {said[18:-1]}"],
            )
            await session.rewind("again")
        assert await texts(session) == await facts(runtime) == []
        assert await runtime.items("ada", history=True) == ()
        [row] = await runtime.sessions("ada")
        assert row.message_count == 0


async def test_rewound_to_its_reply_a_turn_is_resumed_by_its_id_for_another_answer() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for reply in ("one", "two", "three"):
            async with session.turn("Tell me a number.", id="t") as turn:
                assert turn.messages == [{"role": "user", "content": "Tell me a number."}]
                turn.reply({"role": "assistant", "content": reply, "id": f"r-{reply}"})
            assert await texts(session) == ["Tell me a number.", reply]
            if reply != "three":
                await session.rewind(f"r-{reply}")
                [turn_then] = await session.turns()
                assert (turn_then.outcome, turn_then.message_ids) == ("unanswered", ("t",))
        assert [turn.outcome for turn in await session.turns()] == ["complete"]


async def test_the_epoch_ends_and_says_why_and_numbers_of_epochs_are_never_used_again() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "one")
        await runtime.spawn("s", user="ada", system="Be brief.")
        await answered(session, "two")
        epoch = (await session.context()).trace.epoch
        await session.rewind((await session.messages())[2].id)
        trace = (await session.context()).trace
        assert (trace.epoch, trace.epoch_end) == (epoch + 1, "rewind")


async def test_settings_stay_as_they_are_now_and_the_budget_is_kept() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", model="gpt-4o", budget=Budget(context=4_000))
        for number in range(4):
            await answered(session, f"{number}: " + "今天天气怎么样？" * 20, "晴。")
        third = (await session.messages())[4].id
        await runtime.spawn("s", user="ada", model="gpt-4", system="Be brief.", budget=Budget(context=300))
        await answered(session, "now")
        await session.rewind(third)
        context = await session.context()
        assert context.messages[0] == {"role": "system", "content": "Be brief."}
        assert context.trace.tokens <= context.trace.budget_tokens == 300
        assert context.trace.tokenizer == "cl100k_base"
        assert len(await session.messages()) == 4


async def test_a_block_that_was_made_since_is_undone_and_its_messages_are_verbatim_again() -> None:
    llm = ScriptedLLM(lambda _: "They spoke of trains.")
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400))
        for number in range(4):
            await answered(
                session, f"Tell me about the train to city number {number}, please.", "It is late."
            )
        before = (await session.context()).messages
        await session.add({"role": "user", "content": "marked", "id": "mark"})
        for number in range(20):
            await answered(
                session, f"And what about the plane to city number {number}, please?", "It is not."
            )
            await runtime.settle()
        assert "They spoke of trains." in words((await session.context()).messages)
        await session.rewind("mark")
        context = await session.context()
        assert context.messages == before
        assert not any("summarised" in one.reason for one in context.trace.left_out)


async def test_a_message_inside_of_a_block_can_be_gone_back_to() -> None:
    async with opened(llm=ScriptedLLM(lambda _: "They spoke of trains.")) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300))
        for number in range(12):
            await answered(
                session, f"Tell me about the train to city number {number}, please.", "It is late."
            )
            await runtime.settle()
        trace = (await session.context()).trace
        assert any("summarised" in one.reason for one in trace.left_out)
        await session.rewind((await session.messages())[2].id)
        assert [one["content"] for one in (await session.context()).messages] == [
            "Tell me about the train to city number 0, please.",
            "It is late.",
        ]


async def test_a_call_that_the_message_closed_is_open_again_and_takes_its_result() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("Where is it?") as turn:
            turn.reply({"role": "assistant", "content": None, "tool_calls": [CALL]})
        async with session.turn("Never mind.", id="never") as turn:
            assert [m["role"] for m in turn.messages] == ["user", "assistant", "tool", "user"]
            turn.reply("Fine.")
        await session.rewind("never")
        await session.add({"role": "tool", "tool_call_id": "c-1", "content": "sent"})
        shown = (await session.context()).messages
        assert [m["role"] for m in shown] == ["user", "assistant", "tool"]
        assert shown[2]["content"] == "sent"


async def test_it_is_refused_while_a_turn_is_open_and_for_an_id_that_is_not_there() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("q", id="q") as turn:
            with pytest.raises(UsageError, match="turn is open"):
                await session.rewind("q")
            turn.reply("a")
        for id in ("nothing", "q" * 200):
            with pytest.raises(NotFoundError) as refused:
                await session.rewind(id)
            assert refused.value.id == id
        for wrong in ("", 7, "\n"):
            with pytest.raises(UsageError):
                await session.rewind(wrong)  # type: ignore[arg-type]
        await session.rewind("q")
        with pytest.raises(NotFoundError):
            await session.rewind("q")
        assert await session.messages() == ()


async def test_a_summary_in_the_making_is_thrown_away() -> None:
    door = anyio.Event()
    llm = ScriptedLLM(lambda _: "They spoke of Zanzibar.", wait_for=door)
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=300))
        number = 0
        while not llm.in_flight_count:
            number += 1
            assert number < 100
            await answered(session, f"And what about the weather in city number {number}, please?", "Mild.")
        messages = await session.messages()
        await session.rewind(messages[4].id)
        door.set()
        llm.wait_for = None
        await settle()
        for _ in range(3):
            await answered(session, "And what about the weather in this city, please?", "Mild.")
        assert "Zanzibar" not in words((await session.context()).messages)
        assert (await session.messages())[:4] == messages[:4]


async def test_what_was_rewound_stays_so_after_opening_again_with_a_snapshot_or_none(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.", budget=Budget(context=500))
        for number in range(40):
            await answered(
                session, f"Tell me about the train to city number {number}, please.", "It is late."
            )
        await runtime.settle()
        for place in (70, 30, 20):
            await session.rewind((await session.messages())[place].id)
            await answered(session, f"Back to {place}.", "Yes.")
        before, messages = bytes_of((await session.context()).messages), await session.messages()
        turns = await session.turns()
        assert len(messages) == 22
    for statement in ("SELECT 1", "DELETE FROM snapshots"):
        altered(tmp_path, statement)
        async with opened(tmp_path) as runtime:
            session = await runtime.spawn("s", user="ada")
            assert bytes_of((await session.context()).messages) == before
            assert (await session.messages(), await session.turns()) == (messages, turns)
            with pytest.raises(UsageError, match="already"):
                async with session.turn("again", id=messages[0].id):
                    pass
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.rewind(messages[20].id)
        assert await session.messages() == messages[:20]


async def test_a_snapshot_from_before_the_rewind_is_not_believed(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(5):
            await answered(session, f"said {number}")
    with sqlite3.connect(tmp_path / "record.db") as connection:
        kept = connection.execute("SELECT * FROM snapshots").fetchall()
    connection.close()
    assert len(kept) == 1
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.rewind((await session.messages())[2].id)
        await answered(session, "after")
    with sqlite3.connect(tmp_path / "record.db") as connection:
        connection.execute("DELETE FROM snapshots")
        connection.execute(f"INSERT INTO snapshots VALUES ({','.join('?' * len(kept[0]))})", kept[0])
    connection.close()
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert words((await session.context()).messages).count("said") == 1
        assert await texts(session) == ["said 0", "OK.", "after", "OK."]


async def test_what_a_crash_left_in_memory_is_taken_back_when_the_folder_is_opened(tmp_path: Path) -> None:
    """The rewind was durable and what it retracts was not: its items are put back as they were before."""
    copy = tmp_path / "before.db"
    async with opened(tmp_path / "memory") as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, HILL)
        async with session.turn(LAKE, id="lake") as turn:
            turn.reply("Noted.")
        await runtime.settle()
    shutil.copy(tmp_path / "memory" / "record.db", copy)
    async with opened(tmp_path / "memory") as runtime:
        await (await runtime.spawn("s", user="ada")).rewind("lake")
        await runtime.settle()
    altered(
        tmp_path / "memory",
        f"ATTACH '{copy}' AS old",
        "DELETE FROM items",
        "INSERT INTO items SELECT * FROM old.items",
        "UPDATE sessions SET progress = (SELECT progress FROM old.sessions)",
    )
    async with opened(tmp_path / "memory") as runtime:
        await runtime.settle()
        assert await facts(runtime, history=True) == ["The user's address is 5 Hill Street"]
        kinds = [item.kind for item in await runtime.items("ada", history=True)]
        assert sorted(kinds) == ["episode", "episode", "fact"]
        address = await runtime.value("ada", "address")
        assert address is not None
    async with opened(tmp_path / "memory") as runtime:
        assert await runtime.value("ada", "address") == address, "it is taken back once"


async def test_words_that_were_rewound_can_be_forgotten_and_the_session_still_replays(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "Hello there, I would like some help.")
        async with session.turn(f"{HILL} Thanks.", id="hill") as turn:
            turn.reply("Noted: 5 Hill Street.")
        await session.rewind("hill")
        await answered(session, HILL, "Noted.")
        assert files_holding(tmp_path, "5 Hill Street")
        address = await runtime.value("ada", "address")
        assert address is not None
        await runtime.forget(address.id, user="ada")
        assert [text for text in await texts(session) if "Hill" in text] == []
        assert len(await session.messages()) == 4
        before = bytes_of((await session.context()).messages)
    with sqlite3.connect(tmp_path / "record.db") as connection:
        rows = connection.execute("SELECT text FROM events WHERE text LIKE '%[forgotten]%'").fetchall()
    connection.close()
    assert len(rows) == 3, "the message that was rewound with its echo, and the one that was not"
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert bytes_of((await session.context()).messages) == before
        assert len(await session.messages()) == 4


@pytest.mark.parametrize("whole", [False, True])
async def test_forgetting_the_session_or_the_user_leaves_no_byte_of_what_was_rewound(
    tmp_path: Path, whole: bool
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn(HILL, id="hill") as turn:
            turn.reply("Noted.")
        await session.rewind("hill")
        await (runtime.forget_user("ada") if whole else runtime.forget_session("s", user="ada"))
        assert files_holding(tmp_path, "Hill Street") == []
        async with (await runtime.spawn("s", user="ada")).turn("hello again", id="hill") as turn:
            turn.reply("Hello.")
    async with opened(tmp_path) as runtime:
        assert await texts(await runtime.spawn("s", user="ada")) == ["hello again", "Hello."]


async def test_a_session_that_was_rewound_is_passivated_and_wakes_the_same() -> None:
    clock = FakeClock()
    async with opened(clock=clock, idle_s=60) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(3):
            await answered(session, f"said {number}")
        await session.rewind((await session.messages())[2].id)
        before = bytes_of((await session.context()).messages)
        await runtime.settle()
        await clock.advance(200)
        assert runtime.statistics().sessions.residents == 0
        assert bytes_of((await session.context()).messages) == before
        assert await texts(session) == ["said 0", "OK."]


async def test_going_back_to_the_same_place_again_reads_only_what_came_since(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(60):
            await answered(session, f"said {number}")
        last = (await session.messages())[-1].id
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        for number in range(3):
            await session.rewind(last)
            last = (await session.add({"role": "assistant", "content": f"answer {number}"})).id
            with sqlite3.connect(tmp_path / "record.db") as connection:
                [(snapshot, newest)] = connection.execute(
                    "SELECT snapshots.sequence, last_sequence FROM snapshots JOIN sessions USING (session_no)"
                ).fetchall()
            connection.close()
            assert newest - snapshot < 20
        assert (await texts(session))[-2:] == ["said 59", "answer 2"]


async def test_what_is_added_at_the_same_time_is_before_or_after_and_never_lost_in_between() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "said", "OK.")
        target = (await session.messages())[1].id

        async def add(number: int) -> None:
            await session.add({"role": "system", "content": f"aside {number}"})

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(add, number)
            group.start_soon(session.rewind, target)
            for number in range(4, 8):
                group.start_soon(add, number)
        found = await texts(session)
        assert found[0] == "said"
        assert "OK." not in found
        asides = [int(one.removeprefix("aside ")) for one in found[1:]]
        assert len(asides) == len(set(asides))
        context = (await session.context()).messages
        assert [one["content"] for one in context] == found
