"""The summarizer actor, shared by all sessions: blocks for messages that leave the verbatim part.

Fair between owners (one owner's sessions never hold up another's), bounded in calls at once. An LLM that
fails is tried again with growing pauses, then left to rest; until it is back, and where there is none, the
summary is extractive. So a session always gets a block.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import anyio
import anyio.to_thread
import msgspec

from actormem.actors.messages import Settle, Summarize, SummaryReady
from actormem.actors.services import Services
from actormem.core.summary import Summary, checked_summary, extractive_summary, split_span, summary_messages
from actormem.core.values import Message, Owner
from actormem.core.wire import message_tokens
from actormem.errors import ActorMemError, ProviderError
from actormem.kernel import Reply, Scope
from actormem.limits import LLM_BACKOFF_S, LLM_REST_S, LLM_TRIES, SUMMARY_QUEUE_MAX
from actormem.ports import LLM

__all__ = ["SummarizerActor"]

logger = logging.getLogger(__name__)
LATE_S = 5.0  # an LLM of the caller's own that does not keep its deadline is cut off this much later
INSTRUCTION_TOKENS = 800  # what the instructions take of the summarizer's own window


class SummarizerActor:
    """Makes summaries, several at once, one session's at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._queues: OrderedDict[Owner, OrderedDict[str, Summarize]] = OrderedDict()
        self._running_count = 0
        self._failures_in_a_row = 0
        self._rest_until_s = 0.0
        self._settling: list[Reply] = []
        self._scope: Scope | None = None

    async def started(self, scope: Scope) -> None:
        """Nothing to load: sessions ask again for what was lost."""
        self._scope = scope

    async def stopped(self, reason: str) -> None:
        """Nothing to keep: a session that woke over its budget asks again."""

    def idle(self) -> bool:
        """Nothing queued and nothing running."""
        return not self._queues and self._running_count == 0

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Queue a `Summarize`, or answer `Settle` when all are done."""
        match message:
            case Summarize():
                queue = self._queues.setdefault(message.key.owner, OrderedDict())
                if sum(map(len, self._queues.values())) < SUMMARY_QUEUE_MAX:
                    queue[message.key.session_id] = message
                else:
                    self._services.counters.summaries_refused += 1
            case Settle():
                assert reply is not None
                self._settling.append(reply)
            case _:
                raise AssertionError(f"the summarizer was sent a {type(message).__name__}")
        self._pump()

    def _pump(self) -> None:
        """Start what may start: one job of each owner in turn."""
        assert self._scope is not None
        while self._queues and self._running_count < self._services.options.summaries_at_once:
            owner, queue = self._queues.popitem(last=False)
            _, job = queue.popitem(last=False)
            if queue:
                self._queues[owner] = queue
            self._running_count += 1
            self._scope.start(self._run, job)
        if self.idle():
            for reply in self._settling:
                reply.answer(None)
            self._settling.clear()

    async def _run(self, job: Summarize) -> None:
        try:
            summary = await self._summary(job)
        finally:
            self._running_count -= 1
        try:
            self._services.ref("session", job.key).tell(SummaryReady(job.request, summary), control=True)
        except ActorMemError:
            # The session is gone or full: it will ask again when it still needs a block.
            self._services.counters.summaries_refused += 1
        self._pump()

    async def _summary(self, job: Summarize) -> Summary:
        counters = self._services.counters
        llm = self._services.llm
        if llm is not None and self._services.clock.monotonic_s() >= self._rest_until_s:
            written = await self._cached(llm, job)
            if written is not None:
                counters.summaries_llm += 1
                counters.values_repaired += written.repaired_count
                return written
        counters.summaries_extractive += 1
        return await anyio.to_thread.run_sync(self._extractive, job, limiter=self._services.counting)

    def _extractive(self, job: Summarize) -> Summary:
        count = self._services.tokenizer_for(job.model).count
        return extractive_summary(job.messages, previous=job.previous, tokens=job.tokens, count=count)

    async def _cached(self, llm: LLM, job: Summarize) -> Summary | None:
        """The LLM's summary; the same words are never summarised twice."""
        cache, owner, key = self._services.cache, job.key.owner, _content_key(llm.name, job)
        [stored] = await cache.get_many(owner, [key])
        if stored is not None:
            return msgspec.msgpack.decode(stored, type=Summary)
        erasure_count = self._services.erasure_count
        written = await self._written(llm, job)
        if written is not None and erasure_count == self._services.erasure_count:
            await cache.put_many(owner, {key: msgspec.msgpack.encode(written)})
        return written

    async def _written(self, llm: LLM, job: Summarize) -> Summary | None:
        """The LLM's summary, made span by span where its window asks for it; None where it failed."""
        tokenizer = self._services.tokenizer_for(job.model)
        each = [message_tokens(message, tokenizer.count) for message in job.messages]
        window = max(job.tokens, llm.window_tokens - 2 * job.tokens - INSTRUCTION_TOKENS)
        summary = Summary(text=job.previous, method="llm")
        repaired_count = 0
        for span in split_span(job.messages, each, window_tokens=window):
            reply = await self._reply(llm, job.messages[span], summary.text, job.tokens)
            checked = reply and checked_summary(
                reply,
                sources=job.messages[span],
                previous=summary.text,
                tokens=job.tokens,
                count=tokenizer.count,
            )
            if not checked:
                return None
            repaired_count += checked.repaired_count
            summary = checked
        return msgspec.structs.replace(summary, repaired_count=repaired_count)

    async def _reply(self, llm: LLM, messages: Sequence[Message], previous: str, tokens: int) -> str | None:
        """One call, tried again with growing pauses; None once it has failed as often as is allowed."""
        clock = self._services.clock
        prompt = summary_messages(messages, previous=previous, tokens=tokens)
        for number in range(LLM_TRIES):
            try:
                reply = await self._called(llm, prompt, tokens)
            except Exception as error:
                self._services.counters.llm_failures += 1
                asked_s = 0.0
                if isinstance(error, ProviderError):
                    asked_s = error.retry_after_s
                else:  # an LLM of the caller's own: its bug must not end the summaries of all
                    logger.warning("the LLM %s raised %s", llm.name, type(error).__name__)
                pause_s = max(asked_s, LLM_BACKOFF_S * 2**number)
                if number < LLM_TRIES - 1:
                    await clock.sleep(pause_s * (1 + self._services.draw_share() / 2))
            else:
                self._failures_in_a_row = 0
                return reply
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= LLM_TRIES:
            self._rest_until_s = clock.monotonic_s() + LLM_REST_S
        return None

    async def _called(self, llm: LLM, prompt: list[dict[str, str]], tokens: int) -> str:
        """One answer within the deadline, whether or not the LLM keeps it."""
        deadline_s = self._services.options.llm_deadline_s
        with self._services.clock.deadline(deadline_s + LATE_S):
            return await llm.complete(prompt, tokens_max=2 * tokens, deadline_s=deadline_s)
        raise ProviderError("it did not keep its deadline", provider=llm.name)


def _content_key(model: str, job: Summarize) -> str:
    hashed = blake2b(digest_size=32)
    for part in (model, str(job.tokens), job.previous, *(message.wire for message in job.messages)):
        data = part.encode()
        hashed.update(len(data).to_bytes(8, "big"))
        hashed.update(data)
    return f"summary:{hashed.hexdigest()}"
