"""Scopes keep several agents of one user apart, where that is wanted."""

from pathlib import Path

import pytest

from actormem import UsageError
from tests.runtimes import answered, opened, words

pytestmark = pytest.mark.anyio


async def test_a_scoped_session_recalls_its_own_and_what_belongs_to_none() -> None:
    async with opened() as runtime:
        await runtime.remember("The user likes jade", user="ada", attribute="likes", value="jade")
        billing = await runtime.spawn("b", user="ada", scope="billing")
        await answered(billing, "My invoices go to Harbour Street 9. I'm allergic to walnuts.")
        await answered(await runtime.spawn("t", user="ada", scope="travel"), "我对芒果过敏。")
        await runtime.settle()
        asked = words(await answered(await runtime.spawn("b2", user="ada", scope="billing"), "My allergies?"))
        assert "walnuts" in asked
        assert "芒果" not in asked
        assert "jade" in asked, "the profile has what belongs to no scope"
        plain = words(await answered(await runtime.spawn("p", user="ada"), "What am I allergic to?"))
        assert "walnuts" not in plain
        assert "芒果" not in plain


async def test_each_scope_has_its_own_newest_value(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        for scope, city in (("", "杭州"), ("billing", "苏州"), ("", "宁波")):
            await runtime.remember(
                f"用户的地址是{city}", user="ada", attribute="address", value=city, scope=scope
            )
    async with opened(tmp_path) as runtime:
        assert {one.value for one in await runtime.items("ada")} == {"苏州", "宁波"}
        assert [one.value for one in await runtime.items("ada", scope="")] == ["宁波"]
        assert {one.value for one in await runtime.items("ada", scope="billing")} == {"苏州", "宁波"}
        value = await runtime.value("ada", "address", scope="")
        assert value is not None
        assert value.value == "宁波"
        for scope, count in ((None, 2), ("", 1), ("billing", 2), ("other", 1)):
            assert len(await runtime.recall("地址", user="ada", scope=scope)) == count, scope
        assert len(await runtime.recall("地址", user="bob", scope="billing")) == 0


async def test_of_an_attribute_with_one_value_an_agent_sees_its_own() -> None:
    async with opened() as runtime:
        for scope, city in (("billing", "苏州"), ("", "宁波")):
            await runtime.remember(
                f"用户的地址是{city}", user="ada", attribute="address", value=city, scope=scope
            )
        for scope, own, other in (("billing", "苏州", "宁波"), ("", "宁波", "苏州"), ("new", "宁波", "苏州")):
            session = await runtime.spawn(f"s-{scope}", user="ada", scope=scope)
            seen = words(await answered(session, "我的地址是哪里？"))
            assert (own in seen, other in seen) == (True, False), scope
            value = await runtime.value("ada", "address", scope=scope)
            assert value is not None
            assert value.value == own
        newest = await runtime.value("ada", "address")
        assert newest is not None
        assert newest.value == "宁波"


async def test_the_scope_of_a_session_outlives_a_restart_and_a_change_of_it_ends_the_epoch(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada", scope="billing")
        await answered(session, "I live in Oslo.")
    async with opened(tmp_path) as runtime:
        session = await runtime.spawn("s", user="ada")
        await answered(session, "I'm allergic to kiwi.")
        await runtime.settle()
        assert {one.scope for one in await runtime.items("ada")} == {"billing"}
        await runtime.spawn("s", user="ada", scope="")
        assert "scope" in (await session.context()).trace.epoch_end
        await answered(session, "My birthday is May 3.")
        await runtime.settle()
        assert {one.scope for one in await runtime.items("ada")} == {"billing", ""}


async def test_a_session_that_was_forgotten_keeps_the_scope_of_its_handle() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada", scope="billing")
        await answered(session, "I live in Oslo.")
        await runtime.forget_session("s", user="ada")
        await answered(session, "I'm allergic to kiwi.")
        await runtime.settle()
        assert {one.scope for one in await runtime.items("ada")} == {"billing"}


async def test_a_rewind_in_one_scope_leaves_the_other_alone() -> None:
    async with opened() as runtime:
        plain = await runtime.spawn("p", user="ada")
        billing = await runtime.spawn("b", user="ada", scope="billing")
        await answered(plain, "My address is 4 Elm Road.")
        await answered(billing, "My address is 8 Oak Road.")
        await runtime.settle()
        [first, *_] = await billing.messages()
        await billing.rewind(first.id)
        await runtime.settle()
        assert [one.value for one in await runtime.items("ada", kinds=["fact"])] == ["4 Elm Road"]


async def test_an_import_may_belong_to_a_scope() -> None:
    async with opened() as runtime:
        log = [{"role": "user", "content": "我对虾过敏。"}]
        await runtime.import_history(log, session_id="old", user="ada", scope="clinic")
        assert {one.scope for one in await runtime.items("ada")} == {"clinic"}


@pytest.mark.parametrize("scope", [7, "a\x00b", "x" * 300, None])
async def test_a_scope_that_is_none_is_refused_and_nothing_changes(scope: object) -> None:
    async with opened() as runtime:
        with pytest.raises(UsageError, match="scope"):
            await runtime.spawn("s", user="ada", scope=scope)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="scope"):
            await runtime.remember("x is y", user="ada", scope=scope)  # type: ignore[arg-type]
        if scope is not None:
            with pytest.raises(UsageError, match="scope"):
                await runtime.recall("x", user="ada", scope=scope)  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="scope"):
                await runtime.items("ada", scope=scope)  # type: ignore[arg-type]
        assert await runtime.items("ada") == ()
        assert await runtime.sessions("ada") == ()
