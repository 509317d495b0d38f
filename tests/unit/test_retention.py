"""What is too old is erased as by forgetting, or archived, when a memory wakes and once a day while it is in use."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import actormem
from actormem import Retention, UsageError
from actormem.core.health.retention import RETIRE_STEP_ITEMS, retired
from actormem.core.values import Item, Owner
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, files_holding, opened, words

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0
DAY_MS = 86_400_000
CANARY = "zanzibar-4711"


async def days(runtime: actormem.Runtime, clock: FakeClock, count: float) -> None:
    """Let days pass, have the memory used, and wait for what follows."""
    await clock.advance(count * DAY_S)
    await runtime.items("ada")
    await runtime.settle()


async def test_items_older_than_their_days_are_gone_from_everywhere(tmp_path: Path) -> None:
    clock = FakeClock()
    async with opened(tmp_path, clock=clock, retention=Retention(item_days=30)) as runtime:
        await runtime.remember(f"The locker is {CANARY}", user="ada", attribute="locker", value=CANARY)
        await runtime.remember("The locker of Bob is 1", user="bob")
        session = await runtime.spawn("s", user="ada")
        assert CANARY in words(await answered(session, "What is my locker?"))
        await days(runtime, clock, 29)
        assert [one.value for one in await runtime.items("ada", kinds=["fact"])] == [CANARY]
        await runtime.remember("The user likes figs", user="ada", attribute="likes", value="figs")
        await days(runtime, clock, 2)
        assert [one.value for one in await runtime.items("ada", history=True)] == ["figs"]
        context = await session.context()
        assert CANARY not in words(context.messages)
        assert context.trace.epoch_end == "retention"
        assert files_holding(tmp_path, CANARY) == []
        assert "locker" in (await session.messages())[0].text, "the transcript has its own days"
        assert runtime.statistics().retention_failures == 0


async def test_a_memory_that_was_asleep_is_looked_after_when_it_wakes(tmp_path: Path) -> None:
    clock = FakeClock()
    async with opened(tmp_path, clock=clock) as runtime:
        await runtime.remember(f"The locker is {CANARY}", user="ada")
    later = FakeClock(now_ms=clock.now_ms() + 40 * DAY_MS)
    async with opened(tmp_path, clock=later, retention=Retention(item_days=30)) as runtime:
        await runtime.items("ada")
        await runtime.settle()
        assert await runtime.items("ada", history=True) == ()
    assert files_holding(tmp_path, CANARY) == []


def summary(prompt: Sequence[Wire]) -> str:
    return f"The user asked about {CANARY}."


async def test_messages_older_than_their_days_are_gone_with_all_that_tells_them(tmp_path: Path) -> None:
    clock = FakeClock()
    budget = actormem.Budget(context=700, keep_recent=2)
    async with opened(
        tmp_path, clock=clock, llm=ScriptedLLM(summary), retention=Retention(transcript_days=7)
    ) as runtime:
        session = await runtime.spawn("s", user="ada", budget=budget)
        for number in range(12):
            filler = "the parcel was late again and nobody rang the bell, which is a pity " * 2
            await answered(session, f"Case {CANARY}, part {number}: {filler}", f"Noted {number}.")
        await runtime.settle()
        assert (await session.context()).trace.sections
        await clock.advance(5 * DAY_S)
        await answered(session, "Is there any news of Thursday?", "None yet.")
        await runtime.settle()
        assert files_holding(tmp_path, CANARY)
        await days(runtime, clock, 3)
        assert [one.text for one in await session.messages()] == [
            "Is there any news of Thursday?",
            "None yet.",
        ]
        context = await session.context()
        assert CANARY not in words(context.messages)
        assert "Thursday" in words(context.messages)
        assert not any(CANARY in repr(one) for one in await runtime.items("ada", history=True))
        assert files_holding(tmp_path, CANARY) == []
        await answered(session, "Thanks, and the next one?")
    async with opened(tmp_path, clock=FakeClock(now_ms=clock.now_ms())) as runtime:
        session = await runtime.spawn("s", user="ada")
        assert "Thursday" in words((await session.context()).messages)
        assert CANARY not in words((await session.context()).messages)


@pytest.mark.parametrize("llm", [None, ScriptedLLM(lambda prompt: "The user counts parcels.")])
async def test_a_session_goes_on_and_is_compacted_again_after_its_beginning_has_gone(
    llm: ScriptedLLM | None,
) -> None:
    clock = FakeClock()
    async with opened(clock=clock, llm=llm, retention=Retention(transcript_days=7)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=actormem.Budget(context=400, keep_recent=2))
        for week in range(2):
            for number in range(9):
                said = (
                    f"In week {week} parcel number {number} came late, and its code is W{week}-{number}00. "
                    * 2
                )
                await answered(session, said, "Noted.")
                await runtime.settle()
            await days(runtime, clock, 8)
            assert await session.messages() == ()
            assert f"W{week}-" not in words((await session.context()).messages)
        assert runtime.statistics().retention_failures == 0
        assert runtime.statistics().summaries_extractive + runtime.statistics().summaries_llm >= 2


async def test_a_session_of_which_nothing_is_left_goes_on_empty() -> None:
    clock = FakeClock()
    async with opened(clock=clock, retention=Retention(transcript_days=1)) as runtime:
        session = await runtime.spawn("s", user="ada", system="Be kind.")
        await answered(session, f"My code is {CANARY}.")
        await runtime.settle()
        await days(runtime, clock, 2)
        assert await session.messages() == ()
        assert words((await session.context()).messages).count('"role"') == 1, "the system prompt stays"
        await answered(session, "你好")
        assert len(await session.messages()) == 2


async def test_an_open_turn_keeps_its_session_until_the_next_day() -> None:
    clock = FakeClock()
    async with opened(clock=clock, retention=Retention(transcript_days=1)) as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn(f"My code is {CANARY}.") as turn:
            await days(runtime, clock, 2)
            assert CANARY in words(await turn.context())
            turn.reply("OK.")
        await days(runtime, clock, 1.5)
        assert await session.messages() == ()


async def test_facts_outlive_the_messages_they_came_from() -> None:
    clock = FakeClock()
    async with opened(clock=clock, retention=Retention(transcript_days=1)) as runtime:
        await answered(await runtime.spawn("s", user="ada"), "I'm allergic to walnuts.")
        await runtime.settle()
        await days(runtime, clock, 2)
        [fact] = await runtime.items("ada")
        assert (fact.kind, fact.value, fact.quote) == ("fact", "walnuts", "")


async def test_what_nobody_asks_for_is_archived_and_what_is_recalled_is_not() -> None:
    clock = FakeClock()
    async with opened(clock=clock, retention=Retention(archive_after_days=10)) as runtime:
        for word in ("quartz", "basalt"):
            await runtime.remember(f"The user collects {word}", user="ada", value=word)
        await clock.advance(8 * DAY_S)
        await runtime.recall("quartz", user="ada", limit=1)
        await days(runtime, clock, 3)
        states = {one.value: one.state for one in await runtime.items("ada", history=True)}
        assert states == {"quartz": "live", "basalt": "archived"}
        deep = await runtime.recall("basalt", user="ada", limit=1, deep=True)
        assert deep[0].item.value == "basalt"


async def test_without_retention_nothing_is_looked_at() -> None:
    clock = FakeClock()
    async with opened(clock=clock) as runtime:
        await runtime.remember("The user collects quartz", user="ada")
        await days(runtime, clock, 40)
        assert len(await runtime.items("ada")) == 1


def test_long_lists_are_taken_in_steps() -> None:
    owner = Owner("", "ada")
    items = [Item(id=f"m{n}", owner=owner, kind="fact", text=f"fact {n}", event_ms=n) for n in range(300)]
    first = retired(items, Retention(item_days=1), 2 * DAY_MS)
    assert len(first.gone) == RETIRE_STEP_ITEMS
    cold = retired(items, Retention(archive_after_days=1), 2 * DAY_MS)
    assert (len(cold.gone), len(cold.changed)) == (0, RETIRE_STEP_ITEMS)
    assert {one.state for one in cold.changed} == {"archived"}
    assert retired(items, Retention(item_days=3), 2 * DAY_MS) == retired([], Retention(item_days=3), 0)


async def test_more_than_one_step_is_gone_in_one_day() -> None:
    clock = FakeClock()
    async with opened(clock=clock, retention=Retention(item_days=5)) as runtime:
        log = [
            {"role": "user", "content": f"Remark number {n} of the day"} for n in range(RETIRE_STEP_ITEMS + 9)
        ]
        await runtime.import_history(log, session_id="old", user="ada")
        await days(runtime, clock, 6)
        assert await runtime.items("ada", history=True) == ()


@pytest.mark.parametrize("days", [0, -1, float("inf"), float("nan"), "7", True])
def test_days_that_are_none_are_refused(days: object) -> None:
    for name in ("transcript_days", "item_days", "archive_after_days"):
        with pytest.raises(UsageError, match=name):
            Retention(**{name: days})  # type: ignore[arg-type]


async def test_a_retention_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="retention must be"):
        async with opened(retention={"item_days": 3}):
            pass
