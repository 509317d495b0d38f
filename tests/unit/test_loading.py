"""A large owner's memory after a restart: what is answered before all is there, and that nothing is lost by it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

import actormem
from actormem.actors import loading
from actormem.actors.loading import FIRST_ITEMS, WHOLE_ITEMS_MAX
from actormem.actors.memory_messages import Recalled, RecallItems
from actormem.core.erasure import Erasure, encode_erasure, erasure_name
from actormem.core.recall.stored_vectors import StoredVectors
from actormem.core.values import Item, Owner
from actormem.ports import PutIntent, PutItems, PutVectors
from actormem.storage.record import open_record
from tests.runtimes import FakeClock, ScriptedEmbedder, opened, settle

pytestmark = pytest.mark.anyio

ADA = Owner("", "ada")
COUNT = WHOLE_ITEMS_MAX + 40
OLD = "The piano tuner comes on foot through the orchard."
ENDED = "My boat lies in the harbour of Grado."
QUERY = "Who comes through the orchard?"


def episode(number: int, text: str = "") -> Item:
    return Item(
        id=f"m{number}",
        owner=ADA,
        kind="episode",
        text=text or f"Jar {'abcdefghij'[number % 10]} is on shelf {number}.",
        source="user",
        speaker="user",
        source_ids=(f"message-{number}",),
        session_id="log",
        sequence=number,
        event_ms=1_600_000_000_000 + number * 1_000,
    )


def fact(number: int, text: str, message: int, **fields: Any) -> Item:
    return Item(
        id=f"m{number}",
        owner=ADA,
        kind="fact",
        text=text,
        attribute="boat harbour",
        value=text.split()[1],
        source="user",
        source_ids=(f"message-{message}",),
        session_id="log",
        sequence=number,
        event_ms=1_600_000_000_000 + number * 1_000,
        **fields,
    )


def items(count: int = COUNT) -> list[Item]:
    """Items of one long session; what the fifth states gave way twice, and no fact has words of another."""
    made = {number: episode(number) for number in range(1, count + 1)}
    made[2] = episode(2, OLD)
    made[5] = episode(5, ENDED)
    made[6] = fact(6, "xq: Grado", 5, state="superseded", superseded_by="m20")
    made[20] = fact(20, "zv: Muggia", 19, state="superseded", superseded_by="m90")
    made[90] = fact(90, "wk: Pirano", 89)
    return list(made.values())


async def filled(folder: Path, made: Sequence[Item], embedder: ScriptedEmbedder | None = None) -> Path:
    embedder = embedder or ScriptedEmbedder()
    vectors = await embedder.embed([one.text for one in made])
    rows = tuple((one.id, row.tobytes()) for one, row in zip(made, vectors, strict=True))
    async with open_record(folder, durability="process") as record:
        await record.sync([PutItems(tuple(made)), PutVectors(ADA, embedder.name, rows)])
    return folder


def shut(runtime: actormem.Runtime, name: str, monkeypatch: pytest.MonkeyPatch) -> anyio.Event:
    """Hold every such read of the record back until the event is set."""
    record, gate = runtime._services.record, anyio.Event()
    read: Callable[..., Any] = getattr(record, name)

    async def held(*arguments: Any, **settings: Any) -> Any:
        await gate.wait()
        return await read(*arguments, **settings)

    monkeypatch.setattr(record, name, held)
    return gate


async def test_what_was_said_long_ago_is_found_before_all_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(await filled(tmp_path, items())) as runtime:
        gate = shut(runtime, "items_after", monkeypatch)
        early = await runtime.recall(QUERY, user="ada", limit=3)
        assert early.degraded == ("loading",), "words were not looked for in every item"
        assert early[0].item.text == OLD
        newest = await runtime.recall(f"Jar on shelf {COUNT}", user="ada", limit=3)
        assert newest[0].item.id == f"m{COUNT}"
        gate.set()
        await runtime.settle()
        late = await runtime.recall(QUERY, user="ada", limit=3)
        assert (late.degraded, late[0].item.text) == ((), OLD)
        assert late.considered_count == COUNT - 2, "all but the facts that have ended"


LONG_S = 1e6  # however often the fake clock is put on while a thread works


async def test_an_answer_says_so_while_something_cannot_be_found_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, found = FakeClock(), list[actormem.Recall]()
    async with opened(await filled(tmp_path, items()), clock=clock) as runtime:
        gate = shut(runtime, "vectors_before", monkeypatch)
        rest = shut(runtime, "items_after", monkeypatch)

        async def ask() -> None:
            found.append(await runtime.recall(QUERY, user="ada", limit=3, deadline_s=LONG_S))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while not found:
                await clock.advance(0.05)
        assert found[0].degraded == ("loading",)
        assert OLD not in [hit.item.text for hit in found[0]]
        gate.set()
        near = await runtime.recall(QUERY, user="ada", limit=3, deadline_s=60)
        assert (near.degraded, near[0].item.text) == (("loading",), OLD)
        by_number = await runtime.recall("Where is KX-48210?", user="ada", deadline_s=60)
        assert by_number.degraded == ("loading",), "ids are found by words, and those are not there yet"
        facts = await runtime.recall(QUERY, user="ada", kinds=["fact"], deadline_s=60)
        assert facts.degraded == ("loading",), "the nearest facts may stand behind many episodes"
        rest.set()


async def test_a_value_that_has_ended_is_not_shown_as_true_before_all_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(await filled(tmp_path, items())) as runtime:
        gate = shut(runtime, "items_after", monkeypatch)
        hits = await runtime.recall("My boat lies in the harbour", user="ada", limit=3)
        [told] = next(hit.outdated for hit in hits if hit.item.text == ENDED)
        assert told.value == "Grado"
        assert told.replacement is not None
        assert told.replacement.value == "Pirano"
        gate.set()


async def test_what_must_see_all_waits_and_is_done_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "KEPT_MAX", 2)  # the third one waits before the actor
    done: list[str] = []
    async with opened(await filled(tmp_path, items())) as runtime:
        gate = shut(runtime, "items_after", monkeypatch)
        await runtime.recall(QUERY, user="ada")

        async def remember(text: str) -> None:
            await runtime.remember(text, user="ada", attribute="lamp", value=text)
            done.append(text)

        async def forget() -> None:
            await runtime.forget("m2", user="ada")
            done.append("forgotten")

        async with anyio.create_task_group() as group:
            for work in (lambda: remember("red"), lambda: remember("blue"), forget):
                group.start_soon(work)
                await settle()
            assert done == []
            gate.set()
        assert sorted(done) == ["blue", "forgotten", "red"]
        assert [one.text for one in await runtime.items(user="ada", kinds=["fact"])][-2:] == ["red", "blue"]
        assert OLD not in [hit.item.text for hit in await runtime.recall(QUERY, user="ada", limit=5)]


async def test_counts_of_what_is_shown_take_no_order_its_place_while_the_rest_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "KEPT_MAX", 4)
    async with opened(await filled(tmp_path, items())) as runtime:
        gate = shut(runtime, "items_after", monkeypatch)
        for _ in range(9):
            assert (await runtime.recall(QUERY, user="ada", limit=3))[0].item.text == OLD
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: runtime.remember("Tea at five.", user="ada"))
            await settle()
            assert (await runtime.recall(QUERY, user="ada", limit=3))[0].item.text == OLD, "it still answers"
            gate.set()
        await runtime.settle()
        assert runtime.statistics().hits_shown == 0, "what a turn shows is counted, no recall by itself"
        assert (await runtime.item("m2", user="ada")).shown_count > 0


async def test_nothing_shown_is_called_gone_while_it_is_only_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(await filled(tmp_path, items())) as runtime:
        gate = shut(runtime, "items_after", monkeypatch)
        asked = RecallItems(query="", vectors=None, limit=3, session_id="s", shown={"m3": 1}, profile=True)
        memory = runtime._services.ref("longterm", ADA)
        found = await memory.ask(asked, timeout_s=9)
        assert isinstance(found, Recalled)
        assert (found.gone, found.profile, found.degraded) == ((), None, ("loading",))
        gate.set()
        await runtime.settle()
        found = await memory.ask(asked, timeout_s=9)
        assert isinstance(found, Recalled)
        assert (found.gone, found.degraded) == ((), ())


async def test_what_is_being_erased_of_a_large_owner_is_in_no_answer_at_all(tmp_path: Path) -> None:
    await filled(tmp_path, items())
    erasure = Erasure(item_ids=("m2",))
    async with open_record(tmp_path, durability="process") as record:
        await record.sync([PutIntent(ADA, erasure_name(erasure), encode_erasure(erasure))])
    async with opened(tmp_path) as runtime:
        services = runtime._services
        [query] = await services.embed([QUERY])
        asked = RecallItems(query=QUERY, vectors=np.stack([query]), limit=5)
        found = await services.ref("longterm", ADA).ask(asked, timeout_s=9)
        assert isinstance(found, Recalled)
        assert OLD not in [hit.item.text for hit in found.hits]
        assert found.degraded == ()
        await runtime.settle()
        with pytest.raises(actormem.NotFoundError):
            await runtime.item("m2", user="ada")


async def test_a_large_memory_whose_rest_cannot_be_read_says_so_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(await filled(tmp_path, items())) as runtime:
        rest, record = shut(runtime, "items_after", monkeypatch), runtime._services.record
        assert (await runtime.recall(QUERY, user="ada", limit=3))[0].item.text == OLD
        failed: list[Exception] = []

        async def remember() -> None:
            with pytest.raises(actormem.StorageError, match="unread") as caught:
                await runtime.remember("Tea at five.", user="ada")
            failed.append(caught.value)

        async def unread(*_: Any) -> Any:
            raise actormem.StorageError("unread", path="x")

        async with anyio.create_task_group() as group:
            group.start_soon(remember)
            await settle()
            assert failed == []
            monkeypatch.setattr(record, "items_after", unread)
            rest.set()
        with pytest.raises(actormem.StorageError, match="unread"):
            await runtime.recall(QUERY, user="ada")
        assert (await runtime.recall(QUERY, user="bob")).degraded == ()


async def test_loaded_in_steps_or_at_once_an_owner_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path, items())
    queries = (QUERY, "Where does my boat lie?", "shelf 77", "jar c on shelf 532")
    answers: list[list[tuple[str, float, Mapping[str, float]]]] = []
    for whole in (False, True):
        if whole:
            monkeypatch.setattr(loading, "WHOLE_ITEMS_MAX", 10 * COUNT)
        async with opened(tmp_path) as runtime:
            await runtime.item("m1", user="ada")
            await runtime.settle()
            found = [await runtime.recall(query, user="ada", limit=20) for query in queries]
            answers.append([(hit.item.id, hit.score, hit.why) for recall in found for hit in recall])
    assert answers[0] == answers[1]


async def test_a_small_owner_is_there_whole_before_the_first_answer(tmp_path: Path) -> None:
    count = max(FIRST_ITEMS, 90) + 5  # the newest of what gave way is the 90th
    async with opened(await filled(tmp_path, items(count))) as runtime:
        found = await runtime.recall(QUERY, user="ada", limit=3)
        assert (found.considered_count, found.degraded) == (count - 2, ())


def test_stored_vectors_give_the_nearest_numbers_and_the_vectors_of_those_asked_for() -> None:
    rows = np.eye(4, dtype=np.float32)
    held = StoredVectors(4)
    assert held.nearest(rows[0], 3) == []
    held.add((7, 9), rows[2:].tobytes())
    held.add((2, 3), rows[:2].tobytes())
    assert len(held) == 4
    assert held.nearest((rows[3] * 2 + rows[0]) / np.float32(5**0.5), 2) == [9, 2]
    assert held.nearest(rows[1], 9) == [3, 2, 7, 9], "equal ones by number"
    places, found = held.of([9, 5, 2])
    assert dict(zip(places, found.argmax(axis=1).tolist(), strict=True)) == {0: 3, 2: 0}
