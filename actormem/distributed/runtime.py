"""A runtime that is spread over shards: the methods of the runtime, the same sessions and turns.

Law: a turn that was open when its shard died goes on in the shard's next life, under the same message id; what was
recorded of it is not recorded again.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from actormem.actors import messages as say
from actormem.core.session.past import PastTurn
from actormem.core.values import Message, SessionKey
from actormem.distributed.asking import ShardsAsking, together
from actormem.distributed.summing import metrics_sum
from actormem.errors import UsageError
from actormem.front import Address, owner_of
from actormem.kernel import Clock
from actormem.limits import ASK_TIMEOUT_S
from actormem.remote.address import Aside, RemoteAddress
from actormem.remote.runtime import RemoteRuntime

__all__ = ["ClusterRuntime", "ShardAddress"]


class ClusterRuntime(RemoteRuntime):
    """A memory on shards. Made by `Cluster`; belongs to the event loop it was made in.

    It has the methods of `Runtime`; `statistics` is to be awaited, and is the sum over all shards. Knowledge bases are
    kept by every shard, so that each has its tenants': importing and removing ask all of them. What fails because a
    shard has died is a `StoppedError`, whose text says whether anything may have changed; what may be asked twice is
    asked until the shard is back.
    """

    def __init__(self, shards: ShardsAsking, aside: Aside, clock: Clock, turn_wait_s: float) -> None:
        super().__init__(shards, aside, clock, turn_wait_s)
        self._shards = shards

    def __repr__(self) -> str:
        return f"<ClusterRuntime of {len(self._shards.shards)} shards>"

    def shard_of(self, user: str, *, tenant: str = "") -> int:
        """The number of the shard that a user's memory is in; it never changes."""
        return self._shards.shard(owner_of(user, tenant)).number

    async def metrics(self) -> str:
        """All metrics in Prometheus' text format, summed over the shards: counts since each was begun.

        Raises:
            UsageError: prometheus-client is not installed, here or where the shards are.
        """
        self.check_loop()
        texts = await together([lambda one=one: one.metrics(ASK_TIMEOUT_S) for one in self._shards.shards])
        return metrics_sum(texts)

    def _address(self, key: SessionKey) -> Address:
        return ShardAddress(key, self._shards, self._aside)


class ShardAddress(RemoteAddress):
    """Where one session is asked; a turn is opened again in the life that its shard has now."""

    def __init__(self, key: SessionKey, shards: ShardsAsking, aside: Aside) -> None:
        super().__init__(key, shards, aside)
        self._shard = shards.shard(key.owner)
        self._opened: dict[
            str, tuple[say.OpenTurn, bytes, float]
        ] = {}  # by turn id: how, in which life, timeout

    def tell(self, message: object, *, control: bool = False) -> None:
        """As an actor's."""
        if isinstance(message, say.WithdrawTurn):
            for turn_id in [
                id for id, (open_, *_) in self._opened.items() if open_.request == message.request
            ]:
                del self._opened[turn_id]
        super().tell(message, control=control)

    async def ask(self, message: object, *, timeout_s: float, control: bool = False) -> object:
        """The answer to what a handle asks."""
        if isinstance(message, say.OpenTurn):
            answer = await super().ask(message, timeout_s=timeout_s, control=control)
            self._opened[message.message.id] = (message, self._shard.life, timeout_s)
            return answer
        turn_id: str = "" if isinstance(message, say.ReadTrace) else getattr(message, "turn_id", "")
        try:
            while True:
                try:
                    return await super().ask(message, timeout_s=timeout_s, control=control)
                except UsageError:
                    known = self._opened.get(turn_id)
                    if known is None or known[1] == self._shard.life:
                        raise
                    if not await self._is_open_again(known, message):
                        return None
        finally:
            if isinstance(message, say.CloseTurn):
                self._opened.pop(turn_id, None)

    async def _is_open_again(self, known: tuple[say.OpenTurn, bytes, float], message: object) -> bool:
        """Open it in this life; False where it is not needed: what was to close it has done so."""
        try:
            await self.ask(known[0], timeout_s=known[2])
        except UsageError:
            if isinstance(message, say.CloseTurn) and await self._is_closed(message):
                return False
            raise
        return True

    async def _is_closed(self, asked: say.CloseTurn) -> bool:
        """Whether the turn's end was recorded, and its acknowledgement lost with the shard."""
        with suppress(UsageError):  # a session that was forgotten meanwhile
            turns = await super().ask(say.ReadTurns(), timeout_s=ASK_TIMEOUT_S)
            said = await super().ask(say.ReadMessages(), timeout_s=ASK_TIMEOUT_S)
            ended = {one.id: one.outcome for one in cast("Sequence[PastTurn]", turns)}
            ids = {one.id for one in cast("Sequence[Message]", said)}
            return ended.get(asked.turn_id) == asked.outcome and all(one.id in ids for one in asked.messages)
        return False
