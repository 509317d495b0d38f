"""What an error may tell of what was given: the rule at the head of `actormem.errors`, at every door."""

import traceback
from collections.abc import Awaitable, Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

import actormem
from actormem import ActorMemError, Budget, Layout, ProviderError, UsageError
from actormem.errors import given_as
from tests.runtimes import ScriptedEmbedder, answered, opened

pytestmark = pytest.mark.anyio

CANARY = "Quetzalwort"
Call = Callable[[actormem.Runtime, actormem.Session], Awaitable[object]]
CALLS: dict[str, Call] = {
    "timezone": lambda r, s: r.spawn("t", user="u", timezone=CANARY),
    "policy": lambda r, s: r.spawn("t", user="u", policy=CANARY),  # type: ignore[arg-type]
    "budget": lambda r, s: r.spawn("t", user="u", budget=CANARY),  # type: ignore[arg-type]
    "user": lambda r, s: r.spawn("t", user=CANARY + "\n"),
    "session id": lambda r, s: r.spawn(CANARY * 99, user="u"),
    "base": lambda r, s: r.spawn("t", user="u", knowledge=[CANARY]),
    "field": lambda r, s: r.import_knowledge("b", [{"text": "words", CANARY: 1}]),
    "document": lambda r, s: r.import_knowledge("b", [{"text": "words", "id": CANARY + "\0"}]),
    "document time": lambda r, s: r.import_knowledge("b", [{"text": "words", "time": CANARY}]),
    "role": lambda r, s: s.add({"role": CANARY, "content": CANARY}),
    "content": lambda r, s: s.add({"role": "user", "content": {CANARY: {CANARY}}}),
    "time": lambda r, s: s.add({"role": "user", "content": "x", "time": CANARY}),
    "part": lambda r, s: s.add({"role": "user", "content": [{"type": CANARY, CANARY: {CANARY}}]}),
    "calls": lambda r, s: s.add({"role": "assistant", "tool_calls": [{CANARY: CANARY}]}),
    "turn": lambda r, s: s.rewind(CANARY),
    "trace": lambda r, s: s.trace(CANARY),
    "item": lambda r, s: r.item(CANARY, user="u"),
    "edit": lambda r, s: r.edit(CANARY, CANARY, user="u"),
    "forget": lambda r, s: r.forget("m1", user="u", sources=CANARY),  # type: ignore[arg-type]
    "kind": lambda r, s: r.remember(CANARY, user="u", kind=CANARY),  # type: ignore[arg-type]
    "importance": lambda r, s: r.remember(CANARY, user="u", importance=CANARY),  # type: ignore[arg-type]
    "expiry": lambda r, s: r.remember(CANARY, user="u", expires=CANARY),  # type: ignore[arg-type]
    "memory": lambda r, s: r.remember(CANARY * 9_999, user="u"),
    "query": lambda r, s: r.recall(CANARY * 9_999, user="u"),
    "limit": lambda r, s: r.recall("x", user="u", limit=CANARY),  # type: ignore[arg-type]
    "deep": lambda r, s: r.recall("x", user="u", deep=CANARY),  # type: ignore[arg-type]
    "deadline": lambda r, s: r.recall("x", user="u", deadline_s=CANARY),  # type: ignore[arg-type]
    "score": lambda r, s: r.recall("x", user="u", min_score=CANARY),  # type: ignore[arg-type]
    "task": lambda r, s: s.task.set(CANARY, values={CANARY: CANARY * 999}),
    "removed": lambda r, s: r.remove_knowledge(CANARY),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_no_error_quotes_what_a_program_passes_on_from_its_users(call: Call) -> None:
    async with opened() as runtime:
        session = await runtime.spawn("s", user="u")
        with pytest.raises(ActorMemError) as caught:
            await call(runtime, session)
        assert CANARY not in "".join(traceback.format_exception(caught.value, limit=0))
        assert CANARY not in getattr(caught.value, "hint", "")


@pytest.mark.parametrize(
    "make", [lambda: Budget(context=CANARY), lambda: Layout(notes=CANARY)], ids=["budget", "layout"]
)
def test_settings_of_a_session_are_told_by_their_type(make: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match="not a str") as caught:
        make()
    assert CANARY not in str(caught.value)


async def test_a_field_that_is_unknown_is_told_by_its_place() -> None:
    async with opened() as runtime:
        with pytest.raises(UsageError, match="field 2 of document 3 is unknown"):
            await runtime.import_knowledge("b", ["one", "two", {"text": "three", CANARY: "x"}])


async def test_the_files_of_a_memory_and_the_settings_of_open_are_named(tmp_path: Path) -> None:
    """They are the program's own, and it could not find the mistake without them."""
    with pytest.raises(UsageError, match="durability must be 'power' or 'process', not 'fast'"):
        async with actormem.open(None, durability="fast"):  # type: ignore[arg-type]
            pass
    async with opened() as runtime:
        with pytest.raises(UsageError, match=r"gone\.md"):
            await runtime.import_knowledge("b", [tmp_path / "gone.md"])


class Three(IntEnum):
    """A number that writes itself in words."""

    Quetzalwort = 3


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (7, "7"),
        (-1.5, "-1.5"),
        (True, "True"),
        (None, "None"),
        (Three.Quetzalwort, "3"),
        (10**5_000, "a longer number"),
        (CANARY, "a str"),
        ([CANARY], "a list"),
    ],
    ids=["whole", "fraction", "switch", "none", "enum", "too long", "text", "list"],
)
def test_numbers_and_switches_are_told_as_they_are_and_all_else_by_its_type(value: object, told: str) -> None:
    assert given_as(value) == told


async def test_an_embedders_own_error_hangs_on_ours_nowhere() -> None:
    """A provider's words may hold the texts it was sent."""
    embedder = ScriptedEmbedder()
    async with opened(embedder=embedder) as runtime:
        await answered(await runtime.spawn("s", user="u"), "I live in Turku.")
        embedder.failure = KeyError(CANARY)
        with pytest.raises(ProviderError) as caught:
            await runtime._services.embed(["x"])
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        assert "KeyError" in str(caught.value)
