"""tiktoken, where its vocabulary files are already on disk.

Law: never a download and never a network call. A file is looked for, and its hash checked, before tiktoken is
asked to load it; tiktoken would fetch what is missing or damaged, without a timeout, on the calling thread.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import tiktoken

from actormem.adapters.prefixes import fitting_prefix, repaired
from actormem.errors import UsageError

__all__ = ["TiktokenTokenizer", "is_on_disk"]

PIECE_CHARS = 64 * 1024  # the regex engine of tiktoken overflows its stack on a million spaces

# Where tiktoken would download from (its cache names a file by sha1 of this), and the file's sha256.
FILES = {
    "cl100k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
FILES["o200k_harmony"] = FILES["o200k_base"]


class TiktokenTokenizer:
    """Counts tokens with tiktoken.

    A text above 64 K characters is counted in pieces, which may give a token more for each piece.

    Args:
        vocabulary: `cl100k_base`, `o200k_base` or `o200k_harmony`.

    Raises:
        UsageError: Its file is not on disk, or is not the file it should be.

    Cost:
        Making one takes 0.4 s and about 84 MB: do it off the event loop. A short message takes about 10 µs.
    """

    def __init__(self, vocabulary: str = "o200k_base") -> None:
        if not is_on_disk(vocabulary):
            raise UsageError(
                "tiktoken has no file of this vocabulary on disk",
                hint="set TIKTOKEN_CACHE_DIR to a folder that holds it, or install toktok-rs",
            )
        self._name = vocabulary
        self._encoding = tiktoken.get_encoding(vocabulary)

    @property
    def name(self) -> str:
        return self._name

    @property
    def exact(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<TiktokenTokenizer {self._name}, exact>"

    def count(self, text: str) -> int:
        if not text.isascii():
            text = repaired(text)
        return sum(
            self._count_piece(text[start : start + PIECE_CHARS]) for start in range(0, len(text), PIECE_CHARS)
        )

    def truncate(self, text: str, tokens: int) -> str:
        return fitting_prefix(text, tokens, self.count) if tokens > 0 else ""

    def _count_piece(self, piece: str) -> int:
        try:
            # encode_ordinary: control words are plain text, where encode would raise on a user's words.
            return len(self._encoding.encode_ordinary(piece))
        except BaseException as error:
            # pyo3's PanicException is a BaseException; nothing else of that kind may be caught here.
            if type(error).__name__ != "PanicException":
                raise
            return len(piece.encode("utf-8", "replace"))


def is_on_disk(vocabulary: str) -> bool:
    """Whether the vocabulary's file is in the folder tiktoken looks in, whole and unchanged."""
    if vocabulary not in FILES:
        return False
    folder = cache_folder()
    if folder is None:
        return False
    address, sha256 = FILES[vocabulary]
    file = folder / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


def cache_folder() -> Path | None:
    """The folder tiktoken keeps its files in; None where it is told to keep none."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        folder = os.environ.get(variable)
        if folder is not None:
            return Path(folder) if folder else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"
