"""How much of each kind of work is done at once, by who waits for it.

Law of the file: what a turn waits for has places of its own, and never stands in line behind writes, imports, summaries
or indexes. Threads are of these pools alone, none of the default one.
"""

import anyio

from actormem import limits

__all__ = ["Pools"]

ERASURES_AT_ONCE = 4  # owners whose erasures are resumed at the same time: turns of others come between
REWRITINGS_AT_ONCE = 16  # who finds none free goes without: after a queue it would be too late
PREWARMS_AT_ONCE = 4  # of all sessions: each makes the server read a whole context


class Pools:
    """The limiters of one runtime.

    Attributes:
        counting, searching: Threads that a turn waits for: large messages, sessions that wake; searches.
        contexts: Contexts of turns that are made at once: more would all miss the deadlines of their recalls.
        background, indexing: Threads nobody's turn waits for: summaries, logs, what is read again; graphs.
        embedding: Calls for the vectors of items, of all owners. Queries have the embedding actor's calls.
        extracting, rewriting: Calls for facts; for other words for a query.
        warming, erasing: Prewarmings; owners being erased.
    """

    def __init__(self, extractions_at_once: int) -> None:
        self.counting = anyio.CapacityLimiter(limits.COUNTING_THREADS)
        self.searching = anyio.CapacityLimiter(limits.SEARCHING_THREADS)
        self.background = anyio.CapacityLimiter(limits.BACKGROUND_THREADS)
        self.indexing = anyio.CapacityLimiter(limits.INDEXING_THREADS)
        self.embedding = anyio.CapacityLimiter(limits.ITEM_CALLS_AT_ONCE)
        self.contexts = anyio.CapacityLimiter(limits.CONTEXTS_AT_ONCE)
        self.extracting = anyio.CapacityLimiter(extractions_at_once)
        self.rewriting = anyio.CapacityLimiter(REWRITINGS_AT_ONCE)
        self.warming = anyio.CapacityLimiter(PREWARMS_AT_ONCE)
        self.erasing = anyio.CapacityLimiter(ERASURES_AT_ONCE)
