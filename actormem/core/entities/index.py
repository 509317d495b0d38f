"""Finds what a query may mean among thousands of values, at the cost of the query.

An index follows the tables of one session: each is the one before and a few rows, so following costs those rows.
It is a cache: what it gives is looked up in the table, and what is not there any more is dropped from it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import islice
from typing import Final, cast

from actormem.core.entities.query import (
    QUERY_CHARS_MAX,
    SHARED_CHARS,
    asked_words,
    grams_of,
    meant,
    names_key,
    words_of,
)
from actormem.core.entities.rows import EntityRow
from actormem.core.entities.table import EntityTable

__all__ = ["ValueIndex"]

SHARED_ROWS: Final = 64  # values that share letters or words with a query; many do by chance
KEY_ROWS: Final = 32  # newest values of a key that a query names; a note has room for fewer

Identities = dict[str, dict[str, None]]


class ValueIndex:
    """The values of one session by their letters, words and keys. Mutable; used from one thread at a time."""

    def __init__(self) -> None:
        self._rows: dict[str, EntityRow] = {}
        self._grams: Identities = {}
        self._words: Identities = {}
        self._keys: Identities = {}
        self._sizes: Counter[int] = Counter()  # how many of the grams have so many letters

    def find(self, table: EntityTable, query: str) -> tuple[EntityRow, ...]:
        """What `meant` gives of the rows that matter: the 64 that share most with the query, the newest 32 of each key.

        Cost:
            O(query + rows that are new since the last call); independent of the size of the table.
        """
        self._follow(table)
        text = query[:QUERY_CHARS_MAX].casefold()
        found: dict[str, EntityRow] = {}
        for identity in self._candidates(text):
            row = table.rows.get(identity)
            if row is None:
                self._drop(identity)
            else:
                found[identity] = row
        return meant(found.values(), query)

    def _candidates(self, text: str) -> set[str]:
        runs: Counter[str] = Counter()
        for size in sorted(self._sizes):
            for place in range(len(text) - size + 1):
                holders = self._grams.get(text[place : place + size])
                if holders:
                    runs.update(holders.keys())
        stems, words = asked_words(text)
        for word in words:
            runs.update(self._words.get(word, {}).keys())
        found = set(nlargest(SHARED_ROWS, runs, lambda one: (runs[one], self._rows[one].last_sequence)))
        for key, identities in self._keys.items():
            if names_key(key, stems, words):
                found.update(islice(reversed(identities), KEY_ROWS))
        return found

    def _follow(self, table: EntityTable) -> None:
        """Take in the rows that are new: they stand at the end of a table."""
        fresh: list[tuple[str, EntityRow]] = []
        for identity, row in reversed(cast("dict[str, EntityRow]", table.rows).items()):
            if self._rows.get(identity) is row:
                break
            fresh.append((identity, row))
        for identity, row in reversed(fresh):
            self._drop(identity)
            self._rows[identity] = row
            for index, name in self._places(row):
                if name not in index:
                    index[name] = {}
                    self._sizes.update((len(name),) if index is self._grams else ())
                index[name][identity] = None

    def _drop(self, identity: str) -> None:
        row = self._rows.pop(identity, None)
        if row is None:
            return
        for index, name in self._places(row):
            holders = index.get(name, {})
            holders.pop(identity, None)
            if not holders and index.pop(name, None) is not None and index is self._grams:
                self._sizes[len(name)] -= 1
                if not self._sizes[len(name)]:
                    del self._sizes[len(name)]

    def _places(self, row: EntityRow) -> Iterator[tuple[Identities, str]]:
        """Where a row stands: under its key, its runs of four letters, short values whole, prose by its words."""
        letters = f"{row.entity.value}\n{row.entity.normal}".casefold()
        yield self._keys, row.entity.key
        yield from ((self._grams, gram) for gram in _grams(letters))
        if row.entity.kind == "value":
            yield from ((self._words, word) for word in words_of(letters))


def _grams(letters: str) -> Iterable[str]:
    whole = {line for line in letters.split("\n") if 0 < len(line) < SHARED_CHARS}
    return whole | grams_of(letters)
