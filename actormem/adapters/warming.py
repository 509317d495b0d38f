"""Prewarming over OpenAI's protocol: one request for one token, the words of its reply unread.

Law: what is sent are the bytes the session's own next request begins with; the package is the same that sends it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from actormem.adapters.openai import other_limit_word, refuses_argument
from actormem.adapters.openai_client import Connection, read, sendable
from actormem.core.values import JsonValue

__all__ = ["OpenAIWarmer"]

REPLY_BYTES_MAX = 64 * 1024  # one token, and what servers say about it


class OpenAIWarmer:
    """A warmer for OpenAI, or for any server that speaks its protocol.

    Args:
        api_key: None takes `OPENAI_API_KEY`; a server given by `base_url` may need none.
        base_url: None takes `OPENAI_BASE_URL`, else OpenAI itself.

    Raises:
        UsageError: There is neither a key nor a server that may do without one.
    """

    def __init__(self, *, api_key: str | None = None, base_url: str | None = None) -> None:
        self._connection = Connection("openai", api_key, base_url)
        # OpenAI's newer models refuse the old word, most other servers know only that one.
        self._limit_word = "max_tokens" if self._connection.base_url else "max_completion_tokens"

    @property
    def name(self) -> str:
        return self._connection.name

    def __repr__(self) -> str:
        return f"<OpenAIWarmer {self._connection.base_url or 'OpenAI'}>"

    async def warm(
        self,
        model: str,
        messages: Sequence[Mapping[str, JsonValue]],
        tools: Sequence[Mapping[str, JsonValue]],
        *,
        deadline_s: float,
    ) -> None:
        """Send the one request.

        Raises:
            ProviderError: It failed, or was not answered within `deadline_s`.
        """
        arguments: dict[str, Any] = {"model": model, "messages": [sendable(one) for one in messages]}
        if tools:
            arguments["tools"] = [sendable(one) for one in tools]

        async def ask(client: Any) -> bytes:
            word = self._limit_word
            try:
                return await self._attempt(client, {**arguments, word: 1})
            except Exception as error:
                if not refuses_argument(error, word):
                    raise
            self._limit_word = other_limit_word(word)
            return await self._attempt(client, {**arguments, self._limit_word: 1})

        await self._connection.call(ask, deadline_s)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._connection.aclose()

    async def _attempt(self, client: Any, arguments: dict[str, Any]) -> bytes:
        completions = client.chat.completions.with_streaming_response
        return await read(completions.create(**arguments), REPLY_BYTES_MAX)
