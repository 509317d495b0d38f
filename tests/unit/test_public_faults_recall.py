"""Public faults of other memories in what they recall and what that costs, as tests of ours."""

import json
from itertools import combinations, islice

import pytest

from actormem import Budget
from tests.runtimes import opened

pytestmark = pytest.mark.anyio
THINGS = [
    "tea",
    "boat",
    "lamp",
    "garden",
    "river",
    "piano",
    "mountain",
    "bread",
    "window",
    "market",
    "train",
    "winter",
]
PLACES = ("茶馆", "公园", "书店", "车站", "医院")


@pytest.mark.parametrize("embedder", ["local", "hashing"])
async def test_greetings_and_nonsense_recall_nothing_from_a_hundred_memories(embedder: str) -> None:
    async with opened(embedder=embedder) as runtime:
        for one, other in islice(combinations(THINGS, 2), 60):
            await runtime.remember(f"The user likes the {one} near the {other}.", user="ada")
        for number in range(40):
            await runtime.remember(f"用户上个月去了{PLACES[number % 5]}，排了{number}号。", user="ada")
        await runtime.settle()
        session = await runtime.spawn("s", user="ada", budget=Budget(context=3_000, profile=0))
        for said, reason in {"hi": "small talk", "你好": "small talk", "qqqqzz": "is relevant"}.items():
            async with session.turn(said) as turn:
                assert json.dumps(turn.messages).count("<memory-") == 0, said
                assert reason in turn.trace.gate
                turn.reply("Fine.")
        async with session.turn("Which piano do I like?") as turn:
            assert "piano" in json.dumps(turn.messages[-1])


async def test_what_is_recalled_never_changes_what_stood_before_it() -> None:
    async with opened() as runtime:
        for thing in THINGS:
            await runtime.remember(f"The user's {thing} came from the {thing} maker.", user="ada")
        session = await runtime.spawn("s", user="ada", system="Be brief.", budget=Budget(context=6_000))
        before: list[str] = []
        for thing in THINGS[:10]:
            async with session.turn(f"Where did my {thing} come from?") as turn:
                now = [json.dumps(one) for one in turn.messages]
                assert now[: len(before)] == before
                assert f"{thing} maker" in "".join(now)
                assert turn.trace.stable_prefix_tokens > 0 or not before
                before = now
                turn.reply("From its maker.")
