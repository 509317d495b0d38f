"""Tokens of a request, counted apart from the library."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from actormem.adapters.toktok import ToktokTokenizer

__all__ = ["Counter"]

MESSAGE_TOKENS = 4  # around each, its role among them
REPLY_TOKENS = 3  # with which the reply begins
TEXTS_KEPT = 4_096


class Counter:
    """Counts in the o200k vocabulary, by the rule of OpenAI's cookbook.

    Attributes:
        text: Tokens of a text alone.
    """

    def __init__(self) -> None:
        self.text = lru_cache(TEXTS_KEPT)(ToktokTokenizer("o200k_base").count)

    def tokens(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Of a whole request."""
        return REPLY_TOKENS + sum(map(self.of, messages))

    def of(self, message: Mapping[str, Any]) -> int:
        """Of one message in it."""
        content: Any = message.get("content") or ""
        parts: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) else content
        calls: list[dict[str, Any]] = message.get("tool_calls") or []
        words = [str(part.get("text", "")) for part in parts]
        words += [str(call["function"][name]) for call in calls for name in ("name", "arguments")]
        return MESSAGE_TOKENS + sum(map(self.text, words))
