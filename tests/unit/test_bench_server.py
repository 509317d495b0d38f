"""The benchmarks' server: what it answers, how long it would read, whom it refuses, what it counts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import openai
import pytest

from benchmarks.prefill import PrefixCache
from benchmarks.server import Plan, Server, beside, serving

pytestmark = pytest.mark.anyio
AT_ONCE = Plan(first_token_s=0.0, read_tokens_per_s=0.0, embedding_s=0.0, reply_tokens=3, dimensions=8)
SAID = [{"role": "system", "content": "s" * 40}, {"role": "user", "content": "u" * 80}]


@asynccontextmanager
async def client_of(base_url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client:
        yield client


def words(text: str) -> int:
    return len(text)


def message(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    "anyio_backend", ["asyncio"]
)  # the client leaves its generators open, which trio reports
async def test_a_stream_has_the_reply_in_pieces_and_the_usage_where_it_is_asked_for() -> None:
    async with serving(AT_ONCE) as server, client_of(server.base_url) as client:
        stream = await client.chat.completions.create(
            model="m", messages=SAID, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "word" * 3
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.completion_tokens == 3
    assert usage.prompt_tokens == server.counts.prompt_tokens > 30


async def test_a_connection_carries_one_request_after_another_and_all_are_counted() -> None:
    async with serving(AT_ONCE) as server, client_of(server.base_url) as client:
        for _ in range(2):
            reply = await client.chat.completions.create(model="m", messages=SAID)
            assert reply.choices[0].message.content == "word" * 3
        found = await client.embeddings.create(model="e", input=["a", "b"], encoding_format="float")
    assert [len(one.embedding) for one in found.data] == [8, 8]
    assert (server.counts.chats, server.counts.embeddings, server.counts.texts) == (2, 1, 2)
    assert server.counts.cached_tokens * 2 == server.counts.prompt_tokens, "the second prompt was read before"
    assert reply.usage is not None
    assert reply.usage.prompt_tokens_details is not None
    assert reply.usage.prompt_tokens_details.cached_tokens == reply.usage.prompt_tokens


async def test_what_a_prompt_begins_with_is_not_read_again() -> None:
    cache = PrefixCache(1_000_000, words)
    first = cache.read([message("a"), message("b")])
    longer = cache.read([message("a"), message("b"), message("c")])
    other = cache.read([message("x"), message("b"), message("c")])
    assert first.cached_tokens == 0
    assert longer.cached_tokens == first.tokens
    assert other.cached_tokens == 0, "the same message behind another beginning is another one"


async def test_what_was_read_longest_ago_leaves_when_there_is_no_room() -> None:
    size = PrefixCache(10**6, words).read([message("a")]).tokens
    cache = PrefixCache(2 * size, words)
    for content in "abac":
        cache.read([message(content)])
    assert cache.read([message("a")]).cached_tokens == size
    assert cache.read([message("b")]).cached_tokens == 0
    assert PrefixCache(0, words).read([message("a"), message("a")]).cached_tokens == 0


async def test_who_is_refused_follows_from_the_seed_alone() -> None:
    plan = Plan(failing_share=0.2, limited_share=0.3, seed=4)
    drawn = [plan.status(number) for number in range(1_000)]
    assert drawn == [plan.status(number) for number in range(1_000)]
    assert 250 < drawn.count(429) < 350
    assert 150 < drawn.count(500) < 250
    assert Plan().status(3) == 200


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (Plan(limited_share=1.0, retry_after_s=2.5), openai.RateLimitError),
        (Plan(failing_share=1.0), openai.InternalServerError),
    ],
)
async def test_a_planned_fault_reaches_the_client_as_what_it_is(
    plan: Plan, fault: type[openai.APIStatusError]
) -> None:
    async with serving(plan) as server, client_of(server.base_url) as client:
        with pytest.raises(fault) as raised:
            await client.embeddings.create(model="e", input="a")
    assert raised.value.response.headers.get("retry-after") == ("2.5" if plan.limited_share else None)
    assert server.counts.limited + server.counts.failed == 1
    assert server.counts.embeddings == 0


async def test_an_unknown_path_is_told_so_and_a_client_that_leaves_ends_nothing() -> None:
    async with serving(AT_ONCE) as server, client_of(server.base_url) as client:
        with pytest.raises(openai.NotFoundError):
            await client.models.list()
        async with await anyio.connect_tcp("127.0.0.1", port(server)) as stream:
            await stream.send(b"POST /v1/embeddings HTTP/1.1\r\ncontent-le")
        await client.embeddings.create(model="e", input="a")


def port(server: Server) -> int:
    return int(server.base_url.split(":")[2].split("/")[0])


async def test_beside_it_runs_in_a_process_of_its_own_and_tells_its_counts() -> None:
    async with beside(AT_ONCE) as base_url, client_of(base_url) as client:
        await client.embeddings.create(model="e", input=["a", "b", "c"])
        counts = await client.get("/counts", cast_to=dict[str, int])
    assert counts["texts"] == 3
