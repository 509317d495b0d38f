"""Which vocabulary a model counts with, and the best tokenizer there is for it here.

Law: a name is called exact only where the vocabulary is published; everything else gets a bound.
"""

import re
from importlib import import_module
from importlib.util import find_spec

from actormem.adapters.bound import BoundTokenizer
from actormem.adapters.bytes import BytesTokenizer
from actormem.limits import UNKNOWN_MODEL_FACTOR
from actormem.ports import Tokenizer

__all__ = ["make_tokenizer", "vocabulary_of"]

DEFAULT_VOCABULARY = "o200k_base"

# Who sells a model under its own name. Under any other prefix the name may be of another model's child.
PROVIDERS = frozenset(
    {"openai", "azure", "azure_openai", "azure-openai", "github", "litellm", "models", "qwen"}
)

# The first family that matches wins, so gpt-4o stands before gpt-4. Source: tiktoken's model table; Qwen3.5
# has a vocabulary of 248,077 of its own, Qwen2.5 and Qwen3 another one that is not here.
FAMILIES = (
    (r"(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o1|o3|o4)", "o200k_base"),
    (r"gpt-oss", "o200k_harmony"),
    (r"(gpt-4|gpt-3\.5|gpt-35|text-embedding-3|text-embedding-ada-002)", "cl100k_base"),
    (r"qwen3\.5", "qwen3.5"),
)


def vocabulary_of(model: str | None) -> str | None:
    """The vocabulary a model counts with, or None where it is not known.

    Args:
        model: A name as a client would send it: dated (`gpt-4o-2024-08-06`), fine-tuned
            (`ft:gpt-4o-mini:org::id`), with its provider (`openai/gpt-4o`, `openai:gpt-4o`) or with a size
            (`gpt-oss:20b`). None is a model not named yet, which counts as OpenAI's newest.

    >>> vocabulary_of("openai/gpt-4o-mini"), vocabulary_of("gpt-4-turbo"), vocabulary_of("deepseek-chat")
    ('o200k_base', 'cl100k_base', None)
    """
    if model is None:
        return DEFAULT_VOCABULARY
    *prefixes, name = model.strip().lower().split("/")
    first, _, rest = name.partition(":")
    if rest and first in PROVIDERS | {"ft"}:
        name = rest
    if prefixes and prefixes[-1].split(":")[-1] not in PROVIDERS:
        return None
    name = name.removeprefix("ft:").partition(":")[0]
    for family, vocabulary in FAMILIES:
        # A family ends where the name does, or at a mark: gpt-5.1 is of gpt-5, gpt-50 is not.
        if re.match(rf"{family}(?![a-z0-9])", name):
            return vocabulary
    return None


def make_tokenizer(model: str | None = None) -> Tokenizer:
    """The best tokenizer there is for a model: exact where its vocabulary is known and here, else a bound.

    Raises nothing for any name. A model that is not known counts by a bound made of o200k and
    `limits.UNKNOWN_MODEL_FACTOR`; where no vocabulary is here at all, as its bytes.

    Cost:
        0.1 to 0.7 s the first time a vocabulary is loaded, nothing after that. The loading holds the
        interpreter, in a thread too: ask for the models you know of before serving.
    """
    vocabulary = vocabulary_of(model)
    exact = load_vocabulary(vocabulary or DEFAULT_VOCABULARY)
    if exact is None:
        return BytesTokenizer()
    return exact if vocabulary else BoundTokenizer(exact, UNKNOWN_MODEL_FACTOR)


def load_vocabulary(vocabulary: str) -> Tokenizer | None:
    """An exact tokenizer: toktok's, else tiktoken's where its file is on disk, else None."""
    if find_spec("toktok") is not None:
        toktok = import_module("actormem.adapters.toktok")
        if vocabulary in toktok.VOCABULARIES:
            return toktok.ToktokTokenizer(vocabulary)
    if find_spec("tiktoken") is not None:
        tiktoken = import_module("actormem.adapters.tiktoken")
        if tiktoken.is_on_disk(vocabulary):
            return tiktoken.TiktokenTokenizer(vocabulary)
    return None
