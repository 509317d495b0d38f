"""A damaged record: found, never believed; what is derived is made anew, and others than its owner go on."""

import logging
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

import actormem
from actormem.core.values import Item, Owner, SessionKey
from actormem.errors import CorruptError
from actormem.ports import (
    AppendEvents,
    MarkShown,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    SaveSnapshot,
    StoredEvent,
)
from actormem.storage.log_check import log_damage
from actormem.storage.record import open_record
from tests.runtimes import answered, opened, words

pytestmark = pytest.mark.anyio

OWNERS = (Owner("shop", "ada"), Owner("shop", "bob"))
STEPS = 4
EVENTS = 8  # of each session in each step
KINDS = ("bit", "cut", "sector", "zeros", "swap")


async def step(folder: Path, number: int) -> None:
    """One more commit for each owner."""
    async with open_record(folder, durability="process") as record:
        await submit(record, number)


async def submit(record: actormem.ports.Record, number: int) -> None:
    for place, owner in enumerate(OWNERS):
        key, first = SessionKey(owner, "s"), number * EVENTS
        events = tuple(
            StoredEvent(
                sequence=one, name=f"m{one}", body=b"b" * 20, text=f"{owner.user} said {one} " + "w" * 80
            )
            for one in range(first + 1, first + EVENTS + 1)
        )
        ids = [1_000 * place + number * 6 + one for one in range(1, 7)]
        items = tuple(Item(id=f"m{id}", owner=owner, kind="fact", text=f"{owner.user} {id}") for id in ids)
        await record.sync(
            [
                AppendEvents(key, events, number + 1),
                PutItems(items),
                PutVectors(owner, "e", tuple((item.id, bytes([number]) * 64) for item in items)),
                PutTombstones(owner, (f"{number:032x}",)),
                PutIntent(owner, f"todo {number}", b"body"),
                MarkShown(key, first + 3, (items[0].id,)),
                *([SaveSnapshot(key, EVENTS, b"state" * 8)] if number == 1 else []),
            ]
        )


async def state(folder: Path) -> dict[str, object]:
    """All that the record says, but its vectors: they are derived, and may be fewer."""
    found: dict[str, object] = {}
    async with open_record(folder, durability="power") as record:
        found["owners"] = await record.owners(10)
        found["behind"] = await record.behind()
        found["waiting"] = await record.owners_with_intents()
        for owner in OWNERS:
            key = SessionKey(owner, "s")
            await record.load_session(key)
            items = await record.load_items(owner, "e")
            assert all(vector == bytes([vector[0]]) * 64 for vector in items.vectors.values())
            found[owner.user] = (
                await record.read_events(key, 1, 99),
                await record.session_names(key),
                await record.sessions(owner),
                items.items,
                items.tombstones,
                await record.intents(owner),
                [await record.shown_in(owner, item.id) for item in items.items],
            )
    return found


def damaged(content: bytes, kind: str, chance: random.Random) -> bytes:
    """The bytes of a file as a disk may give them back."""
    changed = bytearray(content)
    place, other = (chance.randrange(max(1, len(changed) // 512)) * 512 for _ in range(2))
    if kind == "bit":
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del changed[place:]
    elif kind == "sector":
        changed[place : place + 512] = chance.randbytes(512)
    elif kind == "zeros":
        changed[place : place + 512] = bytes(512)
    else:
        changed[place : place + 512] = changed[other : other + 512]
    return bytes(changed)


async def looked_at(folder: Path, copy: Path, name: str, content: bytes) -> dict[str, object] | None:
    """What a copy of the folder says with this file in it; None for a CorruptError that names the file."""
    shutil.copytree(folder, copy)
    (copy / name).write_bytes(content)
    try:
        return await state(copy)
    except CorruptError as error:
        assert error.path.startswith(str(copy / "record.db"))  # noqa: PT017
        assert error.expected  # noqa: PT017
        assert error.found  # noqa: PT017
        return None
    finally:
        shutil.rmtree(copy)


async def crashed_after_each_step(folder: Path) -> list[Path]:
    """Copies of a folder as a kill -9 would leave it, its log not yet taken in, after each step."""
    copies: list[Path] = []
    async with open_record(folder, durability="process") as record:
        for number in range(STEPS):
            await submit(record, number)
            copies.append(folder.with_name(f"after-{number}"))
            shutil.copytree(folder, copies[-1])
    return copies


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", KINDS)
async def test_damage_to_the_database_is_told_or_changes_nothing(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "folder"
    for number in range(STEPS):
        await step(folder, number)
    true = await state(folder)
    content = (folder / "record.db").read_bytes()
    told_count = 0
    for seed in range(20):
        changed = damaged(content, kind, random.Random(f"{kind} {seed}"))
        found = await looked_at(folder, tmp_path / "copy", "record.db", changed)
        told_count += found is None
        assert found is None or found == true, f"damage was believed: {kind}, seed {seed}"
    assert told_count > 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", KINDS)
async def test_damage_to_the_log_is_told_or_cuts_its_end_alone(tmp_path: Path, kind: str) -> None:
    """Where commits stand behind the damage it is told; a cut is what a crash leaves, and whole commits remain."""
    copies = await crashed_after_each_step(tmp_path / "folder")
    last = copies[-1]
    content = (last / "record.db-wal").read_bytes()
    states = [await state(copy) for copy in copies]
    told_count = 0
    for seed in range(16):
        changed = damaged(content, kind, random.Random(f"{kind} {seed}"))
        found = await looked_at(last, tmp_path / "copy", "record.db-wal", changed)
        told_count += found is None
        if found is not None:
            ends = [
                next(n for n in range(STEPS) if states[n][owner.user] == found[owner.user])
                for owner in OWNERS
            ]
            assert kind == "cut" or ends in ([3, 3], [3, 2], [2, 2]), f"{kind}, seed {seed}"
    assert kind == "cut" or told_count > 2


async def test_a_cut_log_gives_whole_commits_alone(tmp_path: Path) -> None:
    copies = await crashed_after_each_step(tmp_path / "folder")
    content = (copies[-1] / "record.db-wal").read_bytes()
    for seed in range(10):
        chance = random.Random(seed)
        copy = tmp_path / "copy"
        shutil.copytree(copies[-1], copy)
        (copy / "record.db-wal").write_bytes(content[: chance.randrange(len(content))])
        async with open_record(copy, durability="process") as record:
            for owner in OWNERS:
                events = await record.read_events(SessionKey(owner, "s"), 1, 99)
                items = await record.load_items(owner, "e")
                assert len(events) % EVENTS == 0
                assert len(items.items) * EVENTS == len(events) * 6
        shutil.rmtree(copy)


async def test_a_log_damaged_in_its_middle_opens_at_the_lower_level_and_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    last = (await crashed_after_each_step(tmp_path / "folder"))[-1]
    log = last / "record.db-wal"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    damage = log_damage(last / "record.db")
    assert damage is not None
    assert 0 < damage.sound_bytes < len(content) // 2
    with pytest.raises(CorruptError, match=f"frame {damage.frame} is not"):
        await state(last)
    assert log.read_bytes() == content, "refusing changes nothing"
    with caplog.at_level(logging.WARNING):
        async with open_record(last, durability="process"):
            pass
    assert f"at least {damage.lost_commits} commits" in caplog.text


async def test_a_log_that_a_crash_can_have_left_is_no_damage(tmp_path: Path) -> None:
    last = (await crashed_after_each_step(tmp_path / "folder"))[-1]
    log = last / "record.db-wal"
    content = log.read_bytes()
    for left in (
        b"",
        content[:20],
        content[:32],
        bytes(32),
        bytes(5_000),
        content[:-5],
        content[: len(content) // 2],
    ):
        log.write_bytes(left)
        assert log_damage(last / "record.db") is None
    log.write_bytes(content[:-200] + bytes(200))  # torn in its last commit
    assert log_damage(last / "record.db") is None


# --- through the front door ------------------------------------------------------------------------------


async def lived(folder: Path) -> None:
    async with opened(folder) as runtime:
        for user, street in (("ada", "5 Hill Street"), ("bob", "9 Mill Lane")):
            await answered(await runtime.spawn("s", user=user), f"My new address is {street}.")
            await answered(await runtime.spawn("other", user=user), "你好。")
        await runtime.settle()


def alter(folder: Path, statement: str) -> None:
    """Change Ada's rows as a disk might."""
    connection = sqlite3.connect(folder / "record.db")
    owner = "owner_no = (SELECT owner_no FROM owners WHERE user = 'ada')"
    with connection:
        assert connection.execute(statement.replace("HERS", owner)).rowcount > 0
    connection.close()


async def recalled(runtime: actormem.Runtime, user: str) -> str:
    async with (await runtime.spawn("new", user=user)).turn("What is my address?") as turn:
        turn.reply("I see.")
        return words(turn.messages) + " ".join(turn.trace.degraded)


async def test_a_damaged_item_is_its_owners_trouble_alone_and_stops_no_turn(tmp_path: Path) -> None:
    await lived(tmp_path)
    alter(tmp_path, "UPDATE items SET body = x'00' WHERE HERS")
    async with opened(tmp_path) as runtime:
        assert "9 Mill Lane" in await recalled(runtime, "bob")
        for _ in range(2):
            with pytest.raises(CorruptError, match=r"record\.db"):
                await runtime.items("ada")
        with pytest.raises(CorruptError):
            await runtime.forget_session("s", user="ada")
        assert "recall" in await recalled(runtime, "ada"), "the turn says what it goes without"
        assert len(await (await runtime.spawn("other", user="ada")).messages()) == 2
        await runtime.settle()
        await runtime.forget_user("ada")
        assert await runtime.items("ada") == ()
        assert "9 Mill Lane" in await recalled(runtime, "bob")


async def test_a_damaged_message_is_its_sessions_trouble_alone(tmp_path: Path) -> None:
    await lived(tmp_path)
    session = "session_no = (SELECT session_no FROM sessions WHERE session_id = 's' AND HERS)"
    alter(tmp_path, f"DELETE FROM snapshots WHERE {session}")
    alter(tmp_path, f"UPDATE events SET text = 'other words' WHERE text LIKE '%5 Hill%' AND {session}")
    async with opened(tmp_path) as runtime:
        with pytest.raises(CorruptError) as found:
            await runtime.spawn("s", user="ada")
        assert "other words" not in str(found.value)
        assert "5 Hill Street" in await recalled(runtime, "ada"), "what memory made of it is sound"
        assert "9 Mill Lane" in await recalled(runtime, "bob")
        await runtime.settle()
        assert (await runtime.forget_session("s", user="ada")).session_count >= 1
        assert await (await runtime.spawn("s", user="ada")).messages() == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE HERS",
        "UPDATE vectors SET checksum = 'text' WHERE HERS",
        "UPDATE snapshots SET body = x'00' WHERE HERS",
    ],
)
async def test_what_is_derived_is_made_anew_and_counted(tmp_path: Path, statement: str) -> None:
    await lived(tmp_path)
    alter(tmp_path, statement)
    async with opened(tmp_path) as runtime:
        assert "5 Hill Street" in await recalled(runtime, "ada")
        assert len(await (await runtime.spawn("s", user="ada")).messages()) == 2
        await (await runtime.spawn("other", user="ada")).messages()
        await runtime.settle()
        assert runtime.statistics().record.damaged_rows > 0
    async with opened(tmp_path) as runtime:
        await runtime.items("ada")
        await (await runtime.spawn("s", user="ada")).messages()
        await runtime.settle()
        statistics = runtime.statistics()
    assert statistics.record.damaged_rows == 0 or "snapshots" in statement


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET changed_ms = 'text' WHERE HERS",
        "UPDATE tombstones SET hash = CAST(hash AS BLOB) WHERE HERS",
        "UPDATE owners SET tenant = CAST(tenant AS BLOB) WHERE HERS",
        "UPDATE shown SET sequence = 'text ' || sequence WHERE HERS",
    ],
)
async def test_a_value_of_another_type_is_damage(tmp_path: Path, statement: str) -> None:
    for number in range(2):
        await step(tmp_path, number)
    alter(tmp_path, statement)
    with pytest.raises(CorruptError):
        await state(tmp_path)
