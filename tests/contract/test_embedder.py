"""The promises of `Embedder`, over every embedder there is; OpenAI's against a server on the loopback."""

import threading
from collections.abc import AsyncIterator, Iterator

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from actormem.adapters import local
from actormem.adapters.hashing import HashingEmbedder
from actormem.adapters.local import LocalEmbedder
from actormem.adapters.openai import OpenAIEmbedder
from actormem.errors import ProviderError
from actormem.ports import Embedder
from actormem.testing.fakes import ScriptedEmbedder
from tests.loopback import Answer, Hang, LoopbackServer

pytestmark = pytest.mark.anyio

NAMES = ["hashing", "local", "openai", "scripted"]
TEXTS = [
    "我对花生过敏",
    "I am allergic to peanuts",
    "订单 KX-48210 什么时候到？",
    "a",
    "的",
    "😀 emoji",
    "x" * 9_000,
]
ODD_TEXTS = [
    "\ud800 lone",
    "\ud83d\ude00",
    "\0",
    "<|endoftext|>",
    "\u200b",
    "\n\n",
    "👨‍👩‍👧",
    "\u0301" * 50,
    "🇨",
]


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture(scope="module", autouse=True)
def one_encoder() -> Iterator[None]:
    """The weights are loaded once for the file, by the adapter's own function."""
    encode = local.load_encoder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "load_encoder", lambda: encode)
        yield


@pytest.fixture(params=NAMES)
async def embedder(
    request: pytest.FixtureRequest, anyio_backend: str, server: LoopbackServer
) -> AsyncIterator[Embedder]:
    made: dict[str, Embedder] = {
        "hashing": HashingEmbedder(),
        "local": LocalEmbedder(),
        "openai": OpenAIEmbedder("loopback-embedding", base_url=server.base_url),
        "scripted": ScriptedEmbedder(),
    }
    embedder = made[request.param]
    await embedder.start()
    yield embedder
    await embedder.aclose()


async def test_promise_1_rows_are_float32_in_order_and_of_length_1(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-4)
    for place in (0, 3, 6):
        assert (await embedder.embed([TEXTS[place]]))[0] == pytest.approx(rows[place], abs=1e-4)


async def test_promise_1_many_texts_keep_their_order(embedder: Embedder) -> None:
    texts = [f"第 {number} 号订单 order {number * 7919}" for number in range(45)]
    rows = await embedder.embed(texts)
    backwards = await embedder.embed(texts[::-1])
    assert rows == pytest.approx(backwards[::-1], abs=1e-4)
    assert len({row.tobytes() for row in rows}) > 40


async def test_promise_1_an_empty_text_is_a_row_of_zeros(embedder: Embedder) -> None:
    rows = await embedder.embed(["", "今天下雨", "", "   "])
    assert rows.any(axis=1).tolist() == [False, True, False, False]


async def test_promise_1_no_texts_are_no_rows(embedder: Embedder) -> None:
    rows = await embedder.embed([])
    assert rows.shape == (0, embedder.dimensions)
    assert rows.dtype == np.float32


async def test_promise_1_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    rows = await embedder.embed(["请记住我的地址", "I moved to Berlin", "请记住我的地址"])
    assert rows[0] == pytest.approx(rows[2], abs=1e-5)
    assert abs(float(rows[0] @ rows[1])) < 0.95


async def test_promise_2_names_differ(anyio_backend: str) -> None:
    names = {
        HashingEmbedder().name,
        LocalEmbedder().name,
        ScriptedEmbedder().name,
        OpenAIEmbedder("m", api_key="k").name,
        OpenAIEmbedder("m", api_key="k", dimensions=256).name,
        OpenAIEmbedder("n", api_key="k").name,
    }
    assert len(names) == 6


async def test_promise_3_other_tasks_run_while_it_embeds(embedder: Embedder) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count_turns)
        await embedder.embed(["一段不短的话。A sentence of some length." * 10] * 4)
        tasks.cancel_scope.cancel()
    assert turns >= 1


async def test_promise_3_a_cancelled_caller_does_not_wait_for_the_encoder(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, release = threading.Event(), threading.Event()

    def encode(texts: list[str]) -> np.ndarray:
        begun.set()
        assert release.wait(10)
        return np.ones((len(texts), 512), np.float32)

    monkeypatch.setattr(local, "load_encoder", lambda: encode)
    embedder = LocalEmbedder()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.embed, ["这句话没人等了"])
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    release.set()
    assert (await embedder.embed(["next"])).shape == (1, 512)


async def test_promise_3_a_cancelled_caller_does_not_wait_for_a_server(anyio_backend: str) -> None:
    with LoopbackServer() as silent:
        embedder = OpenAIEmbedder("m", base_url=silent.base_url, dimensions=8)
        silent.always = Hang()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embedder.embed, ["hello"])
            while not silent.seen:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    await embedder.aclose()


async def test_promise_4_nothing_is_raised_for_any_text(embedder: Embedder) -> None:
    rows = await embedder.embed(ODD_TEXTS)
    assert rows.shape == (len(ODD_TEXTS), embedder.dimensions)
    assert np.isfinite(rows).all()


async def test_promise_4_a_failed_encoder_is_a_provider_error(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("secret words in a path")

    monkeypatch.setattr(local, "load_encoder", fail)
    with pytest.raises(ProviderError, match="OSError") as caught:
        await LocalEmbedder().embed(["hello"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_promise_4_a_failed_server_is_a_provider_error_with_its_status(
    anyio_backend: str, server: LoopbackServer, status: int
) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.base_url, dimensions=8)
    server.faults.append(Answer({"error": {"message": "secret"}}, status, {"retry-after": "7"}))
    with pytest.raises(ProviderError) as caught:
        await embedder.embed(["hello"])
    assert (caught.value.status, caught.value.retry_after_s) == (status, 7.0)
    await embedder.aclose()


async def test_start_may_be_called_again(embedder: Embedder) -> None:
    await embedder.start()
    await embedder.start()
    assert (await embedder.embed(["again 再来"])).any()


async def test_what_means_the_same_is_near_in_the_local_embedder_across_languages(anyio_backend: str) -> None:
    embedder = LocalEmbedder()
    rows = await embedder.embed(["我对花生过敏", "I am allergic to peanuts", "The train leaves at noon"])
    assert float(rows[0] @ rows[1]) > float(rows[0] @ rows[2]) + 0.2
    await embedder.aclose()
