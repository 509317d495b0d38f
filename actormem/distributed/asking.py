"""All shards as one: what is asked about an owner goes to the shard he is in, all else to every one of them."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import msgspec

from actormem.core.live import LiveEvent
from actormem.core.placement import shard_name, shard_of
from actormem.core.values import Owner
from actormem.distributed.calling import ShardCaller
from actormem.distributed.summing import JOINED
from actormem.errors import ActorMemError, UsageError
from actormem.remote.asking import ANSWER_S
from actormem.remote.connection import decoded, encoded
from actormem.remote.operations import named

__all__ = ["ShardsAsking", "together"]

PLACES_MAX = 100_000  # owners whose shard is known without hashing; beyond it all are hashed anew
T = TypeVar("T")


class ShardsAsking:
    """Asks the shards; an `Asking`.

    Attributes:
        shards: One for each shard, by number.
    """

    def __init__(self, shards: Sequence[ShardCaller]) -> None:
        self.shards = tuple(shards)
        self._names = tuple(shard_name(one.number) for one in shards)
        self._places: dict[Owner, int] = {}
        self._loop = anyio.lowlevel.current_token()
        self._pid = os.getpid()

    def check_loop(self) -> None:
        """The runtime of a cluster belongs to its process and its event loop."""
        if os.getpid() != self._pid:
            raise UsageError(
                f"the cluster was opened in process {self._pid}, and this is a fork of it",
                hint="open it in each process, after it was forked",
            )
        if anyio.lowlevel.current_token() != self._loop:
            raise UsageError("the cluster was opened in another event loop", hint="open it in each loop")

    def shard(self, owner: Owner) -> ShardCaller:
        """The shard that an owner is in."""
        place = self._places.get(owner)
        if place is None:
            if len(self._places) >= PLACES_MAX:
                self._places.clear()
            place = self._places[owner] = shard_of(owner, self._names)
        return self.shards[place]

    def place(self, owner: Owner) -> int:
        """The number of the shard that an owner is in."""
        return self.shard(owner).number

    async def ask(
        self,
        name: str,
        owner: Owner | None = None,
        /,
        *,
        body: Mapping[str, object] | None = None,
        timeout_s: float = ANSWER_S,
        **query: object,
    ) -> Any:
        """As `Asking.ask`; of all shards, the first failure is raised when the others have done what was asked."""
        self.check_loop()
        operation = named(name)
        given = _given(owner, query)
        content = None if body is None else encoded(body)
        if owner is not None:
            raw = await self.shard(owner).ask(name, given, content, timeout_s)
            return decoded(operation.answer, raw)
        raws = await together([_asked(one, name, given, content, timeout_s) for one in self.shards])
        return JOINED[name]([decoded(operation.answer, raw) for raw in raws], given)

    def events(self, owner: Owner) -> AbstractAsyncContextManager[AsyncIterator[LiveEvent]]:
        """What happens to an owner's memory from here on."""
        self.check_loop()
        return self.shard(owner).events(owner)


async def together(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """What these calls give, made at once; the first one's error once all have ended, where any has failed."""
    found: dict[int, T] = {}
    failures: dict[int, ActorMemError] = {}

    async def call(number: int, one: Callable[[], Awaitable[T]]) -> None:
        try:
            found[number] = await one()
        except ActorMemError as error:
            failures[number] = error

    async with anyio.create_task_group() as group:
        for number, one in enumerate(calls):
            group.start_soon(call, number, one)
    if failures:
        raise failures[min(failures)]
    return [found[number] for number in range(len(calls))]


def _asked(
    shard: ShardCaller, name: str, query: Mapping[str, Any], body: bytes | None, timeout_s: float
) -> Callable[[], Awaitable[bytes]]:
    return lambda: shard.ask(name, query, body, timeout_s)


def _given(owner: Owner | None, query: Mapping[str, object]) -> dict[str, Any]:
    """The query, without what is not given."""
    given: dict[str, Any] = {} if owner is None else {"user": owner.user, "tenant": owner.tenant}
    for name, value in query.items():
        if value is not None:
            given[name] = msgspec.to_builtins(value)
    return given
