"""One process per folder."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from actormem.errors import FolderInUseError, UsageError
from actormem.storage.lock import folder_lock

pytestmark = pytest.mark.anyio

HOLDER = """
import sys
from pathlib import Path
import anyio
from actormem.storage.lock import folder_lock

async def main():
    async with folder_lock(Path(sys.argv[1]), 0.0):
        print("held", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def start_holder(folder: Path) -> subprocess.Popen[bytes]:
    """Another process that holds the folder until it is killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


async def test_the_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    async with folder_lock(folder, 0.0):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "lock").stat().st_mode) == 0o600


async def test_the_same_process_cannot_hold_it_twice(tmp_path: Path) -> None:
    async with folder_lock(tmp_path, 0.0):
        for _ in range(2):
            with pytest.raises(FolderInUseError, match=str(os.getpid())) as refused:
                async with folder_lock(tmp_path, 0.0):
                    pass
            assert refused.value.pid == os.getpid()
    async with folder_lock(tmp_path, 0.0):
        pass


async def test_another_process_is_named_and_its_death_frees_the_folder(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    try:
        with pytest.raises(FolderInUseError) as refused:
            async with folder_lock(tmp_path, 0.0):
                pass
        assert refused.value.pid == holder.pid
    finally:
        end(holder)
    async with folder_lock(tmp_path, 0.0):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


async def test_who_waits_gets_the_folder_when_it_is_left(tmp_path: Path) -> None:
    order: list[str] = []
    held, leave = anyio.Event(), anyio.Event()

    async def first() -> None:
        async with folder_lock(tmp_path, 0.0):
            order.append("first")
            held.set()
            await leave.wait()
            order.append("left")

    async def second() -> None:
        async with folder_lock(tmp_path, 60.0):
            order.append("second")

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await held.wait()
        group.start_soon(second)
        with pytest.raises(FolderInUseError):  # the second has had its first try by now, too
            async with folder_lock(tmp_path, 0.06):
                pass
        leave.set()
    assert order == ["first", "left", "second"]


async def test_who_waits_in_vain_is_refused_with_the_pid(tmp_path: Path) -> None:
    async with folder_lock(tmp_path, 0.0):
        with pytest.raises(FolderInUseError) as refused:
            async with folder_lock(tmp_path, 0.06):
                pass
    assert refused.value.pid == os.getpid()


async def test_a_lock_file_without_a_pid_names_nobody(tmp_path: Path) -> None:
    async with folder_lock(tmp_path, 0.0):
        (tmp_path / "lock").write_text("")
        with pytest.raises(FolderInUseError, match="unknown") as refused:
            async with folder_lock(tmp_path, 0.0):
                pass
    assert refused.value.pid == 0


@pytest.mark.parametrize("below", ["", "x", "x/y"])
async def test_a_path_at_or_below_a_file_is_refused_in_one_line(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError) as refused:
        async with folder_lock(tmp_path / "file" / below, 0.0):
            pass
    assert "\n" not in str(refused.value)
    assert str(tmp_path / "file") in str(refused.value)
    assert (tmp_path / "file").read_text() == "mine"


async def test_a_name_too_long_for_the_file_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        async with folder_lock(tmp_path / ("x" * 300), 0.0):
            pass


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    return tmp_path


@pytest.mark.parametrize("below", ["", "x"])
async def test_a_folder_that_cannot_be_written_is_refused(read_only: Path, below: str) -> None:
    with pytest.raises(UsageError, match="Permission denied"):
        async with folder_lock(read_only / below, 0.0):
            pass
