"""Which choices a text names: short fields of tools in plain words, such as `one_way` or 已发货.

Law of the file: only whole words name a choice, so that "unavailable" does not name `available`.
"""

import re
from collections.abc import Mapping
from typing import Final

from actormem.core.entities.rows import EntityRow

__all__ = ["choices_named"]

NAMING_CHARS_MAX: Final = 2_000  # of a message in which choices are looked for
CHOICE_WORDS_MAX: Final = 3  # of a choice: `one_way`, basic economy
CHOICE_CHARS_MIN: Final = 4  # a shorter word (yes, no, all) is said for other reasons
HAN_CHOICE_CHARS_MIN: Final = 2

_PART: Final = re.compile(r"[a-z]{1,40}+")
_CHOICE: Final = re.compile(r"[a-z]+(?:[_ -][a-z]+){0,2}")
_HAN_CHOICE: Final = re.compile(r"[一-龥]{1,8}")


def choices_named(text: str, rows: Mapping[str, EntityRow]) -> list[str]:
    """Identities of the choices a text names: short fields of tools in plain words (`one_way`: one way, one-way)."""
    text = text[:NAMING_CHARS_MAX].casefold()
    parts = _PART.findall(text)
    runs = {
        "_".join(parts[place : place + words])
        for words in range(1, CHOICE_WORDS_MAX + 1)
        for place in range(len(parts) - words + 1)
    }
    return [
        name
        for name, row in rows.items()
        if row.entity.kind == "value"
        and not (row.said and row.from_user)
        and _is_named(row.entity.normal, runs, text)
    ]


def _is_named(normal: str, runs: set[str], text: str) -> bool:
    if normal.isascii():
        return (
            len(normal) >= CHOICE_CHARS_MIN
            and _CHOICE.fullmatch(normal) is not None
            and "_".join(_PART.findall(normal)) in runs
        )
    return (
        len(normal) >= HAN_CHOICE_CHARS_MIN and normal in text and _HAN_CHOICE.fullmatch(normal) is not None
    )
