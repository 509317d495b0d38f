"""The one door to the openai package: its client, its errors made ours, and bodies read up to a size.

Law: one request is one attempt within one deadline; retries belong to who asks. No error holds a prompt, a
key or what the server wrote.
"""

import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import anyio.to_thread

from actormem.adapters.prefixes import repaired
from actormem.core.values import JsonValue
from actormem.errors import ProviderError, UsageError

__all__ = ["SAFE_WORD", "Connection", "ReplyError", "described", "read", "retry_after_s", "sendable"]

IN_FLIGHT_MAX = 8  # requests of one connection: 200 at once held the loop for 2.5 s, 20 for 0.2 s
RETRY_AFTER_S_MAX = 86_400.0  # what asks for more than a day is read as a day
SAFE_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")  # a code of the server's that cannot be anybody's words


class Connection:
    """A client that is made when it is first needed, and the one place where its errors become ours."""

    def __init__(self, name: str, api_key: str | None, base_url: str | None) -> None:
        self.name = name
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if self.base_url else None)
        if self._key is None:
            raise UsageError(f"{name} has no key", hint="set OPENAI_API_KEY, or give api_key or base_url")
        self.limiter = anyio.CapacityLimiter(1)
        self._in_flight = anyio.CapacityLimiter(IN_FLIGHT_MAX)
        self._client: Any = None

    async def client(self) -> Any:
        """The one client; made in a thread, because importing its package would hold the loop."""
        if self._client is None:
            made = await anyio.to_thread.run_sync(self._make, limiter=self.limiter, abandon_on_cancel=True)
            self._client = self._client or made
        return self._client

    async def call(self, ask: Callable[[Any], Awaitable[bytes]], deadline_s: float) -> bytes:
        """What `ask` reads, within the deadline, in which it may wait for one of the requests that are in flight.

        Raises:
            ProviderError: Anything else happened. It is raised outside of the handler, so that the provider's
                own error, which knows prompt and key, hangs on it nowhere.
        """
        failure = ProviderError(f"no answer within {deadline_s:g} s", provider=self.name)
        with anyio.move_on_after(deadline_s):
            try:
                client = await self.client()
                async with self._in_flight:
                    return await ask(client)
            except Exception as error:
                failure = described(error, self.name)
        raise failure

    async def aclose(self) -> None:
        """Close the client, if there is one; a later call makes another."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _make(self) -> Any:
        import openai

        return openai.AsyncOpenAI(api_key=self._key, base_url=self.base_url, max_retries=0)


class ReplyError(ValueError):
    """A reply that cannot be used; its text is ours and may be shown."""


async def read(request: Any, bytes_max: int) -> bytes:
    """The body of a reply, at most so long; leaving the block gives the connection back."""
    content = bytearray()
    async with request as response:
        with anyio.CancelScope() as reading:
            async for part in response.iter_bytes():
                if len(content) + len(part) > bytes_max:
                    # Leaving the loop would leave the client's own generators open; cancelling ends them all.
                    reading.cancel()
                else:
                    content += part
    if reading.cancel_called:
        raise ReplyError(f"the reply has more than {bytes_max} bytes")
    return bytes(content)


def described(error: Exception, provider: str) -> ProviderError:
    """Our error for one of the client's: its kind, status and code, and none of its words."""
    if isinstance(error, ReplyError):
        return ProviderError(str(error), provider=provider)
    status = getattr(error, "status_code", 0)
    code = getattr(error, "code", None)
    named = f", code {code}" if isinstance(code, str) and SAFE_WORD.fullmatch(code) else ""
    return ProviderError(
        f"{type(error).__name__}, status {status}{named}",
        provider=provider,
        status=status,
        retry_after_s=retry_after_s(getattr(getattr(error, "response", None), "headers", {})),
    )


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Seconds to wait by the reply's headers, as a number or as a date; 0.0 where they do not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except ValueError:
                continue
        if 0 < seconds < float("inf"):
            return min(seconds, RETRY_AFTER_S_MAX)
    return 0.0


def sendable(value: JsonValue) -> Any:
    """The value with every text fit for UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else repaired(value)
    if isinstance(value, Mapping):
        return {repaired(key): sendable(entry) for key, entry in value.items()}
    if isinstance(value, Sequence):
        return [sendable(entry) for entry in value]
    return value
