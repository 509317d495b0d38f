"""`actormem serve`: one memory over HTTP, for workers, for other languages and for any OpenAI client.
`actormem key`: a key for those who reach it from elsewhere.

Law: what is printed is where it listens and what was left at the end, never a word of a memory; a key is told once.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import actormem
from actormem import Budget, Runtime, UsageError
from actormem.cli.place import folder_or_url, shown

if TYPE_CHECKING:
    import socket

__all__ = ["add_key_command", "add_serve", "key", "serve"]

HOST = "127.0.0.1"
PORT = 8377
ABOUT = """\
Opens a folder and serves it: a page at / for people, REST under /api (see /openapi.json), live events at /api/events,
and with --upstream a proxy at /v1: any OpenAI client gets memory by its base_url and two headers, X-Actormem-User and
X-Actormem-Session. Several workers share one memory by actormem.connect(URL). It listens to this machine alone, unless
there are keys."""
EXAMPLES = """\
examples:
  actormem serve memory/                                    page and REST for this machine
  actormem serve memory/ --unix /run/app/memory.sock        for the workers of this user
  actormem serve memory/ --upstream https://api.openai.com/v1
  actormem key keys.json --name shop --tenant shop --all-users
  actormem serve memory/ --host 0.0.0.0 --keys keys.json
"""
ABOUT_KEY = """\
Draws a key, writes its hash into the file (made where it is missing) and prints the key, which nobody can tell again.
With --user it opens that user's memory alone; with --all-users that of every user of the tenant."""


def add_serve(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    look = add_parser("serve", help="serve a memory over HTTP", description=ABOUT)
    look.epilog = f"{EXAMPLES}\n{look.epilog}"
    look.add_argument(
        "folder",
        type=folder_or_url,
        metavar="FOLDER",
        help="of the memory, or the URL of a database; made where it is missing",
    )
    look.add_argument("--host", metavar="ADDRESS", help=f"default: {HOST}")
    look.add_argument("--port", type=int, metavar="N", help=f"default: {PORT}; 0: any that is free")
    look.add_argument("--unix", type=Path, metavar="PATH", help="listen on a Unix socket instead")
    look.add_argument("--keys", type=Path, metavar="FILE", help="ask for a key; see actormem key")
    look.add_argument(
        "--rate", type=float, default=100.0, metavar="N", help="requests a second of a key; 0: any"
    )
    look.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="another name of the server"
    )
    look.add_argument("--body-mb", type=int, default=16, metavar="N", help="of a request (default: 16)")
    look.add_argument(
        "--llm", metavar="openai:MODEL", help="writes summaries and finds facts (default: rules)"
    )
    look.add_argument("--embedder", metavar="NAME", help="default: the one that ships with actormem")
    look.add_argument("--budget", type=int, metavar="TOKENS", help="of contexts that the proxy builds")
    look.add_argument("--upstream", default="", metavar="URL", help="an OpenAI-compatible server, for /v1")
    look.add_argument(
        "--upstream-key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="the variable that holds its key, where clients send none of their own (default: OPENAI_API_KEY)",
    )
    look.add_argument(
        "--drain", type=float, default=10.0, metavar="SECONDS", help="requests have after a signal"
    )
    look.set_defaults(run=serve)


def add_key_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    draw = add_parser("key", help="draw a key for actormem serve", description=ABOUT_KEY)
    draw.add_argument("file", type=Path, metavar="FILE", help="of keys")
    draw.add_argument("--name", required=True, metavar="NAME", help="what logs call it")
    draw.add_argument("--tenant", default="", metavar="TENANT", help="whose users (default: none)")
    whose = draw.add_mutually_exclusive_group(required=True)
    whose.add_argument("--user", metavar="USER", help="the one user whose memory it opens")
    whose.add_argument("--all-users", action="store_true", help="all users of the tenant")
    draw.set_defaults(run=key)


async def serve(options: argparse.Namespace) -> int:
    """Serve until a signal comes; 130 after Ctrl-C, else 0."""
    parts = _parts()
    if options.drain < 0 or options.rate < 0 or options.body_mb < 1:
        raise UsageError("--drain and --rate must not be below 0, and --body-mb not below 1")
    if options.unix is not None and (options.host, options.port) != (None, None):
        raise UsageError("--unix goes without --host and --port: it is where the server listens")
    host, port = options.host or HOST, PORT if options.port is None else options.port
    settings = parts.settings(
        body_bytes_max=options.body_mb * 1024 * 1024,
        upstream=options.upstream,
        upstream_key=os.environ.get(options.upstream_key_env, "") if options.upstream else "",
        budget_tokens=None if options.budget is None else Budget(context=options.budget).context,
    )
    keys = None if options.keys is None else parts.read_keys(options.keys)
    with closing(parts.bound(options.unix, host, port)) as bound:
        try:
            if keys is None and not parts.is_local(bound):
                raise UsageError(
                    f"{host} can be reached from elsewhere, and there is no key",
                    hint="give --keys FILE, made by `actormem key`",
                )
            async with actormem.open(options.folder, llm=options.llm, embedder=options.embedder) as runtime:
                bound.listen()  # who reads the line below may come at once
                print(f"actormem: serving {shown(options.folder)} at {parts.address_of(bound)}", flush=True)
                drained = await parts.run(runtime, settings, keys, bound, options)
        finally:
            if options.unix is not None:
                options.unix.unlink(missing_ok=True)
    print(f"actormem: stopped; {_left(drained, runtime)}", file=sys.stderr)
    return 130 if drained.signal == signal.SIGINT else 0


async def key(options: argparse.Namespace) -> int:
    """Draw it."""
    user = None if options.all_users else options.user
    print(_parts().add_key(options.file, name=options.name, tenant=options.tenant, user=user))
    return 0


class Parts:
    """What `actormem[server]` brings, imported when it is asked for, and all of it before anything is opened."""

    def __init__(self) -> None:
        from actormem.server import (
            application,
            door,
            grants,
            listening,
            metrics,
            pages,
            rates,
            serving,
            settings,
            state,
        )

        self.settings = settings.ServerSettings
        self.read_keys, self.add_key = grants.read_keys, grants.add_key
        self.is_local, self.address_of = listening.is_local, listening.address_of
        self._application, self._state = application.application, state.ServerState
        self._tcp, self._unix, self._serve = listening.tcp_socket, listening.unix_socket, serving.serve
        self._local_hosts, self._rates, self._pages = door.local_hosts, rates.Rates, pages
        self._measured = metrics.measured

    def bound(self, unix: Path | None, host: str, port: int) -> "socket.socket":
        """The socket."""
        return self._tcp(host, port) if unix is None else self._unix(unix)

    async def run(
        self,
        runtime: Runtime,
        settings: Any,
        keys: Any,
        bound: "socket.socket",
        options: argparse.Namespace,
    ) -> Any:
        """Serve."""
        local = self.is_local(bound) and options.unix is None
        shared = self._state(runtime, settings)
        with self._measured(runtime) as route:
            made = self._application(
                shared,
                keys=keys,
                rates=self._rates(options.rate, time.monotonic),
                hosts=self._local_hosts(options.allow_host) if local else options.allow_host,
                pages=[route, *self._pages.page_routes()],
                open_paths=self._pages.page_paths(),
            )
            return await self._serve(shared, made, bound, drain_s=options.drain)


def _parts() -> Parts:
    try:
        return Parts()
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"serving needs {missing.name}, which is not installed", hint="pip install 'actormem[server]'"
        ) from None


def _left(drained: Any, runtime: Runtime) -> str:
    """What was left, in one line of numbers."""
    remaining = runtime.remaining
    parts = [f"{drained.cut_off} requests cut off", f"{drained.turns_left} turns ended without a reply"]
    if remaining is not None:
        parts.append(
            f"for the next start: {remaining.summaries} summaries, {remaining.extractions} messages to be read, "
            f"{remaining.erasures} erasures, {remaining.sessions_behind} sessions to be taken in"
        )
    return "; ".join(parts)
