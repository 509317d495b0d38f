"""What was forgotten does not come back by an import or a late write; what is said anew does."""

from pathlib import Path

import pytest

import actormem
from actormem import UsageError
from actormem.core.values import Owner
from actormem.ports import EraseOwner, PutIntent
from actormem.storage.record import open_record
from tests.runtimes import FakeClock, answered, files_holding, opened

pytestmark = pytest.mark.anyio

STREET = "5 Zanzibar Street"
LOG = [
    {"role": "user", "content": f"My new address is {STREET}.", "time": "2020-01-01T00:00:00Z"},
    {"role": "assistant", "content": f"Noted: {STREET}.", "time": "2020-01-01T00:00:05Z"},
    {"role": "user", "content": "I'm allergic to peanuts.", "time": "2020-01-01T00:01:00Z"},
]
UNTIMED = [{key: value for key, value in one.items() if key != "time"} for one in LOG]


async def imported(runtime: actormem.Runtime, log: list[dict[str, str]], session_id: str = "log") -> int:
    return await runtime.import_history(log, session_id=session_id, user="ada")


@pytest.mark.parametrize("live", [False, True])
async def test_a_forgotten_session_is_not_imported_again_and_may_be_said_anew(
    live: bool, tmp_path: Path
) -> None:
    clock = FakeClock()
    async with opened(tmp_path, clock=clock) as runtime:
        if live:
            await (await runtime.spawn("log", user="ada")).add_many(LOG)
        else:
            assert await imported(runtime, LOG) >= 5
        await runtime.forget_session("log", user="ada")
        for session_id in ("log", "another"):
            for log in (LOG, UNTIMED):
                assert await imported(runtime, log, session_id) == 0
        assert await runtime.items("ada", history=True) == ()
    async with opened(tmp_path, clock=clock) as runtime:
        assert await imported(runtime, LOG) == 0
        assert await imported(runtime, [{"role": "user", "content": "I live in Lima."}]) > 0
        clock.hold(60)
        await answered(await runtime.spawn("later", user="ada"), LOG[0]["content"])
        assert (await runtime.value("ada", "address")) is not None
    assert files_holding(tmp_path, "peanuts") == []


async def test_a_forgotten_user_is_not_imported_again_whatever_the_log_says(tmp_path: Path) -> None:
    clock = FakeClock()
    older = [{**LOG[0], "content": "I live in Lima, and there I stay."}]
    async with opened(tmp_path, clock=clock) as runtime:
        await imported(runtime, LOG)
        await answered(await runtime.spawn("s", user="ada"), "I'm allergic to walnuts.")
        await runtime.forget_user("ada")
        for log in (LOG, UNTIMED, older):
            assert await imported(runtime, log) == 0
    async with opened(tmp_path, clock=clock) as runtime:
        assert await imported(runtime, LOG) == 0
        session = await runtime.spawn("s", user="ada")
        for add in (session.add, runtime_turn(session)):
            with pytest.raises(UsageError, match="older than the forgetting"):
                await add(LOG[0])
        assert await session.messages() == ()
        assert await runtime.items("ada", history=True) == ()
        assert await runtime.import_history(LOG, session_id="log", user="bob") > 0
        await runtime.forget_user("bob")
        clock.hold(60)
        await answered(session, LOG[0]["content"])
        assert (await runtime.value("ada", "address")) is not None, "what is said anew counts"
        later = [{"role": "user", "content": "I'm allergic to figs.", "time": "2999-01-01T00:00:00Z"}]
        assert await imported(runtime, later) > 0
        await runtime.forget_user("ada")
        assert await imported(runtime, LOG) == 0
    assert files_holding(tmp_path, "Zanzibar") == []


def runtime_turn(session: actormem.Session):  # type: ignore[no-untyped-def]
    async def opened_turn(message: dict[str, str]) -> None:
        async with session.turn(message):
            pass

    return opened_turn


async def test_of_a_forgotten_user_a_hash_of_this_folder_and_the_newest_time_are_kept(tmp_path: Path) -> None:
    ada, bob = Owner("shop", "adalberta"), Owner("shopa", "dalberta")
    hashes: set[bytes] = set()
    for folder in (tmp_path / "a", tmp_path / "b"):
        async with open_record(folder, durability="process") as record:
            for time_ms in (5, 7):
                assert await record.forgotten_ms(ada) == (0 if time_ms == 5 else 5)
                await record.sync([PutIntent(ada, "x", b""), EraseOwner(ada, time_ms)])
            assert await record.forgotten_ms(ada) == 7
            assert await record.forgotten_ms(bob) == 0
            await record.sync([PutIntent(bob, "x", b""), EraseOwner(bob)])
            assert await record.forgotten_ms(bob) == 0, "without a time nothing is kept"
            assert await record.owners(10) == ()
            await record.scrub()
        assert files_holding(folder, "adalberta") == []
        async with open_record(folder, durability="process") as record:
            assert await record.forgotten_ms(ada) == 7
        raw = (folder / "record.db").read_bytes()
        place = raw.index(b":" + b"7".zfill(20))
        assert raw.count(b"7".zfill(20)) == 1
        hashes.add(raw[place - 32 : place])
    assert len(hashes) == 2, "another folder has another key"
