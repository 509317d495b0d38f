"""The same writes, to a folder and to a schema: whatever is asked then, both answer the same."""

import random
from pathlib import Path
from typing import Any

import pytest

from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Owner, SessionKey
from actormem.ports import (
    AppendEvents,
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    EraseSession,
    MarkShown,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    Record,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
    StoredEvent,
    Write,
)
from actormem.storage.record import open_record
from actormem.testing.contracts.record_values import item
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio

BASE = base_owner("t", "manual")
USERS = (Owner("t", "ada"), Owner("t", "bob"), Owner("u", "ada"), Owner("", "é\U0001f600"))
KEYS = tuple(SessionKey(user, name) for user in USERS for name in ("s", "other \N{SNOWMAN}"))
TEXTS = ("words", None, "", "a\0b", "\U0001f600 金丝雀", "x" * 5_000)


class Drawn:
    """Writes that are drawn, each of which may be done."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.last: dict[SessionKey, int] = {}
        self.names: dict[SessionKey, int] = {}
        self.numbers: dict[int, Owner] = {}

    def write(self) -> Write:
        """The next one."""
        chance, key = self.chance, self.chance.choice(KEYS)
        last, number = self.last.get(key, 0), self.chance.randrange(1, 40)
        id, owner = f"m{number}", self.numbers.setdefault(number, chance.choice((*USERS, BASE)))
        match chance.randrange(20):
            case 0 | 1 | 2 | 3 | 4 | 5:
                return self.append(key, last)
            case 6 if last:
                return SaveSnapshot(key, chance.randrange(1, last + 1), chance.randbytes(9))
            case 7:
                return ReplaceTexts(
                    key, tuple((chance.randrange(1, 9), chance.choice(TEXTS)) for _ in range(3))
                )
            case 8:
                return ReleaseNames(key, chance.randrange(1, 9), chance.randrange(1, 12))
            case 9:
                return MarkShown(key, chance.randrange(1, 9), (id, f"m{chance.randrange(1, 40)}", "nonsense"))
            case 10:
                return SetProgress(key, chance.randrange(0, 12))
            case 11 | 12 | 13:
                text = chance.choice(("a", "b", "金" * 400))
                return PutItems((item(number, owner, text, stored_ms=number, value="a\0b"),))
            case 14:
                vector = chance.choice((b"\x00\x00\x80\x3f" * 4, b"\xcd\xcc\xcc\x3d\x00\x00\x00\x80"))
                return PutVectors(owner, chance.choice("ef"), ((id, vector),))
            case 15:
                return DeleteItems(chance.choice(USERS), (id, f"m{chance.randrange(1, 40)}"))
            case 16:
                return PutTombstones(chance.choice(USERS), (f"h{number}",))
            case 17:
                return PutIntent(
                    chance.choice(USERS), f"{chance.choice('ab')}:{number % 5}", chance.randbytes(5)
                )
            case 18:
                return DeleteIntent(chance.choice(USERS), f"{chance.choice('ab')}:{number % 5}")
            case _:
                return self.erase(key)

    def append(self, key: SessionKey, last: int) -> AppendEvents:
        events: list[StoredEvent] = []
        for _ in range(self.chance.randrange(1, 4)):
            last += 1
            name = ""
            if self.chance.random() < 0.5:
                self.names[key] = self.names.get(key, 0) + 1
                name = f"n{self.names[key]}"
            text = self.chance.choice(TEXTS)
            events.append(StoredEvent(sequence=last, name=name, body=self.chance.randbytes(6), text=text))
        self.last[key] = last
        return AppendEvents(key, tuple(events), self.chance.randrange(1_000))

    def erase(self, key: SessionKey) -> Write:
        if self.chance.random() < 0.7:
            self.last.pop(key, None)
            return EraseSession(key)
        for one in KEYS:
            if one.owner == key.owner:
                self.last.pop(one, None)
        return EraseOwner(key.owner, self.chance.choice((0, 7, 9)))


async def answers(record: Record) -> dict[str, Any]:
    """All that a record tells."""
    found: dict[str, Any] = {
        "owners": await record.owners(99),
        "owners of t": await record.owners(2, "t", "a"),
        "behind": sorted(map(repr, await record.behind())),
        "owners with intents": set(await record.owners_with_intents("a:")),
        "intent counts": await record.intent_counts(),
        "bases": await record.bases("t"),
        "base": await record.base_contents(BASE),
    }
    for key in KEYS:
        found[f"session {key}"] = await record.load_session(key)
        found[f"events {key}"] = await record.read_events(key, 2, 7)
        found[f"names {key}"] = await record.session_names(key)
    for owner in (*USERS, BASE):
        found[f"sessions {owner}"] = {row.session_id: row for row in await record.sessions(owner)}
        found[f"items {owner}"] = await record.load_items(owner, "e")
        found[f"newest {owner}"] = await record.load_items(owner, "f", 3)
        found[f"after {owner}"] = await record.items_after(owner, 10, 5)
        found[f"of {owner}"] = await record.items_of(owner, [1, 2, 3, 30])
        found[f"vectors {owner}"] = await record.vectors_before(owner, "e", 30, limit=4, size_bytes=16)
        found[f"intents {owner}"] = await record.intents(owner)
        found[f"forgotten {owner}"] = await record.forgotten_ms(owner)
        for number in range(1, 40):
            found[f"shown {owner} {number}"] = sorted(map(repr, await record.shown_in(owner, f"m{number}")))
    return found


@pytest.mark.parametrize(
    ("seed", "known_max"),
    [
        (0, 20_000),
        (1, 1),
        *(pytest.param(seed, (20_000, 1)[seed % 2], marks=pytest.mark.full) for seed in range(2, 30)),
    ],
)
async def test_both_tell_the_same_after_the_same_writes(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, known_max: int
) -> None:
    """With room for one owner and one session by heart, too."""
    monkeypatch.setattr("actormem.storage.postgres.writing.KNOWN_MAX", known_max)
    drawn = Drawn(seed)
    for _ in range(2):
        async with (
            open_record(tmp_path / "folder", durability="process") as folder,
            postgres.open(tmp_path) as schema,
        ):
            for _ in range(40):
                writes = [drawn.write() for _ in range(drawn.chance.randrange(1, 9))]
                folder.submit(writes)
                schema.submit(writes)
            await folder.sync()
            await schema.sync()
            expected, found = await answers(folder), await answers(schema)
            for asked, answer in expected.items():
                assert found[asked] == answer, asked
            assert folder.next_item_number() == schema.next_item_number()
        async with open_record(tmp_path / "folder") as folder, postgres.open(tmp_path) as schema:
            assert folder.newest_ms() == schema.newest_ms()
