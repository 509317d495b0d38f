"""A canary in every kind of place: after a forgetting it is in no file of the folder, and nowhere in the process.

Law of this file: the test itself holds the canary in no text while it looks: it is put together when it is needed.
"""

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import anyio.lowlevel
import msgspec
import pytest

import actormem
from actormem import Budget
from tests.runtimes import ScriptedEmbedder, ScriptedLLM, Wire, answered, files_holding, opened, settle, words

pytestmark = pytest.mark.anyio

LETTERS = [86, 101, 115, 112, 105, 110, 107, 101, 114]


def canary() -> str:
    return " ".join(("7", bytes(LETTERS).decode(), "Lane"))


def summary(prompt: list[Wire]) -> str:
    moved = f"The user moved to {canary()}. " if canary() in words(prompt) else ""
    return f"{moved}The user asked about the weather."


def tool(place: str) -> dict[str, object]:
    return {"type": "function", "function": {"name": "deliver", "description": f"Not to {place}."}}


async def said(runtime: actormem.Runtime, place: str, *, prompt: bool) -> None:
    """The canary in messages of every form, in a task, and in all that memory makes of them."""
    session = await runtime.spawn(
        "said",
        user="ada",
        budget=Budget(context=1_200),
        system=f"You deliver to {place}." if prompt else "You deliver.",
        tools=[tool(place if prompt else "the moon")],
    )
    await session.task.set(f"deliver to {place}", step="pack", values={"to": place})
    async with session.turn(f"My new address is {place}.") as turn:
        call = {"name": "deliver", "arguments": json.dumps({"to": place, "order": "KX-48210"})}
        calls = [{"id": "c", "type": "function", "function": call}]
        await turn.add({"role": "assistant", "content": None, "tool_calls": calls})
        await turn.add({"role": "tool", "tool_call_id": "c", "content": json.dumps({"at": [place]})})
        await turn.context()
        turn.reply(f"Noted: {place}.")
    parts = [{"type": "text", "text": f"See {place}"}]
    await session.add({"role": "user", "name": f"of-{place}".replace(" ", "-"), "content": parts})
    for number in range(14):
        await answered(session, f"And the weather in city number {number}, please, at some length?", "Mild.")
        await runtime.settle()


async def remembered(runtime: actormem.Runtime, place: str) -> None:
    """Versions, an archived item, an import, notes of another session, answers and an export."""
    item = await runtime.value("ada", "address")
    assert item is not None
    assert item.value == place
    await runtime.edit(item.id, f"The user's address is {place}, upstairs", user="ada")
    log = [{"role": "user", "content": f"Parcels to {place}.", "time": "2020-01-01T00:00:00Z"}]
    await runtime.import_history(log, session_id="said", user="ada")
    shown = await runtime.spawn("shown", user="ada")
    assert place in words(await answered(shown, "What is my address?"))
    for _ in range(2):
        assert place in repr(await runtime.recall(f"address {place}", user="ada"))
    exported = await runtime.export_user("ada")
    assert place in msgspec.json.encode(exported).decode()
    episode = next(one for one in await runtime.items("ada", kinds=["episode"]) if place in one.text)
    await runtime.archive(episode.id, user="ada")
    await runtime.settle()


async def forget(runtime: actormem.Runtime, what: str) -> actormem.Receipt:
    if what == "session":
        return await runtime.forget_session("said", user="ada")
    if what == "user":
        return await runtime.forget_user("ada")
    item = await runtime.value("ada", "address")
    assert item is not None
    return await runtime.forget(item.id, user="ada")


def holders() -> list[str]:
    """Types of the objects of the process that hold a text with the canary in it."""
    gc.collect()
    needle = canary()
    raw = needle.encode()
    found: list[str] = []
    seen = {id(needle), id(raw)}  # many objects hold the same text
    for one in gc.get_objects():
        for part in parts_of(one):
            if id(part) in seen:
                continue
            if needle in part if isinstance(part, str) else raw in part:
                found.append(f"{type(one).__module__}.{type(one).__qualname__}")
            else:
                seen.add(id(part))
    return found


async def held_for_long() -> list[str]:
    """`holders`, when threads that have done their work have let go of it."""
    for _ in range(50):
        if not holders():
            break
        await anyio.lowlevel.checkpoint()
    return holders()


def parts_of(one: object) -> Iterator[str | bytes | bytearray]:
    """Texts that an object holds by itself, or in containers which the collector does not list."""
    waiting: list[object] = [*gc.get_referents(one)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (str, bytes, bytearray)):
            yield part
        elif isinstance(part, msgspec.Struct) and not gc.is_tracked(part):
            waiting += [getattr(part, name) for name in part.__struct_fields__]
        elif isinstance(part, (tuple, dict)) and not gc.is_tracked(part):
            waiting += gc.get_referents(part)


@pytest.mark.parametrize("what", ["item", "session", "user"])
async def test_a_canary_in_every_place_is_nowhere(what: str, tmp_path: Path) -> None:
    llm, embedder = ScriptedLLM(summary), ScriptedEmbedder()
    async with opened(tmp_path, llm=llm, embedder=embedder) as runtime:
        await said(runtime, canary(), prompt=what != "item")
        await remembered(runtime, canary())
        assert any("record" in name for name in files_holding(tmp_path, canary()))
        assert holders(), "the look at the process finds what is there"
        receipt = await forget(runtime, what)
        assert (receipt.found_count, receipt.scanned_bytes > 0) == (0, True)
        await settle()
        embedder.texts.clear()  # what the models were told is the models'
        llm.prompts.clear()
        assert await held_for_long() == []
        assert files_holding(tmp_path, canary()) == []
