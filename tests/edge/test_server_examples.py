"""The examples in the docstrings, run as they are written, at a real server."""

import textwrap
from pathlib import Path
from typing import Any

import anyio
import pytest

from actormem import server
from actormem.remote import connecting
from actormem.remote.transport import client_library
from actormem.server.settings import ServerSettings
from tests.edge.served import running, served
from tests.loopback import LoopbackServer


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


def example(module: Any) -> str:
    """The indented code behind `Example:` in the module's docstring."""
    lines = str(module.__doc__).partition("Example:")[2].splitlines()
    return textwrap.dedent("\n".join(line for line in lines[1:] if not line or line.startswith("    ")))


@pytest.mark.anyio
async def test_the_proxy_gives_an_openai_client_a_memory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    names: dict[str, Any] = {}
    exec(example(server), names)
    with LoopbackServer(lambda body: f"I see {len(body['messages'])} messages.") as model:
        async with served(settings=ServerSettings(upstream=model.base_url)) as one:
            await names["main"](f"{one.url}/v1")
    assert capsys.readouterr().out == "I see 1 messages.\nI see 3 messages.\n"


@pytest.mark.anyio
async def test_workers_connect_in_their_lifespan(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    async with served() as one:
        code = example(connecting).replace("unix:/run/app/memory.sock", one.url)
        exec(code, names)
        async with (
            names["lifespan"](names["app"]),
            running(names["app"]) as url,
            client_library().AsyncClient() as ask,
        ):
            body = {"session": "s", "user": "ada", "words": "hello"}
            with anyio.fail_after(20):
                answer = await ask.post(f"{url}/chat", json=body)
            assert answer.json()["tokens"] > 0
        assert len(await (await one.runtime.spawn("s", user="ada")).messages()) == 2
