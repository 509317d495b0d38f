"""Ids: what may be one, and how new ones are made. Ids are opaque: never a path, never normalised."""

import unicodedata

from actormem.errors import UsageError
from actormem.limits import ID_CHARS_MAX

__all__ = ["checked_id", "checked_scope", "item_id", "item_number", "message_id"]


def checked_id(value: object, name: str) -> str:
    """The id itself, when it may be one: 1 to 256 characters, no control characters, no lone surrogates.

    Ids are compared by equality and kept as they are: `é` as one character or as two are two ids.

    Raises:
        UsageError: It may not be one; says which and why, without repeating it.
    """
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {type(value).__name__}")
    if not value:
        raise UsageError(f"{name} must not be empty")
    if len(value) > ID_CHARS_MAX:
        raise UsageError(f"{name} has {len(value)} characters, at most {ID_CHARS_MAX} are allowed")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        raise UsageError(f"{name} holds a control character or a lone surrogate")
    return value


def checked_scope(value: object) -> str:
    """The scope itself, when it may be one: an id, or an empty text for what belongs to no agent alone."""
    return "" if isinstance(value, str) and not value else checked_id(value, "scope")


def message_id(sequence: int) -> str:
    """The id of the message that a session stores as its `sequence`-th event, where the caller gave none."""
    return f"#{sequence}"


def item_id(number: int) -> str:
    """The id of the item with this number in the record."""
    return f"m{number}"


def item_number(id: str) -> int | None:
    """The number in an item's id, or None where it is no item id."""
    digits = id[1:]
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        return None
    number = int(digits)
    return number if id == item_id(number) else None  # `m007` is another id than `m7`
