"""Background calls to the LLM, for summaries and facts alike: tried again, rested, within a day's tokens, counted.

The law of the file: whatever the LLM does, the caller gets a reply or none; after some failures in a row nobody
calls it for a while, whatever for.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Protocol

import msgspec

from actormem.actors.daily_tokens import DailyTokens
from actormem.actors.observers import Observers
from actormem.core.observed import ModelCalled
from actormem.core.values import JsonValue, Owner
from actormem.errors import ProviderError
from actormem.kernel import Clock
from actormem.limits import LLM_BACKOFF_S, LLM_REST_S, LLM_TRIES
from actormem.ports import LLM

__all__ = ["LLMCalls", "LLMRequest", "Replied"]

logger = logging.getLogger(__name__)
LATE_S = 5.0  # an LLM of the caller's own that does not keep its deadline is cut off this much later


class LLMRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call to a model.

    Attributes:
        prompt: What it is sent.
        prompt_tokens: What that takes.
        reply_tokens: What the reply may take.
        schema: The shape of the reply; None for words.
    """

    prompt: Sequence[Mapping[str, JsonValue]]
    prompt_tokens: int
    reply_tokens: int
    schema: Mapping[str, JsonValue] | None = None


class Replied(msgspec.Struct, frozen=True):
    """The reply, None where there is none; `over`: because the day's tokens did not allow it."""

    text: str | None
    over: bool = False


class Counts(Protocol):
    """Where calls are counted."""

    llm_failures: int
    llm_prompt_tokens: int
    llm_reply_tokens: int


class LLMCalls:
    """The calls of one runtime.

    Args:
        daily_tokens: What each owner may still have today.
        draw_share: A number from 0 to 1 for the jitter of pauses.
        deadline_s: What one call may take.
        observers: Told of each call.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        daily_tokens: DailyTokens,
        counts: Counts,
        draw_share: Callable[[], float],
        deadline_s: float,
        observers: Observers | None = None,
    ) -> None:
        self._clock = clock
        self._daily_tokens = daily_tokens
        self._counts = counts
        self._draw_share = draw_share
        self._deadline_s = deadline_s
        self._observers = Observers() if observers is None else observers
        self._failures_in_a_row = 0
        self._rest_until_s = 0.0

    @property
    def rest_s(self) -> float:
        """Seconds for which the LLM is still left to rest; 0 where it may be called."""
        return max(0.0, self._rest_until_s - self._clock.monotonic_s())

    async def reply(self, llm: LLM, owner: Owner, request: LLMRequest) -> Replied:
        """One call, tried again with growing pauses until it has failed as often as is allowed."""
        for number in range(LLM_TRIES):
            if not await self._daily_tokens.take(owner, request.prompt_tokens + request.reply_tokens):
                return Replied(None, over=True)
            self._counts.llm_prompt_tokens += request.prompt_tokens
            try:
                reply = await self._told(llm, owner, request, self._called(llm, request))
            except Exception as error:
                self._counts.llm_failures += 1
                await self._daily_tokens.give_back(owner, request.reply_tokens)
                asked_s = 0.0
                if isinstance(error, ProviderError):
                    asked_s = error.retry_after_s
                else:  # an LLM of the caller's own: its bug must not end the work of all
                    logger.warning("the LLM %s raised %s", llm.name, type(error).__name__)
                pause_s = max(asked_s, LLM_BACKOFF_S * 2**number)
                if number < LLM_TRIES - 1:
                    await self._clock.sleep(pause_s * (1 + self._draw_share() / 2))
            else:
                self._failures_in_a_row = 0
                return Replied(reply)
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= LLM_TRIES:
            self._rest_until_s = self._clock.monotonic_s() + LLM_REST_S
        return Replied(None)

    async def once(self, llm: LLM, owner: Owner, request: LLMRequest, within_s: float) -> Replied:
        """One call that is not tried again, for one who waits so many seconds; whether it fails rests nobody.

        Who cuts it off gets nothing back of the day's tokens: the reply may have been written.
        """
        if not await self._daily_tokens.take(owner, request.prompt_tokens + request.reply_tokens):
            return Replied(None, over=True)
        self._counts.llm_prompt_tokens += request.prompt_tokens
        try:
            asked = self._completed(llm, request, within_s)
            return Replied(await self._told(llm, owner, request, asked))
        except Exception as error:
            self._counts.llm_failures += 1
            if not isinstance(error, ProviderError):
                logger.warning("the LLM %s raised %s", llm.name, type(error).__name__)
            await self._daily_tokens.give_back(owner, request.reply_tokens)
        return Replied(None)

    async def counted(self, owner: Owner, request: LLMRequest, reply_tokens: int) -> None:
        """A reply had so many tokens: what was taken for it beyond them is given back."""
        self._counts.llm_reply_tokens += reply_tokens
        await self._daily_tokens.give_back(owner, request.reply_tokens - reply_tokens)

    async def _told(
        self, llm: LLM, owner: Owner, request: LLMRequest, asked: Coroutine[object, object, str]
    ) -> str:
        """The answer; observers are told of the call, however it ends."""
        began_s, error = self._clock.monotonic_s(), ""
        try:
            return await asked
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            elapsed_ms = (self._clock.monotonic_s() - began_s) * 1000
            self._observers.tell(
                ModelCalled(
                    owner=owner,
                    model=llm.name,
                    prompt_tokens=request.prompt_tokens,
                    elapsed_ms=elapsed_ms,
                    error=error,
                )
            )

    async def _called(self, llm: LLM, request: LLMRequest) -> str:
        """One answer within the deadline, whether or not the LLM keeps it."""
        with self._clock.deadline(self._deadline_s + LATE_S):
            return await self._completed(llm, request, self._deadline_s)
        raise ProviderError("it did not keep its deadline", provider=llm.name)

    async def _completed(self, llm: LLM, request: LLMRequest, deadline_s: float) -> str:
        """One answer. A shape is told of only where one is wanted: older LLMs know of none."""
        shape = {} if request.schema is None else {"schema": request.schema}
        reply: object = await llm.complete(
            request.prompt, tokens_max=request.reply_tokens, deadline_s=deadline_s, **shape
        )
        if not isinstance(reply, str) or not reply.strip():
            raise ProviderError("it gave no text", provider=llm.name)
        return reply
