"""What an actor is, and what it is given.

Law of this file: an actor sees one message at a time and holds its state alone. It reaches the world
by what its factory gave it, and by its scope.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Protocol, TypeVarTuple

from actormem.kernel.clock import Clock
from actormem.kernel.ref import Ref
from actormem.kernel.reply import Envelope, Reply

__all__ = ["Actor", "Envelope", "Reply", "Scope"]

Arguments = TypeVarTuple("Arguments")


class Scope:
    """What one instance of an actor is given: its key, its clock, its own ref, and child tasks."""

    __slots__ = ("_begin", "clock", "key", "ref")

    def __init__(
        self,
        *,
        key: Hashable,
        clock: Clock,
        ref: Ref,
        begin: Callable[[Callable[[], Awaitable[object]]], None],
    ) -> None:
        self.key = key
        self.clock = clock
        self.ref = ref
        self._begin = begin

    def start(self, function: Callable[[*Arguments], Awaitable[object]], *arguments: *Arguments) -> None:
        """Run `function(*arguments)` beside the messages, as a child of this instance.

        The child is cancelled when the instance ends. While it runs the actor is not passivated. An
        exception in it crashes the actor, an ActorMemError too: nobody waits for its answer.

        Raises:
            StoppedError: The instance has ended.
        """
        self._begin(partial(function, *arguments))


class Actor(Protocol):
    """The four things an actor does.

    An instance sees `started` once, then messages one at a time, then `stopped` at most once. After a
    crash a new instance is made; nothing is carried over but the mailbox.
    """

    async def started(self, scope: Scope) -> None:
        """Get ready, load state. Messages wait meanwhile. An exception is a crash."""
        ...

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Handle one message.

        Answer `reply` now, or keep it and answer later; None means that nobody waits. An ActorMemError
        raised here is the answer; any other exception is a crash.
        """
        ...

    async def stopped(self, reason: str) -> None:
        """Say goodbye: "passivated", the reason given to `stop`, or that the system stops.

        Child tasks still run and kept replies may still be answered. It has a deadline, and after a
        crash or a kill it does not run at all: nothing may depend on it.
        """
        ...

    def idle(self) -> bool:
        """True if nothing is pending, so that the instance may be dropped and made again later."""
        ...
