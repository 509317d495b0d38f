"""The write-ahead log of the record, looked at before SQLite reads it.

SQLite takes a log up to its first frame that is not sound, and drops the rest without a word: right for what a
crash tore, wrong for a log that was damaged later, whose commits were acknowledged.

The law of the file: a commit is written after the one before it was synced. So a frame that is not sound is what a
crash tore only while no commit stands behind its own; and nothing is changed here. What was cut off at a log's end,
or changed in its last commit, cannot be told from what was never written whole.

Source: "WAL-mode File Format", sqlite.org/walformat.html.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actormem.errors import CorruptError

__all__ = ["LogDamage", "check_log", "log_damage", "log_of"]

HEADER_BYTES: Final = 32
FRAME_BYTES: Final = 24  # before each page
SUMMED_BYTES: Final = 8  # of a frame's head: its page, and how many pages there are after a commit
MAGIC: Final = 0x377F0682  # and the order of bytes in its last bit
PAGE_BYTES: Final = frozenset(2**power for power in range(9, 17))
READ_BYTES: Final = 4 * 1024 * 1024  # of a log at a time


class LogDamage(NamedTuple):
    """A log that holds commits behind frames that are not sound.

    Attributes:
        sound_bytes: What SQLite takes of it: all commits before the damage.
        frame: The first frame that is not sound, from 1; 0 for the log's head.
        lost_commits: Sound commits behind it, which are dropped with it.
    """

    sound_bytes: int
    frame: int
    lost_commits: int


class Frames(NamedTuple):
    """Some frames in a row: whether each is sound as seen from the one before, is of this log, and ends a commit."""

    sound: NDArray[np.bool_]
    ours: NDArray[np.bool_]
    commits: NDArray[np.bool_]


def log_of(path: Path) -> Path:
    """Where the log of a database lies."""
    return path.with_name(path.name + "-wal")


def check_log(path: Path) -> None:
    """Look at the log of the database at `path`; nothing where it has none.

    Raises:
        CorruptError: Commits stand behind a damaged place.
        OSError: It cannot be read.
    """
    damage = log_damage(path)
    if damage is not None:
        raise CorruptError(
            "the log of the record is damaged (actormem verify --repair cuts it back)",
            path=str(log_of(path)),
            expected="a sound log",
            found=f"frame {damage.frame} is not, before {damage.lost_commits} commits",
        )


def log_damage(path: Path) -> LogDamage | None:
    """What is wrong with the log of the database at `path`, None where nothing is or a crash can have left it so."""
    log = log_of(path)
    if not log.is_file():
        return None
    with log.open("rb") as file:
        head = file.read(HEADER_BYTES)
        if len(head) < HEADER_BYTES:
            return None
        order = head_order(head)
        if order is None:
            return damaged_head(file)
        return first_damage(frames(file, head, order), frame_bytes=page_bytes(head) + FRAME_BYTES)


def page_bytes(head: bytes) -> int:
    size: int = struct.unpack_from(">I", head, 8)[0]
    return size


def head_order(head: bytes) -> str | None:
    """In which order the bytes of the log are summed, or None where its head is not sound."""
    magic: int = struct.unpack_from(">I", head)[0]
    order = ">u4" if magic & 1 else "<u4"
    words = np.frombuffer(head, order, count=6).astype(np.uint32).reshape(1, 6)
    seed = np.zeros((1, 2), np.uint32)
    stored = np.frombuffer(head, ">u4", offset=24).astype(np.uint32)
    sound = magic & ~1 == MAGIC and page_bytes(head) in PAGE_BYTES
    return order if sound and bool((sums(words, seed)[0] == stored).all()) else None


def damaged_head(file: BinaryIO) -> LogDamage | None:
    """The head is synced before any frame is written: with anything behind it, it was whole once."""
    while block := file.read(READ_BYTES):
        if any(block):
            return LogDamage(sound_bytes=0, frame=0, lost_commits=1)
    return None


def first_damage(found: Iterator[Frames], *, frame_bytes: int) -> LogDamage | None:
    """The first frame that is not sound, if a commit stands behind the one it is of."""
    number, first, sound_bytes, lost_commits = 0, 0, HEADER_BYTES, 0
    torn = False  # inside the commit of the first frame that is not sound
    for some in found:
        for sound, ours, commits in zip(*(part.tolist() for part in some), strict=True):
            number += 1
            if not first and sound:
                sound_bytes = HEADER_BYTES + number * frame_bytes if commits else sound_bytes
            elif not first:
                first, torn = number, not (ours and commits)
            elif torn:
                torn = not (ours and commits)
            elif sound and commits:
                lost_commits += 1
    return LogDamage(sound_bytes, first, lost_commits) if lost_commits else None


def frames(file: BinaryIO, head: bytes, order: str) -> Iterator[Frames]:
    """All whole frames of the log, some at a time."""
    size = page_bytes(head) + FRAME_BYTES
    salts = np.frombuffer(head, ">u4", count=2, offset=16).astype(np.uint32)
    before = np.frombuffer(head, ">u4", offset=24).astype(np.uint32)
    while True:
        block = file.read(max(1, READ_BYTES // size) * size)
        count = len(block) // size
        if not count:
            return
        rows = np.frombuffer(block, np.uint8, count=count * size).reshape(count, size)
        heads = np.ascontiguousarray(rows[:, :FRAME_BYTES]).view(">u4").astype(np.uint32)
        summed = np.concatenate((rows[:, :SUMMED_BYTES], rows[:, FRAME_BYTES:]), axis=1)
        words = np.ascontiguousarray(summed).view(order).astype(np.uint32)
        stored = heads[:, 4:6]
        seeds = np.concatenate((before[np.newaxis], stored[:-1]))
        ours = (heads[:, 2:4] == salts).all(axis=1)
        sound = ours & (heads[:, 0] > 0) & (sums(words, seeds) == stored).all(axis=1)
        before = stored[-1]
        yield Frames(sound, ours, heads[:, 1] > 0)


def sums(words: NDArray[np.uint32], seeds: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """SQLite's checksum of each row of words, begun from each row of seeds.

    A step takes two words x, y: s0 += x + s1, then s1 += y + s0. That is linear modulo 2**32, so each word's part in
    the end is a product.
    """
    pairs = words.shape[1] // 2
    weights = np.empty((2, words.shape[1]), np.uint32)
    a, b, c, d = 1, 0, 0, 1  # the step's matrix, to the power of how many pairs follow
    for pair in reversed(range(pairs)):
        weights[:, 2 * pair] = (a + b) & 0xFFFFFFFF, (c + d) & 0xFFFFFFFF
        weights[:, 2 * pair + 1] = b, d
        a, b, c, d = (value & 0xFFFFFFFF for value in (a + b, a + 2 * b, c + d, c + 2 * d))
    last = np.array(((a, b), (c, d)), np.uint32)
    parts = [
        (words * weights[place]).sum(axis=1, dtype=np.uint32)
        + (seeds * last[place]).sum(axis=1, dtype=np.uint32)
        for place in range(2)
    ]
    return np.stack(parts, axis=1)
