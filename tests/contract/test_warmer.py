"""The promises of `Warmer` over OpenAI's adapter, against a server that misbehaves; and what only it does."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from actormem.adapters.warming import OpenAIWarmer
from actormem.errors import ProviderError, UsageError
from actormem.testing import contracts
from actormem.testing.contracts.warmer import MakeWarmer
from tests.contract.servers import REFUSAL, Behaving
from tests.loopback import Answer, LoopbackServer

pytestmark = pytest.mark.anyio

MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": contracts.PROMPT}]
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
]
DEADLINE_S = 20.0


@pytest.mark.parametrize("check", contracts.WARMER, ids=str)
async def test_openais_warmer_keeps(check: contracts.AsyncCheck[[MakeWarmer]], anyio_backend: str) -> None:
    with Behaving() as servers:
        await check(lambda server: OpenAIWarmer(api_key=contracts.KEY, base_url=servers.url_of(server)))


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture
async def warmer(server: LoopbackServer) -> AsyncIterator[OpenAIWarmer]:
    server.faults.clear()
    server.seen.clear()
    made = OpenAIWarmer(api_key=contracts.KEY, base_url=server.base_url)
    yield made
    await made.aclose()


async def test_the_request_is_for_one_token(warmer: OpenAIWarmer, server: LoopbackServer) -> None:
    await warmer.warm("gpt-4o", MESSAGES, TOOLS, deadline_s=DEADLINE_S)
    [seen] = server.seen
    assert seen.body == {"model": "gpt-4o", "messages": MESSAGES, "tools": TOOLS, "max_tokens": 1}
    await warmer.warm("qwen3", MESSAGES, [], deadline_s=DEADLINE_S)
    assert "tools" not in server.seen[1].body
    assert server.seen[1].body["model"] == "qwen3"


async def test_a_server_that_knows_the_other_word_is_told_the_other_word(
    warmer: OpenAIWarmer, server: LoopbackServer
) -> None:
    refusal = {"error": {"message": "use max_completion_tokens", "param": "max_tokens"}}
    server.faults.append(Answer(refusal, 400))
    await warmer.warm("o4-mini", MESSAGES, [], deadline_s=DEADLINE_S)
    assert server.seen[-1].body["max_completion_tokens"] == 1


async def test_a_refusal_says_its_status(warmer: OpenAIWarmer, server: LoopbackServer) -> None:
    server.faults.append(REFUSAL)
    with pytest.raises(ProviderError) as caught:
        await warmer.warm("gpt-4o", MESSAGES, TOOLS, deadline_s=DEADLINE_S)
    assert caught.value.status == 401
    assert caught.value.__context__ is None


def test_there_must_be_a_key_or_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="key"):
        OpenAIWarmer()
