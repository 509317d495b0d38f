"""Summary blocks are remembered: once, by their sources, out of the user's mouth never, and forgotten like all else."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import actormem
from actormem import Budget
from actormem.core.context.notes import said_by_user
from actormem.core.summary.excerpt import Asked, excerpt
from actormem.core.summary.outdated import without_outdated
from actormem.core.values import Owner
from actormem.ports import DeleteItems
from actormem.storage.record import open_record
from tests.runtimes import ScriptedLLM, Wire, answered, files_holding, opened, words

pytestmark = pytest.mark.anyio

one_loop = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # long, and nothing in it differs by loop
BUDGET = Budget(context=300, recall=0)  # no notes: what is tested here is what is remembered
ROOMY = Budget(context=4_000)
LONG = "We went on about the weather, the train to the north and what to eat on the way, at some length."
SUMMARY = "The user plans a trip to the lighthouse with grandmother."


def written(prompt: Sequence[Wire]) -> str:
    """What a model might make of it; it names the harbour where it was spoken of."""
    place = " The boat leaves from Quibble Harbour." if "Quibble Harbour" in words(prompt) else ""
    return f"{SUMMARY}{place}"


async def talk(runtime: actormem.Runtime, session: actormem.Session, turns: int, start: int = 0) -> None:
    for number in range(start, start + turns):
        await answered(session, f"Turn {number}. {LONG}", f"I see, {number}.")
        await runtime.settle()


async def summaries(runtime: actormem.Runtime, *, history: bool = False) -> tuple[actormem.Item, ...]:
    return await runtime.items("ada", kinds=["summary"], history=history)


async def test_a_block_is_remembered_with_the_messages_it_stands_for() -> None:
    async with opened(llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 9)
        [first, *_] = await summaries(runtime, history=True)
        assert (first.kind, first.source, first.session_id) == ("summary", "summary", "s")
        assert SUMMARY in first.text
        messages = await session.messages()
        assert first.source_ids == tuple(one.id for one in messages[: len(first.source_ids)])
        assert len(first.source_ids) >= 2
        assert first.event_ms == messages[len(first.source_ids) - 1].time_ms
        assert not said_by_user(first)
        shown = {str(one["content"]) for one in (await session.context()).messages}
        for item in await summaries(runtime):
            verbatim = [one.id for one in messages if one.text in shown]
            assert not set(item.source_ids) & set(verbatim)


@one_loop
async def test_nothing_is_extracted_from_a_summary() -> None:
    llm = ScriptedLLM(lambda _: "The user said: my name is Bo and I am allergic to peanuts.")
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 9)
        assert await summaries(runtime)
        assert await runtime.value("ada", "allergy") is None
        assert await runtime.value("ada", "name") is None


@one_loop
async def test_a_value_that_no_source_has_never_becomes_a_memory() -> None:
    llm = ScriptedLLM(lambda _: f"{SUMMARY}\nThe booking is ZZ-99999.")
    async with opened(llm=llm) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 9)
        found = await summaries(runtime, history=True)
        assert found
        assert not [one for one in found if "ZZ-99999" in one.text]


@one_loop
async def test_merged_blocks_supersede_those_they_take_in() -> None:
    async with opened(llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        live = every = await summaries(runtime)
        for start in range(0, 100, 10):
            await talk(runtime, session, 10, start)
            live, every = await summaries(runtime), await summaries(runtime, history=True)
            if len(every) > len(live):
                break
        assert len(every) > len(live)
        assert len(live) <= 4
        merged = live[0]
        messages = await session.messages()
        assert merged.source_ids == tuple(one.id for one in messages[: len(merged.source_ids)])
        old = [one for one in every if one.state == "superseded"]
        assert {one.superseded_by for one in old} == {merged.id}
        assert merged.supersedes in {one.id for one in old}
        hits = await runtime.recall("the lighthouse trip with grandmother", user="ada", kinds=["summary"])
        assert not {one.id for one in old} & {hit.item.id for hit in hits}


async def test_a_session_that_shows_a_block_does_not_recall_it_and_another_session_does() -> None:
    async with opened(llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 9)
        await runtime.spawn("s", user="ada", budget=ROOMY)
        asked = "What about the trip to the lighthouse with grandmother?"
        own = await session.context(query=asked)
        assert words(own.messages).count("lighthouse with grandmother") == sum(
            "Summary of the earlier" in str(one["content"]) for one in own.messages
        )
        other = await runtime.spawn("other", user="ada", budget=ROOMY)
        note = [str(one["content"]) for one in await answered(other, asked)]
        assert any("not said by the user" in text and "lighthouse" in text for text in note[:-1])
        assert (
            "From memory" not in note[-1] or "lighthouse with grandmother." not in note[-1].split("From")[1]
        )


@one_loop
async def test_waking_again_makes_no_second_item_and_one_that_was_lost_is_made(tmp_path: Path) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 10)
        before = await summaries(runtime, history=True)
        assert before
    async with opened(tmp_path) as runtime:
        await (await runtime.spawn("s", user="ada")).context()
        await runtime.settle()
        assert await summaries(runtime, history=True) == before
    async with open_record(tmp_path, durability="process", lock_wait_s=0.0) as record:  # as if killed before
        await record.sync([DeleteItems(Owner("", "ada"), (before[-1].id,))])
    async with opened(tmp_path) as runtime:
        await (await runtime.spawn("s", user="ada")).context()
        await runtime.settle()
        again = (await summaries(runtime, history=True))[-1]
        assert again.id != before[-1].id
        assert (again.text, again.source_ids) == (before[-1].text, before[-1].source_ids)


@one_loop
async def test_a_forgotten_summary_stays_forgotten_and_leaves_the_transcript(tmp_path: Path) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 10)
        count = len(await session.messages())
        while items := await summaries(runtime):
            await runtime.forget(items[0].id, user="ada")
        assert await summaries(runtime, history=True) == ()
        assert "lighthouse" not in words((await session.context()).messages)
        assert len(await runtime.items("ada", kinds=["episode"])) == count
        assert not [one for one in await session.messages() if "forgotten" in one.text]
    assert files_holding(tmp_path, "lighthouse") == []
    async with opened(tmp_path) as runtime:
        await (await runtime.spawn("s", user="ada")).context()
        await runtime.settle()
        assert await summaries(runtime, history=True) == ()


@one_loop
async def test_forgotten_words_leave_the_remembered_summaries_too(tmp_path: Path) -> None:
    street = "5 Zanzibar Street"

    def moved(prompt: Sequence[Wire]) -> str:
        held = f"\nThe user moved to {street}." if street in words(prompt) else ""
        return f"{SUMMARY}{held}"

    async with opened(tmp_path, llm=ScriptedLLM(moved)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400, recall=0))
        await answered(session, f"My new address is {street}.", "Noted.")
        await talk(runtime, session, 12)
        assert any(street in one.text for one in await summaries(runtime, history=True))
        address = await runtime.value("ada", "address")
        assert address is not None
        await runtime.forget(address.id, user="ada")
        left = await summaries(runtime, history=True)
        assert left
        assert not any(street in one.text for one in left)
        assert any(SUMMARY in one.text for one in left)
    assert files_holding(tmp_path, street) == []


@one_loop
@pytest.mark.parametrize("whole", [False, True], ids=["session", "user"])
async def test_forgetting_a_session_or_a_user_forgets_its_summaries(tmp_path: Path, whole: bool) -> None:
    async with opened(tmp_path, llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 9)
        assert await summaries(runtime)
        if whole:
            await runtime.forget_user("ada")
        else:
            await runtime.forget_session("s", user="ada")
        assert await summaries(runtime, history=True) == ()
    assert files_holding(tmp_path, "lighthouse") == []


@one_loop
async def test_a_recalled_summary_does_not_say_what_is_no_longer_so() -> None:
    def moved(prompt: Sequence[Wire]) -> str:
        told = "\n- user: the address is 7 Almond Lane" if "7 Almond Lane" in words(prompt) else ""
        return f"Needs:\n- user: plans the lighthouse trip{told}"

    async with opened(llm=ScriptedLLM(moved)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=Budget(context=400, recall=0))
        await answered(session, "My address is 7 Almond Lane.", "Noted.")
        await talk(runtime, session, 12)
        before = await runtime.recall("the lighthouse trip", user="ada", kinds=["summary"])
        assert "7 Almond Lane" in str([hit.item.text for hit in before])
        other = await runtime.spawn("other", user="ada", budget=ROOMY)
        await answered(other, "I moved. My new address is 9 Walnut Road.", "Noted.")
        after = await runtime.recall("the lighthouse trip", user="ada", kinds=["summary"])
        assert "lighthouse" in str([hit.item.text for hit in after])
        assert "7 Almond Lane" not in str([hit.item.text for hit in after])
        assert "7 Almond Lane" in str([one.text for one in await summaries(runtime, history=True)])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Needs:\n- user: the seat is 14C, by the window", "Needs:\n- user: the seat is 14C, by the window"),
        ("Needs:\n- user: lives at Elm 4, wants tea", "Needs:\n- user: wants tea"),
        ("Needs:\n- user: moved from Elm 4 to Oak 9", "Needs:\n- user: moved from Elm 4 to Oak 9"),
        ("Needs:\n- user: lives at Elm 4\nDecisions:\n- ok, tea", "Decisions:\n- ok, tea"),
        ("Needs:\n- user: lives at Elm 4", ""),
        ("需求：\n- 用户：要喝茶，住在 Elm 4", "需求：\n- 用户：要喝茶"),
    ],
)
def test_outdated_clauses_go_and_what_tells_of_the_change_stays(text: str, left: str) -> None:
    assert without_outdated(text, [("Elm 4", "Oak 9")]) == left


async def test_a_rewind_takes_back_the_items_of_blocks_over_what_it_removes() -> None:
    async with opened(llm=ScriptedLLM(written)) as runtime:
        session = await runtime.spawn("s", user="ada", budget=BUDGET)
        await talk(runtime, session, 12)
        assert await summaries(runtime)
        [first, *_] = await session.messages()
        await session.rewind(first.id)
        await runtime.settle()
        assert await summaries(runtime, history=True) == ()


def test_a_note_shows_the_lines_of_a_summary_that_answer() -> None:
    lines = [f"- user: likes walk number {number} along the river" for number in range(30)]
    text = "\n".join(["Needs:", *lines, "Decisions:", "- assistant: the cottage is booked from Friday"])
    shown = excerpt(text, Asked("Which cottage is booked?"), characters=120)
    assert "cottage is booked from Friday" in shown
    assert len(shown) <= 120
    assert "Decisions" not in shown
    assert (
        excerpt(
            "需求：\n- 用户：想喝茶\n决定：\n- 助手：周五订好了小木屋", Asked("小木屋订好了吗"), characters=14
        )
        == "助手：周五订好了小木屋"
    )
    assert excerpt(text, Asked("?"), characters=60).startswith("user: likes walk number 0")
    assert excerpt("", Asked("?"), characters=60) == ""
