"""A turn that is ended by hand, for those whose turns last longer than one block of code."""

import pytest

import actormem
from tests.runtimes import chunk, opened

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("outcome", [None, "complete", "partial", "unanswered", "failed"])
async def test_a_turn_ends_with_the_outcome_it_is_given_and_leaving_does_nothing_more(
    outcome: str | None,
) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("hello") as turn:
            assert turn.is_open
            turn.feed(chunk("hi", finish="stop"))
            await turn.end(outcome)  # type: ignore[arg-type]
            assert not turn.is_open
            with pytest.raises(actormem.UsageError, match="not open"):
                turn.feed(chunk("more"))
            with pytest.raises(actormem.UsageError, match="not open"):
                await turn.end()
        [past] = await session.turns()
        assert past.outcome == (outcome or "complete")
        assert [m.text for m in await session.messages()] == ["hello", "hi"]


async def test_an_outcome_that_is_none_leaves_the_turn_open() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        async with session.turn("hello") as turn:
            with pytest.raises(actormem.UsageError, match="complete, partial"):
                await turn.end("SECRET")  # type: ignore[arg-type]
            turn.reply("hi")
        assert [one.outcome for one in await session.turns()] == ["complete"]


async def test_settings_are_those_that_spawn_takes() -> None:
    async with opened() as runtime:
        tools = [{"type": "function", "function": {"name": "f"}}]
        session = await runtime.spawn(
            "s", user="ada", system="Be brief.", tools=tools, budget=actormem.Budget(context=999)
        )
        other = await runtime.spawn("t", user="ada", **session.settings)  # type: ignore[arg-type]
        assert other.settings == session.settings
        assert other.settings["tools"] == tools
