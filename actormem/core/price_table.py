"""The price lists of the families of models, by the beginning of their names.

Law: what is published stands here with its source; the longest beginning that matches a model's name wins.
"""

import re
from collections.abc import Mapping
from typing import cast

import msgspec

from actormem.core.prices import DEFAULT_PRICES, Prices
from actormem.errors import UsageError

__all__ = ["PRICE_TABLE", "checked_table", "prices_of"]

FAMILIES_MAX = 256  # that a caller may name: more is a mistake, and each costs a look at every spawn
MARKS = re.compile(r"[/:.@]")  # what may stand between a provider's name and a model's

Change = msgspec.structs.replace


def _tiles(base_tokens: int, square_tokens: int) -> Prices:
    return Prices(
        image_base_tokens=base_tokens, image_square_tokens=square_tokens, image_low_tokens=base_tokens
    )


def _patches(square_tokens: float, squares_max: int, *, base_tokens: int = 0, pixels: int = 32) -> Prices:
    return Prices(
        images="patches",
        image_base_tokens=base_tokens,
        image_square_tokens=square_tokens,
        image_square_pixels=pixels,
        image_squares_max=squares_max,
        image_low_tokens=0,
    )


def _of_gemini(prices: Prices) -> Prices:
    return Change(prices, audio_tokens_per_s=32, audio_tokens=3_840)


# OpenAI: "Images and vision", developers.openai.com/api/docs/guides/images-vision, and "Realtime costs" there for
# sound (10 tokens a second). Bills of gpt-5-mini and -nano are lower than their list (1.2 and 1.5, measured by
# users); which of two rules newer gpt-5 models follow is not said: patches, and a base that covers small tiles.
# Claude: "Vision", platform.claude.com/docs/en/build-with-claude/vision: width x height / 750, later squares of
# 28 pixels; squares of 27 cover both. Up to 1,600 tokens, since Opus 4.7 up to 4,784.
# Gemini: "Understand and count tokens" and "Media resolution", ai.google.dev/gemini-api/docs.
# Qwen-VL: one token for 28 x 28 pixels, 16,384 at most (the card of Qwen2-VL).
_OLDER_CLAUDE = _patches(1, 1_600, pixels=27)
PRICE_TABLE: Mapping[str, Prices] = {
    "": Change(_patches(1, 4_096, base_tokens=16, pixels=28), audio_tokens_per_s=32, audio_tokens=3_840),
    "gpt-": DEFAULT_PRICES,
    "chatgpt-": DEFAULT_PRICES,
    "gpt-4o-mini": _tiles(2_833, 5_667),
    "o1": _tiles(75, 150),
    "o3": _tiles(75, 150),
    "gpt-5": _tiles(70, 140),
    "gpt-5.": _patches(1.2, 10_000, base_tokens=300),
    "gpt-5-mini": _patches(1.62, 1_536),
    "gpt-5-nano": _patches(2.46, 1_536),
    "gpt-4.1-mini": _patches(1.62, 1_536),
    "gpt-4.1-nano": _patches(2.46, 1_536),
    "o4-mini": _patches(1.72, 1_536),
    "codex-mini": _patches(1.72, 1_536),
    "claude-": _patches(1, 4_784, pixels=27),
    "claude-2": _OLDER_CLAUDE,
    "claude-3": _OLDER_CLAUDE,
    "claude-haiku-4": _OLDER_CLAUDE,
    "claude-sonnet-4": _OLDER_CLAUDE,
    "claude-opus-4": _OLDER_CLAUDE,
    "claude-opus-4-7": _patches(1, 4_784, pixels=27),
    "claude-opus-4-8": _patches(1, 4_784, pixels=27),
    "gemini-": _of_gemini(Change(_patches(258, 24), images="crops")),
    "gemini-3": _of_gemini(Prices(images="fixed", image_base_tokens=1_120, image_low_tokens=280)),
    "qwen": Change(_patches(1, 16_384, base_tokens=16, pixels=28), audio_tokens_per_s=32, audio_tokens=3_840),
}


def prices_of(model: str, own: Mapping[str, Prices]) -> Prices:
    """The price list of a model; of one not named yet, gpt-4o's.

    Args:
        model: A name as a client would send it, with its provider or without (`openai/gpt-4o`,
            `us.anthropic.claude-3-7-sonnet`).
        own: A caller's lists: they stand before those of the table that begin alike.
    """
    if not model and "" not in own:
        return DEFAULT_PRICES
    name = model.strip().lower()
    starts = [0, *(mark.end() for mark in MARKS.finditer(name))]
    found = [
        (len(family), table is own, prices)
        for table in (own, PRICE_TABLE)
        for family, prices in table.items()
        if any(name.startswith(family, start) for start in starts)
    ]
    return max(found, key=lambda one: one[:2])[2]


def checked_table(given: object) -> dict[str, Prices]:
    """The lists that a caller hands in, by the beginning of a model's name in lower case.

    Raises:
        UsageError: It is not a mapping of names to `Prices`; says which name.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(
            f"prices must be a mapping of model names to actormem.Prices, not {type(given).__name__}"
        )
    table = cast("Mapping[object, object]", given)
    if len(table) > FAMILIES_MAX:
        raise UsageError(f"prices may name at most {FAMILIES_MAX} families of models, not {len(table)}")
    for family, prices in table.items():
        if not isinstance(family, str) or not isinstance(prices, Prices):
            raise UsageError(
                f"prices[{family!r}] must be an actormem.Prices under the beginning of a model's name"
            )
    return {family.strip().lower(): prices for family, prices in cast("Mapping[str, Prices]", table).items()}
