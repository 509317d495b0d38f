"""What the runtime needs of the world, as protocols with numbered promises.

Each promise is a check in `actormem.testing.contracts`, which you can run over an adapter of your own. Ours live in
`actormem.adapters` and `actormem.storage`; only `actormem.wiring` knows which of them stands behind a port.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from actormem.core.values import Item, JsonValue, Owner, SessionKey
from actormem.core.writes import (
    AppendEvents,
    DeleteIntent,
    DeleteItems,
    EraseOwner,
    EraseSession,
    MarkShown,
    PutIntent,
    PutItems,
    PutTombstones,
    PutVectors,
    ReleaseNames,
    ReplaceTexts,
    SaveSnapshot,
    SetProgress,
    StoredEvent,
    Write,
)
from actormem.errors import StorageError

__all__ = [
    "LLM",
    "AppendEvents",
    "BaseContents",
    "BaseRow",
    "Cache",
    "DeleteIntent",
    "DeleteItems",
    "Embedder",
    "EraseOwner",
    "EraseSession",
    "Labels",
    "MarkShown",
    "OwnerItems",
    "OwnerRow",
    "PutIntent",
    "PutItems",
    "PutTombstones",
    "PutVectors",
    "Record",
    "RecordStatistics",
    "ReleaseNames",
    "ReplaceTexts",
    "SaveSnapshot",
    "Scan",
    "SessionHistory",
    "SessionRow",
    "SetProgress",
    "StoredEvent",
    "Tokenizer",
    "VectorIndex",
    "VectorPage",
    "Vectors",
    "Warmer",
    "Write",
]

Vectors: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]


class Tokenizer(Protocol):
    """Counts tokens of text.

    1. `count` never raises for any str: lone surrogates and control words (`<|endoftext|>`) are plain text.
    2. Where `exact` is true the count is that of the vocabulary `name`; otherwise it is a bound, at least
       the count of any vocabulary it stands in for.
    3. `truncate(text, tokens)` gives a prefix of the text whose count is at most `tokens`, cut between
       characters, never inside one; the whole text where it fits. Its cost grows with `tokens`, not the text.
    4. Both are deterministic, hold no lock of the event loop's and may be called from any thread.
    """

    @property
    def name(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def count(self, text: str) -> int: ...
    def truncate(self, text: str, tokens: int) -> str: ...


class Embedder(Protocol):
    """Turns texts into vectors.

    1. `embed` gives (n, dimensions) float32 for n texts, in order; rows have length 1, or are all zeros for a
       text that cannot be embedded (empty, refused, not finite).
    2. Vectors of embedders with different `name` are never compared.
    3. It never blocks the event loop, and stops waiting when its caller is cancelled.
    4. A failure of the outside model is a `ProviderError`; nothing else is raised for any str.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    async def start(self) -> None:
        """Load and warm what is needed, off the loop; may be called more than once."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors: ...
    async def aclose(self) -> None: ...


class LLM(Protocol):
    """A chat model for background work.

    1. `complete` gives the reply's text, never empty; anything else is a `ProviderError`.
    2. It returns or raises within `deadline_s`, whatever the server does (hang, drip, garbage), and stops when its
       caller is cancelled.
    3. Errors hold no prompt text and no key.
    4. With `schema`, a JSON Schema, it asks for JSON of that shape as strictly as its server can; the reply may
       still be anything.
    """

    @property
    def name(self) -> str: ...
    @property
    def window_tokens(self) -> int: ...
    async def complete(
        self,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        tokens_max: int,
        deadline_s: float,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> str: ...
    async def aclose(self) -> None: ...


class Warmer(Protocol):
    """Fills the prefix cache of a model's server, so that the user's next words are all it has yet to read.

    1. `warm` sends one request with exactly these messages and tools, for a reply of one token, and drops it.
    2. It returns or raises within `deadline_s`, whatever the server does, and stops when its caller is cancelled.
    3. A failure is a `ProviderError`; it holds no prompt text and no key.
    """

    @property
    def name(self) -> str: ...
    async def warm(
        self,
        model: str,
        messages: Sequence[Mapping[str, JsonValue]],
        tools: Sequence[Mapping[str, JsonValue]],
        *,
        deadline_s: float,
    ) -> None: ...
    async def aclose(self) -> None: ...


class VectorIndex(Protocol):
    """Nearest neighbours by cosine, of unit vectors, under labels of our own.

    1. `search` gives (labels, scores), best first, at most k and fewer where there are fewer; scores are
       cosines, larger is better; ties keep the smaller label first. It never raises for want of rows.
    2. A label added again replaces its vector; removing one that is absent does nothing.
    3. Rows that are not finite or have no length are refused by `add` with UsageError, before any is added.
    """

    def __len__(self) -> int: ...
    def add(self, labels: Labels, vectors: Vectors) -> None: ...
    def remove(self, labels: Labels) -> None: ...
    def search(self, vector: Vectors, k: int) -> tuple[Labels, Vectors]: ...


class Cache(Protocol):
    """Bytes that may be lost at any time, kept per owner.

    1. What `get_many` gives for a key is what `put_many` last stored under that owner and key, or None.
    2. Nothing of one owner is ever given to another.
    3. After `drop_owner` nothing of that owner is given, nor left in its files.
    4. A damaged or full cache answers None and stores nothing; it never raises.
    """

    async def get_many(self, owner: Owner, keys: Sequence[str]) -> list[bytes | None]: ...
    async def put_many(self, owner: Owner, entries: Mapping[str, bytes]) -> None: ...
    async def drop_owner(self, owner: Owner) -> None: ...
    async def aclose(self) -> None: ...


# --- the record ----------------------------------------------------------------------------------


class SessionHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to wake a session: the newest snapshot (or None) and the events after it, in order.

    `damaged_count` counts damaged snapshots that were left aside.
    """

    snapshot: bytes | None
    snapshot_sequence: int
    events: tuple[StoredEvent, ...]
    progress: int
    damaged_count: int = 0


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line about a session, for lists. Times in UTC milliseconds."""

    session_id: str
    created_ms: int
    changed_ms: int
    message_count: int


class BaseRow(msgspec.Struct, frozen=True):
    """A knowledge base that holds something: its name, and how many passages."""

    name: str
    passage_count: int


class BaseContents(msgspec.Struct, frozen=True):
    """The ids of all passages of a knowledge base, and the sessions whose notes show any of them."""

    item_ids: frozenset[str]
    shown_in: frozenset[SessionKey]


class OwnerItems(msgspec.Struct, frozen=True, kw_only=True):
    """Items of an owner, by number, and their vectors of one embedder (float32 bytes) by item id.

    `tombstones` are all of the owner's; `item_count` is how many items the owner has, these among them.
    `damaged_count` counts damaged vectors that were left aside: they are made anew.
    """

    items: tuple[Item, ...]
    vectors: Mapping[str, bytes]
    tombstones: frozenset[str]
    item_count: int
    damaged_count: int = 0


class VectorPage(msgspec.Struct, frozen=True):
    """Numbers of items, ascending, and their vectors of one embedder, one after the other as float32 bytes.

    `rest` is the number below which the next page begins, None after the last one. `damaged_count` counts vectors that
    were left aside: they are made anew.
    """

    numbers: tuple[int, ...]
    vectors: bytes
    rest: int | None = None
    damaged_count: int = 0


class OwnerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line about an owner, for administrators."""

    owner: Owner
    session_count: int
    item_count: int


class RecordStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Counts since opening, and sizes now. `damaged_rows` are derived ones (vectors, snapshots), made anew."""

    commit_count: int
    write_count: int
    failed_commit_count: int
    waiting_count: int
    size_bytes: int
    damaged_rows: int = 0


class Scan(msgspec.Struct, frozen=True):
    """What was looked at of the files, and how many of the texts sought stand there and should not."""

    scanned_bytes: int = 0
    found_count: int = 0


class Record(Protocol):
    """The system of record.

    1. `submit` queues its writes as one transaction and returns at once; transactions commit in the order
       of submission, whole or not at all; one that contradicts what is stored fails (a gap in a session's
       sequences, a name twice). `then` is called on the event loop, in that order: with None once the commit is
       durable, with a StorageError where it failed. Where too much waits, of their owner's or in all, it refuses them
       with an OverloadedError and keeps none of them.
    2. After `then(None)` nothing of it is lost: at level `process` by kill -9, at `power` by power loss.
    3. Reads see every transaction whose `then(None)` was called, and only whole ones.
    4. Nothing of one owner is returned for another; owners and ids compare by equality.
    5. After the first failed commit every later `submit` fails too, until the folder is opened again.
    6. `next_item_number` gives each number once in the life of the folder, deletions and restarts included.
    7. Erased words are in no file of the record once `scrub` has returned.
    8. Each write does what it says of itself (see `actormem.core.writes`), and reads tell of it.
    9. `newest_ms` is when the item of the largest number was stored, by the clock of that time, as it was at opening;
        0 where there was none. It is no owner's.
    10. `elsewhere` names each place outside the reach of `scrub` and `scan` where erased words may still stand; nothing
        where there is none.
    """

    def submit(
        self, writes: Sequence[Write], then: Callable[[StorageError | None], None] | None = None
    ) -> None: ...
    async def sync(self, writes: Sequence[Write] = ()) -> None:
        """Submit and wait until durable; without writes, wait for all that was submitted before.

        Raises:
            StorageError: The commit failed.
        """
        ...

    def next_item_number(self) -> int: ...
    def newest_ms(self) -> int: ...
    async def load_session(self, key: SessionKey) -> SessionHistory | None: ...
    async def read_events(self, key: SessionKey, first: int, last: int) -> tuple[StoredEvent, ...]:
        """The events whose sequence is in [first, last], in order."""
        ...

    async def session_names(self, key: SessionKey) -> frozenset[str]:
        """Every non-empty event name of the session."""
        ...

    async def sessions(self, owner: Owner) -> tuple[SessionRow, ...]:
        """The owner's sessions, newest change first."""
        ...

    async def owners(self, limit: int, tenant: str | None = None, prefix: str = "") -> tuple[OwnerRow, ...]:
        """The owners that anything is stored of, the newest first, at most `limit`.

        Those of one tenant alone, None for all; those whose user begins with `prefix`, case and all.
        """
        ...

    async def behind(self) -> tuple[SessionKey, ...]:
        """Sessions that have named events (messages) after their progress, or names released after it."""
        ...

    async def load_items(self, owner: Owner, embedder: str, newest: int | None = None) -> OwnerItems:
        """All items of an owner; with `newest`, at least 1, so many of those with the largest numbers."""
        ...

    async def items_after(self, owner: Owner, number: int, limit: int) -> tuple[Item, ...]:
        """The next items above a number, by number, at most `limit`."""
        ...

    async def items_of(self, owner: Owner, numbers: Sequence[int]) -> tuple[Item, ...]:
        """Those of the items that the owner has, by number; at most 10,000 are asked for at once."""
        ...

    async def vectors_before(
        self, owner: Owner, embedder: str, number: int | None, *, limit: int, size_bytes: int
    ) -> VectorPage:
        """Vectors of this size of the items below a number, those nearest to it, at most `limit`; None: the newest."""
        ...

    async def shown_in(self, owner: Owner, item_id: str) -> tuple[tuple[SessionKey, int], ...]:
        """Sessions and event sequences whose notes show the item; of knowledge, sessions of the whole tenant."""
        ...

    async def base_contents(self, base: Owner) -> BaseContents:
        """What a knowledge base holds, and where it is shown."""
        ...

    async def bases(self, tenant: str) -> tuple[BaseRow, ...]:
        """The tenant's knowledge bases, by name."""
        ...

    async def forgotten_ms(self, owner: Owner) -> int:
        """When the owner was erased the last time with a time to be kept; 0 for never."""
        ...

    async def intents(self, owner: Owner) -> tuple[tuple[str, bytes], ...]:
        """What is still to be done for the owner: name and body of each, by name."""
        ...

    async def owners_with_intents(self, prefix: str = "") -> tuple[Owner, ...]:
        """Owners for whom something is still to be done whose name begins so."""
        ...

    async def intent_counts(self) -> Mapping[str, int]:
        """How much is still to be done for all owners, by what the names begin with: up to their first colon."""
        ...

    async def scrub(self) -> None: ...
    async def scan(self, texts: Sequence[str], besides: Owner | None = None) -> Scan:
        """Look for texts in all files of the folder, caches too; nothing where all is in memory.

        A text that rows hold may stand there and is not counted, but where one of them is of the owner `besides`.
        """
        ...

    def elsewhere(self) -> tuple[str, ...]: ...
    def statistics(self) -> RecordStatistics: ...
