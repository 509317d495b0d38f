"""A user who says the same again and again: each message is kept, since each may be rewound or forgotten by itself;
what is told of them is one."""

import pytest

from tests.runtimes import opened

pytestmark = pytest.mark.anyio

SAID = "OK, the lantern is fine."
TIMES = 200


async def test_of_many_equal_messages_recall_and_turns_show_one() -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="ada")
        for _ in range(TIMES // 20):
            await session.add_many([{"role": "user", "content": SAID}] * 20)
        await runtime.settle()
        episodes = await runtime.items("ada", kinds=["episode"])
        assert len(episodes) == TIMES
        hits = await runtime.recall("Is the lantern fine?", user="ada", limit=100)
        assert [hit.item.text for hit in hits].count(SAID) == 1
        async with (await runtime.spawn("t", user="ada")).turn("Is the lantern fine?") as turn:
            turn.reply("Yes.")
        shown = {place.id for place in turn.trace.included}
        assert len(shown.intersection(item.id for item in episodes)) == 1
