"""`GET /metrics`: counts of all, names of nobody."""

import pytest

import actormem
from actormem.remote.transport import client_library
from actormem.server.application import application
from actormem.server.metrics import measured
from actormem.server.settings import ServerSettings
from actormem.server.state import ServerState
from actormem.testing.fakes import ScriptedEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


async def test_prometheus_reads_what_was_done_and_nobodys_name() -> None:
    library = client_library()
    async with actormem.open(None, embedder=ScriptedEmbedder()) as runtime:
        with measured(runtime) as route:
            state = ServerState(runtime, ServerSettings())
            transport = library.ASGITransport(app=application(state, pages=[route]))
            async with library.AsyncClient(transport=transport, base_url="http://localhost") as client:
                session = await runtime.spawn("s-1", user="zanzibar")
                async with session.turn("I live in Timbuktu.") as turn:
                    turn.reply("Noted.")
                answer = await client.get("/metrics")
            await state.aclose()
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'actormem_turns_total{outcome="complete"} 1.0' in answer.text
    assert "zanzibar" not in answer.text
    assert "Timbuktu" not in answer.text
