"""Any run of adding, turns, compactions, rewinds and restarts leaves what a plain list would hold.

The model is a list of (id, role, text, turn) and the settings; everything a session and its memory tell is
compared with it after each operation.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import actormem
from actormem import Budget
from tests.runtimes import bytes_of, opened

PLACES = ("5 Hill Street", "9 Lake Road", "文三路 12 号")
SAID = (
    *(f"My new address is {place}." for place in PLACES),
    "What is the weather like in the city today, please tell me?",
    "今天的会议改到下午三点，请帮我记一下时间。",
    "filler words " * 30,
)


class Said(NamedTuple):
    """A message of the model."""

    id: str
    role: str
    text: str
    turn: str


OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(("user", "assistant", "system")), st.sampled_from(SAID)),
    st.tuples(st.just("turn"), st.sampled_from(SAID), st.sampled_from(("complete", "partial", "unanswered"))),
    st.tuples(st.just("turn"), st.sampled_from(SAID), st.just("complete")),
    st.tuples(st.just("rewind"), st.integers(0, 30)),
    st.tuples(st.just("rewind"), st.integers(0, 3)),
    st.tuples(st.just("compact"), st.sampled_from((200, 300, 2_000))),
    st.tuples(st.just("restart"), st.booleans()),
)


class World:
    """A session in a folder, and the list it is compared with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[Said] = []
        self.number = 0
        self.runtime: actormem.Runtime
        self.session: actormem.Session
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        self.runtime = await self._stack.enter_async_context(opened(self.folder))
        self.session = await self.runtime.spawn("s", user="ada")

    async def close(self) -> None:
        await self._stack.aclose()

    async def take(self, operation: tuple[Any, ...]) -> None:
        match operation:
            case ("add", role, text):
                added = await self.session.add({"role": role, "content": text, "id": self.free_id()})
                self.said.append(Said(added.id, role, text, ""))
            case ("turn", text, outcome):
                await self.turn(text, outcome)
            case ("rewind", back):
                await self.rewind(back)
            case ("compact", tokens):
                self.session = await self.runtime.spawn("s", user="ada", budget=Budget(context=tokens))
                await self.runtime.settle()
            case ("restart", bare):
                await self.restart(bare)
            case _:
                raise AssertionError(operation)

    async def turn(self, text: str, outcome: str) -> None:
        id = self.free_id()
        self.said.append(Said(id, "user", text, id))
        async with self.session.turn(text, id=id) as turn:
            assert turn.trace.tokens <= turn.trace.budget_tokens
            reply = {"role": "assistant", "content": f"Noted: {text[:20]}", "id": f"{id}-reply"}
            if outcome == "complete":
                turn.reply(reply)
            elif outcome == "partial":
                turn.feed({"choices": [{"delta": {"content": "No"}, "finish_reason": None}]})
        if outcome != "unanswered":
            newest = (await self.session.messages())[-1]
            self.said.append(Said(newest.id, "assistant", newest.text, id))

    async def rewind(self, back: int) -> None:
        if not self.said:
            return
        place = max(0, len(self.said) - 1 - back)
        left = await self.session.rewind(self.said[place].id)
        assert [message.id for message in left] == [one.id for one in self.said[place:]]
        del self.said[place:]
        if place:
            assert (await self.session.context()).trace.epoch_end == "rewind"

    async def restart(self, bare: bool) -> None:
        before = bytes_of((await self.session.context()).messages)
        await self.close()
        if bare:
            with sqlite3.connect(self.folder / "record.db") as connection:
                connection.execute("DELETE FROM snapshots")
            connection.close()
        await self.open()
        assert bytes_of((await self.session.context()).messages) == before

    async def check(self) -> None:
        found = [(one.id, one.role, one.text) for one in await self.session.messages()]
        assert found == [(one.id, one.role, one.text) for one in self.said]
        turns = await self.session.turns()
        opened_by = [one.turn for one in self.said if one.turn == one.id]
        assert [turn.id for turn in turns] == opened_by
        for turn in turns:
            assert turn.message_ids == tuple(one.id for one in self.said if one.turn == turn.id)
        context = await self.session.context()
        assert context.trace.tokens <= context.trace.budget_tokens
        await self.runtime.settle()
        items = await self.runtime.items("ada", history=True)
        spoken = [one.id for one in self.said if one.role != "system"]
        assert sorted(id for item in items if item.kind == "episode" for id in item.source_ids) == sorted(
            spoken
        )
        stated = [place for one in self.said if one.role == "user" for place in PLACES if place in one.text]
        address = await self.runtime.value("ada", "address")
        assert (address.value if address else None) == (stated[-1] if stated else None)

    def free_id(self) -> str:
        """An id that no message of the model has; one that was rewound comes again soon."""
        taken = {one.id for one in self.said}
        return next(f"id-{number}" for number in range(1_000) if f"id-{number}" not in taken)


async def live(operations: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        await world.open()
        try:
            for operation in operations:
                await world.take(operation)
                await world.check()
        finally:
            await world.close()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_any_life_of_a_session_is_that_of_a_list(backend: str) -> None:
    @settings(max_examples=5, deadline=None)
    @given(st.lists(OPERATIONS, min_size=4, max_size=12))
    def lives(operations: list[tuple[Any, ...]]) -> None:
        anyio.run(live, operations, backend=backend)

    lives()


@pytest.mark.full
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_many_lives_of_a_session_are_those_of_a_list(backend: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(OPERATIONS, min_size=4, max_size=30))
    def lives(operations: list[tuple[Any, ...]]) -> None:
        anyio.run(live, operations, backend=backend)

    lives()
