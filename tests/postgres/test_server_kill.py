"""kill -9 of the server itself, in the midst of writes: what was acknowledged is there, and nothing was invented."""

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from actormem.errors import StorageError
from actormem.ports import AppendEvents
from actormem.testing.contracts.record_values import TALK, event
from tests.postgres.server import Server

pytestmark = pytest.mark.anyio


def kill(server: Server) -> None:
    """The postmaster and all that it has begun, so that none of them writes on."""
    import psutil

    postmaster = psutil.Process(server.process.get_pid())
    children = postmaster.children(recursive=True)
    for one in (postmaster, *children):
        os.kill(one.pid, signal.SIGKILL)
    psutil.wait_procs([postmaster, *children], timeout=60)


def restart(server: Server) -> None:
    server.process.ensure_postgres_running()
    deadline = time.monotonic() + 60
    while True:
        try:
            server.connect().close()
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


class Talking:
    """Writes one event after another.

    Attributes:
        submitted: The last event that was written.
        acknowledged: The last event that was acknowledged.
    """

    def __init__(self) -> None:
        self.submitted = 0
        self.acknowledged = 0

    async def go_on(self, record: Any, server: Server, count: int) -> None:
        """Until it fails: the server is killed after so many acknowledgements."""
        last, killed = self.acknowledged + count, False
        while True:
            self.submitted += 1
            said = event(self.submitted, f"words {self.submitted}")
            record.submit([AppendEvents(TALK, (said,), 1)], partial(self._told, self.submitted))
            if self.submitted % 7 == 0:
                await record.sync()
            if self.acknowledged >= last and not killed:
                killed = True
                await anyio.to_thread.run_sync(kill, server)

    def _told(self, number: int, error: StorageError | None) -> None:
        if error is None:
            self.acknowledged = number


async def rounds(server: Server, folder: Path, counts: list[int]) -> None:
    from actormem.storage.postgres.record import open_postgres

    url = server.url(server.schema_of(folder), lease_s=0.5)
    talking = Talking()
    for count in counts:
        async with open_postgres(url, lock_wait_s=60) as record:
            with pytest.raises(StorageError):
                await talking.go_on(record, server, count)
        restart(server)
        async with open_postgres(url, lock_wait_s=60) as record:
            history = await record.load_session(TALK)
            assert history is not None
            texts = [event.text for event in history.events]
            assert texts == [f"words {number}" for number in range(1, len(texts) + 1)]
            assert talking.acknowledged <= len(texts) <= talking.submitted
            talking.submitted = talking.acknowledged = len(texts)


async def test_a_killed_server_has_what_it_acknowledged(own_server: Server, tmp_path: Path) -> None:
    await rounds(own_server, tmp_path, [40])


@pytest.mark.full
async def test_a_server_that_is_killed_again_and_again_has_what_it_acknowledged(
    own_server: Server, tmp_path: Path
) -> None:
    await rounds(own_server, tmp_path, [1, 300, 20, 500, 77])
