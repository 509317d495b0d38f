"""Many sessions that talk to a cluster for as long as they are let, and what of it was acknowledged."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from actormem import ActorMemError, UsageError
from actormem.distributed import ClusterRuntime

__all__ = ["Acknowledged", "Talk", "check_talk"]

AGAIN_S = 0.1


class Acknowledged(msgspec.Struct, frozen=True):
    """A turn that was recorded: its number in its session, and when its end was acknowledged."""

    number: int
    at_s: float


class Talk:
    """What was said and acknowledged, by session.

    Attributes:
        errors: How often each kind of error was met; what was met was said again under the same id.
    """

    def __init__(self, runtime: ClusterRuntime, session_count: int) -> None:
        self.acknowledged: dict[str, list[Acknowledged]] = defaultdict(list)
        self.errors: dict[str, int] = defaultdict(int)
        self.stopping = False
        self.sessions = tuple(f"s-{number}" for number in range(session_count))
        self._runtime = runtime
        self._changed = anyio.Event()
        self._unsure: set[tuple[str, int]] = set()

    def shard(self, session: str) -> int:
        """Where a session is; each has a user of its own."""
        return self._runtime.shard_of(f"user of {session}")

    async def run(self, pause_s: float) -> None:
        """Talk until `stopping`."""
        async with anyio.create_task_group() as group:
            for session in self.sessions:
                group.start_soon(self._converse, session, pause_s)

    async def _converse(self, session_id: str, pause_s: float) -> None:
        session: Any = None
        number = 0
        while not self.stopping or session is None:
            try:
                if session is None:
                    session = await self._runtime.spawn(session_id, user=f"user of {session_id}")
                if not await self._is_recorded(session, number):
                    async with session.turn(said(session_id, number), id=f"q-{number}") as turn:
                        assert turn.messages[-1]["role"] == "user"
                        assert turn.trace.tokens > 0
                        await anyio.sleep(pause_s)
                        turn.reply({"role": "assistant", "content": replied(session_id, number)})
            except UsageError:
                raise  # no death makes a call wrong
            except ActorMemError as error:
                self.errors[f"{type(error).__name__}: {str(error)[:60]}"] += 1
                self._unsure.add((session_id, number))
                await anyio.sleep(AGAIN_S)
            else:
                self.acknowledged[session_id].append(Acknowledged(number, time.monotonic()))
                number += 1
                self._changed.set()
                self._changed = anyio.Event()

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait until it has happened; looked at whenever a turn was acknowledged."""
        while not happened():
            await self._changed.wait()

    async def turns_of_all(self, count: int) -> None:
        """Wait until every session has had so many turns acknowledged from here on."""
        before = {session: len(self.acknowledged[session]) for session in self.sessions}
        await self.until(
            lambda: all(len(self.acknowledged[one]) >= before[one] + count for one in self.sessions)
        )

    async def _is_recorded(self, session: Any, number: int) -> bool:
        """Whether a turn whose outcome was unknown had been recorded."""
        place = (session.key.session_id, number)
        if place not in self._unsure:
            return False
        turns = await session.turns()
        self._unsure.discard(place)
        return any(one.id == f"q-{number}" and one.outcome == "complete" for one in turns)


def said(session: str, number: int) -> str:
    return f"Message {number} of {session}: where is my parcel?"


def replied(session: str, number: int) -> str:
    return f"Reply {number} to {session}: on its way."


async def check_talk(runtime: ClusterRuntime, talk: Talk) -> None:
    """Every acknowledged message is there once, in order, and nothing else but what was said last."""
    for session_id in talk.sessions:
        session = await runtime.spawn(session_id, user=f"user of {session_id}")
        found = [one.text for one in await session.messages()]
        count = len(talk.acknowledged[session_id])
        expected = [words(session_id, number) for number in range(count) for words in (said, replied)]
        assert found[: len(expected)] == expected, session_id
        rest = [said(session_id, count), replied(session_id, count)]
        assert found[len(expected) :] in ([], rest[:1], rest), session_id
