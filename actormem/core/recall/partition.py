"""The memory of one owner, held ready to be searched.

A partition is a cache of the record: it can be built again from the items and their vectors at any time. It
lives in one actor and is used from one thread at a time. The law of this file: one put or remove costs what
its text and its neighbours cost, never what the partition holds.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from itertools import islice
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from actormem.core.facts.as_of import held_at
from actormem.core.facts.attributes import importance
from actormem.core.facts.third_person import told_attributes
from actormem.core.recall.concepts import concepts_of
from actormem.core.recall.conflicts import newest_first
from actormem.core.recall.duplicates import distinct
from actormem.core.recall.lexical import LexicalIndex
from actormem.core.recall.neighbours import Neighbours
from actormem.core.recall.query import Query, index_text, query_texts, view_text
from actormem.core.recall.rank import FLOOR
from actormem.core.recall.rows import KINDS, NameNumbers, RowTable
from actormem.core.recall.search import Nearest, Prepared, Ranked, Search
from actormem.core.recall.staleness import StaleEpisodes
from actormem.core.recall.transcripts import words_said
from actormem.core.recall.vectors import VectorRows
from actormem.core.recall.windows import Windows
from actormem.core.recall.words import Words, token_count
from actormem.core.values import Hit, Item

__all__ = ["FLOOR", "Partition", "Prepared", "Query", "index_text", "query_texts", "view_text"]

FACT_ATTRIBUTES: Final = 128  # attributes of which facts are told unasked; the most important ones
FACTS_EACH: Final = 16  # newest facts of each of them
NOTE: Final = "note"  # the attribute of what somebody had remembered without naming any
FRAGMENT_TOKENS: Final = 12  # with its speaker and date: "Yes, the blue one."
ASKED_SHARE_MIN: Final = 0.3  # from which a turn is a question to whom the next one answers
EMPTY: Final = np.empty(0, np.bool_)
RECENT_ROWS: Final = 32  # the newest items are candidates whatever the query is


class Partition:
    """Items of one owner; mutable, for one thread at a time.

    Attributes:
        offset_minutes: Offset from UTC of who spoke in the episode put last.
        version: Counts what may change an answer: items, their states and their vectors.
    """

    def __init__(self, dimensions: int, words: Words | None = None) -> None:
        self._words = words or Words()
        self._table = RowTable()
        self._index = LexicalIndex()
        self._neighbours = Neighbours()
        self._vectors = VectorRows(dimensions)
        self._items: dict[int, Item] = {}
        self._rows: dict[str, int] = {}
        self._no_vector: dict[str, None] = {}
        self._windows = Windows(
            self._table, self._neighbours, self._vectors, lambda row: self._items[row].text
        )
        self.offset_minutes = 0
        self.version = 0
        self._sessions = NameNumbers()
        self._speakers = NameNumbers()
        self._scopes = NameNumbers()
        self._attributes: dict[str, set[int]] = {}
        self._asked_by: dict[str, set[int]] = {}
        self._staleness = StaleEpisodes(self._table.mark_stale)
        self._recent: deque[int] = deque(maxlen=RECENT_ROWS)
        self._search = Search(
            self._table,
            self._index,
            self._neighbours,
            self._vectors,
            self._windows,
            self._speakers,
            self._asked_by,
            lambda: list(self._recent),
            self._words,
        )

    def __len__(self) -> int:
        return len(self._items)

    def item(self, id: str) -> Item | None:
        """The item, or None."""
        row = self._rows.get(id)
        return None if row is None else self._items[row]

    def items(self) -> Iterator[Item]:
        """All items, live or not, in no promised order."""
        return iter(self._items.values())

    def session_episodes(self, session_id: str) -> Iterator[Item]:
        """The episodes of a session, the last one first."""
        return (self._items[row] for row in self._neighbours.newest_first(session_id))

    def facts(self, scope: str | None = None) -> Iterator[Item]:
        """The newest live items of each attribute, of the most important attributes, in no promised order.

        Args:
            scope: Only items of this scope and of none; None for all.

        Cost: about 1 ms, whatever the owner has said.
        """
        live, event_ms = self._in_scope(self._table.live.copy(), scope), self._table.event_ms
        for name in nlargest(FACT_ATTRIBUTES, self._attributes, key=importance):
            rows = np.fromiter(self._attributes[name], np.int64)
            rows = rows[live[rows]]
            if len(rows) > FACTS_EACH:
                rows = rows[np.argpartition(-event_ms[rows], FACTS_EACH)[:FACTS_EACH]]
            yield from (self._items[row] for row in rows.tolist())

    def label(self, id: str) -> int | None:
        """The number under which an index given to `search` knows the item, while it is in the partition."""
        return self._rows.get(id)

    def put(self, item: Item) -> None:
        """Take in a new item, or a new state of one that is here.

        A changed text loses its vectors; they stand in `without_vectors` again, as does what is archived no more,
        for the sake of an index.
        """
        self.version += 1
        old = self.item(item.id)
        if old is not None and index_text(old) == index_text(item) and place_of(old) == place_of(item):
            row = self._rows[item.id]
            self._unlink(row, old)
            if old.state == "archived" != item.state:
                self._no_vector[item.id] = None
        else:
            if old is not None:
                self.remove(item.id)
            row = self._take_row(item)
        self._items[row] = item
        session, speaker = self._link(row, item)
        self._table.fill(row, item, session, speaker, self._scopes.use(item.scope))
        self._staleness.add(row, item)

    def count_shown(self, id: str, now_ms: int) -> bool:
        """Note that an item was shown at that time; says whether it is here."""
        row = self._rows.get(id)
        if row is None:
            return False
        item = self._items[row]
        self._items[row] = msgspec.structs.replace(
            item, shown_count=item.shown_count + 1, last_shown_ms=max(item.last_shown_ms, now_ms)
        )
        return True

    def remove(self, id: str) -> None:
        """Take an item out, with its words and vectors; an absent one is no matter."""
        row = self._rows.pop(id, None)
        if row is None:
            return
        self.version += 1
        item = self._items.pop(row)
        self._unlink(row, item)
        self._index.remove(row)
        self._mark_windows(self._neighbours.take_out(row))
        self._vectors.clear(row)
        self._windows.clear(row)
        self._no_vector.pop(id, None)
        if row in self._recent:
            self._recent.remove(row)
        self._table.free_row(row)

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks in the episodes."""
        return tuple(self._speakers)

    @property
    def vector_count(self) -> int:
        """How many items have a vector."""
        return int(np.count_nonzero(self._table.has_vector[: self._table.limit]))

    def without_vectors(self, limit: int | None = None) -> tuple[str, ...]:
        """Ids of items whose `view_text` is to be embedded, oldest put first, at most `limit`."""
        return tuple(islice(self._no_vector, limit))

    def set_vectors(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Give items their vectors; ids which are not here are passed over.

        Args:
            vectors: (n, dimensions) unit float32, or zero rows for texts that cannot be embedded.
        """
        self.version += 1
        for id, vector in zip(ids, vectors, strict=True):
            row = self._rows.get(id)
            if row is not None:
                self._vectors.set(row, vector)
                self._table.has_vector[row] = bool(vector.any())
                self._no_vector.pop(id, None)
                self._windows.embedded(row)

    def labelled_vectors(
        self, label: int = 0, limit: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Labels and vectors of items that have one and are not archived, for an index: (n,), (n, dimensions).

        Args:
            label, limit: From this label on, at most so many, ascending.
        """
        last = self._table.limit
        rows = np.flatnonzero(self._table.has_vector[label:last] & ~self._table.archived[label:last])
        rows = rows[:limit].astype(np.int64) + label
        return rows, self._vectors.take(rows)

    def vectors_of(self, labels: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of labels: (n, dimensions); zeros for what has none. May be called from any thread."""
        return self._vectors.take(labels)

    @property
    def stale_windows_count(self) -> int:
        """How many turns have a window that is out of date; until it is made anew the one before serves."""
        return len(self._windows)

    def refresh_windows(self, limit: int) -> None:
        """Make windows of turns anew, oldest change first, at most so many; about 0.1 ms each."""
        self.version += 1
        self._windows.refresh(limit)

    def query_texts(self, text: str) -> tuple[str, ...]:
        """The texts to embed for a query to this partition, whose speakers it may name; see `query_texts`."""
        return query_texts(text, self._speakers)

    def prepared(self, query: Query) -> Prepared | None:
        """What a search can do before the query has vectors; None where all of it waits for them.

        It serves `search` for the same query, its vectors apart, while `version` is what it was.
        """
        return self._search.prepared(query, self._terms(query), self._eligible(query))

    def search(
        self, query: Query, nearest: Nearest | None = None, prepared: Prepared | None = None
    ) -> tuple[Hit, ...]:
        """The items that answer a query.

        Args:
            nearest: An index over the vectors under `label` numbers; None: they are scanned, as for a deep query.
            prepared: What `prepared` gave, if it still holds.

        Returns:
            Best first, equal scores older first, at most `query.limit`; near-duplicates left out. Scores in
            [0, 1], comparable inside one search, and with `min_score`.

        Cost:
            About 1 ms at 1,000 items, 10 to 20 ms at 100,000.
        """
        nearest = None if query.deep else nearest
        terms = self._terms(query) if prepared is None else []
        eligible = self._eligible(query) if prepared is None else EMPTY
        ranked = self._search.ranked(query, terms, eligible, nearest, prepared)
        hits = distinct(self._hits(ranked, query), query.limit, query.source_max)
        if "date" not in ranked.arms:  # who asks for a day does not ask for what is so now
            hits = newest_first(hits, query.text, ranked.telling, self._words)
        known = query.exclude.union(hit.item.id for hit in hits)
        return tuple(msgspec.structs.replace(hit, before=self._led_by(hit.item, known)) for hit in hits)

    def considered_count(self, query: Query) -> int:
        """Among how many items a search for the query chooses: live ones of its kinds, none of them left out."""
        return int(np.count_nonzero(self._eligible(query)))

    def _hits(self, ranked: Ranked, query: Query) -> Iterator[Hit]:
        floor = query.min_score
        for place, row in enumerate(ranked.rows.tolist()):
            score = float(ranked.scores[place])
            if floor is not None and score < floor:
                return
            yield Hit(item=self._items[row], score=score, why=ranked.why(place))

    def _led_by(self, item: Item, known: AbstractSet[str]) -> Item | None:
        """What was said right before a fragment, or the question before its answer; None for others."""
        row = self._rows[item.id]
        place = int(self._neighbours.previous[row])
        if place < 0 or not self._table.live[place] or self._items[place].id in known:
            return None
        fragment = self._neighbours.length[row] < FRAGMENT_TOKENS
        asked = self._table.question[place] >= ASKED_SHARE_MIN
        other = self._table.speaker[place] != self._table.speaker[row]
        return self._items[place] if fragment or (asked and other) else None

    def _terms(self, query: Query) -> list[str]:
        return self._words.terms(words_said(query.text))

    def _eligible(self, query: Query) -> NDArray[np.bool_]:
        table, limit = self._table, self._table.limit
        now_ms = query.now_ms if query.at_ms is None else query.at_ms
        live = table.live[:limit] | table.archived[:limit] if query.deep else table.live[:limit].copy()
        if query.at_ms is not None:
            for row in np.flatnonzero(table.superseded[:limit]).tolist():
                successor = self.item(self._items[row].superseded_by)
                live[row] = successor is not None and successor.event_ms > query.at_ms
            live &= table.event_ms[:limit] <= query.at_ms
            facts = [row for rows in self._attributes.values() for row in rows]
            held = held_at((self._items[row] for row in facts), query.at_ms)
            live[facts] = [self._items[row].id in held for row in facts]
        expires = table.expires_ms[:limit]
        live &= (expires == 0) | (expires > now_ms)
        if query.kinds is not None:
            live &= np.array([kind in query.kinds for kind in KINDS])[table.kind[:limit]]
        for id in query.exclude:
            row = self._rows.get(id)
            if row is not None:
                live[row] = False
        return self._in_scope(live, query.scope)

    def _in_scope(self, rows: NDArray[np.bool_], scope: str | None) -> NDArray[np.bool_]:
        """The rows, changed in place, without those of other scopes."""
        if scope is not None and any(name not in ("", scope) for name in self._scopes):
            reach = [self._scopes[name] for name in self._scopes if name in ("", scope)]
            rows &= np.isin(self._table.scope[: len(rows)], reach)
        return rows

    def _take_row(self, item: Item) -> int:
        row = self._table.take_row()
        capacity = self._table.capacity
        self._neighbours.reserve(capacity)
        self._vectors.reserve(row + 1)
        self._windows.reserve(capacity)
        self._rows[item.id] = row
        self._items[row] = item
        text = index_text(item)
        terms = self._words.terms(text)
        term_count = self._index.add(row, terms)
        self._table.note_concepts(row, concepts_of(terms))
        session = item.session_id if self._in_session(item) else ""
        touched = self._neighbours.place(
            row, session, item.sequence, item.event_ms, token_count(text), term_count
        )
        self._mark_windows(touched)
        self._no_vector[item.id] = None
        self._recent.append(row)
        return row

    def _mark_windows(self, rows: Iterable[int]) -> None:
        self._windows.touch(row for row in rows if self._in_session(self._items[row]))

    def _in_session(self, item: Item) -> bool:
        return item.kind == "episode" and bool(item.session_id)

    def _link(self, row: int, item: Item) -> tuple[int, int]:
        if item.attribute:
            self._attributes.setdefault(item.attribute, set()).add(row)
        for name in asking_names(item):
            self._asked_by.setdefault(name, set()).add(row)
        if item.kind != "episode":
            return -1 - row, -1
        self.offset_minutes = item.offset_minutes
        session = self._sessions.use(item.session_id) if item.session_id else -1 - row
        return session, self._speakers.use(item.speaker)

    def _unlink(self, row: int, item: Item) -> None:
        self._staleness.drop(row, item)
        self._scopes.leave(item.scope)
        if item.attribute:
            discard(self._attributes, item.attribute, row)
        for name in asking_names(item):
            discard(self._asked_by, name, row)
        if item.kind == "episode":
            self._speakers.leave(item.speaker)
            if item.session_id:
                self._sessions.leave(item.session_id)


def asking_names(item: Item) -> tuple[str, ...]:
    """The attributes that ask for an item: its own, and those of which a note tells that has none."""
    if item.attribute not in ("", NOTE):
        return (item.attribute,)
    return (*filter(None, (item.attribute,)), *told_attributes(item.text))


def discard(rows_of: dict[str, set[int]], name: str, row: int) -> None:
    rows = rows_of[name]
    rows.discard(row)
    if not rows:
        del rows_of[name]


def place_of(item: Item) -> tuple[str, str, int, int]:
    return item.kind, item.session_id, item.sequence, item.event_ms
