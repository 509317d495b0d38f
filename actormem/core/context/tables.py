"""JSON as lines: every field's name once, every value as it was written, about half of the tokens.

Law of the file: no scalar is lost or changed; what is the same in all rows of a table is said once above it. The
lines are for a model to read, not to be parsed again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

__all__ = ["table_text"]

CHARS_MAX: Final = 256 * 1024  # as long as a message may be
DEPTH_MAX: Final = 8  # what lies deeper stays JSON
NAMED_MIN: Final = 2  # fewer objects under names of their own are no table
PLAIN_FORBIDS: Final = '|"\n\r'  # a value with one of these is written as a JSON string

Json: TypeAlias = "str | Sequence[Json] | Mapping[str, Json]"
Raw: TypeAlias = "bool | str | Sequence[Raw] | Mapping[str, Raw] | None"
Row: TypeAlias = "Mapping[str, str]"


class Token(str):
    """A number, true, false or null, as it was written."""

    __slots__ = ()


def table_text(text: str) -> str | None:
    """A JSON object or list as lines, or None where the text is neither or too long.

    Objects of one kind are a table: names of fields above, one row each, `|` between. Other fields stand in one
    line, `name: value; name: value`. Fields of an inner object are named with its name: `prices.economy`.

    Cost:
        O(n), about 10 µs a kilobyte.
    """
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or len(stripped) > CHARS_MAX:
        return None
    try:
        raw: Raw = json.loads(stripped, parse_int=Token, parse_float=Token, parse_constant=Token)
    except (ValueError, RecursionError):
        return None
    return "\n".join(_lines(_json(raw, DEPTH_MAX), ""))


def _json(value: Raw, depth: int) -> Json:
    """The value with every scalar as a text; what lies too deep is a text too."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return Token(json.dumps(value))
    if depth <= 0:
        return Token(json.dumps(value, ensure_ascii=False, default=str))
    if isinstance(value, Mapping):
        return {name: _json(inner, depth - 1) for name, inner in value.items()}
    return [_json(inner, depth - 1) for inner in value]


def _lines(value: Json, name: str) -> Iterator[str]:
    """The lines of a value; a table and an inner list begin with `name: `."""
    lead = f"{name}: " if name else ""
    if isinstance(value, str):
        yield lead + _plain(value)
        return
    rows = _rows(value)
    if rows is not None:
        yield from _table(rows, lead)
    elif isinstance(value, Mapping):
        yield from _fields(value, name)
    elif all(isinstance(inner, str) for inner in value):
        yield lead + ", ".join(_plain(inner) for inner in value if isinstance(inner, str))
    else:
        for place, inner in enumerate(value, 1):
            yield from _lines(inner, f"{name}.{place}" if name else str(place))


def _fields(value: Mapping[str, Json], name: str) -> Iterator[str]:
    """Scalars of an object and of the objects in it in one line, then its tables."""
    flat, rest = _flat(value, f"{name}." if name else "")
    if flat:
        yield "; ".join(f"{field}: {shown}" for field, shown in flat.items())
    for field, inner in rest.items():
        yield from _lines(inner, field)


def _flat(value: Mapping[str, Json], lead: str) -> tuple[dict[str, str], dict[str, Json]]:
    """The fields that are scalars or lists of them, by path, and those that are tables or lists of lists."""
    flat: dict[str, str] = {}
    rest: dict[str, Json] = {}
    for name, inner in value.items():
        path = lead + name
        if isinstance(inner, str):
            flat[path] = _plain(inner)
        elif not inner:
            flat[path] = "{}" if isinstance(inner, Mapping) else "[]"
        elif isinstance(inner, Mapping) and _rows(inner) is None:
            deeper, tables = _flat(inner, f"{path}.")
            flat |= deeper
            rest |= tables
        elif not isinstance(inner, Mapping) and all(isinstance(one, str) for one in inner):
            flat[path] = ", ".join(_plain(one) for one in inner if isinstance(one, str))
        else:
            rest[path] = inner
    return flat, rest


def _rows(value: Sequence[Json] | Mapping[str, Json]) -> list[dict[str, str]] | None:
    """The rows of a list of objects, of lists of objects (numbered), or of named objects; None for no table."""
    if isinstance(value, Mapping):
        return _named_rows(value)
    rows: list[dict[str, str]] = []
    for number, inner in enumerate(value, 1):
        inside = [inner] if isinstance(inner, Mapping) else inner
        if isinstance(inside, str) or not inside:
            return None
        for one in inside:
            row = _row(one)
            if row is None:
                return None
            rows.append(row if isinstance(inner, Mapping) else {"#": str(number), **row})
    return rows or None


def _named_rows(value: Mapping[str, Json]) -> list[dict[str, str]] | None:
    """Rows of objects that stand under names of their own; a field that only repeats the name lends it its own."""
    rows: dict[str, dict[str, str]] = {}
    for name, inner in value.items():
        row = _row(inner)
        if row is None:
            return None
        rows[name] = row
    fields = list(dict.fromkeys(field for row in rows.values() for field in row))
    if len(rows) < NAMED_MIN or len(fields) > 2 * max(len(row) for row in rows.values()):
        return None
    repeats = [field for field in fields if all(row.get(field) == name for name, row in rows.items())]
    first = repeats[0] if repeats else ""
    return [
        {first: _plain(name), **{field: shown for field, shown in row.items() if field not in repeats}}
        for name, row in rows.items()
    ]


def _row(value: Json) -> dict[str, str] | None:
    if not isinstance(value, Mapping) or not value:
        return None
    flat, rest = _flat(value, "")
    return flat | {field: json.dumps(inner, ensure_ascii=False) for field, inner in rest.items()}


def _table(rows: Sequence[Row], lead: str) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    same = {
        name: rows[0][name]
        for name in names
        if len(rows) > 1 and name in rows[0] and all(row.get(name) == rows[0][name] for row in rows)
    }
    if same:
        yield lead + "; ".join(f"{name}: {shown}" for name, shown in same.items())
        lead = ""
    columns = [name for name in names if name not in same]
    if columns:
        yield lead + "|".join(columns)
        for row in rows:
            yield "|".join(row.get(name, "") for name in columns)


def _plain(value: str) -> str:
    """A scalar without quotes, where that leaves it plain what it is."""
    if isinstance(value, Token):
        return value
    if not value or value != value.strip() or any(letter in value for letter in PLAIN_FORBIDS):
        return json.dumps(value, ensure_ascii=False)
    return value
