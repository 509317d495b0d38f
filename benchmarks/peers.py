"""What others keep a conversation with, each behind the same two calls, as its documentation has it.

  langchain trim            the last messages that fit the budget; what is older is dropped, nothing is recalled
  langgraph memory, sqlite  the same, and every message in a store with an index of embeddings: five are recalled a turn
  openai-agents             `SQLiteSession`: the whole history at every turn, whatever the budget
  mem0                      `AsyncMemory` in faiss: the last six messages and five memories; an LLM reads every turn
  llama-index               `Memory` with a block of facts, which an LLM reads off what leaves the history

Tokens are counted by the counter that ours takes, so nothing has to be downloaded. langgraph and llama-index are given
the openai client itself: the package that llama-index has for it does not install beside the others.
"""

import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec

from actormem.adapters.toktok import ToktokTokenizer
from benchmarks import report

__all__ = ["PACKAGES", "SYSTEM", "Given", "Make", "Peer", "installed", "missing", "opened"]

SYSTEM = "You are a patient assistant. 用用户的语言回答。"
DIMENSIONS = 384
HITS = 5
LAST_MESSAGES = 6
MESSAGE_TOKENS = 4  # of a message beside its words
CHAT_MODEL, EMBEDDING_MODEL = "gpt-4o-mini", "text-embedding-3-small"
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "langchain trim": ("langchain-core",),
    "langgraph memory": ("langgraph-checkpoint", "langchain-core"),
    "langgraph sqlite": ("langgraph-checkpoint-sqlite", "langchain-core"),
    "openai-agents": ("openai-agents",),
    "mem0": ("mem0ai", "faiss-cpu"),
    "llama-index": ("llama-index-core",),
}


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What every one of them is given: a server that speaks OpenAI's protocol, a folder, a budget."""

    base_url: str
    folder: Path
    budget_tokens: int


class Peer(Protocol):
    """One session."""

    async def take(self, text: str) -> Sequence[object]:
        """Take a user's message; gives the messages for the model."""
        ...

    async def reply(self, text: str) -> None:
        """Take the model's reply; the next message waits until this has ended."""
        ...


Make: TypeAlias = Callable[[int], Awaitable[Peer]]
"""Opens the session of a number."""


def installed(names: Sequence[str]) -> list[str]:
    """Those of them that can be measured here."""
    return [name for name in names if not _lacking(name)]


def missing(names: Sequence[str]) -> list[str]:
    """Notes on the others."""
    return [f"{name} is not measured: {_lacking(name)}" for name in names if _lacking(name)]


def _lacking(name: str) -> str:
    packages = [package for package in PACKAGES[name] if not report.version(package)]
    if packages:
        return f"{', '.join(packages)} not installed (pip install '.[bench]')"
    if name == "langgraph sqlite" and not hasattr(sqlite3.Connection, "enable_load_extension"):
        return "this Python's sqlite3 loads no extensions"
    return ""


@asynccontextmanager
async def opened(name: str, given: Given) -> AsyncGenerator[Make, None]:
    """What opens sessions of this peer, all of one process."""
    makes: Mapping[str, Callable[[Given, AsyncExitStack], Awaitable[Make]]] = {
        "langchain trim": _trimmed,
        "langgraph memory": _in_memory,
        "langgraph sqlite": _in_sqlite,
        "openai-agents": _agents,
        "mem0": _mem0,
        "llama-index": _llama_index,
    }
    async with AsyncExitStack() as stack:
        yield await makes[name](given, stack)


async def _client(given: Given, stack: AsyncExitStack) -> Any:
    openai: Any = import_module("openai")
    return await stack.enter_async_context(openai.AsyncOpenAI(api_key="none", base_url=given.base_url))


class Trimmed:
    """langchain-core's `trim_messages` over a list that grows.

    Args:
        store: With an index of embeddings; None recalls nothing.
        owner: The namespace of its messages there.
    """

    def __init__(self, budget_tokens: int, store: Any, owner: str) -> None:
        self._messages: Any = import_module("langchain_core.messages")
        self._counter = ToktokTokenizer("o200k_base")
        self._budget_tokens = budget_tokens
        self._store, self._owner, self._number = store, owner, 0
        self._history: list[Any] = []

    async def take(self, text: str) -> Sequence[object]:
        """The memories go into the system prompt, as the guides have it."""
        system = SYSTEM
        if self._store is not None:
            hits = await self._store.asearch((self._owner,), query=text, limit=HITS)
            system += "".join(f"\n- {hit.value['text']}" for hit in hits)
        self._history.append(self._messages.HumanMessage(text))
        return self._messages.trim_messages(
            [self._messages.SystemMessage(system), *self._history],
            max_tokens=self._budget_tokens,
            token_counter=self._tokens,
            strategy="last",
            start_on="human",
            include_system=True,
        )

    async def reply(self, text: str) -> None:
        """Both messages of the turn are stored."""
        self._history.append(self._messages.AIMessage(text))
        if self._store is not None:
            for message in self._history[-2:]:
                self._number += 1
                await self._store.aput((self._owner,), str(self._number), {"text": message.content})

    def _tokens(self, messages: Sequence[Any]) -> int:
        return sum(self._counter.count(message.content) + MESSAGE_TOKENS for message in messages)


async def _trimmed(given: Given, _stack: AsyncExitStack) -> Make:
    async def make(number: int) -> Peer:
        return Trimmed(given.budget_tokens, None, f"user-{number}")

    return make


async def _index(given: Given, stack: AsyncExitStack) -> dict[str, Any]:
    client = await _client(given, stack)

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        found = await client.embeddings.create(
            model=EMBEDDING_MODEL, input=list(texts), dimensions=DIMENSIONS, encoding_format="float"
        )
        return [one.embedding for one in found.data]

    return {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}


def _storing(store: Any, given: Given) -> Make:
    async def make(number: int) -> Peer:
        return Trimmed(given.budget_tokens, store, f"user-{number}")

    return make


async def _in_memory(given: Given, stack: AsyncExitStack) -> Make:
    module: Any = import_module("langgraph.store.memory")
    return _storing(module.InMemoryStore(index=await _index(given, stack)), given)


async def _in_sqlite(given: Given, stack: AsyncExitStack) -> Make:
    module: Any = import_module("langgraph.store.sqlite.aio")
    path, index = str(given.folder / "store.db"), await _index(given, stack)
    store = await stack.enter_async_context(module.AsyncSqliteStore.from_conn_string(path, index=index))
    await store.setup()
    return _storing(store, given)


class AgentsSession:
    """openai-agents' `SQLiteSession`, called as its `Runner` does: read before the model, written after it."""

    def __init__(self, path: Path, number: int) -> None:
        module: Any = import_module("agents")
        self._session = module.SQLiteSession(f"session-{number}", path)
        self._asked: dict[str, str] = {}

    async def take(self, text: str) -> Sequence[object]:
        """The whole history."""
        self._asked = {"role": "user", "content": text}
        return [*await self._session.get_items(), self._asked]

    async def reply(self, text: str) -> None:
        """Both messages are written."""
        await self._session.add_items([self._asked, {"role": "assistant", "content": text}])


async def _agents(given: Given, _stack: AsyncExitStack) -> Make:
    async def make(number: int) -> Peer:
        return AgentsSession(given.folder / "agents.db", number)

    return make


class Mem0Session:
    """mem0's `AsyncMemory`, shared by all sessions."""

    def __init__(self, memory: Any, user: str) -> None:
        self._memory, self._user = memory, user
        self._history: list[dict[str, str]] = []

    async def take(self, text: str) -> Sequence[object]:
        """The memories found, in the system prompt, and the last messages."""
        found = await self._memory.search(text, filters={"user_id": self._user}, top_k=HITS)
        system = SYSTEM + "".join(f"\n- {one['memory']}" for one in found["results"])
        self._history.append({"role": "user", "content": text})
        return [{"role": "system", "content": system}, *self._history[-LAST_MESSAGES - 1 :]]

    async def reply(self, text: str) -> None:
        """An LLM reads the turn."""
        self._history.append({"role": "assistant", "content": text})
        await self._memory.add(self._history[-2:], user_id=self._user)


async def _mem0(given: Given, _stack: AsyncExitStack) -> Make:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(given.folder)}  # read as it is imported
    module: Any = import_module("mem0")
    server = {"api_key": "none", "openai_base_url": given.base_url}
    embedding = {"model": EMBEDDING_MODEL, "embedding_dims": DIMENSIONS, **server}
    store = {"path": str(given.folder / "faiss"), "embedding_model_dims": DIMENSIONS}
    memory = module.AsyncMemory.from_config(
        {
            "llm": {"provider": "openai", "config": {"model": CHAT_MODEL, **server}},
            "embedder": {"provider": "openai", "config": embedding},
            "vector_store": {"provider": "faiss", "config": store},
            "history_db_path": str(given.folder / "history.db"),
        }
    )

    async def make(number: int) -> Peer:
        return Mem0Session(memory, f"user-{number}")

    return make


class LlamaSession:
    """llama-index-core's `Memory`, with its own SQLite database in memory."""

    def __init__(self, memory: Any, message: Any) -> None:
        self._memory, self._message = memory, message

    async def take(self, text: str) -> Sequence[object]:
        """What `Memory` gives, the facts in the system prompt."""
        await self._memory.aput(self._message(role="user", content=text))
        return [{"role": "system", "content": SYSTEM}, *await self._memory.aget()]

    async def reply(self, text: str) -> None:
        """What leaves the history is read for facts, here or in `take`."""
        await self._memory.aput(self._message(role="assistant", content=text))


async def _llama_index(given: Given, stack: AsyncExitStack) -> Make:
    llms: Any = import_module("llama_index.core.llms")
    memories: Any = import_module("llama_index.core.memory")
    client, counter = await _client(given, stack), ToktokTokenizer("o200k_base")

    class Remote(llms.MockLLM):
        async def achat(self, messages: Sequence[Any], **_: Any) -> Any:
            wire = [{"role": one.role.value, "content": one.content} for one in messages]
            done = await client.chat.completions.create(model=CHAT_MODEL, messages=wire)
            text = done.choices[0].message.content
            return llms.ChatResponse(message=llms.ChatMessage(role="assistant", content=text))

    def tokens(text: str) -> range:
        return range(counter.count(text))

    async def make(number: int) -> Peer:
        memory = memories.Memory.from_defaults(
            session_id=f"session-{number}",
            token_limit=given.budget_tokens,
            token_flush_size=given.budget_tokens // 10,
            memory_blocks=[memories.FactExtractionMemoryBlock(llm=Remote())],
            tokenizer_fn=tokens,
        )
        return LlamaSession(memory, llms.ChatMessage)

    return make
