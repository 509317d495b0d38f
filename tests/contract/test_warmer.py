"""The promises of `Warmer`: OpenAI's adapter against a server that misbehaves."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from actormem.adapters.warming import OpenAIWarmer
from actormem.errors import ProviderError, UsageError
from actormem.ports import Warmer
from tests.loopback import Answer, Drip, Fault, Hang, LoopbackServer

pytestmark = pytest.mark.anyio

KEY = "sk-canary-key-7731"
PROMPT = "我的密码是 canary-prompt-4402"
MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
]
DEADLINE_S = 20.0
SHORT_S = 0.1


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture
async def warmer(server: LoopbackServer) -> AsyncIterator[Warmer]:
    server.faults.clear()
    server.seen.clear()
    made = OpenAIWarmer(api_key=KEY, base_url=server.base_url)
    yield made
    await made.aclose()


async def test_promise_1_one_request_with_the_messages_and_tools_for_one_token(
    warmer: Warmer, server: LoopbackServer
) -> None:
    await warmer.warm("gpt-4o", MESSAGES, TOOLS, deadline_s=DEADLINE_S)
    [seen] = server.seen
    assert seen.body == {"model": "gpt-4o", "messages": MESSAGES, "tools": TOOLS, "max_tokens": 1}
    await warmer.warm("qwen3", MESSAGES, [], deadline_s=DEADLINE_S)
    assert "tools" not in server.seen[1].body
    assert server.seen[1].body["model"] == "qwen3"


async def test_promise_1_a_server_that_knows_the_other_word_is_told_the_other_word(
    warmer: Warmer, server: LoopbackServer
) -> None:
    refusal = {"error": {"message": "use max_completion_tokens", "param": "max_tokens"}}
    server.faults.append(Answer(refusal, 400))
    await warmer.warm("o4-mini", MESSAGES, [], deadline_s=DEADLINE_S)
    assert server.seen[-1].body["max_completion_tokens"] == 1


@pytest.mark.parametrize("fault", [Hang(), Drip()], ids=["hang", "drip"])
async def test_promise_2_a_server_that_never_ends_is_left_at_the_deadline(
    warmer: Warmer, server: LoopbackServer, fault: Fault
) -> None:
    await warmer.warm("gpt-4o", MESSAGES, [], deadline_s=DEADLINE_S)  # its client is there
    server.faults.append(fault)
    with anyio.fail_after(DEADLINE_S):
        with pytest.raises(ProviderError, match="no answer within"):
            await warmer.warm("gpt-4o", MESSAGES, [], deadline_s=SHORT_S)


async def test_promise_3_a_failure_is_a_provider_error_without_prompt_or_key(
    warmer: Warmer, server: LoopbackServer
) -> None:
    server.faults.append(Answer({"error": {"message": f"{KEY} {PROMPT}", "code": PROMPT}}, 401))
    with pytest.raises(ProviderError) as caught:
        await warmer.warm("gpt-4o", MESSAGES, TOOLS, deadline_s=DEADLINE_S)
    assert caught.value.status == 401
    assert KEY not in str(caught.value)
    assert PROMPT not in str(caught.value)
    assert caught.value.__context__ is None


def test_there_must_be_a_key_or_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="key"):
        OpenAIWarmer()
