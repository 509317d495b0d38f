"""A child process that says what it has done, line by line, and is killed after some of them."""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["heard", "killed"]


def heard(program: str, arguments: list[str], lines: int) -> list[list[str]]:
    """The words of each whole line the child wrote before it was killed, those that came with the kill too.

    Args:
        lines: So many are heard before the kill.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    try:
        told = [process.stdout.readline() for _ in range(lines)]
    finally:
        process.kill()
    rest, _ = process.communicate()
    # A kill may tear the last line: what was not said whole was not said.
    whole = [line for line in [*told, *rest.splitlines(keepends=True)] if line.endswith(b"\n")]
    assert len(whole) >= lines, "the child ended before it was killed"
    return [line.decode().split() for line in whole]


def killed(program: str, folder: Path | str, first: int, lines: int) -> dict[str, int]:
    """The last number of each word the child told before it was killed.

    Args:
        program: What the child runs, with the place and the first number as its arguments; it writes `word number`.
        lines: So many are heard before the kill.
    """
    return {word: int(number) for word, number in heard(program, [str(folder), str(first)], lines)}
