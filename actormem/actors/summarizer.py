"""The summarizer actor, shared by all sessions: blocks for messages that leave the verbatim part.

Fair between owners (one owner's sessions never hold up another's), bounded in calls at once. An LLM that
fails is tried again with growing pauses, then left to rest; until it is back, and where there is none, the
summary is extractive. So a session always gets a block.
"""

import anyio.to_thread

from actormem.actors.fair_queue import FairQueue
from actormem.actors.messages import Settle, Summarize, SummaryReady, SummaryRefused
from actormem.actors.services import Services
from actormem.actors.summary_calls import SummaryCalls, find_politely
from actormem.core.summary import Summary, extractive_summary
from actormem.errors import ActorMemError
from actormem.kernel import Reply, Scope
from actormem.limits import SUMMARY_QUEUE_MAX

__all__ = ["SummarizerActor"]


class SummarizerActor:
    """Makes summaries, several at once, one session's at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queue = FairQueue(SUMMARY_QUEUE_MAX)
        self._running_count = 0
        self._calls = SummaryCalls(services)
        self._settling: list[Reply] = []
        self._scope: Scope | None = None

    async def started(self, scope: Scope) -> None:
        """Nothing to load: sessions ask again for what was lost."""
        self._scope = scope

    async def stopped(self, reason: str) -> None:
        """Nothing to keep: a session that woke over its budget asks again."""

    def idle(self) -> bool:
        """Nothing queued and nothing running."""
        return not self._queue and self._running_count == 0

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Queue a `Summarize`, or answer `Settle` when all are done."""
        match message:
            case Summarize():
                refused = self._queue.put(message)
                if refused is not None:
                    self._services.counters.summaries_refused += 1
                    self._tell(refused, SummaryRefused(refused.request))
            case Settle():
                assert reply is not None
                self._settling.append(reply)
            case _:
                raise AssertionError(f"the summarizer was sent a {type(message).__name__}")
        self._pump()

    def _pump(self) -> None:
        """Start what may start: one job of each owner in turn."""
        assert self._scope is not None
        while self._queue and self._running_count < self._services.options.summaries_at_once:
            self._running_count += 1
            self._scope.start(self._run, self._queue.next())
        if self.idle():
            for reply in self._settling:
                reply.answer(None)
            self._settling.clear()

    async def _run(self, job: Summarize) -> None:
        try:
            summary = await self._summary(job)
        finally:
            self._running_count -= 1
        if not self._tell(job, SummaryReady(job.request, summary)):
            self._services.counters.summaries_refused += 1
        self._pump()

    def _tell(self, job: Summarize, answer: SummaryReady | SummaryRefused) -> bool:
        """Whether the session could be told; one that is gone or full asks again when it still needs a block."""
        try:
            self._services.ref("session", job.key).tell(answer, control=True)
        except ActorMemError:
            return False
        return True

    async def _summary(self, job: Summarize) -> Summary:
        counters = self._services.counters
        written = await self._calls.summary(job)
        if written is not None:
            counters.summaries_llm += 1
            counters.values_repaired += written.repaired_count
            return written
        counters.summaries_extractive += 1
        return await anyio.to_thread.run_sync(self._extractive, job, limiter=self._services.pools.background)

    def _extractive(self, job: Summarize) -> Summary:
        count = self._services.tokenizer_for(job.model).count
        return extractive_summary(
            job.messages, previous=job.previous, tokens=job.tokens, count=count, find=find_politely
        )
