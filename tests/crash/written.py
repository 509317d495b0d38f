"""What a program has written to files and what of it a disk surely has: from its system calls, as `strace` tells them.

The law of the file: a disk has what was synced and nothing else is sure. Names of files are taken to be as the program
last made them; contents are not. Memory that is mapped is not seen: SQLite's `-shm` file is that, and is not needed.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Disk", "Ended", "calls_of"]

CALLS = "pwrite64,write,fsync,fdatasync,ftruncate,unlink,rename,renameat,renameat2"
CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
FILE = re.compile(r"\d+<([^>]*)>")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Ended(NamedTuple):
    """A call that came back well: its file, what it wrote and where.

    For a truncation `at` is the new size, for a renaming `data` the new path.
    """

    name: str
    path: str
    data: bytes
    at: int


def calls_of(command: list[str], into: Path, environment: dict[str, str]) -> list[Ended]:
    """Run the command under `strace`, and give the calls by which it wrote, in the order in which they came back."""
    traced = ["strace", "-f", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(into), *command]
    subprocess.run(traced, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=300)
    return list(_ended(into))


def _ended(log: Path) -> Iterator[Ended]:
    begun: dict[str, str] = {}
    with log.open() as lines:
        for line in lines:
            thread, _, told = line.strip().partition(" ")
            told = told.strip()
            if told.endswith("<unfinished ...>"):
                begun[thread] = told.removesuffix("<unfinished ...>")
                continue
            if told.startswith("<... "):
                told = begun.pop(thread, "") + told.partition("resumed>")[2]
            found = CALL.match(told)
            if found is not None and not found[3].startswith("-"):
                yield _call(found[1], found[2])


def _call(name: str, arguments: str) -> Ended:
    texts = TEXT.findall(arguments)
    if name.startswith("rename"):
        return Ended("rename", _bytes(texts[0]).decode(), _bytes(texts[1]), 0)
    file, data = FILE.match(arguments), _bytes(texts[0]) if texts else b""
    path = _bytes(file[1]).decode() if file is not None else data.decode()
    at = int(arguments.rsplit(", ", 1)[1]) if name in ("pwrite64", "ftruncate") else 0
    return Ended(name, path, data, at)


def _bytes(told: str) -> bytes:
    return bytes.fromhex(told.replace("\\x", "")) if "\\x" in told else told.encode()


class Disk:
    """The files of a folder as a disk has them.

    Args:
        names: Of the files that are found again; the others may be lost.
    """

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._names = {str(folder / name): name for name in names}
        self._sure: dict[str, bytearray] = {}
        self._unsure: dict[str, list[Ended]] = {}

    def take(self, call: Ended) -> None:
        """What the call did."""
        name = call.path
        if call.name == "unlink":
            self._sure.pop(name, None)
            self._unsure.pop(name, None)
        elif call.name == "rename":
            new = call.data.decode()
            self._sure[new] = self._sure.pop(name, bytearray())
            self._unsure[new] = self._unsure.pop(name, [])
        elif call.name in ("fsync", "fdatasync"):
            content = self._sure.setdefault(name, bytearray())
            for one in self._unsure.pop(name, []):
                _apply(content, one)
        else:
            self._unsure.setdefault(name, []).append(call)

    def write_out(self, into: Path, *, lucky: str) -> None:
        """The folder as it may be found when the power is back.

        Args:
            lucky: What of the unsynced has reached the disk: `none` of it; the `last` call without those before it;
                or all but the `torn` second half of the last.
        """
        into.mkdir(parents=True)
        for name in {*self._sure, *self._unsure} & set(self._names):
            content = bytearray(self._sure.get(name, b""))
            unsure = self._unsure.get(name, [])
            if lucky == "last":
                unsure = unsure[-1:]
            elif lucky == "torn" and unsure:
                last = unsure[-1]
                unsure = [*unsure[:-1], last._replace(data=last.data[: len(last.data) // 2])]
            for one in unsure if lucky != "none" else []:
                _apply(content, one)
            (into / self._names[name]).write_bytes(content)


def _apply(content: bytearray, call: Ended) -> None:
    if call.name == "ftruncate":
        del content[call.at :]
        content.extend(bytes(call.at - len(content)))
        return
    content.extend(bytes(max(0, call.at - len(content))))
    content[call.at : call.at + len(call.data)] = call.data
