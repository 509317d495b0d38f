"""All actors of one kind: finds them by key, wakes them, ends them.

Law of this file: at most one cell for each key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

import anyio
import msgspec

from actormem.errors import StoppedError, UsageError
from actormem.kernel.cell import Cell, Ending
from actormem.kernel.kind import Kind
from actormem.kernel.mailbox import Mailbox
from actormem.kernel.passivation import Residents
from actormem.kernel.ref import Ref
from actormem.kernel.statistics import KindStatistics
from actormem.kernel.wakeup import Wakeup

__all__ = ["Registry"]


class Registry:
    """The actors of one kind that are in memory, and the door to those that are not."""

    __slots__ = ("_idle_s", "_kind", "_residents", "_stopped", "_sweeping", "clock", "counters", "name")

    def __init__(self, kind: Kind, *, idle_s: float | None, resident_limit: int | None) -> None:
        self.name = kind.name
        self.clock = kind.clock
        self.counters = kind.counters
        self._kind = kind
        self._idle_s = idle_s
        self._residents: Residents[Cell] = Residents(kind.clock, idle_s=idle_s, limit=resident_limit)
        self._stopped = ""
        self._sweeping = False

    def __len__(self) -> int:
        return len(self._residents)

    @property
    def new_wakeup(self) -> Callable[[], Wakeup]:
        """Makes what a task waits for on the running event loop."""
        return self._kind.new_wakeup

    def keys(self) -> tuple[Hashable, ...]:
        """Keys of the actors in memory."""
        return tuple(cell.key for cell in self._residents)

    def open(self, key: Hashable) -> Mailbox:
        """The mailbox of `key`; wakes the actor if it is not in memory.

        Raises:
            StoppedError: It is given up for now, or the kind has stopped. Counted as refused.
        """
        if self._stopped:
            self._refuse(f"{self.name} takes no messages", self._stopped)
        cell = self._residents.get(key)
        return cell.mailbox if cell is not None else self._wake(key).mailbox

    async def stop(self, key: Hashable, reason: str) -> None:
        """End one actor and wait until it has ended; one that is not in memory has ended already."""
        cell = self._residents.get(key)
        if cell is None:
            return
        ending = cell.end(reason)
        # A task of its own, so that a cancelled caller does not leave a stuck actor behind.
        self._kind.start(partial(self._enforce, cell, ending))
        if cell.task_id != anyio.get_current_task().id:
            await ending.ended.wait()

    async def close(self, reason: str, share_s: float) -> None:
        """End all actors, within `share_s` seconds of real time; refuse messages from now on."""
        self._stopped = reason
        endings = [cell.end(reason) for cell in self._residents]
        with anyio.move_on_after(share_s):
            for ending in endings:
                await ending.ended.wait()
        self.cut(reason)

    def cut(self, reason: str) -> None:
        """End at once what is left."""
        self._stopped = self._stopped or reason
        for cell in self._residents:
            cell.cut(reason)

    def statistics(self) -> KindStatistics:
        """What was counted, and what is now."""
        waiting = sum(cell.waiting for cell in self._residents)
        return KindStatistics(**msgspec.structs.asdict(self.counters), residents=len(self), waiting=waiting)

    async def _enforce(self, cell: Cell, ending: Ending) -> None:
        with self.clock.deadline(self._kind.stop_s):
            await ending.ended.wait()
            return
        cell.force()

    def _wake(self, key: Hashable) -> Cell:
        if self._kind.tasks is None:
            raise UsageError("the actor system is not entered", hint="use it inside `async with`")
        refusal = self._kind.book.refusal(key, self.clock.monotonic_s()) if len(self._kind.book) else None
        if refusal is not None:
            left_s, name = refusal
            self._refuse(f"{self.name} was given up and is tried again in {left_s:.1f} s", name)
        if self._idle_s is not None and not self._sweeping:
            self._sweeping = True
            self._kind.start(self._residents.sweep)
        cell = Cell(self._kind, key, Ref(self, key), self._residents)
        self._residents.enter(key, cell)
        self._kind.start(cell.run)
        return cell

    def _refuse(self, message: str, reason: str) -> None:
        self.counters.refused += 1
        raise StoppedError(message, reason=reason)
