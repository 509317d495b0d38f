"""Runtimes for tests of the front door: scripted models, a clock that stands still, nothing from outside."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.lowlevel
import msgspec

import actormem
from actormem.core.values import JsonValue
from actormem.testing.clock import FakeClock, settle
from actormem.testing.fakes import ScriptedEmbedder, ScriptedLLM

__all__ = [
    "FakeClock",
    "ScriptedEmbedder",
    "ScriptedLLM",
    "Wire",
    "answered",
    "bytes_of",
    "chunk",
    "files_holding",
    "opened",
    "settle",
    "words",
]

Wire: TypeAlias = Mapping[str, JsonValue]


@asynccontextmanager
async def opened(
    path: Path | None = None,
    *,
    llm: ScriptedLLM | None = None,
    embedder: ScriptedEmbedder | None = None,
    clock: FakeClock | None = None,
    extract: bool = False,
    **options: object,
) -> AsyncGenerator[actormem.Runtime, None]:
    """A runtime whose time stands still unless the test moves it; no actor of it may crash unseen.

    What a scripted LLM is asked for are summaries, unless the test wants facts too.
    """
    async with actormem.open(
        path,
        llm=llm,
        embedder=embedder or ScriptedEmbedder(),
        clock=clock or FakeClock(),
        extract=extract,
        durability="process",
        **options,  # type: ignore[arg-type]
    ) as runtime:
        yield runtime
        after = runtime.statistics()
        for kind in (after.sessions, after.summarizer, after.longterm, after.upkeep):
            assert kind.restarts == kind.given_up == 0, kind.last_crash


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds, however long a thread takes; fails after a minute."""
    with anyio.fail_after(60):
        while not await holds():
            await anyio.lowlevel.checkpoint()


async def answered(session: actormem.Session, said: str, reply: str = "OK.") -> list[dict[str, JsonValue]]:
    """One whole turn; gives the messages the model saw."""
    async with session.turn(said) as turn:
        turn.reply(reply)
        return turn.messages


def words(messages: Sequence[Wire]) -> str:
    """All that stands in these messages, as text one can search."""
    return msgspec.json.encode(messages).decode()


def bytes_of(messages: Sequence[Wire]) -> list[bytes]:
    """Each message as bytes, key order kept: what a prefix cache compares."""
    return [msgspec.json.encode(one) for one in messages]


def chunk(
    text: str | None = None, *, calls: Sequence[Wire] = (), finish: str | None = None
) -> dict[str, object]:
    """A chunk as chat completions stream them."""
    delta: dict[str, object] = {}
    if text is not None:
        delta["content"] = text
    if calls:
        delta["tool_calls"] = list(calls)
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def files_holding(folder: Path, canary: str) -> list[str]:
    """Names of the files under the folder that hold the canary, as UTF-8 or as JSON writes it."""
    forms = {canary.encode(), canary.encode("utf-16-le"), msgspec.json.encode(canary)[1:-1]}
    return sorted(_holding(folder, forms))


def _holding(folder: Path, forms: set[bytes]) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            yield str(path.relative_to(folder))
