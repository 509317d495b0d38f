"""The actor: one runtime, its record, and the operations that are asked of it.

Law: it serves only while it holds its record's lock, which it waits for as long as a predecessor's lease may run; and
where its record has failed, it ends its process, answers with "the outcome is unknown", and is begun anew by Ray: what
it has in memory may be another life's.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

import actormem
from actormem.core.values import Owner
from actormem.distributed.messages import ANSWERED, BEGINNING_ANEW, FAILED, LIFE_BYTES, NOT_OPEN, Asked, tell
from actormem.distributed.notes import notes_of
from actormem.errors import (
    ActorMemError,
    AskTimeoutError,
    FolderInUseError,
    OverloadedError,
    StorageError,
    UsageError,
)
from actormem.remote.asking import LOST
from actormem.server.direct import answered, failed, frames
from actormem.server.settings import ServerSettings
from actormem.server.state import ServerState

__all__ = ["CALLS_MAX", "ENDING_MAX", "LOCK_WAIT_S", "Shard", "ShardSettings"]

logger = logging.getLogger(__name__)
CALLS_MAX = 1_024  # at once; turns that wait for the one before theirs among them
ENDING_MAX = 256  # more of what ends turns, so that those which wait can go on
ENDING = frozenset({"reply", "leave_turn", "add_in_turn", "turn_context", "shrink", "keep_turns", "health"})
LOCK_WAIT_S = 10.0  # longer than a lease of the record
SWEEP_S = 0.5  # between two looks for turns that were left, and at the record
LAST_WORDS_S = 0.2  # for answers on their way, before the process ends
BEAT_S = 15.0  # between two signs of life of a stream of events
OPENING_FIRST_S = 0.5  # our word of an opening that takes too long comes before the caller's own


class ShardSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a shard is made of.

    Attributes:
        number, shards: Which, and how many there are.
        place: Of all of them.
        options: Of `actormem.open`.
    """

    number: int
    shards: int
    place: str
    options: dict[str, Any]

    def __repr__(self) -> str:  # the place may hold a password, the options keys, and Ray repeats arguments
        return f"<ShardSettings of shard {self.number} of {self.shards}>"


class Life:
    """One opening of the record, as long as it lasts.

    Attributes:
        name: Drawn anew for each.
        ready: Set when it is open, or has failed to open.
        ending: Set when it is to close.
        opening: Its scope; cancelled only before it is open.
        failure: Why it did not open; None where it did.
        record_failed: Whether its record takes nothing any more.
    """

    def __init__(self) -> None:
        self.name = secrets.token_bytes(LIFE_BYTES)
        self.ready = anyio.Event()
        self.ending = anyio.Event()
        self.opening = anyio.CancelScope()
        self.failure: BaseException | None = None
        self.state: ServerState | None = None
        self.metrics: Any = None

    @property
    def record_failed(self) -> bool:
        """The first failed commit is the last one."""
        return self.state is not None and self.state.runtime.statistics().record.failed_commit_count > 0


class Shard:
    """A Ray actor; made by `Cluster`. Its methods take and give bytes, see `distributed.messages`."""

    def __init__(self, settings: ShardSettings) -> None:
        self._settings = settings
        self._running = 0
        self._parent = os.getppid()
        self._leaving: dict[str, anyio.Event] = {}
        _serve_first()
        self._begin()

    def _begin(self) -> None:
        self._life = Life()
        self._task = asyncio.get_running_loop().create_task(self._live(self._life))

    # --- what it is asked -------------------------------------------------------------------------------

    async def ask(self, raw: bytes) -> bytes:
        """Do an operation; never raises."""
        asked = msgspec.msgpack.decode(raw, type=Asked)
        limit = CALLS_MAX + (ENDING_MAX if asked.name in ENDING else 0)
        if self._running >= limit:
            full = OverloadedError(
                "the shard takes no call more",
                mailbox="calls of the shard",
                waiting=self._running,
                limit=limit,
            )
            return tell(self._life.name, FAILED, failed(full).raw)
        self._running += 1
        try:
            return await self._answer(asked)
        except FolderInUseError as error:
            return tell(self._life.name, NOT_OPEN, failed(error).raw)
        except ActorMemError as error:
            return tell(self._life.name, FAILED, failed(error).raw)
        finally:
            self._running -= 1

    async def left(self, call: str) -> None:
        """The caller does not wait for that call any more."""
        gone = self._leaving.get(call)
        if gone is not None:
            gone.set()

    async def events(self, raw: bytes) -> AsyncGenerator[bytes, None]:
        """What happens to an owner's memory: an event each, and an empty one now and then."""
        life = self._life.name
        try:
            owner = msgspec.msgpack.decode(raw, type=Owner)
            life, state = await self._open()
            async with state.runtime.events(owner.user, tenant=owner.tenant) as events:
                yield tell(life, ANSWERED, b"")
                coming = aiter(events)
                while True:
                    event = b""
                    with anyio.move_on_after(BEAT_S):
                        event = msgspec.json.encode(await anext(coming))
                    yield tell(life, ANSWERED, event)
        except ActorMemError as error:
            yield tell(life, FAILED, failed(error).raw)

    async def metrics(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        try:
            await self._open()
        except ActorMemError as error:
            return tell(self._life.name, FAILED, failed(error).raw)
        if self._life.metrics is None:
            missing = UsageError(
                "metrics need prometheus-client, which is not installed where the shards are",
                hint="pip install 'actormem[prometheus]'",
            )
            return tell(self._life.name, FAILED, failed(missing).raw)
        return tell(self._life.name, ANSWERED, self._life.metrics.text().encode())

    async def stop(self) -> None:
        """Close the runtime, in order; returns when it is closed. One that does not open yet opens no more."""
        self._life.ending.set()
        if self._life.state is None:
            self._life.opening.cancel()
        await asyncio.wait([self._task])

    # --- how it lives ------------------------------------------------------------------------------------

    async def _answer(self, asked: Asked) -> bytes:
        if asked.shards != self._settings.shards:
            wrong = f"the place is open with {self._settings.shards} shards, not {asked.shards}"
            raise UsageError(wrong, hint="open it with as many")
        gone = anyio.Event()
        if asked.call:
            self._leaving[asked.call] = gone  # from here on: he may leave before the record is open
        try:
            return await self._done(asked, gone)
        finally:
            self._leaving.pop(asked.call, None)

    async def _done(self, asked: Asked, gone: anyio.Event) -> bytes:
        began_s = anyio.current_time()
        opened = None
        with anyio.move_on_after(asked.timeout_s - OPENING_FIRST_S):
            opened = await self._open()
        if opened is None:
            late = AskTimeoutError("the shard's record is not open yet; nothing changed")
            return tell(self._life.name, NOT_OPEN, failed(late).raw)
        life, state = opened
        left_s = asked.timeout_s - (anyio.current_time() - began_s)
        done = await answered(state, asked.name, asked.query, asked.body, timeout_s=left_s, gone=gone.wait)
        if isinstance(done.error, StorageError) and self._life.record_failed:
            return tell(life, BEGINNING_ANEW, b"")
        return tell(life, FAILED if done.error else ANSWERED, done.raw)

    async def _open(self) -> tuple[bytes, ServerState]:
        """The life that is, or a new one in the place of one that did not open."""
        if self._life.failure is not None:
            self._begin()
        life = self._life
        await life.ready.wait()
        if life.failure is not None:
            raise life.failure.with_traceback(None)
        assert life.state is not None
        return life.name, life.state

    async def _live(self, life: Life) -> None:
        with life.opening:
            await self._opened_and_served(life)
        if life.opening.cancelled_caught:
            life.failure = actormem.StoppedError("nothing changed", reason="the shard was stopped")
            life.ready.set()

    async def _opened_and_served(self, life: Life) -> None:
        settings, notes = self._settings, notes_of(self._settings.place)
        try:
            if not await anyio.to_thread.run_sync(notes.is_noted):
                async with actormem.open(None, **settings.options):
                    pass  # so that options that are refused leave no note
            await anyio.to_thread.run_sync(notes.check, settings.shards)
            await anyio.to_thread.run_sync(notes.check_record, settings.number)
            path = notes.path(settings.number)
            async with actormem.open(path, lock_wait_s=LOCK_WAIT_S, **settings.options) as runtime:
                await anyio.to_thread.run_sync(notes.made, settings.number)
                async with AsyncExitStack() as stack:
                    life.metrics = _measured(stack, runtime)
                    life.state = ServerState(runtime, ServerSettings())
                    life.ready.set()
                    await self._look_after(life)
                    await life.state.turns.end_all()
                    await life.state.aclose()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            if life.state is not None:
                self._lost(f"{type(error).__name__}\n{frames(error)}")
            life.failure = error if isinstance(error, ActorMemError) else _unexpected(error)
            life.ready.set()

    async def _look_after(self, life: Life) -> None:
        """End turns that were left, until the shard is to stop, or its record has failed."""
        assert life.state is not None
        while not life.ending.is_set():
            with anyio.move_on_after(SWEEP_S):
                await life.ending.wait()
            if life.record_failed:
                await anyio.sleep(LAST_WORDS_S)
                self._lost("its record has failed")
            if os.getppid() != self._parent:
                self._lost("its node has died")  # a successor waits for the record
            await life.state.turns.sweep()

    def _lost(self, why: str) -> None:
        """End the process at once, so that Ray begins it anew: nothing of this life is to be served any more."""
        logger.error("shard %d ends: %s", self._settings.number, why)
        os._exit(1)


def _serve_first() -> None:
    """Take back, where it may be, the niceness that Ray gives its processes (15): people wait for this one."""
    threads = Path("/proc/self/task")  # on Linux each thread has its own
    for thread in threads.iterdir() if threads.is_dir() else ():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)


def _measured(stack: AsyncExitStack, runtime: actormem.Runtime) -> Any:
    """The runtime's metrics; None where they cannot be told."""
    with suppress(ImportError):
        from actormem.observe.metrics import RuntimeMetrics

        metrics = RuntimeMetrics(runtime)
        stack.enter_context(runtime.observe(metrics))
        return metrics
    return None


def _unexpected(error: BaseException) -> ActorMemError:
    return actormem.StoppedError(
        "the shard did not open", reason=f"{type(error).__name__}; its log has more ({LOST})"
    )
