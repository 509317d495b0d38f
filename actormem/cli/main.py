"""`actormem`: one command, its subcommands, and what its exit code says.

Law: what goes wrong is one line on stderr, never a traceback; figures and contexts go to stdout, progress and
faults to stderr, so that either can be piped.
"""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import anyio

from actormem import ActorMemError
from actormem.cli.bench import add_bench
from actormem.cli.chat import add_chat
from actormem.cli.checkup import add_checkup
from actormem.cli.completion import add_completion
from actormem.cli.demo import demo
from actormem.cli.mcp import add_mcp
from actormem.cli.memories import add_memories
from actormem.cli.place import positive
from actormem.cli.replay import replay
from actormem.cli.serve import add_key_command, add_serve
from actormem.cli.show import one_line
from actormem.cli.stress import add_stress
from actormem.cli.transfer import add_export, add_import
from actormem.cli.verify import add_verify

__all__ = ["main", "parser"]

EXIT_CODES = """\
exit codes:
  0    all went well
  1    it ran, and something of it failed: a probe, a line of the log, a reply, the reader of its
       output, something is wrong with the memories or their folder and not repaired,
       or a figure is worse than it may be
  2    the call was wrong, and nothing was done
  130  Ctrl-C
"""
DEMO = """\
Plays a bundled bilingual support conversation of 72 turns, tool calls included, through a real
runtime: no LLM, no key, no network. Prints the tokens sent against those of the full history,
compactions, latency and prefix share; then asks six questions and shows the line of the context
that answers each; then reopens the folder and asks again, as the same user and as another one."""
REPLAY = """\
Plays a log of yours and says what the model would have seen at each call: a context is built
before every message of the assistant. Everything stays in this process's memory; nothing is kept."""
LOG = """\
the log is one of:
  a JSON list of messages                      [{"role": "user", "content": "..."}, ...]
  a JSON object with messages                  {"id": "...", "messages": [...], "tools": [...]}
  JSONL, one such object a line                each a conversation of its own

--out writes one JSON object a line for every call:
  conversation, turn, tokens, sections, messages, trace
"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End the process with it."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Chinese still shows the rest
    options = parser().parse_args(arguments)
    try:
        code = anyio.run(partial(options.run, options))
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return 1
    except (ActorMemError, OSError) as error:
        print(f"actormem: {one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("actormem: stopped", file=sys.stderr)
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """What the command line understands."""
    top = Parser(
        prog="actormem",
        description="The conversation memory of LLM agents: try it, and try it on your logs.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"actormem {version('actormem')}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    raw = argparse.RawDescriptionHelpFormatter
    add = partial(commands.add_parser, epilog=EXIT_CODES, formatter_class=raw)
    _add_demo(add)
    _add_replay(add)
    add_bench(add)
    add_chat(add)
    add_checkup(add)
    add_completion(add, parser)
    add_export(add)
    add_import(add)
    add_key_command(add)
    add_mcp(partial(commands.add_parser, formatter_class=raw), EXIT_CODES)
    add_memories(add, Parser)
    add_serve(add)
    add_stress(add)
    add_verify(add)
    return top


def _add_demo(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    show = add_parser(
        "demo",
        help="play a bundled support conversation and probe what is remembered",
        description=DEMO,
    )
    show.add_argument(
        "--folder", type=Path, help="keep the memory here; may be used again (default: a temporary folder)"
    )
    show.add_argument(
        "--budget", type=positive, default=2_000, metavar="TOKENS", help="of a context (default: 2000)"
    )
    show.set_defaults(run=demo)


def _add_replay(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    play = add_parser(
        "replay",
        help="play an OpenAI-format log: what would the model have seen?",
        description=REPLAY,
    )
    play.epilog = f"{LOG}\n{play.epilog}"
    play.add_argument("log", type=Path, metavar="LOG", help="the file; JSON or JSONL")
    play.add_argument(
        "--budget", type=positive, required=True, metavar="TOKENS", help="of a context; at least 64"
    )
    play.add_argument(
        "--model", default="", metavar="NAME", help="whose tokens are counted (default: o200k_base)"
    )
    play.add_argument(
        "--system", metavar="TEXT", help="a system prompt that takes the place of the log's own"
    )
    play.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write contexts and traces there, as JSONL (default: print them)",
    )
    play.set_defaults(run=replay)


def _silence() -> None:
    """Whoever read our output has gone: what is left of it goes nowhere, at the interpreter's end too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            try:
                stream.flush()
            except BrokenPipeError:
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
