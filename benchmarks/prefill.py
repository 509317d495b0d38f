"""How long a model reads before its first token: what of a prompt it has not read before, at so many tokens a second.

A server keeps what it has read of a prompt as long as it has room, and finds it again where a later prompt begins with
the very same words. Here that is kept by whole messages: one that differs, and all that follow it, are read anew.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

__all__ = ["PrefixCache", "Read"]


class Read(msgspec.Struct, frozen=True):
    """Tokens of a prompt, and how many of them it need not read again."""

    tokens: int
    cached_tokens: int

    @property
    def new_tokens(self) -> int:
        """How many it must read."""
        return self.tokens - self.cached_tokens


class PrefixCache:
    """Beginnings of prompts that were read, the least recently used leaving first.

    Args:
        room_tokens: Tokens of whole beginnings it keeps; each message of one counts once.
        count: Tokens of a text.
    """

    def __init__(self, room_tokens: int, count: Callable[[str], int]) -> None:
        self._room_tokens = room_tokens
        self._count = count
        self._kept: OrderedDict[bytes, int] = OrderedDict()
        self._tokens = 0

    def read(self, messages: Sequence[Mapping[str, Any]]) -> Read:
        """Read a prompt, and keep it."""
        mark, tokens, cached, begins = b"", 0, 0, True
        for message in messages:
            text = json.dumps(message, ensure_ascii=False, sort_keys=True)
            size = self._count(text)
            mark = hashlib.blake2b(mark + text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            tokens += size
            begins = begins and mark in self._kept
            cached += size if begins else 0
            self._keep(mark, size)
        return Read(tokens, cached)

    def _keep(self, mark: bytes, tokens: int) -> None:
        if mark in self._kept:
            self._kept.move_to_end(mark)
            return
        self._kept[mark] = tokens
        self._tokens += tokens
        while self._tokens > self._room_tokens:
            _, left = self._kept.popitem(last=False)
            self._tokens -= left
