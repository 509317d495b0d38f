"""`actormem chat`: a conversation in the terminal, with memory, against any server that speaks OpenAI's protocol."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from actormem import UNSET, Budget, Runtime, Session, UsageError
from actormem.cli.lines import Lines
from actormem.cli.place import add_embedder, add_place, memory_at, positive, waiting
from actormem.cli.talk import COMMANDS, Talk

__all__ = ["add_chat", "chat"]

ABOUT = """\
Talks to a model, and remembers. Replies are streamed to stdout, what goes wrong is told on stderr:
questions may be piped in. The same user and session go on where they were. Without --base-url and
OPENAI_BASE_URL the server is OpenAI's; its key is OPENAI_API_KEY. Ctrl-C ends a reply and keeps
its part; twice, or Ctrl-D, leaves."""
EXAMPLES = f"""\
in the conversation:
{COMMANDS}
examples:
  actormem chat memory/ --model gpt-4o-mini --user ada
  actormem chat memory/ --model qwen3 --base-url http://127.0.0.1:11434/v1 --budget 4000
  actormem chat unix:/run/app/memory.sock --model gpt-4o --user ada --session support
"""


def add_chat(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Let the command line understand it."""
    talk = add_parser("chat", help="talk to a model, with memory", description=ABOUT)
    talk.epilog = f"{EXAMPLES}\n{talk.epilog}"
    add_place(talk, made=True, user="me")
    talk.add_argument("--model", required=True, metavar="NAME", help="at the server")
    talk.add_argument(
        "--base-url", metavar="URL", help="of the server, such as http://127.0.0.1:11434/v1 (OPENAI_BASE_URL)"
    )
    talk.add_argument("--session", default="chat", metavar="ID", help="which conversation (default: chat)")
    talk.add_argument(
        "--budget", type=positive, metavar="TOKENS", help="of a context (default: as it was; 4096 at first)"
    )
    talk.add_argument(
        "--system", metavar="TEXT", help="the system prompt (default: as it was; none at first)"
    )
    talk.add_argument(
        "--llm", metavar="openai:MODEL", help="writes summaries and finds facts (default: rules)"
    )
    add_embedder(talk)
    talk.set_defaults(run=chat)


async def chat(options: argparse.Namespace) -> int:
    """Talk until the person leaves; 0 then, 1 where a reply did not come, 130 after Ctrl-C."""
    settings: dict[str, Any] = {
        "model": options.model,
        "budget": UNSET if options.budget is None else Budget(context=options.budget),
        "system": UNSET if options.system is None else options.system,
    }

    async def spawned(runtime: Runtime) -> Session:
        return await runtime.spawn(options.session, user=options.user, tenant=options.tenant, **settings)

    with waiting("loading the client"):
        client = _client(options.base_url)
    async with client, memory_at(options, tried=spawned) as runtime:
        talk = Talk(runtime, await spawned(runtime), client, Lines(sys.stdin.fileno()))
        return await talk.run(greets=sys.stdin.isatty())


def _client(base_url: str | None) -> Any:
    import openai

    url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(f"the server's URL must begin with http:// or https://, not {url!r}")
    key = os.environ.get("OPENAI_API_KEY") or ("none" if url else None)
    if key is None:
        raise UsageError(
            "OpenAI's server needs OPENAI_API_KEY", hint="or name another server with --base-url"
        )
    return openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0)
