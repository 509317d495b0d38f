"""The vectors of one partition, made beside everything else: embed what has none, keep the index in step.

Runs as a child of the long-term actor. What it does not get done is found again at the next waking, since an
item without a vector says so itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np

from actormem.actors.services import Services
from actormem.core.recall.partition import Partition, Query, view_text
from actormem.core.values import Hit, Owner
from actormem.errors import ProviderError, StorageError
from actormem.kernel import Scope
from actormem.limits import EMBED_BATCH, EMBED_BATCH_CHARS, EMBED_RETRY_S, HNSW_ROWS_MIN
from actormem.ports import Labels, PutVectors, VectorIndex, Vectors

__all__ = ["PartitionVectors"]

# Texts of one owner that wait at once: more than live turns bring, so a log is being imported.
EMBED_MANY_MIN = 16
EMBED_MANY = 64  # of such texts, those that are stored together: 0.1 to 0.5 s of work, queries going between
CALL_BYTES_MAX = 1_400  # of one call for them, as UTF-8: 15 to 25 ms of the local embedder in both languages
TEXT_BYTES = 20  # what a text costs beside its bytes
COPY_STEP = 1_024  # vectors copied at a time for an index: 1 ms
WINDOW_STEP = 32  # windows made at a time: 3 ms, then other tasks get their turn


class PartitionVectors:
    """Keeps the vectors of a partition and its nearest-neighbour index."""

    def __init__(
        self,
        owner: Owner,
        partition: Partition,
        services: Services,
        scope: Scope,
        done: Callable[[], None],
    ) -> None:
        self._owner = owner
        self._partition = partition
        self._services = services
        self._scope = scope
        self._done = done
        self._running = False
        self._removal_count = 0
        self._rest_until_s = 0.0
        self._apart = anyio.Lock()
        self._hurry = anyio.Event()
        self.index: VectorIndex | None = None

    @property
    def pending(self) -> bool:
        """Whether anything waits for its vector."""
        return self._running

    def want(self) -> None:
        """See to it that what has no vector gets one."""
        partition = self._partition
        due = partition.without_vectors(1) or partition.stale_windows_count or self._index_due()
        rested = self._services.clock.monotonic_s() >= self._rest_until_s
        if due and rested and not self._running:
            self._running = True
            self._scope.start(self._run)

    def again(self) -> None:
        """Try at once, though the embedder has failed a moment ago."""
        self._rest_until_s = 0.0
        self.want()

    def hurry(self) -> None:
        """Do not wait for a pause: somebody waits until all is done. What comes later waits again."""
        if self._running:
            self._hurry.set()

    def remove(self, labels: Sequence[int]) -> None:
        """Rows are gone or archived: the index is built anew, since a graph keeps what is taken out of it."""
        if labels:
            self._removal_count += 1
            self.index = None

    async def search_in_thread(self, query: Query) -> tuple[Hit, ...]:
        """Search a large partition beside the loop, while no vector is set."""
        async with self._apart:
            return await anyio.to_thread.run_sync(
                self._partition.search, query, self.index, limiter=self._services.pools.searching
            )

    async def _run(self) -> None:
        try:
            while await self._step():
                pass
        except ProviderError:
            # Whoever writes or asks after a while tries again: a dead embedder must keep nobody in memory.
            self._services.counters.embed_failures += 1
            self._rest_until_s = self._services.clock.monotonic_s() + EMBED_RETRY_S
        finally:
            self._running = False
            self._hurry = anyio.Event()
            self._done()

    async def _step(self) -> bool:
        """One batch; False when nothing is left to do."""
        partition = self._partition
        ids, texts = _batch(partition.without_vectors(EMBED_MANY), lambda id: _view(partition, id))
        if ids:
            vectors = await self._embedded(texts)
            # What was edited meanwhile waits for the vector of its new words.
            same = [place for place, id in enumerate(ids) if _view(partition, id) == texts[place]]
            ids, vectors = [ids[place] for place in same], vectors[same]
            async with self._apart:
                partition.set_vectors(ids, vectors)
            rows = tuple(
                (id, vector.tobytes()) for id, vector in zip(ids, vectors, strict=True) if vector.any()
            )
            # A disk that has failed says so with every acknowledgement; these vectors serve until the end.
            with suppress(StorageError):
                self._services.record.submit([PutVectors(self._owner, self._services.embedder.name, rows)])
            await self._index_rows(ids, vectors)
            return True
        if partition.stale_windows_count:
            async with self._apart:
                partition.refresh_windows(WINDOW_STEP)
            await anyio.lowlevel.checkpoint()
            return True
        if self._index_due():
            removals = self._removal_count
            labels, vectors = await self._labelled()
            built = await anyio.to_thread.run_sync(
                self._services.build_index,
                labels,
                vectors,
                partition.vectors_of,
                limiter=self._services.pools.indexing,
            )
            if self._removal_count == removals:
                self.index = built
            return True
        return False

    async def _labelled(self) -> tuple[Labels, Vectors]:
        """All that an index is to hold, in steps: a hundred thousand vectors are 200 MB to copy."""
        found = [self._partition.labelled_vectors(0, COPY_STEP)]
        while len(found[-1][0]) == COPY_STEP:
            await anyio.lowlevel.checkpoint()
            found.append(self._partition.labelled_vectors(int(found[-1][0][-1]) + 1, COPY_STEP))
        labels, vectors = zip(*found, strict=True)
        return await anyio.to_thread.run_sync(
            lambda: (np.concatenate(labels), np.concatenate(vectors)), limiter=self._services.pools.indexing
        )

    def _index_due(self) -> bool:
        return self.index is None and len(self._partition) >= HNSW_ROWS_MIN

    async def _index_rows(self, ids: Sequence[str], vectors: Vectors) -> None:
        if self.index is None:
            return
        hot = [(place, id) for place, id in enumerate(ids) if vectors[place].any() and self._is_hot(id)]
        found = [(self._partition.label(id), place) for place, id in hot]
        rows = [(label, place) for label, place in found if label is not None]
        if rows:
            labels = np.array([label for label, _ in rows], dtype=np.int64)
            chosen = vectors[[place for _, place in rows]]
            await anyio.to_thread.run_sync(
                self.index.add, labels, chosen, limiter=self._services.pools.indexing
            )

    def _is_hot(self, id: str) -> bool:
        item = self._partition.item(id)
        return item is not None and item.state != "archived"

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, from the cache where it has them."""
        services = self._services
        dimensions = services.embedder.dimensions
        keys = [_cache_key(services.embedder.name, text) for text in texts]
        stored = await services.cache.get_many(self._owner, keys)
        vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
        missing: dict[str, list[int]] = {}
        for place, body in enumerate(stored):
            if body is not None and len(body) == dimensions * vectors.itemsize:
                vectors[place] = np.frombuffer(body, dtype=np.float32)
            elif texts[place]:
                missing.setdefault(texts[place], []).append(place)
        entries: dict[str, bytes] = {}
        for call in _calls(tuple(missing)):
            await services.precedence.background(self._hurry)
            async with services.pools.embedding:
                found = await services.embed(call)
            services.counters.embedded_texts += len(call)
            for text, vector in zip(call, found, strict=True):
                vectors[missing[text]] = vector
                if vector.any():
                    entries[keys[missing[text][0]]] = vector.tobytes()
        if entries:
            await services.cache.put_many(self._owner, entries)
        return vectors


def _view(partition: Partition, id: str) -> str:
    item = partition.item(id)
    return view_text(item) if item else ""


def _batch(ids: Sequence[str], text_of: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """Ids and texts to be embedded and stored together: all where there are many, and else what one call may take."""
    if len(ids) >= EMBED_MANY_MIN:
        return list(ids), [text_of(id) for id in ids]
    texts: list[str] = []
    for id in ids[:EMBED_BATCH]:
        text = text_of(id)
        if texts and sum(map(len, texts)) + len(text) > EMBED_BATCH_CHARS:
            break
        texts.append(text)
    return list(ids[: len(texts)]), texts


def _calls(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts by call: at least one each, and no more work than a query that comes now may wait for."""
    call: list[str] = []
    size_bytes = 0
    for text in texts:
        more = TEXT_BYTES + len(text.encode())
        if call and size_bytes + more > CALL_BYTES_MAX:
            yield call
            call, size_bytes = [], 0
        call.append(text)
        size_bytes += more
    if call:
        yield call


def _cache_key(embedder: str, text: str) -> str:
    return f"vector:{embedder}:{blake2b(text.encode(), digest_size=32).hexdigest()}"
