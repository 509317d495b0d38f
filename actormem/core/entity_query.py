"""Which exact values a query means.

Law of the file: a value is meant where the query shares four characters in a row with it, or names its key;
of ordinary words only a whole word counts, so that "change" does not mean every value with "chan" in it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from actormem.core.entity_lines import ranked
from actormem.core.entity_rows import EntityRow
from actormem.core.keys import key_stem, named_stems

__all__ = ["meant"]

SHARED_CHARS: Final = 4  # a query that shares so many characters in a row with a value means it
QUERY_CHARS_MAX: Final = 1_000  # of a query; what it asks for stands at its start

_WORD: Final = re.compile(r"[^\W\d_]{4,40}")
_COMMON_WORDS: Final = frozenset(
    {"have", "that", "this", "with", "what", "when", "where", "which", "your", "from", "please", "want"}
)


def meant(rows: Iterable[EntityRow], query: str) -> tuple[EntityRow, ...]:
    """The rows a query means.

    Returns:
        Live rows before superseded ones, shared values before named keys, then as lines are ordered.

    Cost:
        O(rows × length of value); a few milliseconds for 4,096 rows.
    """
    text = query[:QUERY_CHARS_MAX].casefold()
    stems = named_stems(text)
    words = frozenset(_WORD.findall(text)) - _COMMON_WORDS
    candidates = [(row, f"{row.entity.value}\n{row.entity.normal}".casefold()) for row in rows]
    grams = _shared_grams(text, "\n".join(letters for _, letters in candidates))
    exact = [gram for gram in grams if not (gram.isascii() and gram.isalpha())]
    named: dict[str, bool] = {}
    shared: set[int] = set()
    found: list[EntityRow] = []
    for row, letters in candidates:
        key = row.entity.key
        if key not in named:
            named[key] = _names(key, stems, words)
        prose = row.entity.kind == "value"
        if any(gram in letters for gram in (exact if prose else grams)) or (
            prose and words and not words.isdisjoint(_WORD.findall(letters))
        ):
            shared.add(id(row))
            found.append(row)
        elif named[key]:
            found.append(row)
    return tuple(sorted(ranked(found), key=lambda row: (not row.live, id(row) not in shared)))


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
