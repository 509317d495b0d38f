"""The promises of `Embedder`, over every embedder there is; OpenAI's against a server on the loopback."""

import threading
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from actormem.adapters import local
from actormem.adapters.hashing import HashingEmbedder
from actormem.adapters.local import LocalEmbedder
from actormem.adapters.openai import OpenAIEmbedder
from actormem.errors import ProviderError
from actormem.testing import contracts
from actormem.testing.contracts.embedder import MakeEmbedder, MakeRemoteEmbedder
from actormem.testing.fakes import ScriptedEmbedder
from tests.contract.servers import Behaving
from tests.loopback import Answer, LoopbackServer

pytestmark = pytest.mark.anyio


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


MAKERS: dict[str, MakeEmbedder] = {
    "hashing": HashingEmbedder,
    "local": LocalEmbedder,
    "scripted": ScriptedEmbedder,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("check", contracts.EMBEDDER, ids=str)
async def test_an_embedder_keeps(
    check: contracts.AsyncCheck[[MakeEmbedder]], name: str, anyio_backend: str
) -> None:
    await check(MAKERS[name])


@pytest.mark.parametrize("check", contracts.EMBEDDER, ids=str)
async def test_openais_embedder_keeps(
    check: contracts.AsyncCheck[[MakeEmbedder]], server: LoopbackServer, anyio_backend: str
) -> None:
    await check(lambda: OpenAIEmbedder("loopback-embedding", base_url=server.base_url))


@pytest.mark.parametrize("check", contracts.REMOTE_EMBEDDER, ids=str)
async def test_openais_embedder_keeps_when_its_server_fails(
    check: contracts.AsyncCheck[[MakeRemoteEmbedder]], anyio_backend: str
) -> None:
    with Behaving() as servers:
        await check(
            lambda server: OpenAIEmbedder(
                "m", api_key=contracts.KEY, base_url=servers.url_of(server), dimensions=8
            )
        )


async def test_names_differ(anyio_backend: str) -> None:
    names = {
        HashingEmbedder().name,
        LocalEmbedder().name,
        ScriptedEmbedder().name,
        OpenAIEmbedder("m", api_key="k").name,
        OpenAIEmbedder("m", api_key="k", dimensions=256).name,
        OpenAIEmbedder("n", api_key="k").name,
    }
    assert len(names) == 6


async def test_a_cancelled_caller_does_not_wait_for_the_encoder(
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


async def test_a_failed_encoder_is_a_provider_error(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("secret words in a path")

    monkeypatch.setattr(local, "load_encoder", fail)
    with pytest.raises(ProviderError, match="OSError") as caught:
        await LocalEmbedder().embed(["hello"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_a_failed_server_is_a_provider_error_with_its_status(
    anyio_backend: str, server: LoopbackServer, status: int
) -> None:
    embedder = OpenAIEmbedder("m", base_url=server.base_url, dimensions=8)
    server.faults.append(Answer({"error": {"message": "secret"}}, status, {"retry-after": "7"}))
    with pytest.raises(ProviderError) as caught:
        await embedder.embed(["hello"])
    assert (caught.value.status, caught.value.retry_after_s) == (status, 7.0)
    await embedder.aclose()


async def test_what_means_the_same_is_near_in_the_local_embedder_across_languages(anyio_backend: str) -> None:
    embedder = LocalEmbedder()
    rows = await embedder.embed(["我对花生过敏", "I am allergic to peanuts", "The train leaves at noon"])
    assert float(rows[0] @ rows[1]) > float(rows[0] @ rows[2]) + 0.2
    await embedder.aclose()
