"""Long random lives of one owner's sessions, lived through the front door, and what every context must keep.

A life is a list of steps drawn from a seed. Two worlds may live the same one, and only one of them is closed
and opened again, or puts its sessions to rest: nothing else may tell them apart.

Law of the file: the checks read the wire and the items' list; they know nothing of how a context is made.
"""

import json
import random
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from actormem import Budget
from actormem.adapters.toktok import ToktokTokenizer
from tests.conversations import check_groups, wire_tokens
from tests.gated import Gate
from tests.runtimes import FakeClock, ScriptedEmbedder, opened

__all__ = ["FixedChance", "Step", "World", "drawn_life"]

Step = tuple[Any, ...]

TOOLS = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]
SYSTEMS = ("", "You help.", "你是商店的助手。", "Answer in French, and always briefly.")
QUESTIONS = (
    "What is my address?",
    "我住在哪里？",
    "What am I allergic to, and what do I like?",
    "你好",
    "Tell me about the weather and the train to the north, and what to eat on the way there, at some length.",
    "那我们明天再讨论这个问题吧，先看看火车票和天气怎么样，路上还要吃点东西。",
    "What is my budget, and which phone do I have?",
    "thanks",
)
STATEMENTS = (
    "My new address is {} Hill Street.",
    "I'm allergic to nut{}.",
    "我的预算是 {} 元。",
    "I like band{} a lot.",
    "我的手机号换成 13800138{} 了。",
)
REPLIES = ("OK.", "好的。", "I see. " + "That is a long story about trains, and I tell it gladly. " * 4)
RESULTS = ("sent", '{"status": "on its way"}', "row " * 60, "没有" * 120)
LINE = re.compile(r"^- \[(m\d+)(?: [\d-]+)?\] (.*)$", re.MULTILINE)
NOTE = re.compile(r"<memory-[0-9a-f]{8}>\n(.*?)\n</memory-[0-9a-f]{8}>", re.DOTALL)
COUNT = ToktokTokenizer().count
STEPS = (
    ("turn", 30),
    ("tools", 10),
    ("say", 10),
    ("elsewhere", 8),
    ("remember", 6),
    ("wait", 6),
    ("forget", 4),
    ("edit", 4),
    ("spawn", 5),
    ("rest", 4),
    ("reopen", 4),
    ("look", 6),
    ("query", 3),
    ("left", 3),
    ("late", 3),
)


class FixedChance:
    """Stands in for the system's randomness, so that two worlds draw the same nonces."""

    def __init__(self) -> None:
        self._chance = random.Random(5)

    def getrandbits(self, bits: int) -> int:
        """The next number of this world."""
        return self._chance.getrandbits(bits)

    def random(self) -> float:
        """The next share of this world."""
        return self._chance.random()


def drawn_life(seed: int, length: int) -> list[Step]:
    """A life: steps with all their chances drawn beforehand."""
    chance = random.Random(seed)
    names, weights = zip(*STEPS, strict=True)
    life: list[Step] = [("spawn", "s", 0, chance.random()), ("spawn", "o", 0, chance.random())]
    for number in range(length):
        [name] = chance.choices(names, weights)
        session = "s" if chance.random() < 0.75 else "o"
        life.append((name, session, number, chance.random()))
    return life


class World:
    """One owner, two sessions, a runtime that may be closed and opened again; every context is checked."""

    def __init__(self, folder: Path, gate: Gate, *, restless: bool) -> None:
        self.contexts: list[tuple[str, list[str]]] = []
        self.epoch_ends: list[str] = []
        self._folder = folder
        self._gate = gate
        self._restless = restless
        self._clock = FakeClock()
        self._runtime: Any = None
        self._stack = AsyncExitStack()
        self._sessions: dict[str, Any] = {}
        self._settings: dict[str, dict[str, Any]] = {"s": {}, "o": {}}
        self._before: dict[str, tuple[int, list[str]]] = {"s": (0, []), "o": (0, [])}
        self._gone: set[str] = set()
        self._edited: set[tuple[str, str]] = set()

    @asynccontextmanager
    async def living(self) -> AsyncGenerator["World", None]:
        """The world, open."""
        await self._open()
        try:
            yield self
        finally:
            await self._stack.aclose()

    async def take(self, step: Step) -> None:
        """Live one step, with everything in the background done behind it."""
        name, session, number, chance = step
        await getattr(self, f"_{name}")(session, number, chance)
        await self._clock.advance(1)
        await self._runtime.settle()

    # --- steps ----------------------------------------------------------------------------------------

    async def _turn(self, name: str, number: int, chance: float) -> None:
        async with self._begun(name, number) as turn:
            turn.reply(REPLIES[number % len(REPLIES)])

    async def _left(self, name: str, number: int, chance: float) -> None:
        async with self._begun(name, number):
            pass

    async def _tools(self, name: str, number: int, chance: float) -> None:
        async with self._begun(name, number) as turn:
            for place in range(1 + number % 3):
                ids = [f"call-{number}-{place}-{which}" for which in range(1 + int(chance * 3))]
                turn.reply({"role": "assistant", "content": None, "tool_calls": [_call(id) for id in ids]})
                for which, id in enumerate(ids):
                    if chance < 0.1 and which:
                        return  # its results never come
                    result = RESULTS[(number + place + which) % len(RESULTS)]
                    await turn.add({"role": "tool", "tool_call_id": id, "content": result})
                await self._runtime.settle()  # a summary that is on its way would make this context by chance
                await turn.context()
                await self._checked(name, turn.messages, turn.trace)
            turn.reply("Done.")

    async def _say(self, name: str, number: int, chance: float) -> None:
        said = STATEMENTS[int(chance * len(STATEMENTS))].format(100 + number)
        await self._sessions[name].add({"role": "user", "content": said})
        await self._sessions[name].add({"role": "assistant", "content": "Noted."})

    async def _elsewhere(self, name: str, number: int, chance: float) -> None:
        other = await self._runtime.spawn(f"e{number % 3}", user="ada")
        said = STATEMENTS[int(chance * len(STATEMENTS))].format(100 + number)
        async with other.turn(said) as turn:
            turn.reply("Noted.")

    async def _remember(self, name: str, number: int, chance: float) -> None:
        end = self._clock.now_ms() + int(chance * 200_000) + 2_000
        expires = _moment(end) if number % 2 else None
        attribute = ("address", "likes", "budget")[number % 3]
        text = f"The user's {attribute} is place{100 + number}."
        await self._runtime.remember(
            text, user="ada", attribute=attribute, value=f"place{100 + number}", expires=expires
        )

    async def _wait(self, name: str, number: int, chance: float) -> None:
        await self._clock.advance(10 + chance * 90)

    async def _rest(self, name: str, number: int, chance: float) -> None:
        await self._clock.advance(2_000)
        if self._restless:
            assert self._runtime.statistics().sessions.residents == 0
            await self._warm()

    async def _reopen(self, name: str, number: int, chance: float) -> None:
        if self._restless:
            await self._stack.aclose()
            await self._open()
            for one in ("s", "o"):
                self._sessions[one] = await self._runtime.spawn(one, user="ada")
            await self._warm()

    async def _warm(self) -> None:
        """Long-term memory is awake, and what it makes anew at each waking (vectors of windows) is there."""
        await self._runtime.items("ada")
        await self._runtime.settle()

    async def _forget(self, name: str, number: int, chance: float) -> None:
        items = [one for one in await self._runtime.items("ada") if one.kind != "episode"]
        if items:
            item = items[int(chance * len(items))]
            every = {one.id: one for one in await self._runtime.items("ada", history=True)}
            self._gone |= {one.value for one in _chain(item, every) if one.value}  # a summary has none
            await self._runtime.forget(item.id, user="ada")

    async def _edit(self, name: str, number: int, chance: float) -> None:
        items = [one for one in await self._runtime.items("ada") if one.kind != "episode"]
        if items:
            item = items[int(chance * len(items))]
            self._edited.add((item.id, item.text))
            await self._runtime.edit(item.id, f"The user's thing is edited{100 + number}.", user="ada")

    async def _spawn(self, name: str, number: int, chance: float) -> None:
        settings = {
            "budget": Budget(context=300 + int(chance * 7) * 100, keep_recent=number % 7),
            "system": SYSTEMS[number % len(SYSTEMS)],
            "tools": TOOLS if number % 2 else [],
        }
        self._sessions[name] = await self._runtime.spawn(name, user="ada", model="gpt-4o", **settings)
        self._settings[name] = settings

    async def _look(self, name: str, number: int, chance: float) -> None:
        context = await self._sessions[name].context()
        await self._checked(name, context.messages, context.trace)

    async def _query(self, name: str, number: int, chance: float) -> None:
        context = await self._sessions[name].context(query="What is my address?")
        self._bounded(name, context.messages, context.trace)

    async def _late(self, name: str, number: int, chance: float) -> None:
        await self._sessions[name].add({"role": "tool", "tool_call_id": f"none-{number}", "content": "late"})

    # --- what every context must keep -----------------------------------------------------------------

    @asynccontextmanager
    async def _begun(self, name: str, number: int) -> AsyncGenerator[Any, None]:
        """A turn, open, its first context checked; memory takes in what it says once that is made."""
        self._gate.shut()
        async with self._sessions[name].turn(QUESTIONS[number % len(QUESTIONS)]) as turn:
            self._gate.open()
            await self._checked(name, turn.messages, turn.trace)
            await self._corrected(turn.messages)
            yield turn

    async def _checked(self, name: str, messages: Any, trace: Any) -> None:
        self._bounded(name, messages, trace)
        now = [json.dumps(message) for message in messages]
        epoch, before = self._before[name]
        if trace.epoch == epoch:
            assert now[: len(before)] == before, "the prefix of an epoch changed"
            assert trace.epoch_end == ""
        elif epoch:
            assert trace.epoch_end, "an epoch ended without a reason"
            self.epoch_ends.append(trace.epoch_end)
        self._before[name] = trace.epoch, now
        self.contexts.append((name, now))

    def _bounded(self, name: str, messages: Any, trace: Any) -> None:
        settings = self._settings[name]
        tools = json.dumps(settings["tools"], separators=(",", ":")) if settings["tools"] else ""
        counted = wire_tokens(messages, tools, COUNT)
        assert counted <= trace.tokens <= settings["budget"].context, "over the budget"
        opened = [call["id"] for call in messages[-1].get("tool_calls") or ()] if messages else []
        check_groups(messages, opened)
        text = "\n".join(str(message.get("content")) for message in messages)
        for value in self._gone:
            assert value not in text, "what was forgotten is shown"
        assert not self._edited & set(_note_lines(messages)), "a note shows what was edited"
        ids = [(id, _ended(line)) for id, line in _note_lines(messages)]
        assert len(ids) == len(set(ids)), f"an item stands twice in the notes: {ids}"

    async def _corrected(self, messages: Any) -> None:
        """No note's superseded value stands without what replaces it, or its end, behind it."""
        every = {one.id: one for one in await self._runtime.items("ada", history=True)}
        lines = _note_lines(messages)
        for place, (id, text) in enumerate(lines):
            item = every[id]
            expired = 0 < item.expires_ms <= self._clock.now_ms()
            if (item.state == "live" and not expired) or _ended(text):
                continue
            later = "\n".join(line for _, line in lines[place + 1 :])
            assert item.value in later, f"{item.id} stands without its correction: {lines}"

    async def _open(self) -> None:
        self._stack = AsyncExitStack()
        self._runtime = await self._stack.enter_async_context(
            opened(
                self._folder,
                clock=self._clock,
                embedder=ScriptedEmbedder(),
                idle_s=1_000.0 if self._restless else 1e9,
            )
        )


def _note_lines(messages: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        content = message.get("content")
        for body in NOTE.findall(content if isinstance(content, str) else ""):
            found += LINE.findall(body)
    return found


def _ended(line: str) -> bool:
    return line.startswith(("no longer true: ", "已不再成立："))


def _chain(item: Any, every: dict[str, Any]) -> list[Any]:
    found = [item]
    while found[-1].supersedes in every:
        found.append(every[found[-1].supersedes])
    return found


def _call(id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "track", "arguments": '{"b":1, "a":2}'}}


def _moment(time_ms: int) -> Any:
    return datetime.fromtimestamp(time_ms / 1000, UTC)
