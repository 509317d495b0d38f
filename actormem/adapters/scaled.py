"""A known vocabulary times a factor, for models whose own vocabulary is not here.

Law: never below the base count, never above the bytes.
"""

import math

from actormem.adapters.bytes import BytesTokenizer
from actormem.adapters.prefixes import shrunk_prefix
from actormem.errors import UsageError
from actormem.ports import Tokenizer

__all__ = ["ScaledTokenizer"]

FACTOR_MAX = 16.0  # beyond it the byte bound is always the smaller one


class ScaledTokenizer:
    """Counts `factor` times what `base` counts, rounded up, and at most the bytes of the text.

    Args:
        base: What is scaled.
        factor: From 1 to 16.

    Raises:
        UsageError: The factor is outside its range.
    """

    def __init__(self, base: Tokenizer, factor: float) -> None:
        if not 1.0 <= factor <= FACTOR_MAX:
            raise UsageError(f"factor must be from 1 to {FACTOR_MAX:g}, not {factor:g}")
        self._base = base
        self._factor = factor
        self._bytes = BytesTokenizer()

    @property
    def name(self) -> str:
        return f"{self._base.name}*{self._factor:g}"

    @property
    def exact(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<ScaledTokenizer {self.name}, bound>"

    def count(self, text: str) -> int:
        base = self._base.count(text)
        return max(base, min(math.ceil(self._factor * base), self._bytes.count(text)))

    def truncate(self, text: str, tokens: int) -> str:
        if tokens <= 0:
            return ""
        allowed = math.floor(tokens / self._factor) + 1
        while math.ceil(self._factor * allowed) > tokens:
            allowed -= 1
        # Either bound alone is enough: the longer of the two prefixes is within the smaller count.
        by_bytes = self._bytes.truncate(text, tokens)
        by_base = self._base.truncate(text, allowed)
        return shrunk_prefix(text, max(len(by_base), len(by_bytes)), tokens, self.count)
