"""Is your adapter one? The promises of each port, as checks that any test runner can run.

`actormem.ports` numbers what the runtime relies on. Here each promise is a check with a name; give it a function that
makes your adapter. With pytest, a port takes two lines:

    @pytest.mark.parametrize("check", contracts.EMBEDDER, ids=str)
    async def test_my_embedder_keeps(check): await check(MyEmbedder)

and one that is not kept says so:

    BrokenPromiseError: Embedder, promise 1: Rows come in the order of the texts, however many they are.
    a text's rows alone and among others differ

| checks | of a | run with |
|---|---|---|
| `TOKENIZER` | tokenizer | `check(make)`, where `make()` gives one |
| `VECTOR_INDEX` | vector index | `check(make)`, where `make(dimensions)` gives an empty one |
| `EMBEDDER` | embedder | `await check(make)`, where `make()` gives one |
| `REMOTE_EMBEDDER` | embedder with a server behind it | `await check(make)`, where `make(server)` gives one |
| `LLM`, `WARMER` | chat model, warmer | `await check(make)`, where `make(server)` gives one |
| `CACHE` | cache | `await check(make)`, where `make(folder, size_bytes_max)` gives an empty one |
| `RECORD` | record | `await check(make)`, where `async with make(folder)` opens one |
| `KEPT_RECORD` | record whose folder is opened again | as `RECORD` |

A `Server` says how the far side of your adapter is to behave (`answers`, `refuses`, `hangs` …): you build the fake that
does, since only you know its protocol, and give the adapter `KEY` as its key, so that the check can look for it.

The checks need neither pytest nor an event loop of a certain kind: a coroutine function that awaits them runs under
anyio's plugin, pytest-asyncio, trio or `asyncio.run`. `check.promise` is the promise in words.
"""

from actormem.testing.contracts.cache import CACHE
from actormem.testing.contracts.checks import AsyncCheck, BrokenPromiseError, Check
from actormem.testing.contracts.embedder import EMBEDDER, REMOTE_EMBEDDER
from actormem.testing.contracts.llm import LLM
from actormem.testing.contracts.record import KEPT_RECORD, RECORD
from actormem.testing.contracts.servers import KEY, PROMPT, Behaviour, Server
from actormem.testing.contracts.tokenizer import TOKENIZER
from actormem.testing.contracts.vector_index import VECTOR_INDEX
from actormem.testing.contracts.warmer import WARMER

__all__ = [
    "CACHE",
    "EMBEDDER",
    "KEPT_RECORD",
    "KEY",
    "LLM",
    "PROMPT",
    "RECORD",
    "REMOTE_EMBEDDER",
    "TOKENIZER",
    "VECTOR_INDEX",
    "WARMER",
    "AsyncCheck",
    "Behaviour",
    "BrokenPromiseError",
    "Check",
    "Server",
]
