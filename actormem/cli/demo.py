"""`actormem demo`: a bundled support conversation, played through a real runtime, then probed."""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import count
from pathlib import Path

import anyio
import msgspec
from tqdm import tqdm

import actormem
from actormem import Budget, Runtime, Session, Turn
from actormem.cli.show import LINE_COLUMNS, Calls, clip, percentile, table

__all__ = ["demo"]

INDENT = "    "
REOPENED_DEADLINE_S = 5.0  # what is remembered is shown, however busy the machine
REPLACED = ("replaces", "取代", "(was", "no longer", "不再")  # how a note says that a value is an old one
Wire = Mapping[str, object]


class Step(msgspec.Struct, frozen=True):
    """A turn of the script: what the user says, and what the agent and its tools do."""

    user: str
    steps: list[Wire]


class Probe(msgspec.Struct, frozen=True):
    """A question asked at the end, and what the context must hold to answer it."""

    question: str
    expected: list[str]
    about: str
    language: str = ""
    forbidden_as_current: list[str] = []


class Question(msgspec.Struct, frozen=True):
    """A question in another session."""

    question: str
    expected: list[str] = []
    user: str = ""
    must_not_see: list[str] = []


class Script(msgspec.Struct, frozen=True):
    """The bundled conversation."""

    system: str
    user: str
    tools: list[Wire]
    turns: list[Step]
    probes: list[Probe]
    second_session: Question
    newcomer: Question


async def demo(options: argparse.Namespace) -> int:
    """Play, probe, reopen; 0 where every probe is answered from its context."""
    folder: Path | None = options.folder
    if folder is not None:
        return await _demo(folder, options.budget)
    with tempfile.TemporaryDirectory(prefix="actormem-demo-", ignore_cleanup_errors=True) as temporary:
        return await _demo(Path(temporary), options.budget)


async def _demo(folder: Path, budget_tokens: int) -> int:
    script = msgspec.json.decode(
        files("actormem.cli").joinpath("demo_conversation.json").read_bytes(), type=Script
    )
    async with actormem.open(folder) as runtime:
        session = await _spawn(runtime, "demo", script, budget_tokens)
        turns = f"{len(script.turns)} turns of a shop's support chat"
        print(f"{turns}, {budget_tokens} tokens a context, no LLM, no network.\n")
        calls, waits_ms = await _play(runtime, session, script)
        statistics = runtime.statistics()
        print(_figures(calls, waits_ms, statistics.summaries_extractive + statistics.summaries_llm))
        answered = await _probe(session, script)
    print(f"\nReopened {folder}:")
    async with actormem.open(folder, recall_deadline_s=REOPENED_DEADLINE_S) as runtime:
        remembered = await _ask_again(runtime, script, budget_tokens)
    total = len(script.probes)
    print(f"\n{answered} of {total} probes answered from the context; the second session {remembered[1]}.")
    return 0 if answered == total and remembered[0] else 1


async def _spawn(runtime: Runtime, name: str, script: Script, budget_tokens: int, user: str = "") -> Session:
    """A session that is new in this folder, whatever was played in it before."""
    owner = user or script.user
    taken = {row.session_id for row in await runtime.sessions(owner)}
    free = (f"{name}-{number}" for number in count(1))
    return await runtime.spawn(
        next(one for one in free if one not in taken),
        user=owner,
        model="gpt-4o",
        system=script.system,
        tools=script.tools,
        budget=_budget(budget_tokens),
        timezone="Asia/Shanghai",
    )


def _budget(tokens: int) -> Budget:
    """Small shares for what memory adds: one turn of this chat, tools included, is an eighth of a context."""
    return Budget(
        context=tokens,
        summary=tokens * 8 // 100,
        entities=tokens // 10,
        profile=0,
        compact_at=0.85,
        keep_recent=2,
    )


async def _play(runtime: Runtime, session: Session, script: Script) -> tuple[Calls, list[float]]:
    """Play every turn; what was sent, and the milliseconds from user message to ready context.

    Between turns background work comes to its end: no model replies here, and no user types.
    """
    calls, waits_ms = Calls(), list[float]()
    with tqdm(script.turns, unit=" turns", file=sys.stderr, leave=False) as bar:
        for number, step in enumerate(bar):
            began_s = anyio.current_time()
            async with session.turn(step.user, id=f"demo-{number}") as turn:
                waits_ms.append((anyio.current_time() - began_s) * 1000)
                calls.add(turn.trace)
                await _steps(turn, step, calls)
            await runtime.settle()
    return calls, waits_ms


async def _steps(turn: Turn, step: Step, calls: Calls) -> None:
    waiting = False
    for message in step.steps:
        if message["role"] == "assistant":
            if waiting:
                await turn.context()
                calls.add(turn.trace)
            turn.reply(message)
        else:
            await turn.add(message)
        waiting = message["role"] == "tool"


def _figures(calls: Calls, waits_ms: list[float], compactions: int) -> str:
    return table(
        [
            (
                "tokens sent",
                f"{calls.sent_tokens:,} of {calls.full_tokens:,} ({calls.sent_share:.0%} of full history)",
            ),
            ("largest context", f"{calls.largest_tokens:,} tokens"),
            ("compactions", f"{compactions}"),
            (
                "message to context",
                f"p50 {percentile(waits_ms, 0.5):.1f} ms, p95 {percentile(waits_ms, 0.95):.1f} ms, "
                f"max {max(waits_ms):.1f} ms",
            ),
            (
                "prefix share",
                f"{calls.prefix_share:.2f} of all tokens stood in the request before, byte for byte",
            ),
            *calls.degraded(),
        ]
    )


async def _probe(session: Session, script: Script) -> int:
    """Ask each probe in a turn of its own that is left unanswered; how many contexts hold the answer."""
    answered = 0
    for probe in script.probes:
        async with session.turn(probe.question) as turn:
            context = turn.messages
        lines = [_line_with(context, text) for text in probe.expected]
        stale = [text for text in probe.forbidden_as_current if is_current(context, text, probe.expected)]
        answered += all(lines) and not stale
        print(f"\n{'✓' if all(lines) and not stale else '✗'} {probe.question}")
        for text, line in zip(probe.expected, lines, strict=True):
            print(_shown(line, text))
        for text in stale:
            print(f"{INDENT}still stands as current: {text}")
    return answered


async def _ask_again(runtime: Runtime, script: Script, budget_tokens: int) -> tuple[bool, str]:
    """Another session of the same user, and one of another user; whether each sees what it should."""
    asked = script.second_session
    session = await _spawn(runtime, "second", script, budget_tokens)
    async with session.turn(asked.question) as turn:
        lines = [_line_with(turn.messages, text) for text in asked.expected]
    print(f"  {script.user} in a new session: {asked.question}")
    for text, line in zip(asked.expected, lines, strict=True):
        print(_shown(line, text))
    other = script.newcomer
    session = await _spawn(runtime, "newcomer", script, budget_tokens, other.user)
    async with session.turn(other.question) as turn:
        seen = [text for text in other.must_not_see if _line_with(turn.messages, text)]
    print(f"  {other.user}: {other.question}")
    print(
        "    sees another user's memory" if seen else "    nothing of another user's memory is in the context"
    )
    good = all(lines) and not seen
    return good, "remembers the user and only him" if good else "does not see what it should"


def _shown(line: str | None, text: str) -> str:
    if line is None:
        return f"{INDENT}missing: {text}"
    return INDENT + clip(line, LINE_COLUMNS - len(INDENT), around=text)


def _line_with(messages: Sequence[Wire], text: str) -> str | None:
    """The newest line of a context that holds the text."""
    return next((line for message in reversed(messages) for line in _lines(message) if text in line), None)


def is_current(messages: Sequence[Wire], text: str, newer: Sequence[str]) -> bool:
    """Whether a context says the text, and neither that line nor a later message says what replaced it."""
    for message in reversed(messages):
        lines = _lines(message)
        if any(text in line and not _is_replaced(line, text) for line in lines):
            return True
        if any(one in line for one in newer for line in lines):
            return False
    return False


def _is_replaced(line: str, text: str) -> bool:
    return any(mark in line.partition(text)[0] for mark in REPLACED)


def _lines(message: Wire) -> list[str]:
    content = message.get("content")
    return [line.strip() for line in content.splitlines()] if isinstance(content, str) else []
