"""The promises of `LLM` over OpenAI's adapter, against a server that misbehaves, and over the scripted fake."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from actormem.adapters.openai import OpenAILLM
from actormem.errors import ProviderError
from actormem.testing import contracts
from actormem.testing.contracts.llm import MakeLLM, a_reply_that_is_none_is_a_provider_error
from actormem.testing.contracts.servers import Server
from actormem.testing.fakes import Messages, ScriptedLLM
from tests.contract.servers import ECHO, REFUSAL, Behaving, choice
from tests.loopback import Answer, Fault, LoopbackServer

pytestmark = pytest.mark.anyio

KEY, PROMPT = contracts.KEY, contracts.PROMPT
MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]
DEADLINE_S = 20.0
LLMCheck = contracts.AsyncCheck[[MakeLLM]]

BAD_REPLIES: dict[str, Fault] = {
    "a page of HTML": Answer(ECHO.encode(), content_type="text/html"),
    "HTML that says it is JSON": Answer(ECHO.encode()),
    "choices null": Answer({"choices": None, "echo": PROMPT}),
    "no choices": Answer({"choices": []}),
    "no message": Answer({"choices": [{"index": 0, "finish_reason": "stop"}]}),
    "content null": Answer(choice(content=None)),
    "content of blanks": Answer(choice(content=" \n ")),
    "content of parts": Answer(choice(content=[{"type": "text", "text": PROMPT}])),
    "a refusal": Answer(choice(content=None, refusal=PROMPT)),
    "a number": Answer(7),
    "nothing": Answer(b""),
    "half a reply": Answer(json.dumps(choice(content=PROMPT)).encode()[:-9]),
    "what is nested too deeply": Answer(b'{"choices": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
    "ten megabytes": Answer(json.dumps(choice(content="啊" * 3_300_000)).encode()),
    "an error of a kind nobody knows": Answer({"error": PROMPT}, 418),
    "an error that is HTML": Answer(ECHO.encode(), 502, content_type="text/html"),
    "an error that echoes": REFUSAL,
}


@pytest.mark.parametrize("check", contracts.LLM, ids=str)
async def test_openais_adapter_keeps(check: LLMCheck, anyio_backend: str) -> None:
    with Behaving() as servers:
        await check(lambda server: OpenAILLM("gpt-test", api_key=KEY, base_url=servers.url_of(server)))


def scripted(server: Server) -> ScriptedLLM:
    """The fake, in front of the server that a check asks for."""

    def reply(messages: Messages) -> str | Exception:
        server.requests += [*messages, *llm.schemas]
        match server.behaviour:
            case "answers":
                return "摘要：退款三天内到账。"
            case "hangs" | "drips":
                llm.wait_for = anyio.Event()
                return "never"
            case "blank":
                return " \n"
            case _:
                return ProviderError("down", provider="scripted", status=503)

    llm = ScriptedLLM(reply)
    return llm


@pytest.mark.parametrize("check", contracts.LLM, ids=str)
async def test_the_fake_keeps(check: LLMCheck, anyio_backend: str) -> None:
    await check(scripted)


@pytest.mark.parametrize("reply", BAD_REPLIES)
async def test_any_other_reply_is_a_provider_error_that_holds_no_words(
    anyio_backend: str, reply: str
) -> None:
    with Behaving(garbage=BAD_REPLIES[reply]) as servers:
        await a_reply_that_is_none_is_a_provider_error(
            lambda server: OpenAILLM("gpt-test", api_key=KEY, base_url=servers.url_of(server))
        )


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer("摘要：退款三天内到账。") as server:
        yield server


@pytest.fixture
async def openai_llm(anyio_backend: str, server: LoopbackServer) -> AsyncIterator[OpenAILLM]:
    server.faults.clear()
    server.seen.clear()
    llm = OpenAILLM("gpt-test", api_key=KEY, base_url=server.base_url)
    yield llm
    await llm.aclose()


async def test_a_server_that_is_not_there_has_no_status(anyio_backend: str) -> None:
    with LoopbackServer() as gone:
        base_url = gone.base_url
    llm = OpenAILLM("gpt-test", api_key=KEY, base_url=base_url)
    with pytest.raises(ProviderError, match="APIConnectionError") as caught:
        await llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S)
    assert caught.value.status == 0
    await llm.aclose()


@pytest.mark.parametrize("headers", [{"retry-after": "3"}, {"retry-after-ms": "3000"}])
async def test_a_refused_request_says_status_code_and_how_long_to_wait(
    openai_llm: OpenAILLM, server: LoopbackServer, headers: dict[str, str]
) -> None:
    server.faults.append(Answer({"error": {"message": PROMPT, "code": "rate_limit_exceeded"}}, 429, headers))
    with pytest.raises(ProviderError, match="rate_limit_exceeded") as caught:
        await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S)
    assert (caught.value.status, caught.value.retry_after_s) == (429, 3.0)
    assert len(server.seen) == 1, "the adapter tries once; retries belong to who asks"


async def test_lone_surrogates_are_sent_as_the_replacement_character(
    openai_llm: OpenAILLM, server: LoopbackServer
) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "半个\ud83d 表情 \ud83d\ude00"}]}
    ]
    await openai_llm.complete(messages, tokens_max=5, deadline_s=DEADLINE_S)
    assert server.seen[0].body["messages"][0]["content"][0]["text"] == "半个\ufffd 表情 😀"


async def test_the_length_of_a_reply_is_asked_for_in_the_word_the_server_knows(
    openai_llm: OpenAILLM, server: LoopbackServer
) -> None:
    refusal = {
        "error": {"message": "Unsupported parameter", "param": "max_tokens", "code": "unsupported_parameter"}
    }
    server.faults.append(Answer(refusal, 400))
    for _ in range(2):
        assert await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S)
    words = [[word for word in seen.body if word.startswith("max_")] for seen in server.seen]
    assert words == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


SCHEMA: dict[str, Any] = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
SHAPES = ["json_schema", "json_object", None]


def shapes(server: LoopbackServer) -> list[str | None]:
    return [seen.body.get("response_format", {}).get("type") for seen in server.seen]


async def test_a_reply_of_a_shape_is_asked_for_by_its_schema(
    openai_llm: OpenAILLM, server: LoopbackServer
) -> None:
    await openai_llm.complete(MESSAGES, tokens_max=50, deadline_s=DEADLINE_S, schema=SCHEMA)
    for seen in server.seen:
        described = seen.body["response_format"]["json_schema"]
        assert (described["schema"], described["strict"]) == (SCHEMA, True)


@pytest.mark.parametrize(("refused", "status"), [(0, 200), (1, 404), (2, 400)])
async def test_what_the_server_refuses_is_asked_for_less_strictly_and_remembered(
    openai_llm: OpenAILLM, server: LoopbackServer, refused: int, status: int
) -> None:
    server.faults.extend([Answer({"error": {"message": "unknown response_format"}}, status)] * refused)
    for _ in range(2):
        await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S, schema=SCHEMA)
    assert shapes(server) == [*SHAPES[: refused + 1], SHAPES[refused]]
    await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S)
    assert shapes(server)[-1] is None, "words are asked for as words"


@pytest.mark.parametrize("status", [400, 500])
async def test_a_request_that_is_refused_whatever_its_shape_is_an_error_and_nothing_is_remembered(
    openai_llm: OpenAILLM, server: LoopbackServer, status: int
) -> None:
    tries = 3 if status == 400 else 1
    server.faults.extend([Answer({"error": {"message": PROMPT}}, status)] * tries)
    with pytest.raises(ProviderError) as caught:
        await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S, schema=SCHEMA)
    assert (caught.value.status, len(server.seen)) == (status, tries)
    await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S, schema=SCHEMA)
    assert shapes(server)[-1] == "json_schema"


async def test_a_server_that_knows_neither_the_shape_nor_the_word_is_asked_in_its_own_way(
    openai_llm: OpenAILLM, server: LoopbackServer
) -> None:
    word = {"error": {"message": "Unsupported parameter", "param": "max_tokens"}}
    server.faults.extend([Answer({"error": {"message": "no"}}, 400), Answer(word, 400)])
    assert await openai_llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S, schema=SCHEMA)
    assert shapes(server) == ["json_schema", "json_object", "json_object"]
    assert "max_completion_tokens" in server.seen[-1].body


async def test_the_fake_keeps_prompts_and_counts_calls_in_flight(anyio_backend: str) -> None:
    gate = anyio.Event()
    llm = ScriptedLLM(["一", "二", "三"], wait_for=gate)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(lambda: llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S))
        await anyio.wait_all_tasks_blocked()
        assert llm.in_flight_count == 3
        gate.set()
    assert (llm.in_flight_count, llm.in_flight_max_count, llm.call_count) == (0, 3, 3)
    assert llm.prompts[0] == tuple(MESSAGES)
    with pytest.raises(ProviderError, match="call 4"):
        await llm.complete(MESSAGES, tokens_max=5, deadline_s=DEADLINE_S)
