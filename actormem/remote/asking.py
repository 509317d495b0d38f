"""What a remote runtime asks through: HTTP to a server, or the calls of whatever else carries the same operations."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from actormem.core.live import LiveEvent
from actormem.core.values import Owner
from actormem.limits import ASK_TIMEOUT_S

__all__ = ["ANSWER_S", "LOST", "Asking"]

ANSWER_S = ASK_TIMEOUT_S + 5.0  # the server's own deadline comes first, and says more
LOST = "the outcome is unknown; the same message id may be sent again"


class Asking(Protocol):
    """Asks operations of `remote.operations`, by name; belongs to its process and its event loop."""

    def check_loop(self) -> None:
        """Raises UsageError in another process or event loop."""
        ...

    def place(self, owner: Owner) -> int:
        """Which of those that are asked answers for an owner: one that does not answer holds up no other."""
        ...

    async def ask(
        self,
        name: str,
        owner: Owner | None = None,
        /,
        *,
        body: Mapping[str, object] | None = None,
        timeout_s: float = ANSWER_S,
        **query: object,
    ) -> Any:
        """The answer of an operation.

        Raises:
            StoppedError: Nobody is there, and nothing changed; or he went away, and the outcome is unknown.
            AskTimeoutError: No answer came in time; the outcome is unknown.
            ActorMemError: What is answered.
        """
        ...

    def events(self, owner: Owner) -> AbstractAsyncContextManager[AsyncIterator[LiveEvent]]:
        """What happens to an owner's memory from here on.

        Raises:
            As `ask`; the iterator raises StoppedError where no more will come.
        """
        ...
