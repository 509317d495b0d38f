"""Summaries by an LLM: part by part within its window, checked, counted, cached.

The law of the file: whatever the LLM does, the answer is a checked summary or None, and then the caller writes an
extractive one. What takes time (counting, searching for values, the check) runs in threads, which hand the
interpreter over at each sentence: the event loop waits for none of it.
"""

import time
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import TypeVar

import anyio.to_thread
import msgspec

from actormem.actors.llm_calls import LLMRequest
from actormem.actors.messages import Summarize
from actormem.actors.services import Services
from actormem.core.entities import find_entities
from actormem.core.summary import Request, SpanRequests, Summary, checked_summary
from actormem.core.values import Entity
from actormem.ports import LLM

__all__ = ["SummaryCalls", "find_politely", "stored_summary"]

Made = TypeVar("Made")


class SummaryCalls:
    """The summaries of one runtime."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def summary(self, job: Summarize) -> Summary | None:
        """The LLM's summary, or the one it gave for the same words before; None where there is none to be had."""
        llm = self._services.llm
        if llm is None or job.tokens < 1:
            return None
        job = await self._in_thread(partial(self._let_out, job))
        if not job.messages:
            return None
        cache, owner, key = self._services.cache, job.key.owner, _content_key(llm, job)
        [stored] = await cache.get_many(owner, [key])
        known = stored_summary(stored)
        if known is not None or self._services.llm_calls.rest_s:
            return known
        erasure_count = self._services.erasure_count
        written = await self._written(llm, job)
        if written is not None and erasure_count == self._services.erasure_count:
            await cache.put_many(owner, {key: msgspec.msgpack.encode(written)})
        return written

    async def _written(self, llm: LLM, job: Summarize) -> Summary | None:
        """The summary, made part by part where the window asks for it; None where a part failed."""
        count = self._services.tokenizer_for(job.model).count

        def begin() -> SpanRequests:
            return SpanRequests(
                job.messages,
                tokens=job.tokens,
                window_tokens=llm.window_tokens,
                count=count,
                find=find_politely,
            )

        requests = await self._in_thread(begin)
        summary: Summary | None = None
        repaired_count = 0
        while True:
            so_far = job.previous if summary is None else summary.text
            request = await self._in_thread(partial(requests.next, so_far))
            if request is None:
                return summary and msgspec.structs.replace(summary, repaired_count=repaired_count)
            call = LLMRequest(
                prompt=request.prompt,
                prompt_tokens=request.prompt_tokens,
                reply_tokens=request.reply_tokens,
            )
            replied = await self._services.llm_calls.reply(llm, job.key.owner, call)
            self._services.counters.summaries_over_daily_tokens += replied.over
            if replied.text is None:
                return None
            summary, reply_tokens = await self._in_thread(partial(_checked, replied.text, request, count))
            await self._services.llm_calls.counted(job.key.owner, call, reply_tokens)
            if summary is None:
                return None
            repaired_count += summary.repaired_count

    def _let_out(self, job: Summarize) -> Summarize:
        """The job as it may be sent."""
        filters, owner, session_id = self._services.filters, job.key.owner, job.key.session_id
        return msgspec.structs.replace(
            job,
            messages=filters.sent(job.messages, owner, session_id),
            previous=filters.earlier(job.previous, owner, session_id, "prompt"),
        )

    async def _in_thread(self, make: Callable[[], Made]) -> Made:
        return await anyio.to_thread.run_sync(make, limiter=self._services.pools.background)


def find_politely(text: str, *, time_ms: int = 0, offset_minutes: int = 0) -> tuple[Entity, ...]:
    """The entities of a text; for threads, which let the event loop go first.

    Without it a thread keeps the interpreter for 5 ms at a time, and the loop waits for as long, again and again.
    """
    time.sleep(0)
    return find_entities(text, time_ms=time_ms, offset_minutes=offset_minutes)


def _checked(reply: str, request: Request, count: Callable[[str], int]) -> tuple[Summary | None, int]:
    """The reply as a summary, None where it is none; and its tokens."""
    checked = checked_summary(
        reply,
        sources=request.messages,
        previous=request.previous,
        tokens=request.tokens,
        count=count,
        find=find_politely,
    )
    return checked, count(reply)


def stored_summary(stored: bytes | None) -> Summary | None:
    """A summary from the cache; None where there is none, or its bytes are not ours."""
    if stored is None:
        return None
    try:
        return msgspec.msgpack.decode(stored, type=Summary)
    except msgspec.MsgspecError:
        return None


def _content_key(llm: LLM, job: Summarize) -> str:
    hashed = blake2b(digest_size=32)
    told = (llm.name, str(llm.window_tokens), str(job.tokens), job.previous)
    for part in (*told, *(message.wire for message in job.messages)):
        data = part.encode()
        hashed.update(len(data).to_bytes(8, "big"))
        hashed.update(data)
    return f"summary:{hashed.hexdigest()}"
