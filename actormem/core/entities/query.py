"""Which exact values a query means.

Law of the file: a value is meant where the query shares four characters in a row with it, or names its key;
of ordinary words only a whole word counts, so that "change" does not mean every value with "chan" in it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from actormem.core.entities.keys import key_stem, named_stems
from actormem.core.entities.order import ranked
from actormem.core.entities.rows import EntityRow

__all__ = ["choices_named", "meant"]

SHARED_CHARS: Final = 4  # a query that shares so many characters in a row with a value means it
QUERY_CHARS_MAX: Final = 1_000  # of a query; what it asks for stands at its start

NAMING_CHARS_MAX: Final = 2_000  # of a message in which choices are looked for
CHOICE_WORDS_MAX: Final = 3  # of a choice: `one_way`, basic economy
CHOICE_CHARS_MIN: Final = 4  # a shorter word (yes, no, all) is said for other reasons
HAN_CHOICE_CHARS_MIN: Final = 2

_PART: Final = re.compile(r"[a-z]{1,40}+")
_CHOICE: Final = re.compile(r"[a-z]+(?:[_ -][a-z]+){0,2}")
_HAN_CHOICE: Final = re.compile(r"[一-龥]{1,8}")
_WORD: Final = re.compile(r"[^\W\d_]{4,40}")
_COMMON_WORDS: Final = frozenset(
    {"have", "that", "this", "with", "what", "when", "where", "which", "your", "from", "please", "want"}
)


def meant(rows: Iterable[EntityRow], query: str) -> tuple[EntityRow, ...]:
    """The rows a query means.

    A value that stands in the query whole needs no telling, and what it shares with others (the first letters
    of all order numbers) means none of them.

    Returns:
        Live rows before superseded ones, shared values before named keys, the longest shared first, keys with few
        values before those with many, then as lines are ordered.

    Cost:
        O(rows × length of value); a few milliseconds for 4,096 rows.
    """
    text = query[:QUERY_CHARS_MAX].casefold()
    stems = named_stems(text)
    words = frozenset(_WORD.findall(text)) - _COMMON_WORDS
    everything = [(row, f"{row.entity.value}\n{row.entity.normal}".casefold()) for row in rows]
    said = {
        value for row, _ in everything if (value := row.entity.value.casefold()) in text and _is_code(value)
    }
    candidates = [(row, letters) for row, letters in everything if row.entity.value.casefold() not in said]
    joined = "\n".join(letters for _, letters in candidates)
    for value in said:
        if len(value) >= SHARED_CHARS and value not in joined:  # a part of another (its last digits) means that one
            text = text.replace(value, " ")
    grams = _shared_grams(text, joined)
    exact = [gram for gram in grams if not (gram.isascii() and gram.isalpha())]
    named: dict[str, bool] = {}
    shared: dict[int, int] = {}
    found: list[EntityRow] = []
    for row, letters in candidates:
        key = row.entity.key
        if key not in named:
            named[key] = _names(key, stems, words)
        prose = row.entity.kind == "value"
        length = sum(gram in letters for gram in (exact if prose else grams))
        if length or (prose and words and not words.isdisjoint(_WORD.findall(letters))):
            shared[id(row)] = length
            found.append(row)
        elif named[key]:
            found.append(row)
    counts = Counter(row.entity.key for row in found)

    def order(row: EntityRow) -> tuple[bool, bool, int, int]:
        length = shared.get(id(row))
        return not row.live, length is None, -(length or 0), counts[row.entity.key]

    return tuple(sorted(ranked(found), key=order))


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


def _shared_grams(text: str, letters: str) -> Sequence[str]:
    """The runs of four characters of a query that stand in any value at all: mostly none or a few."""
    grams = {text[place : place + SHARED_CHARS] for place in range(len(text) - SHARED_CHARS + 1)}
    return [gram for gram in grams if gram in letters and not any(letter.isspace() for letter in gram)]


def _names(key: str, stems: frozenset[str], words: frozenset[str]) -> bool:
    stem = key_stem(key)
    if stem in stems or key in stems:
        return True
    parts = [part for part in stem.split("_") if len(part) >= SHARED_CHARS]
    return bool(parts) and words.issuperset(parts)


def _is_code(value: str) -> bool:
    """Whether a value is an id or a number, and no word that means something by itself."""
    return any(letter.isdigit() for letter in value)
