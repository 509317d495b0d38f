"""A folder of a check's own, and what is found in its files."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["files_holding", "own_folder"]


@contextmanager
def own_folder() -> Generator[Path, None, None]:
    """A folder that is there, is empty, and goes when the block ends."""
    with TemporaryDirectory(prefix="actormem-check-") as path:
        yield Path(path)


def files_holding(folder: Path, *words: str) -> list[str]:
    """Names of the files in the folder, however deep, that hold any of these words as UTF-8."""
    needles = [word.encode() for word in words]
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]
