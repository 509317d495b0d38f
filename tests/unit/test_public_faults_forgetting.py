"""Public faults of other memories in forgetting, as tests of ours: what stays, and what goes that should stay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import actormem
from actormem import Budget
from tests.runtimes import FakeClock, answered, files_holding, opened, words
from tests.unit.test_compaction import small_talk

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("text", ["The user keeps a zebra named Quagga", "用户养了一匹叫夸嘎的斑马"])
async def test_what_is_forgotten_is_found_by_no_vector_and_in_no_file(tmp_path: Path, text: str) -> None:
    """https://github.com/MemTensor/MemOS/issues/2331: the vector stayed, and recall went on finding it."""
    async with opened(tmp_path) as runtime:
        item = await runtime.remember(text, user="ada")
        await runtime.settle()
        assert [hit.item.id for hit in await runtime.recall(text, user="ada")] == [item.id]
        await runtime.forget(item.id, user="ada")
        assert list(await runtime.recall(text, user="ada")) == []
    async with opened(tmp_path) as runtime:
        assert list(await runtime.recall(text, user="ada")) == []
        assert files_holding(tmp_path, text) == []


async def test_forgetting_one_user_forgets_no_other() -> None:
    """https://github.com/mem0ai/mem0/issues/3928: the memories of every user were gone."""
    async with opened() as runtime:
        for user in ("a", "b"):
            for pet in ("cat", "dog", "owl"):
                await runtime.remember(f"The user has a {pet}", user=user, attribute="pet", value=pet)
        await runtime.forget_user("a")
        assert [len(await runtime.items(user, history=True)) for user in ("a", "b")] == [0, 3]


async def test_an_exact_value_goes_with_the_last_conversation_that_names_it_and_not_before() -> None:
    """https://github.com/mem0ai/mem0/issues/3245: rows of entities outlived the memory they came from."""
    order = "KX-48210-77"
    said = {
        "a": f"Please send order {order} to the lake house.",
        "b": f"Is {order} paid already, or is it not?",
    }
    async with opened() as runtime:
        for name, one in said.items():
            session = await runtime.spawn(name, user="ada", budget=Budget(context=400, recall=40))
            await answered(session, one, "I see.")
            while one in words((await session.context()).messages):
                await answered(session, small_talk(0), "I see.")
                await runtime.settle()
            assert order in words((await session.context()).messages), "the value outlives its message"
        await runtime.forget_session("a", user="ada")
        told = await everything(runtime)
        assert said["a"] not in told
        assert order in words((await session.context()).messages), "the other conversation names it too"
        assert order in told
        await runtime.forget_session("b", user="ada")
        await runtime.forget_session("new", user="ada")
        assert order not in await everything(runtime)


async def everything(runtime: actormem.Runtime) -> str:
    """All that is told of a user."""
    told = [repr(await runtime.export_user("ada")), repr(await runtime.recall("order paid lake", user="ada"))]
    for name in ("a", "b", "new"):
        told.append(words((await (await runtime.spawn(name, user="ada")).context()).messages))
    new = await runtime.spawn("new", user="ada")
    return "\n".join([*told, words(await answered(new, "What was my order?"))])


async def test_an_edited_memory_is_not_found_by_its_old_words(tmp_path: Path) -> None:
    """https://github.com/langchain-ai/langgraph/issues/8214: the old vector stayed beside the new text."""
    for close_between in (False, True):
        folder = tmp_path / str(close_between)
        async with opened(folder) as runtime:
            item = await runtime.remember("zebra", user="ada")
            await runtime.settle()
            await runtime.edit(item.id, "dog", user="ada")
            if not close_between:
                await look_for_the_zebra(runtime)
        if close_between:
            async with opened(folder) as runtime:
                await look_for_the_zebra(runtime)


async def look_for_the_zebra(runtime: actormem.Runtime) -> None:
    await runtime.settle()
    [beside] = await runtime.recall("dog", user="ada")
    assert beside.score > 0.5
    found = await runtime.recall("zebra", user="ada", min_score=0.3)
    assert list(found) == []


async def test_more_hits_than_are_left_may_be_asked_for() -> None:
    """https://github.com/nmslib/hnswlib/issues/608: it raised, once most rows were deleted."""
    async with opened() as runtime:
        items = [await runtime.remember(f"Lamp number {n} is lit", user="ada") for n in range(10)]
        await runtime.remember("Lamp number 3 is lit", user="bob")
        await runtime.settle()
        for item in items[1:]:
            await runtime.forget(item.id, user="ada")
        hits = await runtime.recall("lamp", user="ada", limit=5)
        assert [hit.item.id for hit in hits] == [items[0].id]


@pytest.mark.parametrize(("seconds", "seen"), [(-1, 1), (0, 0), (1, 0)])
async def test_what_expires_is_gone_at_its_second_for_its_user_and_for_nobody_else(
    seconds: int, seen: int
) -> None:
    """https://github.com/mem0ai/mem0/pull/5445: sweeps took what had not expired, of everybody, or came too late."""
    clock = FakeClock()
    ends = datetime.fromtimestamp(clock.now_ms() / 1000, UTC) + timedelta(minutes=1)
    async with opened(clock=clock) as runtime:
        await runtime.remember("The user is in Turku", user="ada", expires=ends)
        await runtime.remember("The user is in Turku", user="bob", expires=ends + timedelta(days=1))
        await runtime.remember("The user lives in Turku", user="ada", attribute="address", value="Turku")
        await clock.advance(60 + seconds)
        for user, count in (("ada", 1 + seen), ("bob", 1)):
            assert len(await runtime.items(user)) == count
            assert len(await runtime.recall("Turku", user=user)) == count


async def test_a_time_without_a_zone_is_no_time_of_expiry() -> None:
    """https://github.com/mem0ai/mem0/pull/5445: a naive time was compared with the zone of the machine."""
    async with opened() as runtime:
        with pytest.raises(actormem.UsageError, match="zone"):
            await runtime.remember("x", user="ada", expires=datetime(2099, 1, 1))  # noqa: DTZ001 - the fault
