"""Which exact values a query means.

Law of the file: a value is meant where the query shares four characters in a row with it, or names its key;
of ordinary words only a whole word counts, so that "change" does not mean every value with "chan" in it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.entities.keys import key_stem, named_stems
from actormem.core.entities.order import ranked
from actormem.core.entities.rows import EntityRow

__all__ = ["asked_words", "grams_of", "meant", "names_key", "words_of"]

SHARED_CHARS: Final = 4  # a query that shares so many characters in a row with a value means it
NEAR_MAX: Final = 4  # messages from a named id to a value of its record: user, call, result, answer
QUERY_CHARS_MAX: Final = 1_000  # of a query; what it asks for stands at its start

_WORD: Final = re.compile(r"[^\W\d_]{4,40}")
_COMMON_WORDS: Final = frozenset(
    {"have", "that", "this", "with", "what", "when", "where", "which", "your", "from", "please", "want"}
)


def meant(rows: Iterable[EntityRow], query: str) -> tuple[EntityRow, ...]:
    """The rows a query means.

    A value that stands in the query whole needs no telling, and what it shares with others (the first letters
    of all order numbers) means none of them.

    Returns:
        Live rows before superseded ones, shared values before named keys, those that share more of it first, those
        beside what the query names whole first, keys with few values before those with many, then as lines are
        ordered.

    Cost:
        O(rows × length of value); a few milliseconds for 4,096 rows.
    """
    text = query[:QUERY_CHARS_MAX].casefold()
    stems, words = asked_words(text)
    everything = [(row, f"{row.entity.value}\n{row.entity.normal}".casefold()) for row in rows]
    said = {
        value for row, _ in everything if (value := row.entity.value.casefold()) in text and _is_code(value)
    }
    candidates = [(row, letters) for row, letters in everything if row.entity.value.casefold() not in said]
    joined = "\n".join(letters for _, letters in candidates)
    for value in said:
        part_of_another = value in joined  # the last digits of an order number mean that order
        if len(value) >= SHARED_CHARS and not part_of_another:
            text = text.replace(value, " ")
    grams = _shared_grams(text, joined)
    exact = [gram for gram in grams if not (gram.isascii() and gram.isalpha())]
    named: dict[str, bool] = {}
    shared: dict[int, int] = {}
    found: list[EntityRow] = []
    for row, letters in candidates:
        key = row.entity.key
        if key not in named:
            named[key] = names_key(key, stems, words)
        prose = row.entity.kind == "value"
        run_count = sum(gram in letters for gram in (exact if prose else grams))
        if run_count or (prose and words and not words.isdisjoint(words_of(letters))):
            shared[id(row)] = run_count
            found.append(row)
        elif named[key]:
            found.append(row)
    counts = Counter(row.entity.key for row in found)

    places = [place for row, _ in everything if row.entity.value.casefold() in said for place in _places(row)]

    def order(row: EntityRow) -> tuple[bool, bool, int, int, int]:
        length, apart = shared.get(id(row), 0), _apart(row, places)
        return not row.live, id(row) not in shared, -length, apart, counts[row.entity.key]

    return tuple(sorted(ranked(found), key=order))


def _places(row: EntityRow) -> tuple[int, int]:
    return row.first_sequence, row.last_sequence


def _apart(row: EntityRow, places: Sequence[int]) -> int:
    """Messages between a row and what the query names whole, near ones only: a tool answers for what it is asked."""
    return min(
        (min(abs(mine - place), NEAR_MAX) for mine in _places(row) for place in places), default=NEAR_MAX
    )


def _shared_grams(text: str, letters: str) -> Sequence[str]:
    """The runs of four characters of a query that stand in any value at all: mostly none or a few."""
    return [gram for gram in grams_of(text) if gram in letters]


def grams_of(text: str) -> set[str]:
    """The runs of four characters of a text, none of them a space."""
    return {
        piece[place : place + SHARED_CHARS]
        for piece in text.split()
        for place in range(len(piece) - SHARED_CHARS + 1)
    }


def words_of(letters: str) -> list[str]:
    """The words of four letters and more."""
    return _WORD.findall(letters)


def asked_words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a query in small letters names: the stems of keys, and words that may be part of a value or a key."""
    return named_stems(text), frozenset(_WORD.findall(text)) - _COMMON_WORDS


def names_key(key: str, stems: frozenset[str], words: frozenset[str]) -> bool:
    """Whether a query that has these stems and words names the key."""
    stem = key_stem(key)
    if stem in stems or key in stems:
        return True
    parts = [part for part in stem.split("_") if len(part) >= SHARED_CHARS]
    return bool(parts) and words.issuperset(parts)


def _is_code(value: str) -> bool:
    """Whether a value is an id or a number, and no word that means something by itself."""
    return any(letter.isdigit() for letter in value)
