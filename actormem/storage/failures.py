"""What went wrong with the disk, as errors of ours that hold no value of any row."""

import sqlite3
from pathlib import Path

from actormem.errors import CorruptError, StorageError

__all__ = ["DamagedRowError", "storage_error"]


class DamagedRowError(Exception):
    """A row is not what we wrote. Becomes a `CorruptError` where the path is known."""

    def __init__(self, message: str, *, expected: str, found: str) -> None:
        super().__init__(message)
        self.expected = expected
        self.found = found


def storage_error(error: Exception, path: Path | None) -> StorageError:
    """The error of ours that says what `error` means for the file at `path` (None: in memory)."""
    place = "in memory" if path is None else str(path)
    if isinstance(error, UnicodeDecodeError):  # its words hold bytes of the row
        return CorruptError("a row is damaged", path=place, expected="UTF-8", found="other bytes")
    if isinstance(error, DamagedRowError):
        return CorruptError(str(error), path=place, expected=error.expected, found=error.found)
    if isinstance(error, sqlite3.Error):
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return CorruptError(
                "the record is damaged", path=place, expected="a sound database", found=str(error)
            )
        if "decode to UTF-8" in str(error):  # the one message of the module that repeats the row's text
            return CorruptError("a row is damaged", path=place, expected="UTF-8", found="other bytes")
    plain = isinstance(error, (sqlite3.Error, OSError, AssertionError))
    reason = f"{type(error).__name__}: {error}" if plain else type(error).__name__
    return StorageError(f"the record failed ({reason})", path=place)
