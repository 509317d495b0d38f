"""The memory server, asked by the official client: in process, as a child on stdin and stdout, and over HTTP."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult

import actormem
from actormem.cli import main as command
from actormem.integrations.mcp import memory_server
from tests.edge.examples import printed_by
from tests.runtimes import answered, opened

ROOT = Path(__file__).parents[2]
TOOLS = ["remember", "recall", "list", "edit", "forget", "context"]
SECRET = "zanzibar"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def served(mode: str = "auto") -> AsyncIterator[tuple[actormem.Runtime, Client]]:
    """A runtime, and a client of ada's memory in it."""
    async with opened() as runtime, Client(memory_server(runtime, user="ada"), mode=mode) as client:
        yield runtime, client


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answers, structured; its text says the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    [text] = result.content
    assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """The one line in which a tool says what was wrong."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    assert result.structured_content is None
    [text] = result.content
    line: str = text.text  # type: ignore[union-attr]
    assert "\n" not in line
    assert line.startswith(tool)
    return line


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_remembered_is_found_listed_edited_and_forgotten(mode: str) -> None:
    async with served(mode) as (runtime, client):
        made = await told(client, "remember", text="Ada 对花生过敏。", attribute="allergy", value="花生")
        assert (made["id"], made["value"], made["state"]) == ("m1", "花生", "live")
        found = await told(client, "recall", query="花生")
        assert [hit["item"]["text"] for hit in found["hits"]] == ["Ada 对花生过敏。"]
        assert found["degraded"] == []
        edited = await told(client, "edit", id="m1", text="Ada 对花生和虾过敏。")
        assert (edited["version"], edited["id"]) == (2, "m1")
        listed = await told(client, "list")
        assert listed == {"items": [edited], "total_count": 1}
        erased = await told(client, "forget", id="m1")
        assert (erased["item_count"], erased["found_count"]) == (1, 0)
        assert await told(client, "list") == {"items": [], "total_count": 0}
        assert await runtime.items("ada", history=True) == ()


@pytest.mark.anyio
async def test_a_context_is_that_of_a_session_or_what_memory_knows_of_a_query() -> None:
    async with served() as (runtime, client):
        await runtime.remember("Ada likes green tea.", user="ada")
        alone = await told(client, "context", query="green tea")
        assert "Ada likes green tea." in alone["messages"][0]["content"]
        assert 0 < alone["tokens"] <= alone["budget_tokens"] == 4_096
        session = await runtime.spawn("s-1", user="ada", system="You sell tea.")
        await answered(session, "Which tea do you have?", "Green and black.")
        whole = await told(client, "context", session="s-1")
        assert [one["role"] for one in whole["messages"]] == ["system", "user", "assistant"]
        assert "session" in await refused(client, "context", {"session": "s-2"})
        assert "query" in await refused(client, "context", {})
        assert {row.session_id for row in await runtime.sessions("ada")} == {"s-1", "mcp"}


@pytest.mark.anyio
async def test_the_owner_is_fixed_whatever_a_client_says() -> None:
    async with served() as (runtime, client):
        theirs = await runtime.remember(f"Bob's word is {SECRET}.", user="bob")
        await runtime.remember(f"Another ada's word is {SECRET}.", user="ada", tenant="t")
        for tool, arguments in {
            "recall": {"query": SECRET},
            "list": {},
            "context": {"query": SECRET},
            "remember": {"text": "x is y"},
            "edit": {"id": theirs.id, "text": "x is y"},
            "forget": {"id": theirs.id},
        }.items():
            for key in ("user", "tenant", "owner"):
                line = await refused(client, tool, {**arguments, key: "bob"})
                assert key in line
                assert "bob" not in line
        for tool, arguments in (("recall", {"query": SECRET}), ("list", {}), ("context", {"query": SECRET})):
            assert SECRET not in json.dumps(await told(client, tool, **arguments))
        assert "no item" in await refused(client, "edit", {"id": theirs.id, "text": "x is y"})
        assert "no item" in await refused(client, "forget", {"id": theirs.id})
        assert await runtime.item(theirs.id, user="bob") == theirs


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("recall", {}, "missing required field `query`"),
        ("recall", {"query": 7}, "Expected `str`"),
        ("recall", {"query": "x", "limit": 0}, ">= 1"),
        ("recall", {"query": "x", "limit": "ten"}, "`$.limit`"),
        ("recall", {"query": "x", "at": "2026-01-01T00:00:00"}, "timezone"),
        ("recall", {"query": "长" * 9_000}, "8000 characters"),
        ("list", {"kinds": ["folk"]}, "`$.kinds[0]`"),
        ("list", {"offset": -1}, ">= 0"),
        ("remember", {"text": " "}, "1 to 16000 characters"),
        ("remember", {"text": "x", "expires": "2001-01-01T00:00:00Z"}, "future"),
        ("remember", {"text": "x", "importance": 2}, "<= 1"),
        ("remember", {"text": "x", "attribute": "\n"}, "control character"),
        ("edit", {"id": "m1", "text": ""}, "a memory must be text"),
        ("edit", {"id": "m77", "text": "x"}, "no item"),
        ("forget", {"id": "m77"}, "no item"),
        ("forget", {"id": "m1", "sources": "shred"}, "`$.sources`"),
    ],
)
async def test_what_is_wrong_is_one_line_and_changes_nothing(
    tool: str, arguments: dict[str, Any], expected: str
) -> None:
    async with served() as (runtime, client):
        before = await runtime.remember("Ada likes tea.", user="ada")
        assert expected in await refused(client, tool, arguments)
        assert await runtime.items("ada", history=True) == (before,)
        assert len(await told(client, "list")) == 2


@pytest.mark.anyio
async def test_tools_say_what_they_do_and_their_answers_keep_their_schemas() -> None:
    async with served() as (_, client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == TOOLS
        for name, tool in tools.items():
            assert tool.annotations is not None
            assert tool.description
            assert tool.annotations.read_only_hint is (name in ("recall", "list", "context"))
            assert tool.annotations.open_world_hint is False
            assert bool(tool.annotations.destructive_hint) is (name in ("edit", "forget"))
            assert tool.input_schema["type"] == "object"
            assert tool.input_schema["additionalProperties"] is False
            assert not {"user", "tenant"} & set(tool.input_schema["properties"])
            assert tool.output_schema is not None
            assert tool.output_schema["type"] == "object"
        with pytest.raises(MCPError, match="there is no such tool"):
            await client.call_tool("drop_all", {})


@pytest.mark.anyio
async def test_a_fault_of_ours_is_told_by_its_type_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served() as (runtime, client):

        async def broken(*_: object, **__: object) -> None:
            raise RuntimeError(SECRET)

        monkeypatch.setattr(runtime, "recall", broken)
        assert await refused(client, "recall", {"query": "x"}) == "recall failed: RuntimeError"
        assert (await told(client, "list"))["total_count"] == 0


# --- as a child -------------------------------------------------------------------------------------------


def arguments(folder: Path, *more: str) -> list[str]:
    given = ["mcp", str(folder), "--embedder", "hashing", *more]
    return ["-W", "error", "-m", "actormem.cli.main", *given]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_over_stdio_as_a_child_two_users_of_a_folder_see_their_own(tmp_path: Path) -> None:
    async def asked(user: str) -> None:
        given = arguments(tmp_path / "memory", "--user", user)
        child = StdioServerParameters(command=sys.executable, args=given, env=environment())
        async with Client(child) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            await told(client, "remember", text=f"{user} 住在杭州。" if user == "ada" else "I like tea.")
            found = await told(client, "recall", query="杭州 tea")
            assert {hit["item"]["id"] for hit in found["hits"]} == {"m1" if user == "ada" else "m2"}
            assert "unknown field" in await refused(client, "list", {"user": "ada"})

    for user in ("ada", "bob"):
        anyio.run(asked, user)


@contextmanager
def started(folder: Path, *more: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A child that serves; ended when the block is left."""
    child = subprocess.Popen(
        [sys.executable, *arguments(folder, "--user", "ada", *more)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        yield child
    finally:
        child.kill()
        child.wait(20)
        for stream in (child.stdin, child.stdout, child.stderr):
            stream.close()


def test_over_http_it_serves_loopback_alone_and_ctrl_c_leaves_the_folder_whole(tmp_path: Path) -> None:
    with started(tmp_path / "memory", "--http", "0") as child:
        assert child.stderr is not None
        line = child.stderr.readline().decode().strip()
        url = line.removeprefix("actormem mcp: ")
        assert url.startswith("http://127.0.0.1:")

        async def asked(mode: str) -> None:
            async with Client(url, mode=mode) as client:
                await told(client, "remember", text="Ada lives in Paris.", attribute="address", value="Paris")
                found = await told(client, "recall", query="Where does Ada live?")
                assert found["hits"][0]["item"]["value"] == "Paris"
                assert "unknown field" in await refused(client, "list", {"tenant": "t"})

        for mode in ("auto", "legacy"):
            anyio.run(asked, mode)
        accepts = {"Accept": "application/json, text/event-stream"}
        for header in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            answer = httpx.post(url, json=INITIALIZE, headers={**accepts, **header})
            assert answer.status_code in (403, 421)
        with httpx.stream("POST", url, json=INITIALIZE, headers=accepts) as stream:
            assert stream.status_code == 200
            child.send_signal(signal.SIGINT)
        assert child.wait(20) == 130
        assert b"Traceback" not in child.stderr.read()

    async def look() -> None:
        async with actormem.open(tmp_path / "memory", embedder="hashing") as runtime:
            [item] = await runtime.items("ada")
            assert (item.value, item.seen_count) == ("Paris", 2)

    anyio.run(look)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_on_stdio_a_signal_ends_it_while_it_waits_for_a_line(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    with started(tmp_path / "memory") as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(json.dumps(INITIALIZE).encode() + b"\nnot json\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["result"]["serverInfo"]["name"] == "actormem"
        child.send_signal(number)
        assert child.wait(20) == code
        assert b"Traceback" not in child.stderr.read()


def line_of(capsys: pytest.CaptureFixture[str], *given: str) -> tuple[int, str]:
    try:
        code = command.main(["mcp", *given])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return code, printed.err


def test_a_wrong_call_of_the_command_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "memory")
    for given, expected in (
        ([folder], "--user"),
        ([folder, "--user", "ada", "--http", "99999"], "a port from 0 to 65535"),
        ([folder, "--user", "ada", "--http", "0.0.0.0:80"], "a port from 0 to 65535"),
        ([folder, "--user", "a\nb", "--embedder", "hashing"], "control character"),
        ([folder, "--user", "ada", "--embedder", "none:x"], "embedder"),
    ):
        code, line = line_of(capsys, *given)
        assert (code, expected in line) == (2, True), line
    monkeypatch.delitem(sys.modules, "actormem.integrations.mcp")
    monkeypatch.setitem(sys.modules, "mcp", None)
    code, line = line_of(capsys, folder, "--user", "ada", "--embedder", "hashing")
    assert (code, "pip install 'actormem[mcp]'" in line) == (2, True)


def test_the_example_prints_what_was_remembered() -> None:
    assert printed_by("actormem.integrations.mcp") == "Ada is allergic to peanuts.\n"
