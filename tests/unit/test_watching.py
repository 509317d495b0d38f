"""Looking on: what is durable is told to those who watch its owner, in order, without a word of it."""

import anyio
import pytest

import actormem
from actormem.actors.watching import EVENTS_WAITING_MAX
from tests.runtimes import answered, opened

pytestmark = pytest.mark.anyio


async def upto(events: object, *kinds: str) -> list[actormem.LiveEvent]:
    """What is told until all of these were."""
    seen: list[actormem.LiveEvent] = []
    with anyio.fail_after(30):
        async for event in events:  # type: ignore[attr-defined]
            seen.append(event)
            if set(kinds) <= {one.kind for one in seen}:
                break
    return seen


async def test_a_turn_and_what_is_learned_from_it_are_told_to_its_owner_alone() -> None:
    async with opened() as runtime, runtime.events("ada") as hers, runtime.events("bob") as his:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "I live in Zanzibar.")
        seen = await upto(hers, "turn_ended", "items")
        [turn] = await session.turns()
        told = {one.kind: one for one in seen}
        assert told["turn_opened"].ids == told["turn_ended"].ids == (turn.id,)
        assert told["turn_ended"].outcome == "complete"
        assert told["items"].ids
        kinds = [one.kind for one in seen]
        assert kinds.index("message") <= kinds.index("turn_opened") < kinds.index("turn_ended")
        assert "Zanzibar" not in repr(seen)
        await runtime.remember("He likes tea.", user="bob")
        assert {one.owner.user for one in await upto(his, "items")} == {"bob"}


async def test_forgetting_is_told() -> None:
    async with opened() as runtime, runtime.events("ada") as events:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "I live in Zanzibar.")
        item = await runtime.remember("The user likes tea.", user="ada")
        await runtime.forget(item.id, user="ada")
        [gone] = [one for one in await upto(events, "items_forgotten") if one.kind == "items_forgotten"]
        assert item.id in gone.ids
        await runtime.forget_session("s", user="ada")
        assert (await upto(events, "session_forgotten"))[-1].session_id == "s"
        await runtime.forget_user("ada")
        await upto(events, "user_forgotten")


async def test_who_does_not_keep_up_is_told_so_once() -> None:
    async with opened() as runtime, runtime.events("ada") as events:
        session = await runtime.spawn("s", user="ada")
        for number in range(EVENTS_WAITING_MAX + 10):
            await session.add({"role": "user", "content": f"{number}"})
        await upto(events, "message")
        for _ in range(EVENTS_WAITING_MAX - 2):
            await events.__anext__()
        await session.add({"role": "user", "content": "one more"})
        assert [one.kind for one in await upto(events, "missed", "message")].count("missed") == 1


async def test_nobody_who_has_left_is_kept() -> None:
    async with opened() as runtime:
        watchers = runtime._services.watchers
        for _ in range(3):
            async with runtime.events("ada"):
                assert watchers.looked_at([]) == []
        assert not watchers._by_owner
        with pytest.raises(actormem.UsageError):
            async with runtime.events(""):
                pass
