"""LangGraph agents: the node that hands the model its context, and the one that records what was said last.

    import anyio, actormem
    from actormem.integrations.langgraph_agent import AgentMemory
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph

    class State(MessagesState):
        llm_input_messages: list

    async def main() -> None:
        model = GenericFakeChatModel(messages=iter([AIMessage("记住了。"), AIMessage("Hangzhou.")]))

        async def answer(state: State) -> dict:
            return {"messages": [await model.ainvoke(state["llm_input_messages"])]}

        async with actormem.open(None) as runtime:
            memory = AgentMemory(runtime, budget=actormem.Budget(context=2_000))
            graph = StateGraph(State)
            graph.add_node("context", memory.before)
            graph.add_node("answer", answer)
            graph.add_node("record", memory.after)
            for one, next in ((START, "context"), ("context", "answer"), ("answer", "record"), ("record", END)):
                graph.add_edge(one, next)
            agent = graph.compile()
            ids = {"configurable": {"user_id": "ada", "thread_id": "t-1"}}
            await agent.ainvoke({"messages": [("user", "我搬到杭州了。")]}, ids)
            other = {"configurable": {"user_id": "ada", "thread_id": "t-2"}}
            said = await agent.ainvoke({"messages": [("user", "Where do I live?")]}, other)
            print("杭州" in said["llm_input_messages"][-1].content, said["messages"][-1].content)

    anyio.run(main)

With a prebuilt agent: `create_react_agent(model, tools, pre_model_hook=memory.before, post_model_hook=memory.after)`.
Give the system prompt to `AgentMemory(system=…)` rather than to the agent, so that the budget counts it.

A thread of LangGraph is a session, its id the session's; whose it is, `configurable` says too. The state keeps all
messages, as LangGraph wants it; the model sees the session's context: within the budget, with what is remembered, each
context an extension of the one before as far as that can be.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

from actormem import Runtime, Session, UsageError

try:
    from anyio.from_thread import BlockingPortal
    from langchain_core.messages import BaseMessage, convert_to_messages
    from langchain_core.runnables import RunnableConfig, RunnableLambda

    from actormem.integrations.calling import LoopCalls
    from actormem.integrations.langchain_messages import to_message, to_wire
except ImportError as missing:
    raise ImportError(
        "actormem.integrations.langgraph_agent needs langgraph: pip install 'actormem[langgraph]'"
    ) from missing

__all__ = ["AgentMemory"]

NameOf: TypeAlias = Callable[[Mapping[str, Any]], object]
Update: TypeAlias = dict[str, Any]
SESSIONS_MAX = (
    10_000  # of which it is known up to where their messages were recorded; others are compared anew
)


class AgentMemory:
    """Nodes for LangGraph agents, of one runtime.

    Args:
        runtime: Stays yours to close.
        user, session, tenant: An id for all runs; or a function that is given `configurable` of a run's config. By
            default `user_id` and `thread_id` of it, and no tenant.
        portal: Of the runtime's loop, where that runs in a thread of its own; None: this is made in that loop.
        settings: Of `Runtime.spawn`, such as `budget`, `system`, `tools` and `model`.

    Attributes:
        before: The node before the model: records what is new in `messages` of the state, and puts the context
            into `llm_input_messages`. A `pre_model_hook`.
        after: The node behind the model: records what it answered. A `post_model_hook`. Without it an answer is
            recorded when the next run begins.

    Raises:
        UsageError: No asyncio loop is running here, and no portal was given; or, of a node, the config names no
            user or thread. Nothing was recorded then.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        user: str | NameOf = "",
        session: str | NameOf = "",
        tenant: str | NameOf = "",
        portal: BlockingPortal | None = None,
        **settings: Any,
    ) -> None:
        self._runtime = runtime
        self._user = user or _named("user_id")
        self._session = session or _named("thread_id")
        self._tenant = tenant
        self._settings = settings
        self._calls = LoopCalls(portal)
        self._recorded: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self.before = self._node(self._before)
        self.after = self._node(self._after)

    def _node(self, work: Callable[[Any, RunnableConfig], Any]) -> RunnableLambda[Any, Update]:
        """A node for graphs that are invoked, and for those that are awaited."""

        def blocking(state: Any, config: RunnableConfig) -> Update:
            return self._calls.blocking(partial(work, state, config))

        async def awaited(state: Any, config: RunnableConfig) -> Update:
            return await self._calls.awaited(partial(work, state, config))

        return RunnableLambda(blocking, afunc=awaited, name=work.__name__.strip("_"))

    async def _before(self, state: Any, config: RunnableConfig) -> Update:
        session = await self._record(state, config)
        context = await session.context()
        return {"llm_input_messages": [to_message(one) for one in context.messages]}

    async def _after(self, state: Any, config: RunnableConfig) -> Update:
        await self._record(state, config)
        return {}

    async def _record(self, state: Any, config: RunnableConfig) -> Session:
        """Add what the session does not have, by the ids that LangGraph gives to messages."""
        names = cast("Mapping[str, Any]", config.get("configurable") or {})
        user, session_id, tenant = (_name(one, names) for one in (self._user, self._session, self._tenant))
        session = await self._runtime.spawn(session_id, user=user, tenant=tenant, **self._settings)
        said = convert_to_messages(_messages(state))
        if not all(one.id for one in said):
            raise UsageError(
                "messages of the state have no ids",
                hint="use add_messages as their reducer, as MessagesState does",
            )
        key = (tenant, user, session_id)
        await session.add_many([to_wire(one) for one in _since(said, self._recorded.get(key))])
        if said and said[-1].id:
            self._recorded[key] = said[-1].id
            self._recorded.move_to_end(key)
            while len(self._recorded) > SESSIONS_MAX:
                self._recorded.popitem(last=False)
        return session


def _messages(state: object) -> Sequence[Any]:
    fields: Mapping[str, Any] = cast("Any", state) if isinstance(state, Mapping) else vars(state)
    found: object = fields.get("messages")
    if not isinstance(found, (list, tuple)):
        raise UsageError("the state of the graph has no list of messages")
    return cast("Sequence[Any]", found)


def _since(messages: Sequence[BaseMessage], id: str | None) -> Sequence[BaseMessage]:
    """The messages behind the one of that id, system prompts apart; all where it is not there."""
    place = next((place for place in reversed(range(len(messages))) if messages[place].id == id), -1)
    new = messages[place + 1 :] if id is not None else messages
    return [one for one in new if one.type != "system"]


def _named(key: str) -> NameOf:
    def name(names: Mapping[str, Any]) -> object:
        found = names.get(key)
        if found is None:
            raise UsageError(
                f"the config of the run has no {key}", hint=f"invoke with {{'configurable': {{'{key}': …}}}}"
            )
        return found

    return name


def _name(given: str | NameOf, names: Mapping[str, Any]) -> str:
    name = given if isinstance(given, str) else given(names)
    if not isinstance(name, str):
        raise UsageError(f"an id must be a string, not a {type(name).__name__}")
    return name
