"""Whether a folder lies on a network file system, on which locks and syncs may not mean what they say. Linux only.

The law of the file: a warning, never a refusal; where nothing can be found out nothing is said.
"""

import logging
import re
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

__all__ = ["file_system", "warn_of_network"]

MOUNTS: Final = Path("/proc/self/mounts")
MOUNTS_BYTES_MAX: Final = 4 * 1024 * 1024  # tens of thousands of mounts; what stands behind is not looked at
NETWORK: Final = re.compile(
    "9p|afpfs|afs|beegfs|ceph|cifs|davfs|glusterfs|lustre|ncpfs|nfs4?|smb[23]|smbfs|virtiofs"
    "|fuse[.](glusterfs|rclone|s3fs|sshfs)"
)
OCTAL: Final = re.compile(r"\\([0-7]{3})")  # how the table writes blanks in names

logger = logging.getLogger(__name__)


def warn_of_network(folder: Path) -> None:
    """Say in the program's log what cannot be promised, where the folder lies on a network file system.

    Cost:
        Reads the table of mounts: not for the event loop.
    """
    try:
        with MOUNTS.open("rb") as table:
            mounts = table.read(MOUNTS_BYTES_MAX).decode("utf-8", "surrogateescape")
        kind = file_system(folder.resolve(), mounts)
    except OSError:
        return
    if NETWORK.fullmatch(kind):
        logger.warning(
            "the folder lies on a network file system (%s): that one process alone has it, and that what was"
            " acknowledged outlives a crash, cannot be promised there: %s",
            kind,
            folder,
        )


def file_system(folder: PurePath, mounts: str) -> str:
    """The type of the file system that a resolved path lies on.

    Args:
        mounts: The lines of `/proc/mounts`. The last one of a place covers those before it.

    Returns:
        Its name as the table has it; empty where no line holds the path.
    """
    found, depth = "", 0
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        place = PurePosixPath(OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1]))
        if folder.is_relative_to(place) and len(place.parts) >= depth:
            found, depth = fields[2], len(place.parts)
    return found
