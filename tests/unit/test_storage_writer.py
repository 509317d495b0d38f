"""The one task that writes: groups, and leaving while the disk does not answer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
from anyio import CapacityLimiter

from actormem.core.values import Owner, SessionKey
from actormem.errors import StorageError
from actormem.ports import AppendEvents, StoredEvent
from actormem.storage.commits import commit
from actormem.storage.schema import connect_writer
from actormem.storage.writer import GROUP_MAX, Writer

pytestmark = pytest.mark.anyio

TALK = SessionKey(Owner("shop", "ada"), "s-1")


def append(sequence: int) -> AppendEvents:
    return AppendEvents(TALK, (StoredEvent(sequence=sequence, body=b""),), 1)


@asynccontextmanager
async def running(limiter: CapacityLimiter) -> AsyncGenerator[Writer, None]:
    connection = connect_writer(None, "process")
    writer = Writer(partial(commit, connection, None), limiter, "in memory")
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(writer.run)
            yield writer
    finally:
        connection.close()


async def test_a_group_has_a_largest_size() -> None:
    async with running(CapacityLimiter(1)) as writer:
        for sequence in range(1, GROUP_MAX + 2):
            writer.submit([append(sequence)])
        await writer.close(60)
    assert (writer.commit_count, writer.write_count) == (2, GROUP_MAX + 1)


async def test_waiting_for_nothing_commits_nothing() -> None:
    told: list[StorageError | None] = []
    async with running(CapacityLimiter(1)) as writer:
        writer.submit((), told.append)
        await writer.close(60)
    assert told == [None]
    assert writer.commit_count == 0


async def test_what_the_disk_never_took_is_told_so_in_order_after_the_deadline() -> None:
    limiter = CapacityLimiter(1)
    told: list[tuple[int, str]] = []
    async with running(limiter) as writer, limiter:  # whoever has the token has the disk
        for sequence in range(1, 4):
            writer.submit(
                [append(sequence)],
                lambda error, sequence=sequence: told.append((sequence, type(error).__name__)),
            )
        await anyio.wait_all_tasks_blocked()  # the first group stands at the disk
        writer.submit([append(4)], lambda error: told.append((4, type(error).__name__)))
        assert writer.waiting_count == 4
        await writer.close(0)
    assert told == [(sequence, "StorageError") for sequence in range(1, 5)]
    assert (writer.waiting_count, writer.commit_count) == (0, 0)


async def test_callbacks_may_submit_more() -> None:
    async with running(CapacityLimiter(1)) as writer:
        writer.submit([append(1)], lambda error: writer.submit([append(2)], lambda error: done.set()))
        done = anyio.Event()
        await done.wait()
        await writer.close(60)
    assert (writer.commit_count, writer.write_count) == (2, 2)
