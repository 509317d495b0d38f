"""A chat model and an embedder that do what a test tells them, with no network and no chance.

Law: both keep the promises of their ports, so that a test which passes with them says something.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import anyio
import anyio.lowlevel
import numpy as np

from actormem.core.values import JsonValue
from actormem.errors import ProviderError
from actormem.kernel.clock import Clock, SystemClock
from actormem.ports import Vectors

__all__ = ["ScriptedEmbedder", "ScriptedLLM"]

Messages: TypeAlias = Sequence[Mapping[str, JsonValue]]
Reply: TypeAlias = str | Exception


class ScriptedLLM:
    """A chat model that answers by a script.

    Args:
        replies: Answers in order, exceptions being raised; or a function of the messages that gives an answer
            or an exception, for as many calls as come. A list that has run out is a ProviderError.
        delay_s: Each call takes this long, in seconds of `clock`.
        clock: What is slept by.
        wait_for: Each call waits for this event first. May be set later, as an attribute.
        name: What it calls itself.
        window_tokens: Tokens its context holds.

    Attributes:
        prompts: The messages of every call, in order, also of those that failed.
        schemas: The shape that each call asked for, None where it asked for words.
        in_flight_count: Calls that are being answered now.
        in_flight_max_count: The most there were at once.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Messages], Reply] = (),
        *,
        delay_s: float = 0.0,
        clock: Clock | None = None,
        wait_for: anyio.Event | None = None,
        name: str = "scripted",
        window_tokens: int = 8_192,
    ) -> None:
        self.prompts: list[tuple[Mapping[str, JsonValue], ...]] = []
        self.schemas: list[Mapping[str, JsonValue] | None] = []
        self.in_flight_count = 0
        self.in_flight_max_count = 0
        self.closed = False
        self.wait_for = wait_for
        self.delay_s = delay_s
        self._replies: list[Reply] = [] if callable(replies) else list(replies)
        self._reply = replies if callable(replies) else None
        self._clock = clock or SystemClock()
        self._name = name
        self._window_tokens = window_tokens

    @property
    def name(self) -> str:
        return self._name

    @property
    def window_tokens(self) -> int:
        return self._window_tokens

    @property
    def call_count(self) -> int:
        """Calls so far, with those that failed."""
        return len(self.prompts)

    async def complete(
        self,
        messages: Messages,
        *,
        tokens_max: int,
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """The next answer of the script, whatever shape is asked for.

        Raises:
            ProviderError: The script ran out, the answer is empty, or `deadline_s` passed.
        """
        del tokens_max  # a script is as long as it is
        self.prompts.append(tuple(messages))
        self.schemas.append(schema)
        reply = self._next(messages)
        self.in_flight_count += 1
        self.in_flight_max_count = max(self.in_flight_max_count, self.in_flight_count)
        try:
            with self._clock.deadline(deadline_s) as scope:
                await anyio.lowlevel.checkpoint()
                if self.wait_for is not None:
                    await self.wait_for.wait()
                if self.delay_s:
                    await self._clock.sleep(self.delay_s)
        finally:
            self.in_flight_count -= 1
        if scope.cancelled_caught:
            raise ProviderError(f"no answer within {deadline_s:g} s", provider=self._name)
        if isinstance(reply, Exception):
            raise reply
        if not reply.strip():
            raise ProviderError("the answer is empty", provider=self._name)
        return reply

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _next(self, messages: Messages) -> Reply:
        if self._reply is not None:
            return self._reply(messages)
        if not self._replies:
            return ProviderError(f"the script has no answer for call {self.call_count}", provider=self._name)
        return self._replies.pop(0)


class ScriptedEmbedder:
    """An embedder whose vectors count character pairs: texts that share characters are near each other.

    The same text gives the same vector in every process. Chinese and English work alike.

    Args:
        dimensions: Numbers in a vector; at least 1.
        failure: Raised by every `embed` while it is set.
        wait_for: Every `embed` waits for this event while it is set.
        name: What it calls itself.

    Attributes:
        texts: Every text it was given, in order, also those of calls that failed.
        call_count: Calls of `embed`.
        start_count: Calls of `start`.
    """

    def __init__(
        self,
        dimensions: int = 64,
        *,
        failure: Exception | None = None,
        wait_for: anyio.Event | None = None,
        name: str = "scripted",
    ) -> None:
        self.failure = failure
        self.wait_for = wait_for
        self.texts: list[str] = []
        self.call_count = 0
        self.start_count = 0
        self.closed = False
        self._dimensions = dimensions
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def start(self) -> None:
        """Remember that it was started."""
        self.start_count += 1

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, all zeros for a text without characters."""
        self.call_count += 1
        self.texts.extend(texts)
        await anyio.lowlevel.checkpoint()
        if self.wait_for is not None:
            await self.wait_for.wait()
        if self.failure is not None:
            raise self.failure
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._count_pairs(row, text)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        lengths[lengths == 0] = 1
        rows /= lengths[:, None]
        return rows

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _count_pairs(self, row: Vectors, text: str) -> None:
        characters = "".join(text.casefold().split())
        for size in (1, 2):
            for start in range(len(characters) - size + 1):
                pair = characters[start : start + size].encode("utf-8", "surrogatepass")
                row[zlib.crc32(pair) % self._dimensions] += size
