"""A forgetting that a crash cuts off is done at the next opening, wherever it was cut off."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

import anyio
import msgspec
import pytest

import actormem
from actormem import Budget, NotFoundError, Retention
from actormem.storage.record import DATABASE_NAME, open_record
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
EVERY = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.full)])
Forget = Callable[[actormem.Runtime], Awaitable[object]]


def summary(prompt: Sequence[Wire]) -> str:
    moved = f"The user moved to {CANARY}. " if CANARY in words(prompt) else ""
    return f"{moved}The user asked about the weather."


async def lived(runtime: actormem.Runtime) -> None:
    """Put the canary into messages, items, notes, blocks, tasks and caches of ada, and into the notes of bob."""
    await runtime.import_knowledge("depot", [{"id": "d", "text": PASSAGE}])
    said = await runtime.spawn("said", user="ada", budget=Budget(context=500, recall=0))
    async with said.turn(SAID) as turn:
        call = {"name": "deliver", "arguments": msgspec.json.encode({"to": CANARY}).decode()}
        await turn.add(
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]}
        )
        await turn.add({"role": "tool", "tool_call_id": "c", "content": f"ready at {CANARY}"})
        turn.reply(f"Noted: {CANARY}.")
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


async def repeated(runtime: actormem.Runtime) -> None:
    """Ada says it of her own accord in a session that was never shown it."""
    told = await runtime.spawn("told", user="ada", budget=Budget(context=900, recall=0, profile=0))
    await answered(told, f"How far is {CANARY}?")
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


KINDS = [  # what is done, what goes by it, and the commits before its first effect
    pytest.param(forgotten_item, CANARY, 0, id="item"),
    pytest.param(forgotten_session, CANARY, 0, id="session"),
    pytest.param(forgotten_user, CANARY, 0, id="user"),
    pytest.param(removed_base, DEPOT, 0, id="base"),
    pytest.param(changed_document, DEPOT, 1, id="document"),
]


async def left_by(
    forget: Forget, canary: str, folder: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> Copies:
    """The folders that a kill would have left after each commit of a forgetting."""
    copies = copied(monkeypatch, folder, into)
    async with opened(folder, llm=ScriptedLLM(summary)) as runtime:
        await lived(runtime)
        if forget is forgotten_item:
            await repeated(runtime)
        assert any(name.startswith("record") for name in files_holding(folder, canary))
        copies.start()
        await forget(runtime)
        copies.stop()
        assert runtime.statistics().erasures_resumed == 0
    assert files_holding(folder, canary) == []
    return copies


@EVERY
@pytest.mark.parametrize(("forget", "canary", "before_count"), KINDS)
async def test_what_a_kill_cuts_off_is_erased_at_the_next_opening(
    forget: Forget,
    canary: str,
    before_count: int,
    every: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    anyio_backend_name: str,
) -> None:
    copies = await left_by(forget, canary, tmp_path / "m", tmp_path, monkeypatch)
    before, after = copies.made[before_count], copies.made[before_count + 1 :]
    users = ("ada", "bob") if canary == DEPOT else ("ada",)
    async with opened(before) as runtime:
        assert canary in await seen(runtime, "ada"), "it had not begun"
    resumed_count = 0
    looked_at = chosen(after, every, anyio_backend_name)
    for copy in looked_at:
        assert canary not in await noted(copy)
        async with opened(copy, llm=ScriptedLLM(summary)) as runtime:
            for user in users:
                assert canary not in await seen(runtime, user), copy.name
            await runtime.settle()
            counts = runtime.statistics()
            assert counts.erasures_failed == 0
            resumed_count += counts.erasures_resumed
            assert files_holding(copy, canary) == [], copy.name
        assert await noted(copy) == "", "it is done once"
    assert resumed_count >= len(looked_at) - 3, "the last commits clear the files"


def chosen(copies: list[Path], every: bool, backend: str) -> list[Path]:
    """Three of the copies, one on the second loop: what is copied does not differ by loop; all where it is asked."""
    if every:
        return copies
    return [copies[0], copies[len(copies) // 2], copies[-1]] if backend == "asyncio" else copies[:1]


async def noted(folder: Path) -> str:
    """All that is noted of what is still to be done."""
    async with open_record(folder, durability="process") as record:
        owners = await record.owners_with_intents()
        return "".join([repr((owner, await record.intents(owner))) for owner in owners])


async def test_the_same_forgetting_again_finds_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "m"
    copies = await left_by(forgotten_session, CANARY, folder, tmp_path, monkeypatch)
    async with opened(copies.made[1]) as runtime:
        assert [row.owner.user for row in await runtime.owners() if not row.owner.user] == []
        receipt = await runtime.forget_session("said", user="ada")
        assert (receipt.item_count, receipt.text_count, receipt.session_count) == (0, 0, 0)
    async with opened(copies.made[0]) as runtime:
        item = await address(runtime)
        assert item is not None
        await runtime.forget(item.id, user="ada")
        with pytest.raises(NotFoundError):
            await runtime.forget(item.id, user="ada")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # what is copied does not differ by loop
@pytest.mark.parametrize("retention", [Retention(item_days=30), Retention(transcript_days=30)])
async def test_a_retention_pass_that_a_kill_cuts_off_leaves_no_half(
    retention: Retention, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, clock = tmp_path / "m", FakeClock()
    copies = copied(monkeypatch, folder, tmp_path)
    async with opened(folder, clock=clock, retention=retention) as runtime:
        if retention.item_days:
            await runtime.remember(f"The locker is {CANARY}", user="ada", attribute="locker", value=CANARY)
            await answered(await runtime.spawn("s", user="ada"), "What is my locker?")
        else:
            await answered(await runtime.spawn("s", user="ada"), f"Good morning from {CANARY}, as every day.")
        await runtime.settle()
        copies.start()
        await clock.advance(40 * DAY_S)
        await runtime.items("ada")
        await runtime.settle()
        copies.stop()
        assert runtime.statistics().retention_failures == 0
    begun = 0
    for copy in copies.made:
        async with opened(copy, clock=FakeClock(now_ms=clock.now_ms())) as runtime:
            left = await seen(runtime, "ada")
            await runtime.settle()
            if CANARY not in left:
                assert files_holding(copy, CANARY) == [], copy.name
                begun += runtime.statistics().erasures_resumed
    assert begun >= 2


async def test_a_runtime_that_closes_at_once_leaves_the_rest_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = await left_by(forgotten_item, CANARY, tmp_path / "m", tmp_path, monkeypatch)
    folder = copies.made[1]
    for _ in range(3):
        async with opened(folder):
            pass
    async with opened(folder) as runtime:
        assert CANARY not in await seen(runtime, "ada")
        await runtime.settle()
        assert files_holding(folder, CANARY) == []
    assert await noted(folder) == ""


async def test_who_asks_meanwhile_waits_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = await left_by(forgotten_item, CANARY, tmp_path / "m", tmp_path, monkeypatch)
    gate = gated(monkeypatch)
    gate.shut()
    answers: list[str] = []
    async with opened(copies.made[1]) as runtime, anyio.create_task_group() as group:

        async def ask() -> None:
            answers.append(await seen(runtime, "ada"))

        group.start_soon(ask)
        await settle()
        assert answers == [], "an erasure of hers is not done"
        assert "Tarnwell" in repr(await runtime.recall(QUESTION, user="bob", knowledge=["depot"]))
        assert answers == []
        gate.open()
        await runtime.settle()
    assert len(answers) == 1
    assert CANARY not in answers[0]


async def test_a_caller_who_is_cancelled_leaves_the_rest_to_upkeep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = gated(monkeypatch)
    async with opened(tmp_path, llm=ScriptedLLM(summary)) as runtime:
        await lived(runtime)
        async with anyio.create_task_group() as group:
            gate.shut()
            group.start_soon(forgotten_item, runtime)
            await settle()
            group.cancel_scope.cancel()
        gate.open()
        await runtime.settle()
        assert CANARY not in await seen(runtime, "ada")
        assert runtime.statistics().erasures_resumed == 1
        assert files_holding(tmp_path, CANARY) == []


async def test_a_session_that_cannot_be_read_keeps_the_others_from_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        for name in ("broken", "shown"):
            await answered(await runtime.spawn("said", user="ada"), SAID)
            await answered(await runtime.spawn(name, user="ada"), "What is my address?")
        item = await address(runtime)
        assert item is not None
    break_session(tmp_path, "broken")
    async with opened(tmp_path) as runtime:
        with pytest.raises(actormem.StorageError):
            await runtime.forget(item.id, user="ada")
        assert CANARY not in words((await (await runtime.spawn("shown", user="ada")).context()).messages)
        assert await address(runtime) is None
    async with opened(tmp_path) as runtime:
        assert await address(runtime) is None, "it stays out of reach"
        assert runtime.statistics().erasures_failed == 1
        await runtime.forget_session("broken", user="ada")
        assert (await runtime.forget(item.id, user="ada")).item_count == 1
        assert files_holding(tmp_path, CANARY) == []


async def test_what_is_said_in_a_session_after_it_was_forgotten_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as runtime:
        await answered(await runtime.spawn("said", user="ada"), SAID)
        await answered(await runtime.spawn("broken", user="ada"), "What is my address?")
    break_session(tmp_path, "broken")
    async with opened(tmp_path) as runtime:
        with pytest.raises(actormem.StorageError):
            await runtime.forget_session("said", user="ada")
        await answered(await runtime.spawn("said", user="ada"), "I'm allergic to walnuts.")
    async with opened(tmp_path) as runtime:
        assert "walnuts" in repr(await runtime.items("ada")), "it is another session's"
        again = await runtime.spawn("said", user="ada")
        assert [one.text for one in await again.messages()] == ["I'm allergic to walnuts.", "OK."]
        assert await address(runtime) is None
        await runtime.forget_session("broken", user="ada")
    async with opened(tmp_path) as runtime:
        await runtime.settle()
        assert runtime.statistics().erasures_resumed == 1
        assert "walnuts" in repr(await runtime.items("ada"))
        assert files_holding(tmp_path, CANARY) == []


def break_session(folder: Path, session_id: str) -> None:
    """Damage the events of a session, as a bad disk would."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection, connection:
        connection.execute(
            """UPDATE events SET checksum = checksum + 1 WHERE session_no =
                (SELECT session_no FROM sessions WHERE session_id = ?)""",
            (session_id,),
        )
        connection.execute("DELETE FROM snapshots")
