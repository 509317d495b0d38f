"""Exact values that must survive: found in words and in JSON, compared as values, kept in a table.

The front of the parts behind it: `text` (words), `fields` (JSON), `table` (what a
session has seen). The law of the file: two texts are one value only where nothing they say differs.
"""

from typing import Final

from actormem.core.entities.fields import find_tool_entities
from actormem.core.entities.numbers import number_value, plain
from actormem.core.entities.table import EntityLines, EntityRow, EntityTable
from actormem.core.entities.text import find_entities, whole_entity
from actormem.core.values import Entity

__all__ = [
    "EntityLines",
    "EntityRow",
    "EntityTable",
    "find_entities",
    "find_tool_entities",
    "same_value",
]

SAME_CHARS_MAX: Final = 200  # a longer text is no single value and is compared as text


def same_value(a: str | Entity, b: str | Entity) -> bool:
    """Whether two texts are the same value, however written.

    一万, 1万, 10k and 10,000 are; `¥1,284.50` and 1284.5元 are; `March 9, 2031` and 2031年3月9日 are; so are
    a phone number with and without separators or the country's 86. An amount without a currency is the same
    as one with it; two currencies differ. Anything else is compared as text, case aside.

    Args:
        a, b: A text that is the value and nothing more, or an entity found earlier (faster).
    """
    if _text(a) == _text(b):
        return True
    return any(_equal(first, second) for first in _readings(a) for second in _readings(b))


def _text(value: str | Entity) -> str:
    return (value if isinstance(value, str) else value.value).strip().casefold()


def _readings(value: str | Entity) -> tuple[tuple[str, str], ...]:
    """What a value can be read as, as kind and normal form; nothing for mere words."""
    if isinstance(value, Entity) and value.kind != "value":
        return ((value.kind, value.normal),)
    text = (value if isinstance(value, str) else value.value).strip()
    if len(text) > SAME_CHARS_MAX:
        return ()
    number = number_value(text)
    whole = whole_entity(text)
    read_number = () if number is None else (("number", plain(number)),)
    return read_number if whole is None else (*read_number, (whole.kind, whole.normal))


def _equal(first: tuple[str, str], second: tuple[str, str]) -> bool:
    if first == second:
        return True
    if not {first[0], second[0]} <= {"amount", "number"}:
        return False
    number, _, currency = first[1].partition(" ")
    other, _, other_currency = second[1].partition(" ")
    return number == other and (not currency or not other_currency)
