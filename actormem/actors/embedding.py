"""The embedding actor, one for a runtime: the queries of all sessions, each with the others that came meanwhile.

Law of the file: a query that comes while the embedder is free goes at once, alone; those that come while it is not
go together in the next call. What becomes of one waiter changes nothing for the others. An embedder that fails again
and again rests, and queries go without at once.
"""

from collections import deque
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from actormem.actors.resting import Resting
from actormem.actors.services import Services
from actormem.errors import OverloadedError, ProviderError
from actormem.kernel import Reply, Scope
from actormem.limits import QUERY_BATCH_CHARS, QUERY_BATCH_TEXTS, QUERY_QUEUE_MAX, QUERY_REST_S, QUERY_TRIES

__all__ = ["EmbedQuery", "EmbeddingActor"]


class EmbedQuery(msgspec.Struct, frozen=True):
    """The texts of one query. `reply` is answered by their vectors, or failed by a ProviderError.

    Attributes:
        until_s: When who asks stops waiting, on the runtime's clock.
    """

    urgent: ClassVar[bool] = True

    texts: tuple[str, ...]
    reply: Reply
    until_s: float


class EmbeddingActor:
    """Calls the embedder for queries, as many calls at once as it takes."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._waiting: deque[EmbedQuery] = deque()
        self._running: list[EmbedQuery] = []
        self._calls_count = 0
        self._resting = Resting(services.clock, tries=QUERY_TRIES, rest_s=QUERY_REST_S)
        self._scope: Scope | None = None

    async def started(self, scope: Scope) -> None:
        """Nothing to load: who waited for an instance that is gone has his deadline."""
        self._scope = scope

    async def stopped(self, reason: str) -> None:
        """Tell those who wait that nothing will come."""
        for one in (*self._running, *self._waiting):
            one.reply.fail(ProviderError(f"not embedded: {reason}", provider=self._services.embedder.name))
        self._waiting.clear()

    def idle(self) -> bool:
        """No query waits, and none is being embedded."""
        return not self._waiting and not self._calls_count

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Take in an `EmbedQuery`."""
        assert isinstance(message, EmbedQuery), f"embedding was sent a {type(message).__name__}"
        services = self._services
        if self._resting.rests(message.until_s - services.clock.monotonic_s()):
            message.reply.fail(ProviderError("it is left to rest", provider=services.embedder.name))
        elif len(self._waiting) < QUERY_QUEUE_MAX:
            self._waiting.append(message)
            self._pump()
        else:
            waiting = len(self._waiting)
            message.reply.fail(
                OverloadedError("too many queries wait", mailbox="queries", waiting=waiting, limit=waiting)
            )

    def _pump(self) -> None:
        assert self._scope is not None
        while self._calls_count < self._services.queries_at_once and (batch := self._batch()):
            self._calls_count += 1
            self._running += batch
            self._scope.start(self._run, batch)

    def _batch(self) -> list[EmbedQuery]:
        """Those who wait longest, as many as one call takes; who has stopped waiting is left out."""
        batch: list[EmbedQuery] = []
        texts_left, characters_left = QUERY_BATCH_TEXTS, QUERY_BATCH_CHARS
        while self._waiting:
            first = self._waiting[0]
            texts_left -= len(first.texts)
            characters_left -= sum(map(len, first.texts))
            if batch and min(texts_left, characters_left) < 0:
                break
            self._waiting.popleft()
            if not first.reply.answered:
                batch.append(first)
        return batch

    async def _run(self, batch: Sequence[EmbedQuery]) -> None:
        """One call. It ends when the last of those who wait for it has gone."""
        services = self._services
        texts = [text for one in batch for text in one.texts]
        services.counters.query_calls += 1
        services.counters.queries_embedded += len(batch)
        began_s = services.clock.monotonic_s()
        wait_s, late = max(one.until_s for one in batch) - began_s, True
        try:
            with services.precedence.query(), services.clock.deadline(wait_s):
                vectors = await services.embed(texts)
                place = 0
                for one in batch:
                    one.reply.answer(vectors[place : place + len(one.texts)])
                    place += len(one.texts)
                self._resting.succeeded(services.clock.monotonic_s() - began_s)
                late = False
            if late:
                self._resting.failed(wait_s)
        except ProviderError as error:
            self._resting.failed()
            for one in batch:
                one.reply.fail(error)
        finally:
            self._calls_count -= 1
            self._running = [one for one in self._running if one not in batch]
        self._pump()
