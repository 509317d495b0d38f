"""One session's prewarming: after a block was swapped in, the model's server reads the new context ahead of time.

At most one request of a session is on its way, a few of all sessions. No turn waits for it: one that is not sent
when a turn opens is dropped, and so is any whose context is no longer so.
"""

import logging
from collections.abc import Callable, Mapping

import anyio
import msgspec

from actormem.actors.services import Services
from actormem.core.context.assembly import assemble, rendered, total_tokens
from actormem.core.context.joining import joined
from actormem.core.session.working import Working
from actormem.core.values import JsonValue
from actormem.errors import ProviderError
from actormem.kernel import Scope
from actormem.ports import Tokenizer, Warmer

__all__ = ["Prewarming"]

logger = logging.getLogger(__name__)
PREWARM_DEADLINE_S = 30.0  # from the swap: after it a user who comes back is likely there already

Wires = list[dict[str, JsonValue]]


class Prewarming:
    """Sends the one request of a session, drops it when it is not wanted any more.

    Args:
        done: Called when a request has ended, however it did.
    """

    def __init__(self, services: Services, done: Callable[[], None]) -> None:
        self._services = services
        self._done = done
        self._scope: Scope | None = None
        self._request: Request | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a request waits or is on its way."""
        return self._request is not None

    def start(self, scope: Scope) -> None:
        """Requests are children of this scope."""
        self._scope = scope

    def want(self, state: Working, tokenizer: Tokenizer) -> None:
        """Ask for the context as it now stands to be read ahead; one asked for before is dropped."""
        warmer, settings = self._services.warmer, state.settings
        if warmer is None or self._scope is None or not settings.model:
            return
        self.discard()
        parts = joined(assemble(state), settings, tokenizer, {})
        if total_tokens(parts, settings) > settings.budget.context:
            return  # the next context will begin otherwise
        tools: list[Mapping[str, JsonValue]] = msgspec.json.decode(settings.tools or "[]")
        self._request = Request(settings.model, rendered(parts), tools)
        self._scope.start(self._run, warmer, self._request)

    def turn_opened(self) -> None:
        """A turn sends the context itself: what is not sent yet comes too late."""
        if self._request is not None and not self._request.sent:
            self.discard()

    def discard(self) -> None:
        """End the request that waits or is on its way: its context is no longer so."""
        if self._request is not None:
            self._request.cancel.cancel()
            self._request = None

    async def _run(self, warmer: Warmer, request: "Request") -> None:
        counters = self._services.counters
        try:
            with request.cancel:
                if await self._warmed(warmer, request):
                    counters.prewarms += 1
                else:
                    counters.prewarm_failures += 1
            if request.cancel.cancelled_caught:
                counters.prewarms_dropped += 1
        finally:
            if self._request is request:
                self._request = None
        self._done()

    async def _warmed(self, warmer: Warmer, request: "Request") -> bool:
        """Whether the server has read the context within the deadline."""
        clock = self._services.clock
        until_s = clock.monotonic_s() + PREWARM_DEADLINE_S
        with clock.deadline(PREWARM_DEADLINE_S):
            async with self._services.pools.warming:
                request.sent = True
                left_s = until_s - clock.monotonic_s()
                try:
                    await warmer.warm(request.model, request.messages, request.tools, deadline_s=left_s)
                except ProviderError:
                    return False
                except Exception as error:  # a warmer of the caller's own: its bug must not end the session
                    logger.warning("the warmer %s raised %s", warmer.name, type(error).__name__)
                    return False
                return True
        return False


class Request:
    """What is to be sent, whether it was, and how it is stopped."""

    def __init__(self, model: str, messages: Wires, tools: list[Mapping[str, JsonValue]]) -> None:
        self.model = model
        self.messages = messages
        self.tools = tools
        self.sent = False
        self.cancel = anyio.CancelScope()
