"""An owner's items on their way from the record into a partition, and what is to be done meanwhile.

A small owner is loaded whole before anything is answered, so that a restart changes no context. Of a large one
the newest items are, and all others follow beside the messages, oldest first, in steps of a few milliseconds. The
law of the file: the partition ends as if it had been loaded at once; until then it is nobody's but the loader's.
"""

from collections import deque
from contextlib import suppress
from typing import Final

import anyio
import anyio.lowlevel
import msgspec
import numpy as np

from actormem.actors.early import EarlyRecall, number_of, put_stored
from actormem.actors.intake import Intake
from actormem.actors.services import Services
from actormem.core.erasure import ERASURE_INTENTS
from actormem.core.recall.partition import Partition
from actormem.core.recall.stored_vectors import vector_rows
from actormem.core.values import Owner
from actormem.errors import StoppedError, StorageError
from actormem.kernel import Reply, Scope
from actormem.limits import LOAD_STEP_ITEMS
from actormem.ports import OwnerItems

__all__ = ["Loaded", "Loading"]

WHOLE_ITEMS_MAX: Final = 512  # an owner of so many is loaded at once: 50 to 80 ms
FIRST_ITEMS: Final = 48  # the newest of a larger one: 5 to 10 ms
ITEMS_PAGE: Final = 1_024  # read in a thread in 10 ms
VECTORS_PAGE: Final = 4_096  # 8 MB of 512 numbers: 40 ms in a thread
VECTORS_STEP: Final = 256  # put into a partition: 2 ms, then other tasks get their turn
KEPT_MAX: Final = 1_024  # messages that wait for the end of loading; then the mailbox fills, as it may


class Loaded(msgspec.Struct, frozen=True):
    """All items are there. A tell of the actor's own child."""


class Loading:
    """Fills one owner's partition, and keeps the messages that must see all of it.

    Attributes:
        early: Answers queries meanwhile; None where everything was loaded at once.
        done: Set when all is there, or the rest cannot be read.
        failure: Why it cannot.
    """

    def __init__(self, owner: Owner, partition: Partition, intake: Intake, services: Services) -> None:
        self._owner = owner
        self._partition = partition
        self._intake = intake
        self._services = services
        self._kept: deque[tuple[object, Reply | None]] = deque()
        self.early: EarlyRecall | None = None
        self.done = anyio.Event()
        self.failure: StorageError | None = None

    async def started(self, scope: Scope) -> None:
        """Load a small owner whole, or the newest of a large one and begin with the rest.

        One of whom something was being erased when he was last in memory is loaded whole, whatever his size: what is
        to be hidden is among all items.
        """
        stored = await self._first()
        self._intake.loaded(stored.tombstones)
        self._intake.forgotten_ms = await self._services.record.forgotten_ms(self._owner)
        if stored.item_count == len(stored.items):
            await put_stored(self._intake, self._owner, stored.items)
            await self._set_vectors(stored)
            self.done.set()
            return
        self.early = EarlyRecall(self._owner, self._services)
        await self.early.hold(stored)
        scope.start(self._run, self.early, scope)

    async def _first(self) -> OwnerItems:
        record, embedder = self._services.record, self._services.embedder.name
        if any(name.startswith(ERASURE_INTENTS) for name, _ in await record.intents(self._owner)):
            return await record.load_items(self._owner, embedder)
        stored = await record.load_items(self._owner, embedder, FIRST_ITEMS)
        if FIRST_ITEMS < stored.item_count <= WHOLE_ITEMS_MAX:
            return await record.load_items(self._owner, embedder)
        return stored

    def keep(self, message: object, reply: Reply | None) -> bool:
        """Keep a message until all is there, in order; False where too many wait already."""
        if len(self._kept) >= KEPT_MAX:
            return False
        self._kept.append((message, reply))
        return True

    def keep_hint(self, message: object) -> None:
        """Keep a message that may be lost, while there is plenty of room: no hint takes the place of an order."""
        if len(self._kept) < KEPT_MAX // 2:
            self._kept.append((message, None))

    def kept(self) -> tuple[object, Reply | None] | None:
        """The next of the messages that were kept, which is kept no more."""
        return self._kept.popleft() if self._kept else None

    async def _run(self, early: EarlyRecall, scope: Scope) -> None:
        try:
            await self._read_vectors(early)
            await self._read_items(early)
        except StorageError as error:
            self.failure = error
        early.read.set()
        self.done.set()
        with suppress(StoppedError):  # it ends, and its next instance reads for itself
            await scope.ref.send(Loaded())

    async def _read_vectors(self, early: EarlyRecall) -> None:
        """All vectors, newest first: a query can be answered as soon as they are there."""
        embedder, number = self._services.embedder, None
        size_bytes = embedder.dimensions * np.dtype(np.float32).itemsize
        while True:
            page = await self._services.record.vectors_before(
                self._owner, embedder.name, number, limit=VECTORS_PAGE, size_bytes=size_bytes
            )
            early.vectors.add(page.numbers, page.vectors)
            if page.rest is None:
                break
            number = page.rest
        early.read.set()

    async def _read_items(self, early: EarlyRecall) -> None:
        number = 0
        while items := await self._services.record.items_after(self._owner, number, ITEMS_PAGE):
            for start in range(0, len(items), LOAD_STEP_ITEMS):
                step = items[start : start + LOAD_STEP_ITEMS]
                await put_stored(self._intake, self._owner, step)
                places, rows = early.vectors.of([number_of(item) for item in step])
                self._partition.set_vectors([step[place].id for place in places], rows)
                await early.free.wait()
            number = number_of(items[-1])

    async def _set_vectors(self, stored: OwnerItems) -> None:
        ids, rows = vector_rows(stored.vectors, self._services.embedder.dimensions)
        for first in range(0, len(ids), VECTORS_STEP):
            self._partition.set_vectors(ids[first : first + VECTORS_STEP], rows[first : first + VECTORS_STEP])
            await anyio.lowlevel.checkpoint()
