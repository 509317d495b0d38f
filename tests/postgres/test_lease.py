"""One process at a time has a schema, and one that was thought dead writes nothing more."""

import os
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from actormem.errors import FencedError, FolderInUseError, StorageError
from actormem.testing.contracts.record_values import append, sequences
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio

FOREVER_S = 600  # no test waits for such a lease to end, nor for it to be renewed


def let_end(server: Server, schema: str) -> None:
    """As if the lease's holder had been silent until its end, by the database's clock."""
    with server.connect(schema) as connection:
        connection.execute("UPDATE lease SET ends = clock_timestamp() - interval '1 second'")


async def test_a_second_process_is_refused_and_told_by_whom(postgres: Server, tmp_path: Path) -> None:
    async with postgres.open(tmp_path, lease_s=FOREVER_S) as record:
        with pytest.raises(
            FolderInUseError, match=r"process \d+ on .*lasts \d+\.\d s more \(fence 1\)"
        ) as refused:
            async with postgres.open(tmp_path):
                pass
        await record.sync([append(1, 1)])
    assert refused.value.pid == os.getpid()
    assert "@/memory" in str(refused.value)


async def test_leaving_gives_the_lease_back_at_once(postgres: Server, tmp_path: Path) -> None:
    for count in range(1, 4):
        async with postgres.open(tmp_path, lease_s=FOREVER_S) as record:
            await record.sync([append(count, count)])


async def test_who_may_wait_gets_it_when_the_first_leaves(postgres: Server, tmp_path: Path) -> None:
    from actormem.storage.postgres.record import open_postgres

    url = postgres.url(postgres.schema_of(tmp_path), lease_s=FOREVER_S)
    opened: list[str] = []

    async def second() -> None:
        async with open_postgres(url, lock_wait_s=60) as record:
            opened.append("second")
            await record.sync([append(2, 2)])

    async with anyio.create_task_group() as group, postgres.open(tmp_path, lease_s=FOREVER_S) as record:
        group.start_soon(second)
        await record.sync([append(1, 1)])
        opened.append("first")
    assert opened == ["first", "second"]


async def test_a_zombie_writes_nothing_and_says_who_has_it(postgres: Server, tmp_path: Path) -> None:
    told: list[StorageError | None] = []
    async with postgres.open(tmp_path, lease_s=FOREVER_S) as zombie:
        await zombie.sync([append(1, 1)])
        let_end(postgres, postgres.schema_of(tmp_path))
        async with postgres.open(tmp_path, lease_s=FOREVER_S) as record:
            await record.sync([append(2, 2)])
            zombie.submit([append(2, 2)], told.append)
            zombie.submit([append(3, 3)], told.append)
            with pytest.raises(FencedError, match=r"fence 2, ours was 1") as fenced:
                await zombie.sync([append(4, 4)])
            with pytest.raises(FencedError):
                zombie.submit([append(5, 5)])
            assert await sequences(record) == [1, 2]
            await record.sync([append(3, 3)])
    assert (fenced.value.fence, fenced.value.found) == (1, 2)
    assert f"process {os.getpid()}" in str(fenced.value)
    assert [type(error) for error in told] == [FencedError, FencedError]


async def test_a_zombie_that_writes_nothing_is_told_when_it_renews(postgres: Server, tmp_path: Path) -> None:
    async with postgres.open(tmp_path, lease_s=0.3) as zombie:
        with postgres.connect(postgres.schema_of(tmp_path)) as connection:
            connection.execute("UPDATE lease SET fence = fence + 1, holder = 'another'")
        with anyio.fail_after(60):
            while zombie.writer.failure is None:  # type: ignore[attr-defined]  # noqa: ASYNC110 - a thread sets it
                await anyio.sleep(0.01)
        assert zombie.statistics().failed_commit_count == 1, "a shard looks at it, to end itself"
        with pytest.raises(FencedError, match="taken over by another"):
            zombie.submit([append(1, 1)])


async def test_a_lease_that_ended_is_still_ours_until_somebody_takes_it(
    postgres: Server, tmp_path: Path
) -> None:
    async with postgres.open(tmp_path, lease_s=FOREVER_S) as record:
        let_end(postgres, postgres.schema_of(tmp_path))
        await record.sync([append(1, 1)])
        assert await sequences(record) == [1]


async def test_taking_waits_for_a_commit_that_has_looked_at_the_fence(
    postgres: Server, tmp_path: Path
) -> None:
    """Either the commit is before the takeover and is seen by who takes over, or it fails: never after it."""
    from actormem.storage.postgres.record import open_postgres

    schema = postgres.schema_of(tmp_path)
    async with postgres.open(tmp_path):
        pass
    seen: list[int] = []

    async def take_over() -> None:
        async with open_postgres(postgres.url(schema), lock_wait_s=60):
            with postgres.connect(schema) as other:
                seen.append(other.execute("SELECT value FROM meta WHERE key = 'late'").fetchone()[0])

    with postgres.connect(schema) as slow:
        async with anyio.create_task_group() as group:
            with slow.transaction():
                slow.execute("SELECT 1 FROM lease WHERE fence = 1 FOR KEY SHARE")
                group.start_soon(take_over)
                with postgres.connect(role="postgres") as watching, anyio.fail_after(60):
                    waiting = (
                        "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
                    )
                    while watching.execute(waiting).fetchone() is None:  # noqa: ASYNC110 - the server knows it
                        await anyio.sleep(0.01)
                assert seen == []
                slow.execute("INSERT INTO meta VALUES ('late', 7)")
    assert seen == [7]


async def test_a_server_whose_default_is_stricter_still_says_who_has_it(
    postgres: Server, tmp_path: Path
) -> None:
    """The lease is renewed while another waits for its row: that is no failure of the database's."""
    from actormem.storage.postgres.record import open_postgres

    schema = postgres.schema_of(tmp_path)
    strict = f"{postgres.url(schema)}&options=-c%20default_transaction_isolation%3Dserializable"
    async with postgres.open(tmp_path):
        pass

    async def refused() -> None:
        with pytest.raises(FolderInUseError, match="in use by another"):
            async with open_postgres(strict):
                pass

    async with anyio.create_task_group() as group:
        with postgres.connect(schema) as holder, holder.transaction():
            holder.execute("UPDATE lease SET ends = 'infinity', holder = 'another'")
            group.start_soon(refused)
            with postgres.connect(role="postgres") as watching, anyio.fail_after(60):
                waiting = (
                    "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
                )
                while watching.execute(waiting).fetchone() is None:  # noqa: ASYNC110 - the server knows it
                    await anyio.sleep(0.01)


async def test_a_clock_that_is_wrong_by_days_takes_nothing_and_loses_nothing(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    async with postgres.open(tmp_path, lease_s=FOREVER_S) as record:
        for days in (-3, 3):
            monkeypatch.setattr(time, "time", lambda days=days: now() + days * 86_400)
            with pytest.raises(FolderInUseError):
                async with postgres.open(tmp_path):
                    pass
        await record.sync([append(1, 1)])
        assert await sequences(record) == [1]


async def test_fences_only_rise(postgres: Server, tmp_path: Path) -> None:
    found: list[int] = []
    for _ in range(3):
        async with postgres.open(tmp_path):
            with postgres.connect(postgres.schema_of(tmp_path)) as connection:
                found.append(connection.execute("SELECT fence FROM lease").fetchone()[0])
    assert found == [1, 2, 3]


async def test_however_often_it_is_taken_over_under_load_two_never_write(
    postgres: Server, tmp_path: Path
) -> None:
    """Each event says under which fence it was written: in the order of events fences never go back."""
    from actormem.ports import AppendEvents
    from actormem.testing.contracts.record_values import TALK, event

    acknowledged: list[int] = []

    async def write(record: Any, fence: int, begun: anyio.Event, ended: anyio.Event) -> None:
        """Until it is fenced."""
        last = len(await sequences(record))
        while not ended.is_set():
            last += 1
            try:
                await record.sync([AppendEvents(TALK, (event(last, f"{fence}"),), 1)])
                acknowledged.append(last)
            except FencedError:
                ended.set()
            begun.set()

    async with anyio.create_task_group() as group, AsyncExitStack() as stack:
        ends: list[anyio.Event] = []
        for fence in range(1, 7):
            record = await stack.enter_async_context(postgres.open(tmp_path, lease_s=FOREVER_S))
            begun, ended = anyio.Event(), anyio.Event()
            ends.append(ended)
            group.start_soon(write, record, fence, begun, ended)
            await begun.wait()
            let_end(postgres, postgres.schema_of(tmp_path))
        last = await stack.enter_async_context(postgres.open(tmp_path, lease_s=FOREVER_S))
        for ended in ends:
            await ended.wait()
        fences = [int(one.text or "") for one in await last.read_events(TALK, 1, 10**6)]
    assert fences == sorted(fences)
    assert set(fences) == set(range(1, 7))
    assert sorted(acknowledged) == list(range(1, len(acknowledged) + 1))
    assert len(acknowledged) == len(fences)


@pytest.mark.parametrize(
    ("durability", "setting", "expected"),
    [("power", "off", "on"), ("power", "local", "local"), ("process", "on", "off")],
)
async def test_levels_of_durability(
    postgres: Server, schema: str, durability: Any, setting: str, expected: str
) -> None:
    from actormem.storage.postgres.address import parse_url
    from actormem.storage.postgres.commits import connect_writer
    from actormem.storage.postgres.record import first_connection

    url = f"{postgres.url(schema)}&options=-c%20synchronous_commit%3D{setting}"
    first_connection(parse_url(url)).close()
    with connect_writer(parse_url(url), durability) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (expected,)
