"""Which names are those of a database and not of a folder. Such a name may hold a password: no error repeats it."""

import os
from typing import Final

__all__ = ["names_database"]

SCHEMES: Final = ("postgresql:/", "postgres:/")  # one stroke is what a Path leaves of two


def names_database(path: str | os.PathLike[str]) -> bool:
    """Whether it is the URL of a database, or what was left of one by a Path."""
    return os.fspath(path).startswith(SCHEMES)
