"""Forget means gone: from items, recall, messages, notes, blocks, caches and the bytes of the folder."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget, NotFoundError
from actormem.actors import burials
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, files_holding, opened, settle, words

pytestmark = pytest.mark.anyio

STREET = "5 Zanzibar Street"
SAID = f"My new address is {STREET}."


async def everything(runtime: actormem.Runtime, user: str = "ada") -> str:
    """All that can be seen of a user through the front door."""
    seen = [repr(await runtime.items(user, history=True))]
    seen += [repr(await runtime.recall(query, user=user, limit=100)) for query in ("address", STREET)]
    for row in await runtime.sessions(user):
        session = await runtime.spawn(row.session_id, user=user)
        seen += [message.wire for message in await session.messages()]
        seen += [words((await session.context()).messages)]
        seen += [words((await session.context(query="What is my address?")).messages)]
    return "\n".join(seen)


def summary(prompt: Sequence[Wire]) -> str:
    """What a model might make of it."""
    moved = f"The user moved to {STREET}. " if STREET in words(prompt) else ""
    return f"{moved}The user asked about the weather."


async def address(runtime: actormem.Runtime) -> actormem.Item:
    item = await runtime.value("ada", "address")
    assert item is not None
    return item


async def test_a_forgotten_item_is_gone_everywhere_and_stays_gone(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("said", user="ada")
        await answered(session, f"你好。{SAID} 谢谢你")
        shown = await runtime.spawn("shown", user="ada")
        assert STREET in words(await answered(shown, "What is my address?"))
        await runtime.settle()
        assert STREET in await everything(runtime)
        assert files_holding(tmp_path, STREET)
        receipt = await runtime.forget((await address(runtime)).id, user="ada")
        assert receipt.item_count == 1
        assert receipt.session_count == 2
        assert receipt.text_count >= 2
        assert STREET not in await everything(runtime)
        assert "谢谢你" in (await session.messages())[0].text, "the rest of the message stays"
        assert files_holding(tmp_path, STREET) == []
    async with opened(tmp_path) as runtime:
        assert STREET not in await everything(runtime)
        await answered(await runtime.spawn("shown", user="ada"), "What is my address?")
        assert STREET not in await everything(runtime)
    assert files_holding(tmp_path, STREET) == []


async def test_forgetting_something_shown_ends_the_epoch_and_says_why() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("said", user="ada"), SAID)
        shown = await runtime.spawn("shown", user="ada")
        other = await runtime.spawn("other", user="ada", budget=actormem.Budget(context=4_096, profile=0))
        assert STREET in words(await answered(shown, "What is my address?"))
        await answered(other, "嗯")
        await runtime.forget((await address(runtime)).id, user="ada")
        context = await shown.context()
        assert STREET not in words(context.messages)
        assert "forget" in context.trace.epoch_end
        assert (await other.context()).trace.epoch_end == "", "it had shown nothing of it"


async def test_forgetting_inside_an_open_turn_changes_its_next_context_and_the_turn_goes_on() -> None:
    async with opened() as runtime:
        await answered(await runtime.spawn("said", user="ada"), SAID)
        session = await runtime.spawn("s", user="ada")
        async with session.turn("What is my address? Then forget it.") as turn:
            assert STREET in words(turn.messages)
            await runtime.forget((await address(runtime)).id, user="ada")
            assert STREET not in words(await turn.context())
            turn.reply("It is forgotten.")
        assert [m.text for m in await session.messages()][1:] == ["It is forgotten."]
        assert STREET not in await everything(runtime)


async def test_all_versions_go_and_so_do_the_notes_that_showed_an_older_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("said", user="ada"), SAID)
        shown = await runtime.spawn("shown", user="ada")
        assert STREET in words(await answered(shown, "What is my address?"))
        await answered(await runtime.spawn("moved", user="ada"), "My new address is 9 Lake Road.")
        receipt = await runtime.forget((await address(runtime)).id, user="ada")
        assert receipt.item_count == 2
        seen = await everything(runtime)
        assert STREET not in seen
        assert "9 Lake Road" not in seen
    assert files_holding(tmp_path, STREET) == files_holding(tmp_path, "9 Lake Road") == []


async def test_a_summary_that_holds_it_goes_too_with_the_cache_it_is_in(tmp_path: Path) -> None:
    llm = ScriptedLLM(summary)
    async with opened(tmp_path, llm=llm) as runtime:
        session = await runtime.spawn("said", user="ada", budget=Budget(context=300))
        await answered(session, SAID)
        for number in range(30):
            await answered(
                session, f"And what about the weather in city number {number}, please?", "Mild, I think."
            )
            await runtime.settle()
        assert llm.call_count
        assert STREET in words((await session.context()).messages)
        assert any(name.startswith("cache") for name in files_holding(tmp_path, STREET))
        await runtime.forget((await address(runtime)).id, user="ada")
        assert STREET not in await everything(runtime)
        await answered(session, "谢谢", "不客气")
        assert STREET not in await everything(runtime)
    assert files_holding(tmp_path, STREET) == []


async def test_a_summary_in_the_making_is_thrown_away(tmp_path: Path) -> None:
    door = anyio.Event()
    llm = ScriptedLLM(summary, wait_for=door)
    async with opened(tmp_path, llm=llm) as runtime:
        session = await runtime.spawn("said", user="ada", budget=Budget(context=300))
        await answered(session, SAID)
        number = 0
        while not llm.in_flight_count:
            number += 1
            assert number < 100
            await answered(
                session, f"And what about the weather in city number {number}, please?", "Mild, I think."
            )
        await runtime.forget((await address(runtime)).id, user="ada")
        door.set()
        llm.wait_for = None
        await settle()
        await runtime.settle()
        await answered(session, "谢谢", "不客气")
        await runtime.settle()
        assert STREET not in await everything(runtime)
    assert files_holding(tmp_path, STREET) == []


async def test_what_was_forgotten_is_not_taken_in_again_by_an_import() -> None:
    log = [{"role": "user", "content": SAID, "id": "l-1", "time": "2020-01-01T00:00:00Z"}]
    clock = FakeClock()
    async with opened(clock=clock) as runtime:
        await runtime.import_history(log, session_id="log", user="ada")
        await runtime.forget((await address(runtime)).id, user="ada")
        await runtime.import_history(log, session_id="log", user="ada")
        await runtime.import_history(log, session_id="another", user="ada")
        assert await runtime.value("ada", "address") is None
        assert STREET not in await everything(runtime)
        clock.hold(60)
        await answered(await runtime.spawn("later", user="ada"), SAID)
        assert (await address(runtime)).value == STREET, "it may be said anew"


async def test_what_is_said_anew_right_after_a_restart_is_remembered(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s", user="ada"), SAID)
        await runtime.forget((await address(runtime)).id, user="ada")
        await runtime.settle()
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s2", user="ada"), SAID)
        await runtime.settle()
        assert (await address(runtime)).value == STREET
        await runtime.forget((await address(runtime)).id, user="ada")
        assert await runtime.value("ada", "address") is None
        assert STREET not in await everything(runtime)


def test_times_of_forgetting_are_never_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burials, "OWNERS_MAX", 2)
    ada, bob, cy = (actormem.Owner("", user) for user in ("ada", "bob", "cy"))
    times = burials.Burials(1_000)
    assert times.last_ms(ada) == 999
    times.note(ada, 2_000)
    times.note(bob, 3_000)
    assert (times.last_ms(ada), times.last_ms(bob), times.last_ms(cy)) == (2_000, 3_000, 999)
    times.note(cy, 4_000)
    assert (times.last_ms(ada), times.last_ms(bob), times.last_ms(cy)) == (4_000, 4_000, 4_000)


async def test_keep_leaves_the_transcript_and_forgets_the_item() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("said", user="ada")
        await answered(session, SAID)
        item = await address(runtime)
        await runtime.forget(item.id, user="ada", sources="keep")
        assert (await session.messages())[0].text == SAID
        assert await runtime.value("ada", "address") is None
        with pytest.raises(NotFoundError):
            await runtime.forget(item.id, user="ada")


async def test_forgetting_a_session_takes_its_memories_and_the_notes_that_show_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("said", user="ada"), SAID)
        shown = await runtime.spawn("shown", user="ada")
        assert STREET in words(await answered(shown, "What is my address?"))
        receipt = await runtime.forget_session("said", user="ada")
        assert (receipt.item_count, receipt.session_count) == (3, 2)
        assert [row.session_id for row in await runtime.sessions("ada")] == ["shown"]
        assert STREET not in await everything(runtime)
    assert files_holding(tmp_path, STREET) == []


async def test_a_forgotten_session_may_be_used_again_and_is_empty(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        await answered(session, SAID)
        await runtime.forget_session("s", user="ada")
        assert await session.messages() == ()
        await runtime.remember("The user likes jazz", user="ada", attribute="likes")
        messages = await answered(session, "What music do I like?")
        assert "<memory-" in words(messages)
        assert "…" not in words(messages), "a session without delimiters of its own"
        assert [m.text for m in await session.messages()] == ["What music do I like?", "OK."]
    async with opened(tmp_path) as runtime:
        again = await runtime.spawn("s", user="ada")
        assert [m.text for m in await again.messages()] == ["What music do I like?", "OK."]
        await answered(again, "more")


async def test_forgetting_a_user_leaves_no_byte_and_the_user_may_come_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        for name in ("a", "b"):
            await answered(await runtime.spawn(name, user="zanzibarian"), SAID)
        await answered(await runtime.spawn("a", user="bob"), "Hello there.")
        await runtime.settle()
        receipt = await runtime.forget_user("zanzibarian")
        assert (receipt.session_count, receipt.item_count) == (2, 5)
        assert await runtime.sessions("zanzibarian") == ()
        assert STREET not in await everything(runtime, "zanzibarian")
        assert files_holding(tmp_path, STREET) == files_holding(tmp_path, "zanzibarian") == []
        assert (await runtime.forget_user("nobody")).item_count == 0
        await answered(await runtime.spawn("a", user="zanzibarian"), "I'm allergic to peanuts.")
        assert len(await runtime.items("zanzibarian")) == 3
        assert len(await runtime.items("bob")) == 2


@pytest.mark.parametrize("whole", [False, True])
async def test_forgetting_while_the_sessions_are_in_use_harms_nobody(tmp_path: Path, whole: bool) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("s0", user="bob"), "Hello there.")
        going = True
        over = anyio.Event()

        async def talk(name: str) -> None:
            while going:
                done = over
                try:
                    session = await runtime.spawn(name, user="ada")
                    await answered(session, SAID)
                    await session.context()
                except (actormem.UsageError, actormem.StoppedError):
                    await done.wait()  # refused while the forgetting lasts; spinning would starve its threads

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(talk, f"s{number % 2}")
            for _ in range(3):
                await (runtime.forget_user("ada") if whole else runtime.forget_session("s0", user="ada"))
                over.set()
                over = anyio.Event()
                await answered(await runtime.spawn("s0", user="bob"), "Still here.")
            going = False
            over.set()
        await runtime.settle()
        assert runtime.statistics().record.failed_commit_count == 0
        await runtime.forget_user("ada")
        assert STREET not in await everything(runtime)
        assert len(await (await runtime.spawn("s0", user="bob")).messages()) == 8
    assert files_holding(tmp_path, STREET) == []


async def test_a_handle_of_a_forgotten_session_begins_it_anew_with_its_own_settings() -> None:
    tools = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]
    async with opened() as runtime:
        await runtime.spawn("s", user="ada", system="You help.", tools=tools)
        handle = await runtime.spawn("s", user="ada", budget=Budget(context=300), timezone="Asia/Shanghai")
        await answered(handle, SAID)
        before = (await handle.context()).trace
        for forget in (runtime.forget_session("s", user="ada"), runtime.forget_user("ada")):
            await forget
            messages = await answered(handle, "Hello there.")
            assert messages[0] == {"role": "system", "content": "You help."}
            assert STREET not in words(messages)
            after = (await handle.context()).trace
            assert after.budget_tokens == before.budget_tokens == 300
            assert after.sections[1] == before.sections[1], "the tools are counted as before"
            assert (await handle.messages())[0].offset_minutes == 480
        await runtime.forget_session("s", user="ada")
        assert (await handle.context()).messages == [{"role": "system", "content": "You help."}]
        await runtime.forget_session("s", user="ada")
        await handle.add({"role": "user", "content": "hi"})
        assert (await handle.context()).trace.budget_tokens == 300


async def test_a_turn_whose_session_is_forgotten_has_no_more_contexts() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", system="You help.")
        with pytest.raises(actormem.UsageError, match="ended"):  # noqa: PT012
            async with session.turn(SAID) as turn:
                await runtime.forget_session("s", user="ada")
                with pytest.raises(actormem.UsageError, match="ended"):
                    await turn.context()
                turn.reply("Too late.")
        assert await session.messages() == ()


async def test_the_first_context_after_a_forgetting_says_that_it_begins_anew() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "Hello there.")
        await runtime.forget_session("s", user="ada")
        async with session.turn("Hello again.") as turn:
            assert turn.trace.epoch_end
            assert turn.trace.stable_prefix_tokens == 0
            turn.reply("Hello.")


async def test_forgetting_what_never_was_changes_no_session() -> None:
    async with opened() as runtime:
        receipt = await runtime.forget_session("never-existed", user="ada")
        assert (receipt.session_count, receipt.item_count, receipt.text_count) == (0, 0, 0)
        await answered(await runtime.spawn("s", user="ada"), SAID)
        assert (await runtime.forget_session("s", user="ada")).session_count == 1
        assert (await runtime.forget_session("s", user="ada")).session_count == 0


async def test_a_summary_that_waits_for_its_time_goes_with_what_it_was_made_of(tmp_path: Path) -> None:
    llm = ScriptedLLM(summary)
    async with opened(tmp_path, llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=500, recall=0))
        await answered(session, SAID)
        while not llm.call_count:
            await answered(session, "And the weather, the train, and what to eat on the way, at some length?")
            await runtime.settle()
        await runtime.forget((await address(runtime)).id, user="ada")
        assert files_holding(tmp_path, STREET) == []
        for _ in range(20):
            await answered(session, "And the weather, the train, and what to eat on the way, at some length?")
            await runtime.settle()
        assert "asked about the weather" in words((await session.context()).messages)
        assert STREET not in await everything(runtime)
    assert files_holding(tmp_path, STREET) == []
