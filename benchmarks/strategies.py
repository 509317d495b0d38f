"""Ways to keep a conversation within a model's context: what is sent at each turn, by the usual ones and by ours.

All count with the same tokenizer and send the same system prompt.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import actormem
from actormem.adapters.warming import OpenAIWarmer
from actormem.wiring import Tokenizers
from benchmarks.model_server import Wires

__all__ = ["FullHistory", "NoteAtTheHead", "Ours", "SlidingWindow", "Strategy", "opened"]

SYSTEM = "You are a patient assistant."
COUNTED_AS = "gpt-4o"
OVERHEAD_TOKENS = 4  # of a message
NOTE_MESSAGES = 3
NOTE_CHARS_MAX = 240  # of each, about 60 tokens

Ask = Callable[[Wires], Awaitable[None]]


class Strategy(Protocol):
    """Takes the turns of one conversation, one after another."""

    async def take(self, user: str, reply: str, ask: Ask) -> None:
        """Ask the model with what it needs for this turn; it answers `reply`, whatever it says."""
        ...

    def figures(self) -> dict[str, float]:
        """What else is to be told of the conversation."""
        ...


class FullHistory:
    """Everything, for ever: each request extends the one before."""

    def __init__(self) -> None:
        self.said: list[dict[str, str]] = []

    async def take(self, user: str, reply: str, ask: Ask) -> None:
        """Ask with all that was said."""
        self.said.append({"role": "user", "content": user})
        await ask(self.messages())
        self.said.append({"role": "assistant", "content": reply})

    def messages(self) -> Wires:
        """What is sent."""
        return [{"role": "system", "content": SYSTEM}, *self.said]

    def figures(self) -> dict[str, float]:
        """Nothing else."""
        return {}


class SlidingWindow(FullHistory):
    """The newest messages that fit: once it is full, every request begins otherwise than the one before."""

    def __init__(self, budget_tokens: int) -> None:
        super().__init__()
        self._tokenizer = Tokenizers().get(COUNTED_AS)
        self._budget_tokens = budget_tokens

    def messages(self) -> Wires:
        """The system prompt, and what fits behind it."""
        return [{"role": "system", "content": SYSTEM}, *self.window(self._budget_tokens - self.count(SYSTEM))]

    def window(self, room_tokens: int) -> Wires:
        """The newest messages that fit, from a user's on."""
        first = len(self.said)
        while first and room_tokens >= (tokens := self.count(self.said[first - 1]["content"])):
            room_tokens -= tokens
            first -= 1
        kept = self.said[first:]
        return kept[1:] if kept and kept[0]["role"] == "assistant" else kept

    def count(self, text: str) -> int:
        """Tokens of a message."""
        return self._tokenizer.count(text) + OVERHEAD_TOKENS


class NoteAtTheHead(SlidingWindow):
    """A sliding window, and in the system prompt the earlier messages that share most words with the newest one."""

    def messages(self) -> Wires:
        """The system prompt with its note, and what fits behind it."""
        newest = words(self.said[-1]["content"])
        alike = sorted(self.said[:-1], key=lambda one: -len(newest & words(one["content"])))
        lines = [one["content"][:NOTE_CHARS_MAX] for one in alike[:NOTE_MESSAGES]]
        head = "\n".join([SYSTEM, *(["What was said before:"] if lines else []), *lines])
        return [{"role": "system", "content": head}, *self.window(self._budget_tokens - self.count(head))]


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(re.findall(r"\w{4,}", text.lower()))


class Ours:
    """A session of this library; the next turn begins when its background work is done."""

    def __init__(self, runtime: actormem.Runtime, session: actormem.Session) -> None:
        self._runtime = runtime
        self._session = session
        self._epochs = self._degraded = 0

    async def take(self, user: str, reply: str, ask: Ask) -> None:
        """Ask with the turn's context."""
        async with self._session.turn(user) as turn:
            await ask(turn.messages)
            self._epochs += bool(turn.trace.epoch_end)
            self._degraded += bool(turn.trace.degraded)
            turn.reply(reply)
        await self._runtime.settle()

    def figures(self) -> dict[str, float]:
        """How often a context was no extension, how many a step was late for, and what was sent ahead."""
        counts = self._runtime.statistics()
        return {
            "epochs": self._epochs,
            "degraded": self._degraded,
            "prewarms": counts.prewarms,
            "prewarms_lost": counts.prewarm_failures + counts.prewarms_dropped,
        }


@asynccontextmanager
async def opened(
    budget_tokens: int, layout: actormem.Layout, embedder: str, prewarm_url: str = ""
) -> AsyncGenerator[Ours, None]:
    """A conversation of ours, kept in memory.

    Args:
        prewarm_url: Of the server that reads a new context ahead; empty: nobody does.
    """
    given: dict[str, Any] = {}
    if prewarm_url:
        given["prewarm"] = OpenAIWarmer(base_url=prewarm_url, api_key="none")
    async with actormem.open(None, embedder=embedder, **given) as runtime:
        session = await runtime.spawn(
            "benchmark",
            user="ada",
            model=COUNTED_AS,
            system=SYSTEM,
            budget=actormem.Budget(context=budget_tokens),
            layout=layout,
        )
        yield Ours(runtime, session)
