"""Hours in minutes: users come, talk, interrupt, are forgotten, and leave nothing behind.

Run by hand: `pytest -m soak -s` (10 minutes), `pytest -m soak -s --minutes 60`. Each round a few new users talk while
models fail now and then and turns are broken off; all leave memory; those of the round before are forgotten. What the
process holds between rounds must not grow. It prints what it saw.
"""

import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

import actormem
from actormem.errors import ProviderError
from actormem.testing.fakes import ScriptedEmbedder, ScriptedLLM
from tests.soak.process import Held, held_now, slope

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
    pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc"),
]

USERS = 6
TURNS = 8
BUDGET = actormem.Budget(context=700)
IDLE_S = 0.3
ROUNDS_MIN = 40  # caches and the allocator take twenty to settle
# What may be kept of a forgotten user are ids and times: on disk, and none of it in the process. One of them that was
# left in memory would be 100 KB and more; caches fill and the allocator settles over the first half.
GROWTH_MAX = {"resident_kb": 100.0, "objects": 30.0, "folder_kb": 12.0}  # each round
LEVEL_MAX = {"tasks": 0, "threads": 0, "files": 2}  # more than at the first half's highest


@pytest.fixture
def minutes(request: pytest.FixtureRequest) -> float:
    """How long it may go on."""
    return float(request.config.getoption("--minutes"))


@pytest.mark.soak
@pytest.mark.usefixtures("as_long_as_it_takes")
async def test_nothing_grows(tmp_path: Path, minutes: float) -> None:
    seen = await lived(tmp_path / "memory", minutes * 60, ROUNDS_MIN)
    sys.stdout.write(told(seen) + "\n")
    for name, most in GROWTH_MAX.items():
        assert slope([getattr(one, name) for one in seen]) <= most, (name, told(seen))
    first, rest = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    for name, more in LEVEL_MAX.items():
        highest = max(getattr(one, name) for one in first)
        assert max(getattr(one, name) for one in rest) <= highest + more, (name, told(seen))


async def lived(folder: Path, seconds: float, rounds_min: int) -> list[Held]:
    """What was held after each round: as many as fit into the time, and no fewer than `rounds_min`."""
    llm = ScriptedLLM(Moody("They spoke of tea, and of what it costs."))
    embedder = ScriptedEmbedder()
    seen: list[Held] = []
    ends_s = time.monotonic() + seconds
    async with actormem.open(
        folder, llm=llm, embedder=embedder, idle_s=IDLE_S, durability="process"
    ) as runtime:
        for number in count():
            if number >= rounds_min and time.monotonic() >= ends_s:
                break
            async with anyio.create_task_group() as group:
                for place in range(USERS):
                    group.start_soon(talk, runtime, f"user-{number}-{place}", place)
            await runtime.settle()
            for place in range(USERS) if number else ():
                await runtime.forget_user(f"user-{number - 1}-{place}")
            await left_memory(runtime)
            llm.prompts.clear()
            llm.schemas.clear()
            embedder.texts.clear()
            seen.append(held_now(folder))
    return seen


class Moody:
    """A model that answers, but for every fifth time."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._calls = 0

    def __call__(self, messages: Sequence[object]) -> str | Exception:
        self._calls += 1
        return ProviderError("busy", provider="moody", status=503) if self._calls % 5 == 0 else self._answer


async def talk(runtime: actormem.Runtime, user: str, place: int) -> None:
    """A conversation with all that happens in one."""
    session = await runtime.spawn("s", user=user, budget=BUDGET)
    for number in range(TURNS):
        said = (
            f"我的订单号是 KX-{place}{number:04}，我喜欢第 {number} 种茶。 I live at {number} Hill Street. "
            * 3
        )
        with anyio.CancelScope() as scope:
            async with session.turn(said, id=f"turn-{number}") as turn:
                turn.feed({"choices": [{"index": 0, "delta": {"content": "I will look. "}}]})
                if (number + place) % 4 == 0:
                    scope.cancel()
                    await anyio.lowlevel.checkpoint()
                turn.feed(
                    {"choices": [{"index": 0, "delta": {"content": "There."}, "finish_reason": "stop"}]}
                )
    item = await runtime.remember("I am allergic to peanuts.", user=user)
    assert await runtime.recall("allergic", user=user, deadline_s=30.0)
    if place % 2:
        await runtime.edit(item.id, "I am allergic to shrimps.", user=user)
    else:
        await runtime.forget(item.id, user=user)
    if place % 3 == 0:
        await session.rewind(f"turn-{TURNS - 1}")
    if place % 5 == 0:
        await runtime.forget_session("s", user=user)


async def left_memory(runtime: actormem.Runtime) -> None:
    """Once no session and no memory is in the process any more."""
    with anyio.fail_after(60):
        while runtime.statistics().sessions.residents or runtime.statistics().longterm.residents:  # noqa: ASYNC110
            await anyio.sleep(0.01)


def told(seen: Sequence[Held]) -> str:
    """First and last, and by how much each figure grows a round."""
    growth = {name: round(slope([getattr(one, name) for one in seen]), 2) for name in Held.__struct_fields__}
    first, last = msgspec.structs.asdict(seen[0]), msgspec.structs.asdict(seen[-1])
    return f"{len(seen)} rounds; first {first}; last {last}; a round {growth}"
