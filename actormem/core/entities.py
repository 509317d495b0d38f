"""Exact values that must survive: found in words and in JSON, compared as values, kept in a table.

The front of the parts behind it: `entity_text` (words), `entity_fields` (JSON), `entity_table` (what a
session has seen). The law of the file: two texts are one value only where nothing they say differs.
"""

from typing import Final

from actormem.core.entity_fields import find_tool_entities
from actormem.core.entity_table import EntityLines, EntityRow, EntityTable
from actormem.core.entity_text import find_entities, whole_entity
from actormem.core.numbers import number_value, plain
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
    first_text, second_text = _text(a), _text(b)
    if first_text == second_text:
        return True
    first, second = _reading(a, first_text), _reading(b, second_text)
    if first is None or second is None:
        return False
    if first == second:
        return True
    amounts = {first[0], second[0]} <= {"amount", "number"}
    if not amounts:
        return False
    number, _, currency = first[1].partition(" ")
    other, _, other_currency = second[1].partition(" ")
    return number == other and (not currency or not other_currency)


def _text(value: str | Entity) -> str:
    return (value if isinstance(value, str) else value.value).strip().casefold()


def _reading(value: str | Entity, text: str) -> tuple[str, str] | None:
    """Kind and normal form, or None for mere words."""
    if isinstance(value, Entity) and value.kind != "value":
        return value.kind, value.normal
    if len(text) > SAME_CHARS_MAX:
        return None
    number = number_value(text)
    if number is not None:
        return "number", plain(number)
    whole = whole_entity(text)
    return None if whole is None else (whole.kind, whole.normal)
