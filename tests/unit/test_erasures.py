"""A forgetting that a crash cuts off is done at the next opening, wherever it was cut off."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import pytest

import actormem
from actormem import Budget, NotFoundError, Retention
from actormem.core.erasure import FILES
from actormem.core.values import Owner
from tests.copied import Copies, copied
from tests.gated import gated
from tests.runtimes import FakeClock, ScriptedLLM, Wire, answered, files_holding, opened, settle, words

pytestmark = pytest.mark.anyio

CANARY = "9 Quillon Walk"
SAID = f"My new address is {CANARY}."
DEPOT = "11 Tarnwell Yard"
PASSAGE = f"# Depot\n\nThe depot for returned kettles stands at {DEPOT}, behind the mill.\n"
QUESTION = "Where is the depot for returned kettles?"
DAY_S = 86_400.0
Forget = Callable[[actormem.Runtime], Awaitable[object]]


def summary(prompt: Sequence[Wire]) -> str:
    moved = f"The user moved to {CANARY}. " if CANARY in words(prompt) else ""
    return f"{moved}The user asked about the weather."


async def lived(runtime: actormem.Runtime) -> None:
    """Put the canary into messages, items, notes, blocks, tasks and caches of ada, and into the notes of bob."""
    await runtime.import_knowledge("depot", [{"id": "d", "text": PASSAGE}])
    said = await runtime.spawn("said", user="ada", budget=Budget(context=500, recall=0))
    await answered(said, SAID)
    for number in range(9):
        await answered(said, f"And what about the weather in city number {number}, please, at some length?")
        await runtime.settle()
    shown = await runtime.spawn("shown", user="ada")
    await shown.task.set(f"send it to {CANARY}")
    assert CANARY in words(await answered(shown, "What is my address?"))
    for user in ("ada", "bob"):
        base = await runtime.spawn("base", user=user, knowledge=["depot"])
        assert DEPOT in words(await answered(base, QUESTION))
    await runtime.settle()


async def seen(runtime: actormem.Runtime, user: str) -> str:
    """All that can be seen of a user through the front door."""
    found = [repr(await runtime.items(user, history=True))]
    found += [repr(await runtime.recall(query, user=user, limit=100)) for query in ("address", CANARY)]
    for row in await runtime.sessions(user):
        session = await runtime.spawn(row.session_id, user=user)
        found += [message.wire for message in await session.messages()]
        found += [words((await session.context()).messages)]
        found += [words((await session.context(query="What is my address?")).messages)]
    return "\n".join(found)


async def address(runtime: actormem.Runtime) -> actormem.Item | None:
    return await runtime.value("ada", "address")


async def forgotten_item(runtime: actormem.Runtime) -> None:
    item = await address(runtime)
    assert item is not None
    await runtime.forget(item.id, user="ada")


async def forgotten_session(runtime: actormem.Runtime) -> None:
    await runtime.forget_session("said", user="ada")


async def forgotten_user(runtime: actormem.Runtime) -> None:
    await runtime.forget_user("ada")


async def removed_base(runtime: actormem.Runtime) -> None:
    await runtime.remove_knowledge("depot")


async def changed_document(runtime: actormem.Runtime) -> None:
    await runtime.import_knowledge("depot", [{"id": "d", "text": PASSAGE.replace(DEPOT, "the old mill")}])


KINDS = [
    (forgotten_item, CANARY),
    (forgotten_session, CANARY),
    (forgotten_user, CANARY),
    (removed_base, DEPOT),
    (changed_document, DEPOT),
]


async def left_by(
    forget: Forget, canary: str, folder: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> Copies:
    """The folders that a kill would have left after each commit of a forgetting."""
    copies = copied(monkeypatch, folder, into)
    async with opened(folder, llm=ScriptedLLM(summary)) as runtime:
        await lived(runtime)
        assert any(name.startswith("record") for name in files_holding(folder, canary))
        copies.start()
        await forget(runtime)
        copies.stop()
        assert runtime.statistics().erasures_resumed == 0
    assert files_holding(folder, canary) == []
    return copies


@pytest.mark.parametrize(("forget", "canary"), KINDS)
async def test_what_a_kill_cuts_off_is_erased_at_the_next_opening(
    forget: Forget, canary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = await left_by(forget, canary, tmp_path / "m", tmp_path, monkeypatch)
    before, *after = copies.made
    assert len(after) > 3
    async with opened(before) as runtime:
        assert canary in await seen(runtime, "ada"), "it had not begun"
    for copy in after:
        async with opened(copy, llm=ScriptedLLM(summary)) as runtime:
            for user in ("ada", "bob"):
                assert canary not in await seen(runtime, user), copy.name
            await runtime.settle()
            assert runtime.statistics().erasures_failed == 0
            assert files_holding(copy, canary) == [], copy.name
        async with opened(copy) as runtime:
            assert runtime.statistics().erasures_resumed == 0, "done once"
