"""What a LangGraph store keeps of a value, and how values are filtered and put into words. Pure."""

import json
import re
from base64 import b85decode, b85encode
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, cast
from urllib.parse import quote, unquote

import msgspec
from langgraph.store.base import MatchCondition, get_text_at_path, tokenize_path

from actormem import Item, UsageError

__all__ = [
    "Entry",
    "attribute_of",
    "check_put",
    "entry_of",
    "holds",
    "matches",
    "namespace_of",
    "now_utc",
    "packed",
    "path_of",
    "plain_labels",
    "words_of",
]

TEXT_CHARS_MAX = 16_000  # what one memory may hold: words beyond are not searched for
VALUE_BYTES_MAX = 256 * 1024  # of a value as JSON; larger ones are files and belong elsewhere
ATTRIBUTE = "store:"
END = "."  # what trims a value at its end leaves it whole
LONE = re.compile("[\ud800-\udfff]")
OUTSIDE = re.compile("[\x00-\x1f\x7f-\x9f%\ud800-\udfff]")  # what no user holds, and what stands for it
PATH_CHARS_MAX = 256
COMPARISONS = ("$gt", "$gte", "$lt", "$lte")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a store.

    Attributes:
        key, value: As they were put.
        created, updated: ISO 8601.
        ttl_minutes: Minutes it is kept after it was used last; None: for ever.
        indexed: Whether a search by words may find it.
    """

    key: str
    value: dict[str, Any]
    created: str
    updated: str
    ttl_minutes: float | None = None
    indexed: bool = True

    @property
    def created_at(self) -> datetime:
        """When it was put first."""
        return datetime.fromisoformat(self.created)

    @property
    def updated_at(self) -> datetime:
        """When it was put last."""
        return datetime.fromisoformat(self.updated)


def attribute_of(key: str) -> str:
    """The attribute of the memory that keeps the value of a key: keys may be longer than attributes."""
    return ATTRIBUTE + blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def path_of(namespace: Sequence[str]) -> str:
    """The user whose memory a namespace is: its labels joined by periods, which none of them holds.

    Raises:
        UsageError: It is longer than a user may be.
    """
    path = ".".join(
        OUTSIDE.sub(lambda found: quote(found[0], errors="surrogatepass"), one) for one in namespace
    )
    if len(path) > PATH_CHARS_MAX:
        raise UsageError(f"a namespace may have {PATH_CHARS_MAX} characters in all, and this has {len(path)}")
    return path


def namespace_of(path: str) -> tuple[str, ...]:
    """The namespace that is this user's memory."""
    return tuple(unquote(label, errors="surrogatepass") for label in path.split("."))


def packed(entry: Entry) -> str:
    """The entry as the value of a memory: its structure in one line, and below it each text and number with its name.

    So filters read texts as they are, and what they take out of one leaves all else whole.

    Raises:
        UsageError: The value is none that JSON has, or too large.
    """
    leaves: list[str] = []
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
    try:
        fields["value"] = _emptied(entry.value, "", leaves)
        head = json.dumps(fields, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise UsageError("the value of a store must be a mapping that JSON can hold") from None
    packed = "\n".join([b85encode(head.encode()).decode(), *leaves, END])
    size_bytes = len(packed.encode())
    if size_bytes > VALUE_BYTES_MAX:
        raise UsageError(f"a value has {size_bytes} bytes as JSON, at most {VALUE_BYTES_MAX} are allowed")
    return packed


def entry_of(item: Item) -> Entry | None:
    """The entry that a memory keeps; None where it is a memory of another kind, or cannot be read any more."""
    if not item.attribute.startswith(ATTRIBUTE):
        return None
    head, *lines = item.value.removesuffix(f"\n{END}").split("\n")
    try:
        fields: dict[str, Any] = json.loads(b85decode(head))
        leaves = deque(lines)
        fields["value"] = _filled(fields["value"], "", leaves)
        entry = msgspec.convert(fields, Entry)
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
    return entry if not leaves and attribute_of(entry.key) == item.attribute else None


def words_of(value: Mapping[str, Any], fields: Sequence[str] | None) -> str:
    """The words by which a value is found: of these fields, or of all of it; empty where it has none.

    A value that says one text is that text; of others each text or number stands in a line with its name.
    """
    if fields is None:
        lines = list(_lines(value, ""))
        texts = [lines[0][1]] if len(lines) == 1 else [f"{name}: {text}" for name, text in lines]
    else:
        paths = [["$"] if field == "$" else tokenize_path(field) for field in fields]
        texts = [text for path in paths for text in get_text_at_path(value, "$" if path == ["$"] else path)]
    return "\n".join(texts)[:TEXT_CHARS_MAX].strip()


def holds(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value has all that a filter asks for: equal fields, or `$eq $ne $gt $gte $lt $lte`.

    Raises:
        UsageError: There is no such operator.
    """
    return all(_same(value.get(key), asked) for key, asked in (wanted or {}).items())


def matches(condition: MatchCondition, namespace: Sequence[str]) -> bool:
    """Whether a namespace begins or ends so; `*` stands for any one label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _emptied(value: Any, name: str, leaves: list[str]) -> Any:
    """The value without its texts and numbers, which are collected in order, each in a line with its name."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, Any]", value)
        if not all(isinstance(key, str) for key in fields):
            raise TypeError("a key is no text")
        return {key: _emptied(inner, cast("str", key), leaves) for key, inner in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_emptied(inner, name, leaves) for inner in cast("Sequence[Any]", value)]
    if isinstance(value, str):
        leaves.append(f"{_line(name)}: {_line(value)}")
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        leaves.append(f"{_line(name)}: {json.dumps(value)}")
        return 0
    return value


def _filled(value: Any, name: str, leaves: deque[str]) -> Any:
    """The value with its texts and numbers, which are taken in order."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _filled(inner, key, leaves) for key, inner in fields.items()}
    if isinstance(value, list):
        return [_filled(inner, name, leaves) for inner in cast("list[Any]", value)]
    if value is None or isinstance(value, bool):
        return value
    line = leaves.popleft().removeprefix(f"{_line(name)}: ")
    try:
        return json.loads(f'"{line}"' if isinstance(value, str) else line)
    except ValueError:  # a filter took something out of it
        return line


def _line(text: str) -> str:
    """The text in one line: its own characters, as far as a line of storage can hold them."""
    return json.dumps(text, ensure_ascii=LONE.search(text) is not None)[1:-1]


def _same(found: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        fields = cast("Mapping[str, Any]", asked)
        if any(key.startswith("$") for key in fields):
            return all(_compares(found, operator, than) for operator, than in fields.items())
        return isinstance(found, Mapping) and holds(cast("Mapping[str, Any]", found), fields)
    if isinstance(asked, (list, tuple)):
        these = cast("Sequence[Any]", asked)
        return (
            isinstance(found, (list, tuple))
            and len(cast("Sequence[Any]", found)) == len(these)
            and all(map(_same, cast("Sequence[Any]", found), these))
        )
    return found == asked and isinstance(found, bool) == isinstance(asked, bool)


def _compares(found: Any, operator: str, than: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return _same(found, than) is (operator == "$eq")
    if operator not in COMPARISONS:
        raise UsageError("a filter has an operator that is none of $eq, $ne, $gt, $gte, $lt, $lte")
    pair = _comparable(found, than)
    if pair is None:
        return False
    left, right = pair
    return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]


def _comparable(found: Any, than: Any) -> tuple[Any, Any] | None:
    """Two numbers, also where one is written as text; or two texts; None where they have no order."""
    try:
        return float(found), float(than)
    except (TypeError, ValueError):
        return (found, than) if isinstance(found, str) and isinstance(than, str) else None


def _lines(value: Any, name: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from _lines(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from _lines(inner, name)
    elif isinstance(value, str):
        if value.strip():
            yield name, value.strip()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, str(value)


def now_utc() -> datetime:
    """The moment by the machine's clock."""
    return datetime.now(UTC)


def check_put(key: object, value: object) -> None:
    """Refuse what LangGraph itself lets pass.

    Raises:
        UsageError: The key is empty or no text, or the value no mapping; nothing changed.
    """
    if not isinstance(key, str) or not key:
        raise UsageError("key must be text that is not empty")
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"value must be a mapping, not {type(value).__name__}")


def plain_labels(condition: MatchCondition) -> tuple[str, ...]:
    """The labels with which every match begins."""
    labels: list[str] = []
    for label in condition.path:
        if label == "*":
            break
        labels.append(label)
    return tuple(labels)
