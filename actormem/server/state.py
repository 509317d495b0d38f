"""What all requests of one server share."""

import time
from collections import OrderedDict
from collections.abc import Callable

import anyio

from actormem import Owner, Runtime, Session, SessionKey
from actormem.server.contexts import SeenContexts
from actormem.server.settings import ServerSettings
from actormem.server.turns import OpenTurns
from actormem.server.upstream import Upstream

__all__ = ["ServerState"]

HANDLES_MAX = (
    10_000  # sessions whose handle is kept, with the settings it gives them after they were forgotten
)


class ServerState:
    """A runtime and what is open on it.

    Attributes:
        stopping: Set when the server is told to stop: what never ends by itself ends then.
        running: A scope of each request that runs.
    """

    def __init__(
        self,
        runtime: Runtime,
        settings: ServerSettings,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.runtime = runtime
        self.settings = settings
        self.turns = OpenTurns(monotonic_s)
        self.contexts = SeenContexts()
        self.stopping = anyio.Event()
        self.running: set[anyio.CancelScope] = set()
        self.upstream = Upstream(settings)
        self._handles: OrderedDict[SessionKey, Session] = OrderedDict()

    async def aclose(self) -> None:
        """Close what leads outside."""
        await self.upstream.aclose()

    async def session(self, session_id: str, *, user: str, tenant: str) -> Session:
        """The session's handle, with the settings it was given last."""
        known = self._handles.get(SessionKey(Owner(tenant, user), session_id))
        if known is not None:
            self._handles.move_to_end(known.key)
            return known
        return self.handle(await self.runtime.spawn(session_id, user=user, tenant=tenant))

    def holds(self, key: SessionKey) -> bool:
        """Whether the session's handle is kept."""
        return key in self._handles

    def handle(self, session: Session) -> Session:
        """Keep a handle in the place of the one before."""
        self._handles[session.key] = session
        self._handles.move_to_end(session.key)
        while len(self._handles) > HANDLES_MAX:
            self._handles.popitem(last=False)
        return session

    def forgotten_user(self, owner: Owner) -> None:
        """A user's handles go with him: they hold system prompts that may have been made for him."""
        for key in [one for one in self._handles if one.owner == owner]:
            del self._handles[key]
