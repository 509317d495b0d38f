"""An edited item is found by its new words alone; what expires is gone at its moment; nobody asks for all users."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import numpy as np
import pytest

import actormem
from actormem import UsageError
from actormem.core.values import Owner
from tests.runtimes import FakeClock, ScriptedEmbedder, opened, settle

pytestmark = pytest.mark.anyio

OLD, NEW = "Her pet is a zebra", "Her pet is a dog"


async def found(runtime: actormem.Runtime) -> list[tuple[str, float, dict[str, float]]]:
    """What queries for the old and the new words give, and why."""
    hits = [
        hit for query in ("zebra", "dog") for hit in await runtime.recall(query, user="ada", deadline_s=5)
    ]
    return [(hit.item.text, hit.score, dict(hit.why)) for hit in hits]


async def stored_vector(runtime: actormem.Runtime) -> bytes:
    services = runtime._services
    await services.record.sync()
    stored = await services.record.load_items(Owner("", "ada"), services.embedder.name)
    [vector] = stored.vectors.values()
    return vector


@pytest.mark.parametrize("meanwhile", [False, True], ids=["after", "while-it-is-embedded"])
async def test_an_edited_item_is_not_found_by_its_old_words_or_vector(
    meanwhile: bool, tmp_path: Path
) -> None:
    async with opened() as runtime:
        await runtime.remember(NEW, user="ada")
        await runtime.settle()
        fresh, vector = await found(runtime), await stored_vector(runtime)
    embedder = ScriptedEmbedder(wait_for=anyio.Event() if meanwhile else None)
    async with opened(tmp_path, embedder=embedder) as runtime:
        item = await runtime.remember(OLD, user="ada")
        await (settle() if meanwhile else runtime.settle())
        await runtime.edit(item.id, NEW, user="ada")
        if embedder.wait_for is not None:
            embedder.wait_for.set()
        await runtime.settle()
        assert await found(runtime) == fresh
        assert await stored_vector(runtime) == vector
    async with opened(tmp_path) as runtime:
        assert await found(runtime) == fresh
        assert np.frombuffer(vector, np.float32).any()


async def test_what_expires_is_there_until_its_moment_and_touches_nothing_else() -> None:
    clock = FakeClock()
    ends = datetime.fromtimestamp(clock.now_ms() / 1000, UTC) + timedelta(seconds=10)
    async with opened(clock=clock) as runtime:
        for user in ("ada", "bob"):
            await runtime.remember(
                "The code is 553311", user=user, attribute="code", value="553311", expires=ends
            )
        await runtime.remember("The door is blue", user="ada")
        await runtime.remember("The code of the gate is 7", user="bob", expires=ends + timedelta(seconds=30))
        for wait_s, there in ((9, True), (1, False), (1, False)):  # T - 1, T, T + 1
            clock.hold(wait_s)
            for user in ("ada", "bob"):
                texts = {one.text for one in await runtime.items(user)}
                hits = {hit.item.text for hit in await runtime.recall("code 553311", user=user)}
                assert ("The code is 553311" in texts) is ("The code is 553311" in hits) is there
                assert (await runtime.value(user, "code") is not None) is there
        assert [one.text for one in await runtime.items("ada")] == ["The door is blue"]
        assert [one.text for one in await runtime.items("bob")] == ["The code of the gate is 7"]


@pytest.mark.parametrize("user", [None, "", 7, "\0"])
async def test_no_user_is_never_all_users(user: object) -> None:
    async with opened() as runtime:
        await runtime.remember("The door is blue", user="ada")
        given: dict[str, object] = {"user": user}
        for asked in (
            runtime.recall("door", **given),  # type: ignore[arg-type]
            runtime.items(**given),  # type: ignore[arg-type]
            runtime.value(attribute="note", **given),  # type: ignore[arg-type]
            runtime.sessions(**given),  # type: ignore[arg-type]
            runtime.export_user(**given),  # type: ignore[arg-type]
            runtime.forget_user(**given),  # type: ignore[arg-type]
            runtime.spawn("s", **given),  # type: ignore[arg-type]
        ):
            with pytest.raises(UsageError):
                await asked
        assert len(await runtime.items("ada")) == 1


async def test_an_edit_gives_another_value_and_another_end() -> None:
    clock = FakeClock()
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    async with opened(clock=clock) as runtime:
        item = await runtime.remember("The code is 553311", user="ada", attribute="code", value="553311")
        ends = now + timedelta(seconds=10)
        edited = await runtime.edit(item.id, "The code has changed", user="ada", value="7", expires=ends)
        assert (edited.value, edited.version) == ("7", 2)
        kept = await runtime.edit(item.id, "The code has changed again", user="ada", value="8")
        assert kept.expires_ms == edited.expires_ms == clock.now_ms() + 10_000
        for wrong in ({"expires": now}, {"expires": "soon"}, {"value": 7}):
            with pytest.raises(UsageError):
                await runtime.edit(item.id, "The code is wrong", user="ada", **wrong)  # type: ignore[arg-type]
        assert (await runtime.item(item.id, user="ada")) == kept
        clock.hold(10)
        assert await runtime.value("ada", "code") is None
        lasting = await runtime.edit(item.id, "The code is back", user="ada", value="9", expires=None)
        assert lasting.expires_ms == 0
        assert await runtime.value("ada", "code") == lasting
