"""JSON of others, taken apart without trusting it: what is no object has no fields, what is no list no entries."""

from typing import Any, cast

import msgspec

__all__ = ["entries", "fields", "loose_json"]


def fields(value: object) -> dict[str, Any]:
    """The object's fields; none where it is no object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def entries(value: object) -> list[Any]:
    """The list's entries; none where it is no list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def loose_json(raw: bytes) -> object:
    """What the JSON says; None where it is none."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
