"""What goes on beside the asking while a remote runtime is open: word of the turns that are still worked on."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import TaskGroup

from actormem.core.values import Owner, SessionKey
from actormem.errors import ActorMemError
from actormem.kernel import Clock
from actormem.remote.asking import Asking

__all__ = ["Beats", "beating"]

BEAT_S = 15.0  # between two words of ours on the turns that are open: the server waits for three


class Beats:
    """Tells the server of the turns that are still open here, and does what nobody waits for."""

    def __init__(self, connection: Asking, group: TaskGroup) -> None:
        self._connection = connection
        self._group = group
        self._open: set[tuple[SessionKey, str]] = set()
        self._telling: set[int] = set()  # places that have not answered yet

    def soon(self, call: Any, *arguments: object) -> None:
        """Call it beside."""
        self._group.start_soon(call, *arguments)

    def opened(self, key: SessionKey, turn_id: str) -> None:
        """It is open from here on."""
        self._open.add((key, turn_id))

    def ended(self, key: SessionKey, turn_id: str) -> None:
        """It is not open any more."""
        self._open.discard((key, turn_id))

    def beat(self) -> None:
        """Begin to tell of all of them, beside; not again where the last time has not ended."""
        by_place: dict[int, dict[Owner, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
        for key, turn_id in self._open:
            place = self._connection.place(key.owner)
            if place not in self._telling:
                by_place[place][key.owner].append((key.session_id, turn_id))
        self._telling |= by_place.keys()
        for place, by_owner in by_place.items():
            self._group.start_soon(self._tell, place, by_owner)

    async def _tell(self, place: int, by_owner: Mapping[Owner, list[tuple[str, str]]]) -> None:
        try:
            for owner, turns in by_owner.items():
                with suppress(ActorMemError):  # the next use of the turn tells what is wrong
                    await self._connection.ask("keep_turns", owner, body={"turns": turns})
        finally:
            self._telling.discard(place)

    async def run(self, clock: Clock) -> None:
        """Tell of them, for ever."""
        while True:
            await clock.sleep(BEAT_S)
            self.beat()


@asynccontextmanager
async def beating(connection: Asking, clock: Clock) -> AsyncGenerator[Beats]:
    """Beats that go on until the block ends; an error of the block comes out as it is, without the group's wrapping."""
    failure: BaseException | None = None
    async with anyio.create_task_group() as group:
        beats = Beats(connection, group)
        group.start_soon(beats.run, clock)
        try:
            yield beats
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # the task group would wrap it
            failure = error
        finally:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure
