"""How soon a folder of many messages is back whose process was killed while it added to them."""

import os
import shutil
import signal
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import msgspec
from anyio import to_thread

from benchmarks.durability_folder import LEFT_SESSIONS, log_bytes
from benchmarks.process import output_of

__all__ = ["drop_cached", "recovering", "shares"]

SESSION_MESSAGES = 200
LEFT_MESSAGES_MAX = 4_000  # that are added before the kill
CHILD_S_MAX = 1_200.0
MB = 1e6
ENDINGS = {"leave": "{count:,} messages", "hold": "{count:,} messages, log held"}


def shares(message_count: int) -> tuple[int, int]:
    """Sessions that a folder of so many messages has, and the messages that are added to them before the kill."""
    session_count = (message_count - min(LEFT_MESSAGES_MAX, message_count // 2)) // SESSION_MESSAGES
    return session_count, message_count - session_count * SESSION_MESSAGES


async def recovering(
    message_count: int, repeat_count: int, place: Path | None
) -> dict[str, list[dict[str, float]]]:
    """The figures of each opening of a folder of so many messages, by how its process ended, each after its own kill.

    Args:
        message_count: At least two sessions' worth of them.
        place: Where the folders are made; None: where temporary files are.

    Raises:
        ChildError: A message that was acknowledged is lost, or a process failed otherwise.
    """
    session_count, left_count = shares(message_count)
    folder = await to_thread.run_sync(
        partial(tempfile.TemporaryDirectory, prefix="actormem-benchmark-", dir=place)
    )
    filled, left = Path(folder.name) / "filled", Path(folder.name) / "left"
    found: dict[str, list[dict[str, float]]] = {}
    try:
        await _child("fill", filled, session_count, SESSION_MESSAGES)
        for number, (ending, name) in product(range(repeat_count), ENDINGS.items()):
            row = name.format(count=message_count)
            print(f"{row}, kill {number + 1} of {repeat_count}", file=sys.stderr)
            await to_thread.run_sync(shutil.copytree, filled, left)
            safe = await _child(ending, left, LEFT_SESSIONS, left_count, code=-signal.SIGKILL)
            log_mb = log_bytes(left) / MB
            await to_thread.run_sync(drop_cached, left)
            said = await _child("recover", left, session_count, SESSION_MESSAGES, safe.decode().strip())
            steps = msgspec.json.decode(said, type=dict[str, float])
            found.setdefault(row, []).append(steps | {"log_mb": log_mb})
            await to_thread.run_sync(shutil.rmtree, left)
    finally:
        await to_thread.run_sync(folder.cleanup)
    return found


async def _child(name: str, folder: Path, *given: int | str, code: int = 0) -> bytes:
    words = [name, str(folder), *map(str, given)]
    return await output_of("benchmarks.durability_folder", *words, seconds_max=CHILD_S_MAX, code=code)


def drop_cached(folder: Path) -> bool:
    """Have the system read the files from the disk again; False where it cannot be asked to."""
    if sys.platform == "win32" or not hasattr(os, "posix_fadvise"):
        return False
    for path in filter(Path.is_file, folder.rglob("*")):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)  # what is not on the disk yet cannot be dropped
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    return True
