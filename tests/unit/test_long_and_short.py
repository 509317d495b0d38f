"""Messages too long to be found whole, and too short to be understood alone."""

import pytest

import actormem
from tests.runtimes import words

pytestmark = pytest.mark.anyio
BUDGET = actormem.Budget(context=2_000, recall=400)
LONG = "\n".join(
    [
        *(f"Point {number}: the boiler on floor {number} was checked and nothing was found." for number in range(40)),
        "The spare key of the observatory hangs behind the blue door.",
        *(f"Item {number}: the windows of wing {number} were cleaned on time." for number in range(40)),
    ]
)  # fmt: skip


async def told(runtime: actormem.Runtime, session_id: str, said: str, reply: str) -> None:
    session = await runtime.spawn(session_id, user="ada", budget=BUDGET)
    async with session.turn(said) as turn:
        turn.reply(reply)


async def test_what_stands_in_the_middle_of_a_long_reply_is_found_and_shown() -> None:
    async with actormem.open(None, embedder="hashing") as runtime:
        await told(runtime, "s1", "Please list what was done in the house.", LONG)
        await runtime.settle()
        hit = (await runtime.recall("spare key of the observatory", user="ada", limit=1))[0]
        assert "behind the blue door" in hit.item.text
        assert len(hit.item.text) < len(LONG) / 4
        session = await runtime.spawn("s2", user="ada", budget=BUDGET)
        async with session.turn("Where is the spare key of the observatory?") as turn:
            assert "behind the blue door" in words(turn.messages)
            assert words(turn.messages).count("Point") < 5, "not the whole of it"


async def test_a_message_is_one_hit_however_many_passages_it_has() -> None:
    async with actormem.open(None, embedder="hashing") as runtime:
        await told(runtime, "s1", "Please list what was done.", LONG)
        hits = await runtime.recall("boiler floor checked windows wing cleaned", user="ada", limit=10)
        sources = [hit.item.source_ids for hit in hits]
        assert len(sources) == len(set(sources)) == 2


async def test_an_answer_that_says_little_is_shown_with_what_was_asked() -> None:
    async with actormem.open(None, embedder="hashing") as runtime:
        await told(runtime, "s1", "Good day.", "Which glaze should the pottery class order?")
        await told(runtime, "s1", "The celadon one.", "Noted.")
        hits = await runtime.recall("the celadon one", user="ada", limit=1)
        assert hits[0].before is not None
        assert "glaze" in hits[0].before.text
        session = await runtime.spawn("s2", user="ada", budget=BUDGET)
        async with session.turn("Tell me about the celadon one again?") as turn:
            shown = words(turn.messages)
        assert "The celadon one." in shown
        assert shown.count("Which glaze should the pottery class order?") == 1


async def test_what_was_said_before_a_fragment_is_forgotten_with_its_own_item() -> None:
    async with actormem.open(None, embedder="hashing") as runtime:
        await told(runtime, "s1", "Good day.", "Which glaze should the pottery class order?")
        await told(runtime, "s1", "The celadon one.", "Noted.")
        session = await runtime.spawn("s2", user="ada", budget=BUDGET)
        async with session.turn("Tell me about the celadon one again?") as turn:
            assert "glaze" in words(turn.messages)
            turn.reply("Fine.")
        hits = await runtime.recall("which glaze", user="ada", limit=1)
        await runtime.forget(hits[0].item.id, user="ada")
        assert "glaze" not in words((await session.context()).messages)


async def test_forgetting_a_message_of_many_passages_leaves_none_and_bars_its_return() -> None:
    message = {"role": "user", "content": f"{LONG} I live at 7 Quince Lane. {LONG}", "id": "m-1"}
    async with actormem.open(None, embedder="hashing") as runtime:
        await runtime.import_history([message], session_id="s1", user="ada")
        fact = await runtime.value("ada", "address")
        assert fact is not None
        await runtime.forget(fact.id, user="ada")
        left = " ".join(item.text for item in await runtime.items("ada", history=True))
        assert "Quince" not in left
        assert "observatory" in left
        await runtime.import_history([{**message, "id": "m-2"}], session_id="s3", user="ada")
        assert "Quince" not in " ".join(item.text for item in await runtime.items("ada", history=True))
