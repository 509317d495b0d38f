"""`actormem`: one command, its subcommands, and what its exit code says.

0: all went well. 1: it ran, and something of it failed. 2: the call was wrong and nothing was done. 130: Ctrl-C.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import anyio

from actormem import ActorMemError
from actormem.cli.demo import demo
from actormem.cli.replay import replay

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        return anyio.run(partial(options.run, options))
    except (ActorMemError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        print(f"actormem: {one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("actormem: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; nothing is left to say
        return 1


def parser() -> argparse.ArgumentParser:
    """What the command line understands."""
    top = argparse.ArgumentParser(
        prog="actormem", description="The conversation memory of LLM agents: try it, and try it on your logs."
    )
    top.add_argument("--version", action="version", version=f"actormem {version('actormem')}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    show = commands.add_parser(
        "demo", help="play a bundled support conversation and probe what is remembered"
    )
    show.add_argument("--folder", type=Path, help="keep the memory here (default: a temporary folder)")
    show.add_argument("--budget", type=positive, default=2_000, metavar="TOKENS", help="of a context (2000)")
    show.set_defaults(run=demo)

    play = commands.add_parser("replay", help="play an OpenAI-format log: what would the model have seen?")
    play.add_argument("log", type=Path, help='a JSON list of messages, or JSONL of {"messages": [...]}')
    play.add_argument("--budget", type=positive, required=True, metavar="TOKENS", help="of a context")
    play.add_argument("--model", default="", help="whose tokens are counted (default: o200k_base)")
    play.add_argument("--system", help="a system prompt that takes the place of the log's own")
    play.add_argument(
        "--out", type=Path, metavar="FILE", help="write every context and trace there, as JSONL"
    )
    play.set_defaults(run=replay)
    return top


def positive(text: str) -> int:
    """A whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, not {text!r}")
    return number


def one_line(error: BaseException) -> str:
    """The error's words, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror.lower()}: {error.filename}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
