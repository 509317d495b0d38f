"""The actor system: kinds of actors, and their lives inside one task group of its own.

Law of this file: entered and left in one task; no exception of an actor passes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Self

import anyio
import anyio.abc

from actormem.errors import UsageError
from actormem.kernel.actor import Actor
from actormem.kernel.clock import Clock, SystemClock
from actormem.kernel.kind import Crash, Kind, Tasks
from actormem.kernel.ref import Ref
from actormem.kernel.registry import Registry
from actormem.kernel.statistics import SystemStatistics
from actormem.kernel.supervisor import RestartWindow

__all__ = ["ActorSystem"]

MAILBOX_LIMIT = 64
"""Messages one lane holds: a few seconds of a busy conversation."""
IDLE_S = 900.0
"""Seconds without a message before an actor rests; Orleans waits as long."""
RESIDENT_LIMIT = 10_000
"""Actors of one kind in memory, as far as idle ones can make room."""
SHUTDOWN_S = 10.0
"""Longest exit, seconds: what a container is commonly given between SIGTERM and SIGKILL."""
STOP_S = 5.0
"""Longest end of one actor, seconds: its current message, and then its `stopped`."""
SYSTEM_STOPS = "the system stops"


class ActorSystem:
    """Owns actors, wakes them by key, heals them and ends them.

    Args:
        clock: Time of deadlines, passivation and restart windows.
        shutdown_s: Longest exit, in seconds of real time: it must end even where the clock stands still.
            Each kind has an equal share of what is left when its turn comes.
        stop_s: Longest end of one actor, in seconds, once for its current message and once for `stopped`.
        on_crash: Called with each crash, in the event loop; it must be quick. Crashes are logged in
            any case, with type and place and without text.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        shutdown_s: float = SHUTDOWN_S,
        stop_s: float = STOP_S,
        on_crash: Callable[[Crash], None] | None = None,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self._shutdown_s = shutdown_s
        self._stop_s = stop_s
        self._on_crash = on_crash
        self._kinds: dict[str, Kind] = {}
        self._registries: dict[str, Registry] = {}
        self._group: anyio.abc.TaskGroup | None = None
        self._tasks: Tasks | None = None

    async def __aenter__(self) -> Self:
        if self._group is not None:
            raise UsageError("an actor system is entered once")
        self._group = await anyio.create_task_group().__aenter__()
        self._tasks = Tasks(self._group)
        for kind in self._kinds.values():
            kind.enter(self._tasks)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        assert self._group is not None
        try:
            with anyio.CancelScope(shield=True):
                await self._close()
        finally:
            for registry in self._registries.values():
                registry.cut(SYSTEM_STOPS)
            self._group.cancel_scope.cancel()
            # An ordinary error of the body is not shown to the group, which would wrap it.
            ordinary = isinstance(error, Exception)
            left = await self._group.__aexit__(*((None, None, None) if ordinary else (kind, error, trace)))
        return bool(left) and not ordinary

    def register(
        self,
        kind: str,
        factory: Callable[[Hashable], Actor],
        *,
        mailbox_limit: int = MAILBOX_LIMIT,
        idle_s: float | None = IDLE_S,
        resident_limit: int | None = RESIDENT_LIMIT,
        restarts: RestartWindow | None = None,
    ) -> None:
        """Say how actors of one kind are made. Kinds end in the reverse order of registration.

        Args:
            factory: Makes an instance for a key, without waiting; called again after each crash and
                passivation.
            mailbox_limit: Messages each lane of one mailbox holds, at least 1.
            idle_s: Seconds without a message before an idle actor is passivated; None for never.
            resident_limit: Actors in memory above which the least recently used idle ones are
                passivated, at least 1; None for no limit.
            restarts: When an actor that crashes is given up.

        Raises:
            UsageError: The kind is there already, or a number is out of range.
        """
        if kind in self._kinds:
            raise UsageError(f"the kind {kind} is registered already")
        limits = (mailbox_limit, idle_s, resident_limit)
        if not all(limit is None or limit > 0 for limit in limits):
            raise UsageError(f"the limits of kind {kind} must be above 0")
        record = self._kinds[kind] = Kind(
            kind,
            factory,
            clock=self.clock,
            mailbox_limit=mailbox_limit,
            restarts=restarts or RestartWindow(),
            stop_s=self._stop_s,
            on_crash=self._on_crash,
        )
        if self._tasks is not None:
            record.enter(self._tasks)
        self._registries[kind] = Registry(record, idle_s=idle_s, resident_limit=resident_limit)

    def ref(self, kind: str, key: Hashable) -> Ref:
        """The address of an actor, which exists always; the first message to it wakes it."""
        return Ref(self._registry(kind), key)

    async def stop(self, kind: str, key: Hashable, reason: str) -> None:
        """End one actor: its current message ends, queued tells are handled, then `stopped(reason)`.

        Queued askers get StoppedError at once. An actor that takes longer than `stop_s` is cancelled.
        The next message to the key wakes a new instance. Returns when it has ended, at once if an
        actor stops itself.
        """
        await self._registry(kind).stop(key, reason)

    def residents(self, kind: str) -> int:
        """How many actors of this kind are in memory."""
        return len(self._registry(kind))

    def keys(self, kind: str) -> tuple[Hashable, ...]:
        """Keys of the actors of this kind that are in memory now."""
        return self._registry(kind).keys()

    def statistics(self) -> SystemStatistics:
        """Counters and gauges of every kind. Cost: O(actors in memory)."""
        return SystemStatistics(kinds={name: each.statistics() for name, each in self._registries.items()})

    def _registry(self, kind: str) -> Registry:
        registry = self._registries.get(kind)
        if registry is None:
            raise UsageError(f"no kind {kind} is registered")
        return registry

    async def _close(self) -> None:
        end_s = anyio.current_time() + self._shutdown_s
        for count, registry in enumerate(reversed(self._registries.values())):
            left_s = max(0.0, end_s - anyio.current_time())
            await registry.close(SYSTEM_STOPS, left_s / (len(self._registries) - count))
