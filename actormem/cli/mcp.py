"""`actormem mcp`: one user's memory for any MCP client, on stdin and stdout or on a loopback port.

Law: stdout belongs to the protocol; what is said to a person goes to stderr, and no word of a memory with it.
"""

import argparse
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import anyio

import actormem
from actormem import UsageError
from actormem.cli.lines import Lines
from actormem.cli.place import folder_or_url

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["add_mcp", "mcp"]

HOST = "127.0.0.1"  # it has no key: nobody else may reach it
LEAVE_S = 1  # an open stream is cut off this long after Ctrl-C
PORT_MAX = 65_535
ABOUT = """\
Serves the memory of one user to any client of the Model Context Protocol: the tools remember, recall, list, edit,
forget and context. Whose memory it is is said here and nowhere else; no tool takes another user.

It speaks on stdin and stdout, as clients that start it want it, or with --http on a port of this machine alone.
No other process may have the folder open."""
EXAMPLES = """\
examples:
  actormem mcp memory/ --user ada
  actormem mcp memory/ --user ada --http 8765        then: http://127.0.0.1:8765/mcp

in the configuration of a client:
  {"mcpServers": {"memory": {"command": "actormem", "args": ["mcp", "/path/to/memory", "--user", "ada"]}}}
"""


def add_mcp(add_parser: Callable[..., argparse.ArgumentParser], epilog: str) -> None:
    """Let the command line understand it."""
    serve = add_parser(
        "mcp",
        help="serve one user's memory to MCP clients",
        description=ABOUT,
        epilog=f"{EXAMPLES}\n{epilog}",
    )
    serve.add_argument(
        "folder",
        type=folder_or_url,
        metavar="FOLDER",
        help="of the memory, or the URL of a database; made where it is missing",
    )
    serve.add_argument("--user", required=True, metavar="USER", help="whose memory")
    serve.add_argument("--tenant", default="", metavar="TENANT", help="whose user it is (default: none)")
    serve.add_argument("--embedder", metavar="NAME", help="as in actormem.open (default: the local one)")
    serve.add_argument("--llm", metavar="NAME", help="as in actormem.open, e.g. openai:gpt-4o-mini")
    serve.add_argument(
        "--http", type=_port, metavar="PORT", help=f"streamable HTTP on {HOST}; 0 takes a free port"
    )
    serve.set_defaults(run=mcp)


async def mcp(options: argparse.Namespace) -> int:
    """Serve until the client leaves or a signal comes; 0 then, 130 after Ctrl-C, 1 where the client broke off."""
    try:
        from actormem.integrations.mcp import memory_server
    except ImportError as missing:
        raise UsageError(str(missing)) from None
    given = {"embedder": options.embedder, "llm": options.llm}
    async with actormem.open(options.folder, **given) as runtime:
        await runtime.sessions(options.user, tenant=options.tenant)  # refuses what is no user
        server = memory_server(runtime, user=options.user, tenant=options.tenant)
        if options.http is None:
            return await _on_stdio(server)
        return await _on_http(server, options.http)


async def _on_stdio(server: "Server[dict[str, Any]]") -> int:
    from mcp.server.stdio import stdio_server

    code, refused = 0, list[BaseException]()
    async with anyio.create_task_group() as group:

        async def until_signal() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                async for number in signals:
                    code = 130 if number == signal.SIGINT else 0
                    group.cancel_scope.cancel()
                    return

        group.start_soon(until_signal)
        try:
            lines = cast("anyio.AsyncFile[str]", Lines(sys.stdin.fileno()))
            async with stdio_server(stdin=lines) as (read_stream, write_stream):
                await server.run(read_stream, write_stream, server.create_initialization_options())
        except* BrokenPipeError:
            code = 1
        except* UsageError as errors:
            refused += errors.exceptions
        group.cancel_scope.cancel()
    if refused:
        raise UsageError(f"the client was left: {refused[0]}")
    return code


async def _on_http(server: "Server[dict[str, Any]]", port: int) -> int:
    import uvicorn

    class Listening(uvicorn.Server):
        """Leaves on a signal without sending it again: the memory is to be closed in between."""

        signalled = 0

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            before = {
                number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
            }
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.signalled = sig
            super().handle_exit(sig, frame)

    with socket.create_server((HOST, port)) as listener:
        config = uvicorn.Config(
            server.streamable_http_app(host=HOST),
            log_level="warning",
            timeout_graceful_shutdown=LEAVE_S,
        )
        print(f"actormem mcp: http://{HOST}:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
        listening = Listening(config)
        await listening.serve(sockets=[listener])
    return 130 if listening.signalled == signal.SIGINT else 0


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > PORT_MAX:
        raise argparse.ArgumentTypeError(f"must be a port from 0 to {PORT_MAX}, not {text!r}")
    return int(text)
