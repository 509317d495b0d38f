"""LangChain's history and LangGraph's agents, run by the real libraries with models that answer by a script."""

import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from pydantic import PrivateAttr

import actormem
from actormem import Budget, UsageError
from actormem.integrations.langchain import SessionHistory
from actormem.integrations.langchain_messages import to_message, to_wire
from actormem.integrations.langgraph_agent import AgentMemory
from tests.edge.examples import printed_by
from tests.runtimes import opened

pytestmark = pytest.mark.anyio
CALL = {"name": "look", "args": {"order": "KX-48210"}, "id": "call_1", "type": "tool_call"}
TALK: list[BaseMessage] = [
    HumanMessage("那我的订单 KX-48210 呢？", id="h-1"),
    AIMessage("", tool_calls=[CALL], id="a-1"),  # type: ignore[list-item]
    ToolMessage('{"status": "in transit"}', tool_call_id="call_1", id="t-1"),
    AIMessage("在路上。", id="a-2"),
]


@pytest.fixture
def anyio_backend() -> str:
    """LangChain knows no other."""
    return "asyncio"


def facts(messages: Sequence[BaseMessage]) -> list[tuple[str, str | None, object, object]]:
    return [
        (one.type, one.id, one.content, getattr(one, "tool_calls", getattr(one, "tool_call_id", None)))
        for one in messages
    ]


# --- the history --------------------------------------------------------------------------------------------


async def test_messages_come_back_whole_with_ids_and_tool_calls_and_none_twice() -> None:
    async with opened() as runtime:
        history = SessionHistory(runtime, "s", user="ada")
        assert await history.aget_messages() == []
        await history.aadd_messages(TALK[:3])
        await history.aadd_messages(TALK)
        assert facts(await history.aget_messages()) == facts(TALK)
        again = SessionHistory(runtime, "s", user="ada")
        assert facts(await again.aget_messages()) == facts(TALK)
        assert await SessionHistory(runtime, "s", user="bob").aget_messages() == []
        assert await SessionHistory(runtime, "t", user="ada").aget_messages() == []


async def test_what_was_said_is_remembered_and_cleared_with_the_session() -> None:
    async with opened(extract=True) as runtime:
        history = SessionHistory(runtime, "s", user="ada", budget=Budget(context=300))
        await history.aadd_messages([HumanMessage("I moved to Hangzhou."), AIMessage("Noted.")])
        await runtime.settle()
        assert (await runtime.value("ada", "address")).value == "Hangzhou"  # type: ignore[union-attr]
        await history.aclear()
        assert await history.aget_messages() == []
        assert await runtime.items("ada", history=True) == ()
        await history.aadd_messages([HumanMessage("Hello again.")])
        assert [one.content for one in await history.aget_messages()] == ["Hello again."]


async def test_the_context_stays_within_the_budget_and_the_history_does_not() -> None:
    async with opened() as runtime:
        history = SessionHistory(runtime, "s", user="ada", system="You sell tea.", budget=Budget(context=300))
        for number in range(40):
            await history.aadd_messages(
                [HumanMessage(f"Question {number} " + "tea " * 10), AIMessage("Yes.")]
            )
        context = await history.acontext()
        assert isinstance(context[0], SystemMessage)
        assert 1 < len(context) < 40
        assert "Yes." in context[-1].content
        assert len(await history.aget_messages()) == 80


async def test_wrong_messages_are_refused_and_nothing_changes() -> None:
    async with opened() as runtime:
        history = SessionHistory(runtime, "s", user="ada")
        for wrong in (RemoveMessage(id="x"), HumanMessage("x" * 300_000), HumanMessage("x", id="\n")):
            with pytest.raises(UsageError) as refused:
                await history.aadd_messages([HumanMessage("fine"), wrong])
            assert "\n" not in str(refused.value)
        assert await history.aget_messages() == []
        with pytest.raises(UsageError, match="event loop of the runtime"):
            _ = history.messages
        with pytest.raises(UsageError, match="user"):
            await SessionHistory(runtime, "s", user="").aget_messages()


async def test_a_chain_with_history_is_given_it_and_adds_to_it() -> None:
    async with opened() as runtime:
        model = Scripted([AIMessage("Hello Ada."), AIMessage("Ada.")])
        with warnings.catch_warnings():
            # LangChain sends its users on to LangGraph; this one stays until its version 2.
            warnings.filterwarnings("ignore", message="RunnableWithMessageHistory is deprecated")
            chain: Any = RunnableWithMessageHistory(
                model, lambda session_id: SessionHistory(runtime, session_id, user="ada")
            )
        config = {"configurable": {"session_id": "s"}}
        await chain.ainvoke([HumanMessage("I am Ada.")], config)
        await chain.ainvoke([HumanMessage("Who am I?")], config)
        assert [one.content for one in model.seen[-1]] == ["I am Ada.", "Hello Ada.", "Who am I?"]
        said = await SessionHistory(runtime, "s", user="ada").aget_messages()
        assert [one.content for one in said] == ["I am Ada.", "Hello Ada.", "Who am I?", "Ada."]


def in_thread() -> Iterator[tuple[Any, actormem.Runtime]]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened()) as runtime:
        yield portal, runtime


def test_a_synchronous_program_keeps_a_history_and_runs_an_agent() -> None:
    for portal, runtime in in_thread():
        history = SessionHistory(runtime, "s", user="ada", portal=portal)
        history.add_user_message("I like green tea.")
        history.add_ai_message("Noted.")
        assert [one.content for one in history.messages] == ["I like green tea.", "Noted."]
        assert str(history) == "Human: I like green tea.\nAI: Noted."
        assert [one.content for one in history.context()] == ["I like green tea.", "Noted."]
        history.clear()
        assert history.messages == []
        model = Scripted([AIMessage("Hi.")])
        memory = AgentMemory(runtime, user="ada", session="t", portal=portal)
        agent(model, memory).invoke({"messages": [("user", "hello")]})
        assert [one.content for one in model.seen[0]] == ["hello"]
        assert len(portal.call(sessions_messages, runtime, "t")) == 2


async def sessions_messages(runtime: actormem.Runtime, id: str) -> tuple[actormem.Message, ...]:
    return await (await runtime.spawn(id, user="ada")).messages()


@pytest.mark.parametrize(
    "wire",
    [
        {"role": "user", "content": "你好", "name": "ada"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "developer", "content": "be brief"},
        {"role": "tool", "content": "1", "tool_call_id": "c"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{not json"}}
            ],
        },
    ],
)
def test_a_wire_message_comes_back_from_langchain_as_it_was(wire: dict[str, Any]) -> None:
    message = to_message(wire, "m-1")
    assert message.id == "m-1"
    assert to_wire(message) == {**wire, "id": "m-1"}


# --- agents -------------------------------------------------------------------------------------------------


class Scripted(BaseChatModel):
    """Answers by a script, and keeps what it was sent."""

    _answers: list[AIMessage] = PrivateAttr()
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, answers: Sequence[AIMessage]) -> None:
        super().__init__()
        self._answers = list(answers)

    @property
    def seen(self) -> list[list[BaseMessage]]:
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        self._seen.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self._answers.pop(0))])


@tool
def look(order: str) -> str:
    """Where an order is."""
    return f"{order} is in transit"


def agent(model: Scripted, memory: AgentMemory, **given: Any) -> Any:
    with warnings.catch_warnings():
        # LangGraph sends its users on to another package's agent; this one stays until its version 2.
        warnings.filterwarnings("ignore", message=".*create_react_agent.*")
        return create_react_agent(
            model, [look], pre_model_hook=memory.before, post_model_hook=memory.after, **given
        )


def run_of(thread: str, user: str = "ada") -> Any:
    return {"configurable": {"thread_id": thread, "user_id": user}}


@asynccontextmanager
async def remembering(**settings: Any) -> AsyncIterator[tuple[actormem.Runtime, AgentMemory]]:
    async with opened(extract=True) as runtime:
        yield runtime, AgentMemory(runtime, **settings)


async def test_a_tool_loop_sees_its_context_grow_and_all_of_it_is_recorded_once() -> None:
    async with remembering(system="You sell tea.") as (runtime, memory):
        model = Scripted([AIMessage("", tool_calls=[CALL]), AIMessage("在路上。"), AIMessage("Yes.")])  # type: ignore[list-item]
        run = agent(model, memory, checkpointer=InMemorySaver())
        first = await run.ainvoke({"messages": [("user", "我的订单 KX-48210 呢？")]}, run_of("t"))
        assert [one.type for one in first["messages"]] == ["human", "ai", "tool", "ai"]
        await run.ainvoke({"messages": [("user", "Are you sure?")]}, run_of("t"))
        assert [[one.type for one in seen] for seen in model.seen] == [
            ["system", "human"],
            ["system", "human", "ai", "tool"],
            ["system", "human", "ai", "tool", "ai", "human"],
        ]
        for before, after in zip(model.seen, model.seen[1:], strict=False):
            assert [one.content for one in after][: len(before)] == [one.content for one in before]
        session = await runtime.spawn("t", user="ada")
        kept = await session.messages()
        assert [one.role for one in kept] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
        assert [one.id for one in kept][:4] == [one.id for one in first["messages"]]


async def test_a_long_thread_stays_within_the_budget_and_the_state_is_whole() -> None:
    async with remembering(budget=Budget(context=256)) as (_, memory):
        model = Scripted([AIMessage("Yes, of course. " * 5) for _ in range(12)])
        run = agent(model, memory, checkpointer=InMemorySaver())
        for number in range(12):
            state = await run.ainvoke({"messages": [("user", f"Is {number} fine? " * 4)]}, run_of("t"))
        assert len(state["messages"]) == 24
        assert max(len(seen) for seen in model.seen) < 12
        assert all(seen[-1].content.startswith("Is ") for seen in model.seen)


async def test_what_one_thread_learns_another_of_the_same_user_is_told_and_no_other_user() -> None:
    async with remembering() as (_, memory):
        model = Scripted([AIMessage("Noted."), AIMessage("In Hangzhou."), AIMessage("I do not know.")])
        run = agent(model, memory)
        await run.ainvoke({"messages": [("user", "I moved to Hangzhou.")]}, run_of("t-1"))
        await run.ainvoke({"messages": [("user", "Where do I live?")]}, run_of("t-2"))
        await run.ainvoke({"messages": [("user", "Where do I live?")]}, run_of("t-3", "bob"))
        assert "Hangzhou" in model.seen[1][-1].content
        assert [one.content for one in model.seen[2]] == ["Where do I live?"]


async def test_streaming_passes_through_and_leaving_early_keeps_what_was_asked() -> None:
    async with remembering() as (runtime, memory):
        model: Any = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*create_react_agent.*")
            run: Any = create_react_agent(
                model, [], pre_model_hook=memory.before, post_model_hook=memory.after
            )
        stream = run.astream({"messages": [("user", "hello")]}, run_of("t"), stream_mode="messages")
        async for _chunk, where in stream:
            if where["langgraph_node"] == "agent":
                break
        await stream.aclose()
        kept = await (await runtime.spawn("t", user="ada")).messages()
        assert [one.content for one in kept] == ["hello"]


async def test_a_config_without_ids_and_a_state_without_ids_of_messages_are_refused() -> None:
    async with remembering() as (runtime, memory):
        run = agent(Scripted([]), memory)
        for config, expected in (
            ({}, "user_id"),
            ({"configurable": {"user_id": "ada"}}, "thread_id"),
            ({"configurable": {"user_id": 7, "thread_id": "t"}}, "must be a string"),
        ):
            with pytest.raises(UsageError, match=expected):
                await run.ainvoke({"messages": [("user", "hello")]}, config)
        for state in ({"messages": [("user", "x")]}, {"messages": "x"}, {}):
            with pytest.raises(UsageError, match="messages"):
                await memory.before.ainvoke(state, run_of("t"))
        assert await runtime.items("ada") == ()


async def test_it_works_without_the_second_node_one_run_later() -> None:
    async with remembering() as (runtime, memory):
        model = Scripted([AIMessage("One."), AIMessage("Two.")])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*create_react_agent.*")
            run: Any = create_react_agent(
                model, [look], pre_model_hook=memory.before, checkpointer=InMemorySaver()
            )
        for said in ("first", "second"):
            await run.ainvoke({"messages": [("user", said)]}, run_of("t"))
        session = await runtime.spawn("t", user="ada")
        assert [one.content for one in await session.messages()] == ["first", "One.", "second"]


@pytest.mark.parametrize(
    ("module", "printed"),
    [("langchain", "['human', 'ai']\n杭州\n"), ("langgraph_agent", "True Hangzhou.\n")],
)
def test_the_examples_run(module: str, printed: str) -> None:
    assert printed_by(f"actormem.integrations.{module}") == printed


def test_on_trio_it_says_so() -> None:
    async def on_trio() -> None:
        async with opened() as runtime:
            for make in (lambda: SessionHistory(runtime, "s", user="ada"), lambda: AgentMemory(runtime)):
                with pytest.raises(UsageError, match="asyncio"):
                    make()

    anyio.run(on_trio, backend="trio")
