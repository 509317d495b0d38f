"""How the embedders cut, batch, refuse and repeat; what the contract cannot see of them."""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import numpy as np
import pytest

from actormem.adapters import local
from actormem.adapters.hashing import HashingEmbedder
from actormem.adapters.openai import OpenAIEmbedder, OpenAILLM, decoded_vectors
from actormem.adapters.openai_client import RETRY_AFTER_S_MAX, ReplyError, retry_after_s
from actormem.errors import ProviderError, UsageError
from actormem.testing.fakes import ScriptedEmbedder, ScriptedLLM
from tests.loopback import Answer, LoopbackServer

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def shared_server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture
def server(shared_server: LoopbackServer) -> LoopbackServer:
    shared_server.faults.clear()
    shared_server.seen.clear()
    shared_server.refused_words.clear()
    shared_server.embedding_order = list
    return shared_server


@pytest.fixture
async def embedder(anyio_backend: str, server: LoopbackServer) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("m", base_url=server.base_url)
    yield embedder
    await embedder.aclose()


def sizes(server: LoopbackServer) -> list[int]:
    return [len(seen.body["input"]) for seen in server.seen]


async def test_numbers_are_asked_for_as_numbers_and_empty_texts_are_never_sent(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    rows = await embedder.embed(["", "一", " ", "二"])
    assert server.seen[0].body == {"model": "m", "encoding_format": "float", "input": ["一", "二"]}
    assert rows.any(axis=1).tolist() == [False, True, False, True]
    await embedder.embed(["", "  "])
    assert len(server.seen) == 1


async def test_vectors_that_come_in_another_order_are_put_in_order(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    texts = [f"text {number}" for number in range(10)]
    rows = await embedder.embed(texts)
    server.embedding_order = lambda data: data[::-1]
    assert (await embedder.embed(texts)).tolist() == rows.tolist()


async def test_many_texts_go_in_several_requests(embedder: OpenAIEmbedder, server: LoopbackServer) -> None:
    await embedder.embed([f"text {number}" for number in range(150)])
    assert sizes(server) == [64, 64, 22]


async def test_long_texts_are_cut_and_spread_by_their_bytes(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    await embedder.embed(["长" * 50_000 + str(number) for number in range(40)])
    sent = [[len(text.encode()) for text in seen.body["input"]] for seen in server.seen]
    assert all(size <= 8_000 for request in sent for size in request)
    assert all(sum(request) <= 256_000 for request in sent)
    assert sum(len(request) for request in sent) == 40


async def test_a_refused_text_is_found_by_halving_and_the_others_are_embedded(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    server.refused_words = {"坏"}
    rows = await embedder.embed([*["好"] * 5, "坏的", *["好"] * 10])
    assert np.flatnonzero(~rows.any(axis=1)).tolist() == [5]
    assert len(server.seen) <= 2 * 5
    assert not (await embedder.embed(["坏"])).any()


async def test_a_server_that_refuses_everything_is_a_failure_not_bad_texts(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    server.refused_words = {"text"}
    with pytest.raises(ProviderError) as caught:
        await embedder.embed(["text"])
    assert caught.value.status == 400
    server.seen.clear()
    with pytest.raises(ProviderError):
        await embedder.embed(["text"] * 64)
    assert len(server.seen) < 30


async def test_dimensions_are_learned_from_the_first_answer_and_held(
    embedder: OpenAIEmbedder, server: LoopbackServer
) -> None:
    assert embedder.dimensions == 0
    await embedder.start()
    assert embedder.dimensions == 8
    server.faults.append(Answer({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}))
    with pytest.raises(ProviderError, match="2 numbers, expected 8"):
        await embedder.embed(["hello"])


async def test_given_dimensions_are_asked_for_and_checked(anyio_backend: str, server: LoopbackServer) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.base_url, dimensions=5)
    assert (await embedder.embed(["hello"])).shape == (1, 5)
    assert server.seen[0].body["dimensions"] == 5
    await embedder.aclose()
    assert OpenAIEmbedder("text-embedding-3-small", api_key="k").dimensions == 1_536


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0]}]},
        {"data": [{"index": 3, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "AACAPw=="}]},
        {"data": [{"index": 0, "embedding": [[1.0]]}]},
        {"data": None},
        {"error": "words of hello"},
        b"<html>hello</html>",
        b'{"data": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
)
async def test_an_answer_that_is_not_one_good_vector_a_text_is_a_provider_error(
    embedder: OpenAIEmbedder, server: LoopbackServer, body: Any
) -> None:
    server.faults.append(Answer(body))
    with pytest.raises(ProviderError) as caught:
        await embedder.embed(["hello"])
    assert "hello" not in str(caught.value)


def test_places_that_are_missing_or_stand_twice_are_not_guessed() -> None:
    one = b'{"embedding": [1.0]}, {"index": 1, "embedding": [1.0]}'
    twice = b'{"index": 1, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}'
    for data in (one, twice):
        with pytest.raises(ReplyError):
            decoded_vectors(b'{"data": [' + data + b"]}", 2, 0)
    without = b'{"data": [{"embedding": [2.0, 0]}, {"embedding": [0, 3.0]}]}'
    assert decoded_vectors(without, 2, 0).tolist() == [[1, 0], [0, 1]]


def test_a_vector_that_is_not_finite_is_a_row_of_zeros() -> None:
    for number in (b"1e999", b"NaN", b"-Infinity", b"null"):
        content = b'{"data": [{"embedding": [' + number + b', 0]}, {"embedding": [0, 2]}]}'
        assert decoded_vectors(content, 2, 2).tolist() == [[0, 0], [0, 1]]


def test_without_a_key_and_without_a_server_the_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for make in (OpenAILLM, OpenAIEmbedder):
        with pytest.raises(UsageError, match="OPENAI_API_KEY"):
            make("m")
        assert "sk-secret" not in repr(make("m", api_key="sk-secret"))


def test_windows_are_the_published_ones_and_small_where_nothing_is_published() -> None:
    windows = {
        model: OpenAILLM(model, api_key="k").window_tokens
        for model in ("gpt-4o-mini", "gpt-4.1", "gpt-4", "gpt-4-turbo", "some-model")
    }
    assert windows == {
        "gpt-4o-mini": 128_000,
        "gpt-4.1": 1_000_000,
        "gpt-4": 8_192,
        "gpt-4-turbo": 128_000,
        "some-model": 8_192,
    }
    assert OpenAILLM("some-model", api_key="k", window_tokens=32_000).window_tokens == 32_000


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "1e300"}, RETRY_AFTER_S_MAX),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, RETRY_AFTER_S_MAX),
    ],
)
def test_how_long_to_wait_is_read_as_a_number_or_a_date(headers: dict[str, str], seconds: float) -> None:
    assert retry_after_s(headers) == seconds


def test_local_batches_are_bounded_by_count_and_by_characters() -> None:
    assert local.batches([]) == []
    assert local.batches(["", ""]) == []
    assert [len(batch) for batch in local.batches(["hi"] * 70)] == [32, 32, 6]
    assert local.batches(["a" * 1_500, "", "b" * 1_500, "c"]) == [[0], [2, 3]]


async def test_the_local_embedder_reads_the_beginning_of_a_long_text(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def encode(texts: list[str]) -> np.ndarray:
        seen.extend(len(text) for text in texts)
        return np.ones((len(texts), 512), np.float32)

    monkeypatch.setattr(local, "load_encoder", lambda: encode)
    await local.LocalEmbedder().embed(["长" * 100_000, "short"])
    assert seen == [local.TEXT_CHARS_MAX, 5]


PRINT_VECTOR = """
import anyio
from actormem.adapters.hashing import HashingEmbedder
print(anyio.run(HashingEmbedder().embed, ["我的订单 KX-48210 to Berlin"]).tobytes().hex())
"""


async def test_the_hashing_embedder_gives_the_same_vector_in_another_process(anyio_backend: str) -> None:
    here = (await HashingEmbedder().embed(["我的订单 KX-48210 to Berlin"])).tobytes().hex()
    command = [sys.executable, "-c", PRINT_VECTOR]
    other = await anyio.run_process(command, env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path)})
    assert other.stdout.decode().strip() == here


async def test_the_hashing_embedder_matches_letters_in_both_languages(anyio_backend: str) -> None:
    rows = await HashingEmbedder().embed(
        [
            "订单号是 KX-48210",
            "请问 KX-48210 到哪里了",
            "今天的天气很好",
            "Orders arrive late",
            "my order arrived",
            "a blue sky",
        ]
    )
    scores = rows @ rows.T
    assert scores[0, 1] > scores[0, 2] + 0.1
    assert scores[3, 4] > scores[3, 5] + 0.1


async def test_the_scripted_embedder_fails_and_waits_as_it_is_told(anyio_backend: str) -> None:
    embedder = ScriptedEmbedder(16, failure=ProviderError("down", provider="scripted"))
    with pytest.raises(ProviderError):
        await embedder.embed(["a"])
    embedder.failure, embedder.wait_for = None, anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.embed, ["b"])
        await anyio.wait_all_tasks_blocked()
        assert embedder.texts == ["a", "b"]
        embedder.wait_for.set()
    near, far = (await embedder.embed(["退款多久", "退款要多久", "hello"]))[0] @ (
        await embedder.embed(["退款要多久", "hello"])
    ).T
    assert near > far
    assert embedder.call_count == 4


async def test_the_scripted_model_answers_by_a_function_and_keeps_its_deadline(anyio_backend: str) -> None:
    llm = ScriptedLLM(lambda messages: f"{len(messages)} 条", wait_for=anyio.Event())
    with pytest.raises(ProviderError, match="no answer"):
        await llm.complete([{"role": "user", "content": "在吗"}], tokens_max=9, deadline_s=0)
    llm.wait_for = None
    assert await llm.complete([{}, {}], tokens_max=9, deadline_s=60) == "2 条"
