"""An item of another owner, wherever it came from: nothing is answered with it, and nobody learns whose it is.

The record itself never gives one, so here it is made to.
"""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

import actormem
from actormem import CorruptError
from actormem.actors import longterm
from actormem.actors import memory_messages as say
from actormem.actors.early import EarlyRecall
from actormem.core.knowledge.bases import base_owner
from actormem.core.recall.partition import Partition
from actormem.core.values import Hit, Item, Owner
from actormem.storage.record import open_record
from tests.runtimes import opened, words

CANARY = "ZQ-73001"
BOB = Owner("shop", "Bobwort")
FOREIGN = Item(
    id="m900001", owner=BOB, kind="fact", text=f"The order is {CANARY}", attribute="order", value=CANARY
)
anyio_tests = pytest.mark.anyio


class MisplacedRecord:
    """A record that gives an item of another owner with those that were asked for, once it is told to."""

    def __init__(self, record: Any, reads: set[str]) -> None:
        self._record = record
        self._reads = reads

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)

    async def load_items(self, owner: Owner, *rest: Any) -> Any:
        found = await self._record.load_items(owner, *rest)
        if "load_items" not in self._reads:
            return found
        return msgspec.structs.replace(found, items=(*found.items, FOREIGN), item_count=found.item_count + 1)

    async def items_after(self, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
        found = await self._record.items_after(owner, number, limit)
        return (*found, FOREIGN) if "items_after" in self._reads and found else found

    async def items_of(self, owner: Owner, numbers: Any) -> tuple[Item, ...]:
        found = await self._record.items_of(owner, numbers)
        return (*found, FOREIGN) if "items_of" in self._reads else found


def misplaced(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the reads that go wrong, of records that the test opens from now on."""
    reads: set[str] = set()

    @asynccontextmanager
    async def record(folder: Path | None, **options: Any) -> AsyncGenerator[Any, None]:
        async with open_record(folder, **options) as found:
            yield MisplacedRecord(found, reads)

    monkeypatch.setattr("actormem.opening.open_record", record)
    return reads


def check_silent(caught: pytest.ExceptionInfo[CorruptError], log: pytest.LogCaptureFixture) -> None:
    told = f"{caught.value!r} {caught.value} {log.text}"
    assert CANARY not in told
    assert BOB.user not in told
    assert BOB.tenant not in told


@anyio_tests
async def test_a_small_memory_with_a_misplaced_item_answers_nothing_and_others_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reads = misplaced(monkeypatch)
    async with opened() as runtime:
        await runtime.remember("The user keeps bees", user="eve")
        reads.add("load_items")
        for ask in (
            lambda: runtime.recall("order", user="ada"),
            lambda: runtime.items("ada", history=True),
            lambda: runtime.item(FOREIGN.id, user="ada"),
            lambda: runtime.export_user("ada"),
            lambda: runtime.checkup("ada"),
            lambda: runtime.remember("The user keeps cats", user="ada"),
        ):
            with pytest.raises(CorruptError, match="misplaced") as caught:
                await ask()
            check_silent(caught, caplog)
        session = await runtime.spawn("s", user="ada")
        async with session.turn("What was my order?") as turn:
            assert CANARY not in words(turn.messages)
            assert "recall" in turn.trace.degraded
            turn.reply("I do not know.")
        assert len(await runtime.items("eve")) == 1


@anyio_tests
@pytest.mark.parametrize("read", ["items_after", "items_of"])
async def test_a_large_memory_with_a_misplaced_item_gives_no_hit_of_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, read: str
) -> None:
    async with opened(tmp_path) as runtime:
        for first in range(0, 640, 320):
            log = [
                {
                    "role": "user",
                    "content": f"My {first + place}. order is a lamp.",
                    "id": f"m-{first + place}",
                }
                for place in range(320)
            ]
            await runtime.import_history(log, session_id="log", user="ada")
        await runtime.settle()
    reads = misplaced(monkeypatch)
    reads.add(read)
    if read == "items_of":  # read while the rest is on its way: the loader is kept from ending meanwhile
        monkeypatch.setattr("actormem.actors.loading.Loading._read_items", never_done)
    async with opened(tmp_path) as runtime:
        with pytest.raises(CorruptError, match="misplaced") as caught:
            await asked_again(runtime)
        check_silent(caught, caplog)


async def asked_again(runtime: actormem.Runtime) -> None:
    """Ask while the memory is being read, until it is refused."""
    for _ in range(1_000):
        assert CANARY not in repr(await runtime.recall("Which order?", user="ada", deadline_s=60))


async def never_done(_: Any, early: EarlyRecall) -> None:
    with anyio.move_on_after(3_600):
        await anyio.sleep_forever()


@anyio_tests
async def test_a_search_that_finds_anothers_item_gives_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hit = Hit(item=FOREIGN, score=1.0, why="")
    async with opened() as runtime:
        await runtime.remember("The order of this user is a lamp", user="ada")
        monkeypatch.setattr(Partition, "search", lambda *_: (hit,))
        monkeypatch.setattr("actormem.actors.recalling.checked_answer", lambda answer, _: answer)
        with pytest.raises(CorruptError, match="misplaced") as caught:
            await runtime.recall("order", user="ada")
        check_silent(caught, caplog)


@anyio_tests
@pytest.mark.parametrize("part", ["hits", "changed", "profile"])
@pytest.mark.parametrize("place", ["own", "base"])
async def test_an_answer_with_anothers_item_is_not_used_whoever_gives_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str, place: str
) -> None:
    """The asker looks once more, at all an answer holds: of a base nothing but what is the base's own."""

    given: dict[str, Any] = {
        "hits": (Hit(item=FOREIGN, score=1.0, why=""),),
        "changed": (say.Shown(FOREIGN, None),),
        "profile": (FOREIGN,),
    }
    wrong = base_owner("", "house") if place == "base" else Owner("", "ada")
    whole = longterm.LongTermActor._recall

    async def recall(self: Any, asked: say.RecallItems) -> say.Recalled:
        found = await whole(self, asked)
        return msgspec.structs.replace(found, **{part: given[part]}) if self._owner == wrong else found

    monkeypatch.setattr(longterm.LongTermActor, "_recall", recall)
    async with opened() as runtime:
        await runtime.import_knowledge("house", ["Lamp oil is in the shed."])
        await runtime.remember("The user has a lamp", user="ada")
        if place == "own":
            with pytest.raises(CorruptError, match="misplaced") as caught:
                await runtime.recall("lamp", user="ada", knowledge=["house"])
            check_silent(caught, caplog)
        else:
            found = await runtime.recall("lamp", user="ada", knowledge=["house"])
            assert found.degraded == ("knowledge",)
            assert [hit.item.text for hit in found] == ["The user has a lamp"]
        session = await runtime.spawn("s", user="ada", knowledge=["house"])
        async with session.turn("Where is my lamp?") as turn:
            assert CANARY not in words(turn.messages) + str(turn.trace)
            turn.reply("Here.")


UNDER_O = """
import sys
assert False, "this runs under -O"  # and is not there
import anyio, actormem, msgspec, pytest
from tests.unit.test_misplaced import CANARY, misplaced
from tests.runtimes import ScriptedEmbedder

async def main():
    reads = misplaced(pytest.MonkeyPatch())
    reads.add("load_items")
    async with actormem.open(None, embedder=ScriptedEmbedder()) as runtime:
        for ask in (lambda: runtime.recall("order", user="ada"), lambda: runtime.items("ada", history=True)):
            try:
                found = await ask()
            except actormem.CorruptError as error:
                print("refused", error)
            else:
                print("answered", found)

anyio.run(main)
"""


def test_the_checks_are_there_when_python_leaves_assertions_out() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-O", "-W", "ignore", "-c", UNDER_O],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["refused", "refused"]
    assert CANARY not in done.stdout + done.stderr


def test_no_check_of_an_owner_is_an_assertion() -> None:
    """Of the package: what must hold between users must not go away with a flag."""
    root = Path(actormem.__file__).parent
    found = [
        f"{path.name}: {line.strip()}"
        for path in root.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith("assert ") and "owner" in line and "isinstance" not in line
    ]
    assert [line for line in found if "answered or failed" not in line] == []
