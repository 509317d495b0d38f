"""Nothing of one owner is ever seen by another, whatever their ids look like."""

import pytest

import actormem
from actormem import NotFoundError
from tests.runtimes import answered, opened, words

pytestmark = pytest.mark.anyio

OWNERS = [
    ("", "ann"),
    ("", "ann2"),
    ("", "a_n"),
    ("", "a%"),
    ("", "ann:x"),
    ("ann", "x"),
    ("u1", "a:b"),
    ("u1:a", "b"),
    ("", "ANN"),
    ("", "ann "),
    ("", "é"),
    ("", "e\u0301"),
    ("", "'; DROP TABLE events; --"),
    ("", "../ann"),
]


def canary(number: int) -> str:
    return f"ZQ-{73_000 + number}"


async def test_no_owner_sees_anything_of_another_in_contexts_items_recall_or_traces() -> None:
    async with opened() as runtime:
        for number, (tenant, user) in enumerate(OWNERS):
            session = await runtime.spawn("same", user=user, tenant=tenant)
            async with session.turn(
                f"My order number is {canary(number)}, remember it.", id="same-id"
            ) as turn:
                turn.reply(f"I will remember {canary(number)}.")
            await runtime.remember(f"The order of this user is {canary(number)}", user=user, tenant=tenant)
        await runtime.settle()
        for number, (tenant, user) in enumerate(OWNERS):
            others = [canary(one) for one in range(len(OWNERS)) if one != number]
            seen: list[str] = []
            for name in ("same", "new"):
                session = await runtime.spawn(name, user=user, tenant=tenant)
                async with session.turn(f"What is my order number? {canary((number + 1) % 3)[:2]}") as turn:
                    seen += [words(turn.messages), str(turn.trace)]
                    turn.reply("Let me see.")
                seen += [words((await session.context(query="order number ZQ")).messages)]
                seen += [message.wire for message in await session.messages()]
            seen += [repr(await runtime.items(user, tenant=tenant, history=True))]
            seen += [repr(await runtime.recall("order number ZQ-73", user=user, tenant=tenant, limit=100))]
            seen += [repr(await runtime.sessions(user, tenant=tenant)), repr(session), repr(turn)]
            everything = "\n".join(seen)
            assert canary(number) in everything
            assert [one for one in others if one in everything] == []


async def test_an_item_of_another_cannot_be_read_edited_or_forgotten() -> None:
    async with opened() as runtime:
        item = await runtime.remember(f"The code is {canary(1)}", user="ann")
        for tenant, user in OWNERS[1:]:
            calls = [
                runtime.item(item.id, user=user, tenant=tenant),
                runtime.edit(item.id, "mine", user=user, tenant=tenant),
                runtime.forget(item.id, user=user, tenant=tenant),
            ]
            for call in calls:
                with pytest.raises(NotFoundError) as caught:
                    await call
                assert canary(1) not in f"{caught.value!r} {caught.value}"
                assert caught.value.id == item.id
        assert await runtime.item(item.id, user="ann") == item


async def test_forgetting_one_owner_leaves_the_others_as_they_are() -> None:
    async with opened() as runtime:
        for tenant, user in OWNERS:
            session = await runtime.spawn("same", user=user, tenant=tenant)
            await answered(session, "My new address is 5 Hill Street.")
        await runtime.forget_user("ann")
        await runtime.forget_user("a%")
        await runtime.forget_session("same", user="b", tenant="u1:a")
        for tenant, user in OWNERS:
            items = await runtime.items(user, tenant=tenant, history=True)
            messages = await (await runtime.spawn("same", user=user, tenant=tenant)).messages()
            gone = (tenant, user) in (("", "ann"), ("", "a%"), ("u1:a", "b"))
            assert (len(items), len(messages)) == ((0, 0) if gone else (3, 2))


async def test_the_same_message_ids_and_session_ids_do_not_meet() -> None:
    async with opened() as runtime:
        sessions: list[actormem.Session] = []
        for user in ("ann", "bob"):
            for name in ("a", "a "):
                sessions.append(await runtime.spawn(name, user=user))
                await sessions[-1].add({"role": "user", "content": f"{user}/{name}", "id": "m-1"})
        assert [[m.text for m in await one.messages()] for one in sessions] == [
            ["ann/a"],
            ["ann/a "],
            ["bob/a"],
            ["bob/a "],
        ]
