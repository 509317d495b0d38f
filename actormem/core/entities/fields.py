"""Exact values of a tool call's arguments or of a tool's result: the fields of its JSON.

Law of the file: every scalar field is a value under the name of its field; digits stay as they were
written; how deep and how much is read is bounded.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from actormem.core.entities.numbers import number_value, plain
from actormem.core.entities.text import clip, find_entities, whole_entity
from actormem.core.values import Entity

__all__ = ["find_tool_entities"]

JSON_CHARS_MAX: Final = 1024 * 1024  # above it the text is read as prose, head and tail; four messages' worth
DEPTH_MAX: Final = 12  # fields further down are the insides of something, not arguments to carry on
FIELDS_MAX: Final = 2_048  # read of one result, in order
FIELD_ENTITIES_MAX: Final = 512  # of one result: a listing must not fill a session's table
VALUE_CHARS_MAX: Final = 80  # a longer string is prose
PROSE_LEAVES_MAX: Final = 32  # prose fields searched in one result

CODES_MIN: Final = 3  # so many capitals of one length are codes; fewer may be names of fields (ID, SKU)

Json: TypeAlias = "bool | str | Sequence[Json] | Mapping[str, Json] | None"

_DIGIT: Final = re.compile(r"[0-9０-９]")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD: Final = re.compile(r"[^\w]{1,64}+")
_PLAIN_NUMBER: Final = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?")
_ID: Final = re.compile(
    r"(?=.{4,64}$)(?=[\w-]{0,63}[A-Za-z])(?=[\w-]{0,63}\d)[A-Za-z0-9]{1,64}(?:[-_][A-Za-z0-9]{1,64}){0,8}",
    re.ASCII,
)
_LABEL: Final = re.compile(r"[^\W\d][\w ]{1,40}")
_FIELD_LIKE: Final = re.compile(r"[A-Za-z][A-Za-z_]{0,40}\d{0,2}")


class Digits(str):
    """A JSON number, as it was written."""

    __slots__ = ()


def find_tool_entities(json_text: str) -> tuple[Entity, ...]:
    """The exact values of a tool call's arguments or of a tool's result.

    A scalar field is an entity of kind `value` under its field's name in lower snake case, elements of a list
    under the list's; where it is an id, date, amount, phone, e-mail, address or the like as a whole, it has
    that kind. An id that stands as the name of an object is a value under the name of the field above it,
    and so are the codes or labels an object maps to others or to numbers (`{"economy": 121, "first": 239}`).
    Strings of more than 80 characters are prose and searched as such; true, false and null are no values.

    Args:
        json_text: JSON, or anything else: then it is searched as prose.

    Returns:
        In order of appearance, at most 512, none twice (kind, normal and key).

    Cost:
        O(n); about 2 µs a field.
    """
    stripped = json_text.strip()
    if len(stripped) > JSON_CHARS_MAX or stripped[:1] not in ("{", "[", '"'):
        return _scalar(stripped) or find_entities(json_text)
    try:
        root: Json = json.loads(stripped, parse_int=Digits, parse_float=Digits, parse_constant=Digits)
    except (ValueError, RecursionError):
        return find_entities(json_text)
    if isinstance(root, str):
        return _scalar(root) or find_entities(root)
    found: dict[tuple[str, str, str], Entity] = {}
    seen: set[tuple[str, str]] = set()
    prose_count = 0
    for count, (key, leaf) in enumerate(_leaves(root, "value", DEPTH_MAX)):
        if count >= FIELDS_MAX or len(found) >= FIELD_ENTITIES_MAX:
            break
        if (key, leaf) in seen:
            continue
        seen.add((key, leaf))
        if isinstance(leaf, Digits) or not (len(leaf) > VALUE_CHARS_MAX or "\n" in leaf):
            entity = _value(key, leaf)
            found.setdefault((entity.kind, entity.normal, entity.key), entity)
        elif prose_count < PROSE_LEAVES_MAX:
            prose_count += 1
            for entity in find_entities(clip(leaf)):
                found.setdefault((entity.kind, entity.normal, entity.key), entity)
    return tuple(found.values())[:FIELD_ENTITIES_MAX]


def _scalar(text: str) -> tuple[Entity, ...]:
    """A result that is one short value and nothing else."""
    if not text or len(text) > VALUE_CHARS_MAX or " " in text or not _DIGIT.search(text):
        return ()
    return (_value("value", Digits(text) if _PLAIN_NUMBER.fullmatch(text) else text),)


def _leaves(value: Json, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """Fields and their scalars, in document order, ids that name objects among them."""
    if isinstance(value, str):
        if value.strip():
            yield key, value if isinstance(value, Digits) else value.strip()
    elif isinstance(value, Mapping):
        if depth <= 0:
            return
        coded = _is_coded(value)
        counted = len(value) > 1 and all(isinstance(inner, Digits) for inner in value.values())
        for name, inner in value.items():
            if counted and not coded and _LABEL.fullmatch(name):
                yield key, name
            if coded or _is_named_object(name, inner):
                yield key, name
                yield from _leaves(inner, key, depth - 1)
            else:
                yield from _leaves(inner, _field(name) or key, depth - 1)
    elif isinstance(value, Sequence) and depth > 0:
        for inner in value:
            yield from _leaves(inner, key, depth - 1)


def _is_named_object(name: str, inner: Json) -> bool:
    """Whether an object's key is itself a value: an id or a date, not the name of a field (`address1`)."""
    if not 3 <= len(name) <= VALUE_CHARS_MAX or not _DIGIT.search(name):
        return "@" in name
    if isinstance(inner, Mapping) or (isinstance(inner, Sequence) and not isinstance(inner, str)):
        return True
    return not _FIELD_LIKE.fullmatch(name) and sum(letter.isdigit() for letter in name) >= 3


def _is_coded(value: Mapping[str, Json]) -> bool:
    """Whether an object maps codes to something (`{"SFO": …, "JFK": …, "LAX": …}`)."""
    first = next(iter(value), "")
    same = len(value) >= CODES_MIN and 2 <= len(first) <= 8
    return same and all(len(name) == len(first) and name.isupper() and name.isascii() for name in value)


def _field(name: str) -> str:
    """A field's name in lower snake case: `orderId` and `Order ID` are `order_id`."""
    return _NOT_WORD.sub("_", _CAPITAL.sub("_", name[:VALUE_CHARS_MAX])).strip("_").casefold()


def _value(key: str, leaf: str) -> Entity:
    if isinstance(leaf, Digits):
        number = number_value(leaf)
        normal = leaf.casefold() if number is None else plain(number)
        return Entity(kind="value", key=key, value=str(leaf), normal=normal)
    if _ID.fullmatch(leaf) and not leaf[0].isdigit():
        return Entity(kind="id", key="id" if key == "value" else key, value=leaf, normal=leaf.casefold())
    if _DIGIT.search(leaf) or "@" in leaf or "://" in leaf or "." in leaf[1:-1] or not leaf.isascii():
        whole = whole_entity(leaf)
        if whole is not None:
            return msgspec.structs.replace(whole, key=whole.kind if key == "value" else key)
    number = number_value(leaf)
    return Entity(
        kind="value", key=key, value=leaf, normal=leaf.casefold() if number is None else plain(number)
    )
