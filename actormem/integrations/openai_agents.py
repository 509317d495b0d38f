"""A session of the OpenAI Agents SDK whose history is what memory gives.

    import anyio
    from agents import Agent, RunConfig, Runner
    import actormem
    from actormem.integrations.openai_agents import Session

    async def main():
        agent = Agent(name="Shop", instructions="You are a shop assistant.", model="gpt-4o")
        async with actormem.open("memory/") as runtime:
            session = Session(runtime, "s-1", user="ada", budget=actormem.Budget(context=8_000))
            config = RunConfig(session_input_callback=session.recalling)
            result = await Runner.run(agent, "那我的订单 KX-48210 退款要多久？", session=session, run_config=config)
            print(result.final_output)

    anyio.run(main)

Items are kept as the SDK hands them over: calls, outputs, handoffs, reasoning and hosted tools come back field by
field. What comes back is what fits the session's budget, with summaries of what is older and, given
`session_input_callback=session.recalling`, with what memory knows that the question is about; without it, what was
recalled for the question before. A call leaves the history together with its output and with what was thought
before it. The agent's instructions are the agent's: a session that is used by agents alone needs no system prompt.

Within one run the SDK keeps its items itself: the budget holds for the history a run begins with. The SDK knows
asyncio alone, so does this module.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import actormem
from actormem import Message, Runtime, UsageError
from actormem.integrations.openai_items import Item, as_mapping, items_of, messages_of

try:
    from agents.memory import SessionSettings
except ImportError as missing:
    raise ImportError("this needs the OpenAI Agents SDK: pip install 'actormem[agents]'") from missing

if TYPE_CHECKING:
    from agents import TResponseInputItem

__all__ = ["Session"]


class Session:
    """Follows the SDK's `Session` protocol. Cheap to make; nothing is asked of the memory before it is used.

    Args:
        runtime: The memory, opened in the event loop the agents run in.
        session_id, user, tenant: As for `Runtime.spawn`.
        session_settings: Of the SDK; its `limit` is the number of items at most, besides the budget.
        settings: What else `Runtime.spawn` takes: `budget`, `model`, `policy`, `scope` and so on.
    """

    def __init__(
        self,
        runtime: Runtime,
        session_id: str,
        *,
        user: str,
        tenant: str = "",
        session_settings: SessionSettings | None = None,
        **settings: Any,
    ) -> None:
        if not callable(getattr(runtime, "spawn", None)):
            raise UsageError(f"runtime must be an actormem.Runtime, not {type(runtime).__name__}")
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._runtime = runtime
        self._user = user
        self._tenant = tenant
        self._settings = settings
        self._handle: actormem.Session | None = None
        self._recorded: Counter[str] = Counter()  # items that the run will hand over, and that are recorded

    def __repr__(self) -> str:
        return f"<Session {self.session_id!r} for agents>"

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """What belongs into the context, oldest first, within the session's budget.

        Args:
            limit: The newest so many items of it; None for what `session_settings` says.
        """
        self._recorded.clear()
        most = self.session_settings.limit if limit is None and self.session_settings is not None else limit
        if most is not None and (type(most) is not int or most < 0):
            raise UsageError("limit must be a whole number, 0 or above, or None")
        context = await (await self._session()).context()
        items = items_of(context.messages)
        return cast(
            "list[TResponseInputItem]", items if most is None else items[len(items) - min(most, len(items)) :]
        )

    async def add_items(self, items: "Sequence[TResponseInputItem]") -> None:
        """Record items, all or none; returns when they are durable.

        Raises:
            UsageError: One of them is none; nothing changed.
        """
        given = _mappings(items)
        if self._recorded:
            given = [item for item in given if not self._was_recorded(item)]
            self._recorded.clear()
        if given:
            await (await self._session()).add_many(messages_of(given))

    async def pop_item(self) -> "TResponseInputItem | None":
        """Take the newest item away; returns it, or None where there is none.

        What memory learned from it alone is taken back; its words stay in the record until they are forgotten.
        """
        session = await self._session()
        messages = await session.messages()
        if not messages:
            return None
        newest = messages[-1]
        items = items_of([_wire(newest)])
        await session.rewind(newest.id)
        if len(items) > 1:
            await session.add_many(messages_of(items[:-1]))
        return cast("TResponseInputItem", items[-1])

    async def clear_session(self) -> None:
        """Erase the session and what was remembered from it alone; the user's other sessions keep what they have."""
        self._recorded.clear()
        await self._runtime.forget_session(self.session_id, user=self._user, tenant=self._tenant)

    async def recalling(
        self, history: "list[TResponseInputItem]", new_items: "list[TResponseInputItem]"
    ) -> "list[TResponseInputItem]":
        """For `RunConfig(session_input_callback=…)`: records the new input, and gives the context made for it.

        The context takes the place of `history`, which was made before the question was known.
        """
        del history
        await self.add_items(new_items)
        items = await self.get_items()
        self._recorded = Counter(map(_fingerprint, cast("list[Item]", items)))
        return items

    def _was_recorded(self, item: Item) -> bool:
        fingerprint = _fingerprint(item)
        self._recorded[fingerprint] -= 1
        return self._recorded[fingerprint] >= 0

    async def _session(self) -> actormem.Session:
        if self._handle is None:
            self._handle = await self._runtime.spawn(
                self.session_id, user=self._user, tenant=self._tenant, **self._settings
            )
        return self._handle


def _mappings(items: Sequence[object]) -> list[Item]:
    try:
        return [as_mapping(item) for item in items]
    except TypeError:
        raise UsageError("items must be mappings, as the Responses API has them") from None


def _fingerprint(item: Mapping[str, Any]) -> str:
    """What an item is known by, whether or not the SDK has tidied it."""
    kept = {key: value for key, value in item.items() if value is not None and key != "type"}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _wire(message: Message) -> Item:
    return json.loads(message.wire)
