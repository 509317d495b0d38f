"""Looking on at a user's memory, as the runtime gives it: for pages that show a conversation while it runs."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from actormem.core.live import LiveEvent
from actormem.front import owner_of
from actormem.memory import OwnerMemory

__all__ = ["Watching"]


class Watching(OwnerMemory):
    """The part of the runtime that tells what happens."""

    @asynccontextmanager
    async def events(self, user: str, *, tenant: str = "") -> AsyncGenerator[AsyncIterator[LiveEvent]]:
        """What happens to a user's memory from here on: `async with runtime.events("ada") as events`, then `async for`.

        Events hold ids and no words, and come when what they tell of is durable. Who does not keep up is told `missed`
        once, and reads again what he shows.

        Raises:
            OverloadedError: Too many look on.
        """
        self.check_loop()
        with self._services.watchers.watching(owner_of(user, tenant)) as events:
            yield events
