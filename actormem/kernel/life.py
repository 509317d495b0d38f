"""One instance of an actor from `started` to its end, with all that must end with it.

Law of this file: child tasks and kept replies belong to the instance; none outlives it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable

import anyio

from actormem.errors import StoppedError
from actormem.kernel.actor import Actor, Scope
from actormem.kernel.kind import ForeignCancelError, Kind
from actormem.kernel.ref import Ref
from actormem.kernel.reply import Reply

__all__ = ["Life"]


class Life:
    """The instance, its replies and its children."""

    __slots__ = (
        "_childless",
        "_kind",
        "_on_childless",
        "actor",
        "cancel",
        "children",
        "ending",
        "failure",
        "replies",
        "scope",
    )

    def __init__(self, kind: Kind, key: Hashable, ref: Ref, on_childless: Callable[[], None]) -> None:
        self._kind = kind
        self._on_childless = on_childless
        self._childless: anyio.Event | None = None
        self.scope = Scope(key=key, clock=kind.clock, ref=ref, begin=self.begin)
        self.cancel = anyio.CancelScope()
        self.actor: Actor | None = None
        self.replies: set[Reply] = set()
        self.children: set[anyio.CancelScope] = set()
        self.failure: Exception | None = None
        self.ending = False
        """True once failures no longer matter: it ends anyway."""

    async def start(self) -> Actor:
        """Make the instance and let it get ready."""
        self.actor = self._kind.factory(self.scope.key)
        await self.actor.started(self.scope)
        return self.actor

    def fail(self, error: Exception) -> None:
        """Crash it. What it is doing now is cancelled; the first failure is the one reported."""
        if self.ending:
            self._kind.note(error)
            return
        if self.failure is None:
            self.failure = error
        self.cancel.cancel()

    def is_pending(self) -> bool:
        """True while a reply is kept, a child runs, or it has failed."""
        return bool(self.replies or self.children or self.failure)

    def actor_is_idle(self) -> bool:
        """What the actor says; an exception there is a crash."""
        if self.actor is None:
            return False
        try:
            return self.actor.idle()
        except Exception as error:
            self.fail(error)
            return False

    def begin(self, function: Callable[[], Awaitable[object]]) -> None:
        """Start a child task."""
        if self._childless is not None or self.cancel.cancel_called:
            raise StoppedError(f"{self._kind.name}: no child task may begin", reason="the instance has ended")
        # Shielded, as the actor is: the caller's cancellation must not reach what the system ends in order.
        scope = anyio.CancelScope(shield=True)
        self.children.add(scope)

        async def child() -> None:
            try:
                with scope:
                    await function()
            except anyio.get_cancelled_exc_class():
                if not scope.cancel_called:
                    self.fail(ForeignCancelError())
            except Exception as error:
                self.fail(error)
            finally:
                self.children.discard(scope)
                if not self.children:
                    if self._childless is not None:
                        self._childless.set()
                    self._on_childless()

        self._kind.start(child)

    def answer_all(self, message: str, reason: str) -> None:
        """Tell everyone whose reply was kept that no answer will come."""
        for reply in list(self.replies):
            reply.fail(StoppedError(message, reason=reason))

    def cancel_children(self) -> None:
        """Ask every child to end; none may begin after this."""
        self.ending = True
        if self._childless is None:
            self._childless = anyio.Event()
        for scope in list(self.children):
            scope.cancel()

    async def close(self) -> None:
        """End every child and wait until they have ended, so that no two instances run at once."""
        self.cancel_children()
        assert self._childless is not None
        if self.children:
            await self._childless.wait()
