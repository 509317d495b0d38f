"""LangChain: a `BaseChatMessageHistory` that is an actormem session.

    import anyio, actormem
    from actormem.integrations.langchain import SessionHistory

    async def main() -> None:
        async with actormem.open(None) as runtime:
            history = SessionHistory(runtime, "s-1", user="ada")
            await history.aadd_messages([("user", "我搬到杭州了。"), ("assistant", "记住了。")])
            print([message.type for message in await history.aget_messages()])
            address = await runtime.value("ada", "address")
            print(address.value if address else "unknown")

    anyio.run(main)

The history is whole: every message, as it was said. What a model should see of it within a budget is
`await history.acontext()`, which is what the session's contexts are.

The synchronous methods are for threads: they wait for the loop of the runtime, whose portal is given where it runs
in a thread of its own. LangChain knows asyncio alone; on trio none of this works.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from actormem import Runtime, Session

try:
    from anyio.from_thread import BlockingPortal
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages

    from actormem.integrations.calling import LoopCalls
    from actormem.integrations.langchain_messages import from_messages, to_message, to_wire
except ImportError as missing:
    raise ImportError(
        "actormem.integrations.langchain needs langchain-core: pip install 'actormem[langgraph]'"
    ) from missing

__all__ = ["SessionHistory"]


class SessionHistory(BaseChatMessageHistory):
    """The messages of one session, as LangChain keeps them.

    Ids are kept: a message whose id the session has is not stored again. Messages are durable when adding them has
    returned, all or none. What users state in them is remembered, as of any session.

    Args:
        runtime: Stays yours to close.
        session_id, user, tenant: Which session of whom.
        portal: Of the runtime's loop, where that runs in a thread of its own; None: this is made in that loop.
        settings: Of `Runtime.spawn`, such as `budget`, `system` and `model`.

    Raises:
        UsageError: No asyncio loop is running here, and no portal was given.
    """

    def __init__(
        self,
        runtime: Runtime,
        session_id: str,
        *,
        user: str,
        tenant: str = "",
        portal: BlockingPortal | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self._runtime = runtime
        self._calls = LoopCalls(portal)
        self._forget = partial(runtime.forget_session, session_id, user=user, tenant=tenant)
        self._spawn = partial(runtime.spawn, session_id, user=user, tenant=tenant, **settings)
        self._session: Session | None = None

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Every message, oldest first; from a thread."""
        return self._calls.blocking(self._read)

    async def aget_messages(self) -> list[BaseMessage]:
        """Every message, oldest first."""
        return await self._calls.awaited(self._read)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages, all or none, in order; from a thread."""
        self._calls.blocking(partial(self._add, messages))

    async def aadd_messages(self, messages: Sequence[MessageLikeRepresentation]) -> None:
        """Add messages, all or none, in order.

        Raises:
            UsageError: One of them is none that a model is sent; nothing changed.
        """
        await self._calls.awaited(partial(self._add, messages))

    def clear(self) -> None:
        """Erase the session and what was remembered from it, as `Runtime.forget_session` does; from a thread."""
        self._calls.blocking(self._cleared)

    async def aclear(self) -> None:
        """Erase the session and what was remembered from it, as `Runtime.forget_session` does."""
        await self._calls.awaited(self._cleared)

    def context(self, query: str | None = None) -> list[BaseMessage]:
        """What a model should see, within the session's budget; from a thread."""
        return self._calls.blocking(partial(self._context, query))

    async def acontext(self, query: str | None = None) -> list[BaseMessage]:
        """What a model should see, within the session's budget."""
        return await self._calls.awaited(partial(self._context, query))

    async def _opened(self) -> Session:
        if self._session is None:
            self._session = await self._spawn()
        return self._session

    async def _read(self) -> list[BaseMessage]:
        return from_messages(await (await self._opened()).messages())

    async def _add(self, messages: Sequence[MessageLikeRepresentation]) -> None:
        wires = [to_wire(one) for one in convert_to_messages(messages)]
        await (await self._opened()).add_many(wires)

    async def _cleared(self) -> None:
        await self._forget()

    async def _context(self, query: str | None) -> list[BaseMessage]:
        context = await (await self._opened()).context(query)
        return [to_message(one) for one in context.messages]
