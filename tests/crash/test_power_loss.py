"""Power loss at the default level: what was synced is all there is, and all that was acknowledged is in it.

A child talks under `strace`; at points of its life the folder is put together from what was synced by then, with none,
the last or a torn half of what was not, and looked at as after a kill. At level `process` the same look finds losses,
which shows that it can.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.conversing import CHILD, Told, losses
from tests.crash.written import Disk, Ended, calls_of

NAMES = ("record.db", "record.db-wal", "record.db-journal")
NUMBERS = 11  # of the life: enough for compactions and forgetting, and no erasure at its end, which syncs
POINTS = 3  # looked at by default
POINTS_FULL = 40
LUCKY = ("none", "last", "torn")


def traceable() -> bool:
    """Whether programs may be traced here."""
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(
        ["strace", "-o", os.devnull, sys.executable, "-c", ""], check=False, capture_output=True
    )
    return tried.returncode == 0


pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not traceable(), reason="strace is not here, or may not trace"),
]


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop is enough: what matters is what reaches the disk."""
    return str(request.param)


def lived(folder: Path, durability: str) -> list[Ended]:
    """The calls of a child that talks, remembers, forgets and leaves."""
    arguments = [str(folder), "1", durability, "honest", str(1 + NUMBERS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return calls_of([sys.executable, "-c", CHILD, *arguments], folder.parent / "calls", environment)


def is_told(call: Ended) -> bool:
    return call.name == "write" and call.data.split(b" ")[0].isalpha() and call.data.endswith(b"\n")


async def looked(tmp_path: Path, calls: Sequence[Ended], points: Sequence[int]) -> list[str]:
    """What is wrong with the folder, had the power gone at these points."""
    disk, told, found = Disk(tmp_path / "memory", NAMES), Told(), list[str]()
    for place, call in enumerate(calls):
        if place in points:
            lucky = LUCKY[points.index(place) % len(LUCKY)]
            folder = tmp_path / f"{place}-{lucky}"
            disk.write_out(folder, lucky=lucky)
            found += [f"at {place} ({lucky}): {one}" for one in await losses(folder, told)]
        disk.take(call)
        if is_told(call):
            told.add([call.data.decode().split()])
    return found


def spread(calls: Sequence[Ended], count: int) -> list[int]:
    """Points just after something was acknowledged, the most telling moment, from the first to the last."""
    after = [place + 1 for place, call in enumerate(calls) if is_told(call) and place + 1 < len(calls)]
    assert len(after) > NUMBERS
    return sorted({after[number * (len(after) - 1) // (count - 1)] for number in range(count)})


async def test_what_was_acknowledged_outlives_the_power(tmp_path: Path) -> None:
    calls = lived(tmp_path / "memory", "power")
    assert await looked(tmp_path, calls, spread(calls, POINTS)) == []


@pytest.mark.full
async def test_what_was_acknowledged_outlives_the_power_at_many_points(tmp_path: Path) -> None:
    calls = lived(tmp_path / "memory", "power")
    synced = [place for place, call in enumerate(calls) if call.name == "fdatasync"]
    before = synced[:: max(1, len(synced) // POINTS_FULL)]
    assert await looked(tmp_path, calls, sorted({*spread(calls, POINTS_FULL), *before})) == []


async def test_at_the_level_that_does_not_promise_it_the_same_look_finds_losses(tmp_path: Path) -> None:
    calls = lived(tmp_path / "memory", "process")
    found = await looked(tmp_path, calls, spread(calls, POINTS)[-1:])
    assert any("is lost" in one for one in found)
