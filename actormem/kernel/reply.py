"""One message on its way, and the one answer it may get.

Law of this file: a reply is settled once; whatever comes second changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import anyio
import msgspec

from actormem.kernel.wakeup import Wakeup

__all__ = ["Envelope", "Reply"]


class Reply:
    """A one-shot answer that an actor may keep and give long after `receive` returned.

    Answers that were not given when the actor ends become StoppedError, so an asker never waits for
    an actor that is gone.
    """

    __slots__ = ("_error", "_held", "_value", "_wakeup", "answered")

    def __init__(self) -> None:
        self.answered = False
        """True once settled: by an answer, an error, or because the asker has gone."""
        self._value: object = None
        self._error: Exception | None = None
        self._wakeup: Wakeup | None = None
        self._held: set[Reply] | None = None

    def answer(self, value: object) -> None:
        """Give the asker `value`. Only the first answer or failure counts."""
        if not self.answered:
            self._value = value
            self._settle()

    def fail(self, error: Exception) -> None:
        """Raise `error` in the asker. Only the first answer or failure counts."""
        if not self.answered:
            self._error = error
            self._settle()

    def abandon(self) -> None:
        """Say that nobody waits for it any more; what is answered later is ignored."""
        if not self.answered:
            self._settle()

    def hold(self, held: set[Reply]) -> None:
        """Be a member of `held` until settled."""
        if not self.answered:
            held.add(self)
            self._held = held

    async def wait(self, new_wakeup: Callable[[], Wakeup] = anyio.Event) -> None:
        """Return when it is settled."""
        if not self.answered:
            self._wakeup = new_wakeup()
            await self._wakeup.wait()

    def result(self) -> object:
        """The value that was answered.

        Raises:
            Exception: The error it was failed with.
        """
        assert self.answered, "result() before the reply was settled"
        if self._error is None:
            return self._value
        try:
            raise self._error
        finally:
            del self  # the error's traceback holds this frame; without this the reply would live in a cycle

    def _settle(self) -> None:
        self.answered = True
        if self._held is not None:
            self._held.discard(self)
            self._held = None
        if self._wakeup is not None:
            self._wakeup.set()


class Envelope(msgspec.Struct, eq=False, gc=True):
    """A message and where its answer goes; `reply` is None for a tell."""

    message: object
    reply: Reply | None
    coalesce: Hashable | None = None
