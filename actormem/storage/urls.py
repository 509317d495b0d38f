"""Which names are those of a database and not of a folder. Such a name may hold a password: no error repeats it."""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from actormem.errors import UsageError

__all__ = ["check_name", "holds_record", "names_database"]

SCHEMES: Final = ("postgresql:/", "postgres:/")  # one stroke is what a Path leaves of two
LIKE_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/|(?P<postgres>(?i:postgres(?:ql)?))[:+]")
RECORD_NAME: Final = "record.db"


def names_database(path: str | os.PathLike[str]) -> bool:
    """Whether it is the URL of a database, or what was left of one by a Path."""
    return os.fspath(path).startswith(SCHEMES)


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse what looks like a URL and is none of ours: it would become a folder, with a password in its name.

    Raises:
        UsageError: It does.
    """
    found = None if names_database(path) else LIKE_URL.match(os.fspath(path))
    if found is not None:
        scheme = found["scheme"] or found["postgres"]
        raise UsageError(
            f"{scheme}: is no kind of URL that holds a memory",
            hint="write postgresql://…, or ./ before the name of a folder that looks like a URL",
        )


def holds_record(path: str | os.PathLike[str]) -> bool:
    """Whether a memory is there; nothing is made. Blocks; for a thread.

    Raises:
        UsageError: The database cannot be reached or read.
    """
    check_name(path)
    if names_database(path):
        found = import_module("actormem.storage.postgres.record").holds_schema(os.fspath(path))
        return cast("bool", found)
    return (Path(path) / RECORD_NAME).is_file()
