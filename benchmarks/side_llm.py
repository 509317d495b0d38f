"""A model for background work that says what any model might, and counts what it is sent and says."""

from collections.abc import Mapping, Sequence

from anyio.lowlevel import checkpoint

from actormem.adapters.toktok import ToktokTokenizer
from actormem.ports import JsonValue

__all__ = ["NO_FACTS", "SideLLM"]

SUMMARY_TOKENS = 120
NO_FACTS = '{"facts": []}'


class SideLLM:
    """The `LLM` port: a summary is the beginning of what is to be summarized, and no fact is ever found.

    Args:
        summary: What every summary is instead; the worst one keeps nothing.

    Attributes:
        tokens: Of all prompts and replies so far, in the o200k vocabulary.
        call_count: Calls so far.
    """

    def __init__(self, summary: str = "") -> None:
        self._summary = summary
        self.tokens = 0
        self.call_count = 0
        self._tokenizer = ToktokTokenizer("o200k_base")

    @property
    def name(self) -> str:
        """What it is called."""
        return "side"

    @property
    def window_tokens(self) -> int:
        """As models commonly have it."""
        return 32_768

    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        tokens_max: int,
        deadline_s: float,  # noqa: ARG002  # it answers at once
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str:
        """No facts where a shape is asked for, else the beginning of the last message."""
        await checkpoint()
        prompt = [str(message["content"]) for message in messages]
        beginning = self._summary or self._tokenizer.truncate(prompt[-1], min(tokens_max, SUMMARY_TOKENS))
        reply = NO_FACTS if schema else beginning
        self.call_count += 1
        self.tokens += sum(map(self._tokenizer.count, [*prompt, reply]))
        return reply

    async def aclose(self) -> None:
        """Nothing is open."""
