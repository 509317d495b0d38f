"""One process, on one machine: what a fork may not do, and what a network file system cannot promise."""

import logging
import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from actormem.storage import network
from actormem.storage.network import file_system, warn_of_network

FORK = """
import os, sys, traceback
import anyio, actormem
from actormem.testing.fakes import ScriptedEmbedder

async def refused(call, *given, **named):
    try:
        await call(*given, **named)
    except actormem.UsageError as error:
        assert str(os.getppid()) in str(error) and "fork" in str(error), error
    else:
        raise AssertionError(call)

async def main():
    async with actormem.open(sys.argv[1], embedder=ScriptedEmbedder()) as runtime:
        session = await runtime.spawn("s", user="ada")
        await session.add({"role": "user", "content": "hello"})
        child = os.fork()
        if not child:
            try:
                for _ in range(2):
                    await refused(runtime.items, "ada")
                await refused(runtime.spawn, "t", user="ada")
                await refused(runtime.settle)
                await refused(runtime.forget_user, "ada")
                await refused(session.add, {"role": "user", "content": "from the child"})
                await refused(session.turn("from the child").__aenter__)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert len(await session.messages()) == 1
    print("fine")

anyio.run(main, backend=sys.argv[2])
"""

MOUNTS = """\
overlay / overlay rw,relatime 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sda1 /home/ada/local ext4 rw 0 0
//share/it /mnt/our\\040share cifs rw 0 0
tmpfs /over tmpfs rw 0 0
me@host:/ /over fuse.sshfs rw 0 0
short
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_runtime_is_refused_in_a_fork_of_its_process_and_goes_on_in_its_own(
    tmp_path: Path, backend: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path), backend],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/memory", "overlay"),
        ("/home/ada/memory", "nfs4"),
        ("/home", "nfs4"),
        ("/homes", "overlay"),
        ("/home/ada/local/memory", "ext4"),
        ("/mnt/our share/memory", "cifs"),
        ("/over/memory", "fuse.sshfs"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert file_system(PurePosixPath(path), MOUNTS) == kind


def test_a_path_that_no_mount_holds_has_none() -> None:
    assert file_system(PurePosixPath("/x"), "server:/ /y nfs rw 0 0\n") == ""


def test_a_folder_on_the_network_is_warned_of_once_and_one_here_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    monkeypatch.setattr(network, "MOUNTS", table)
    with caplog.at_level(logging.WARNING):
        warn_of_network(tmp_path)  # there is no table
        table.write_text("/dev/sda1 / ext4 rw 0 0\n")
        warn_of_network(tmp_path)
        assert not caplog.records
        table.write_text(f"/dev/sda1 / ext4 rw 0 0\nhost:/x {tmp_path.resolve()} nfs rw 0 0\n")
        warn_of_network(tmp_path / "memory")
    assert len(caplog.records) == 1
    assert "(nfs)" in caplog.text
    assert "cannot be promised" in caplog.text
