"""One strategy's conversation with a model's server of its own: what each turn took, and what was read for it."""

from statistics import fmean
from time import perf_counter

import msgspec

from benchmarks import report
from benchmarks.conversation import SpokenTurn
from benchmarks.model_server import ModelServer, Read, Wires
from benchmarks.strategies import Strategy

__all__ = ["SENT_EVERY", "TIMES", "Asked", "Conversation"]

REPLY_SENTENCES = 3
SENT_EVERY = 4  # turns, by what would read everything at each
TIMES = ("first_token_ms", "processor_ms", "read_tokens")


class Asked(msgspec.Struct, frozen=True):
    """One turn: when it was, how long it took from the user's message, and what it cost the server.

    Attributes:
        weight: It and the turns before it that were not sent.
    """

    turn: int
    first_token_s: float
    read: Read
    weight: int

    def of(self, name: str) -> float | None:
        """A figure of it."""
        if name == "first_token_ms":
            return self.first_token_s * 1000
        if name == "processor_ms":
            return None if self.read.processor_s is None else self.read.processor_s * 1000
        return float(self.read.read_tokens)


class Conversation:
    """A strategy's turns, with the server that it has to itself.

    Args:
        rereading: Whether it is sent at every fourth turn only, once that does not extend what was sent before.
    """

    def __init__(self, strategy: Strategy, server: ModelServer, *, rereading: bool = False) -> None:
        self.asked: list[Asked] = []
        self._strategy, self._server, self._rereading = strategy, server, rereading
        self._sent: list[bytes] = []
        self._unsent_count = 0
        self._seen_s = server.processor_s()  # from here on: what starting took is left out
        self._spent_s: list[tuple[float, int]] = []

    async def take(self, turn: int, spoken: SpokenTurn) -> None:
        """One turn."""
        reply = short(spoken.reply)
        began_s = perf_counter()

        async def ask(messages: Wires) -> None:
            if not self._due(turn, messages):
                self._unsent_count += 1
                return
            built_s = perf_counter() - began_s
            read = await self._server.first_token(messages)
            self.asked.append(Asked(turn, built_s + read.first_token_s, read, 1 + self._unsent_count))
            await self._server.first_token([*messages, {"role": "assistant", "content": reply}])

        await self._strategy.take(spoken.user, reply, ask)
        if self.asked and self.asked[-1].turn == turn:
            self._spend(self.asked[-1].weight)
            self._unsent_count = 0

    def _spend(self, weight: int) -> None:
        now_s = self._server.processor_s()
        if now_s is not None and self._seen_s is not None:
            self._spent_s.append((now_s - self._seen_s, weight))
            self._seen_s = now_s

    def all_processor_s(self) -> float | None:
        """Of the whole conversation, the turns after the last that was sent as that one; None where none is told."""
        if not self._spent_s:
            return None
        last_s = self._spent_s[-1][0]
        return sum(spent_s * weight for spent_s, weight in self._spent_s) + last_s * self._unsent_count

    def _due(self, turn: int, messages: Wires) -> bool:
        wires = [msgspec.json.encode(message) for message in messages]
        extends = wires[: len(self._sent)] == self._sent
        due = extends or turn % SENT_EVERY == 0 or not self._rereading
        if due:
            self._sent = wires
        return due

    def figures(self) -> dict[str, report.Spread]:
        """What is told of it alone."""
        found: dict[str, report.Spread] = {}
        for name in TIMES:
            values = [
                value for one in self.asked if (value := one.of(name)) is not None for _ in range(one.weight)
            ]
            if values:
                short_name, _, unit = name.rpartition("_")
                found[name] = report.spread(values)
                found[f"{short_name}_mean_{unit}"] = report.spread([fmean(values)])
                found[f"{short_name}_p95_{unit}"] = report.spread([report.percentile(values, 0.95)])
        prompts = [one.read.read_tokens + one.read.cached_tokens for one in self.asked]
        found["prompt_tokens_max"] = report.spread([max(prompts)])
        found["asked_count"] = report.spread([len(self.asked)])
        all_s = self.all_processor_s()
        if all_s is not None:
            found["all_processor_s"] = report.spread([all_s])
        return found | {name: report.spread([value]) for name, value in self._strategy.figures().items()}


def short(reply: str) -> str:
    """The first sentences of a reply."""
    return ". ".join(reply.split(". ")[:REPLY_SENTENCES]).rstrip(".") + "."
