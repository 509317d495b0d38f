"""Where the memory is that a command speaks of, whose it is, and what is said while a person waits for it."""

import argparse
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import NoReturn, cast

import actormem
from actormem import ProviderError, Runtime, UsageError
from actormem.verifying import is_memory

__all__ = [
    "NoEmbedder",
    "add_embedder",
    "add_place",
    "folder_or_url",
    "memory_at",
    "missing",
    "positive",
    "shown",
    "waiting",
]

PATIENCE_S = 1.0  # what takes longer says so
SERVERS = ("http://", "https://", "unix:")
DATABASES = ("postgresql://", "postgres://")


class NoEmbedder:
    """Embeds nothing, so that looking at a folder leaves its vectors as they are."""

    name = "none"
    dimensions = 1

    async def start(self) -> None:
        """There is nothing to load."""

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def embed(self, texts: Sequence[str]) -> NoReturn:
        """Refuse."""
        raise ProviderError(f"{len(texts)} texts are not embedded by this command", provider=self.name)


def add_place(look: argparse.ArgumentParser, *, made: bool = False, user: str | None = None) -> None:
    """Let a command understand where the memory is, and whose.

    Args:
        made: Whether the folder is made where it is missing.
        user: Who it is where nobody is named; None: somebody must be.
    """
    what = "of the memory, the URL of a database, or that of an actormem serve"
    look.add_argument(
        "folder", metavar="FOLDER", help=f"{what}; a folder is made where it is missing" if made else what
    )
    default = "" if user is None else f" (default: {user})"
    look.add_argument(
        "--user", required=user is None, default=user, metavar="USER", help=f"whose memory{default}"
    )
    look.add_argument("--tenant", default="", metavar="TENANT", help="whose user it is (default: none)")


def add_embedder(look: argparse.ArgumentParser) -> None:
    """Let a command understand which embedder the folder is used with."""
    look.add_argument(
        "--embedder", metavar="NAME", help="the one the folder is used with (default: the one in the wheel)"
    )


@asynccontextmanager
async def memory_at(
    options: argparse.Namespace,
    *,
    embeds: bool = True,
    tried: Callable[[Runtime], Awaitable[object]] | None = None,
) -> AsyncGenerator[Runtime]:
    """The memory that the options name: a folder, or one that a server has open.

    Args:
        embeds: Whether anything may be embedded; if not, the folder's vectors stay as they are.
        tried: Done with an empty memory before a missing one is made, so that a wrong call makes none; None: a
            missing one is refused.

    Raises:
        UsageError: There is no memory, another process has it, or what was tried is refused.
    """
    place: str = options.folder
    named = {name: getattr(options, name, None) for name in ("embedder", "llm")}
    given: dict[str, object] = {name: value for name, value in named.items() if value}
    if place.startswith(SERVERS):
        if given:
            raise UsageError(f"--{next(iter(given))} is the server's: tell actormem serve of it")
        opening = actormem.connect(place)
    else:
        if not await is_memory(place):
            if tried is None:
                raise missing(place)
            async with actormem.open(None, embedder=NoEmbedder()) as empty:
                await tried(empty)
        given = given if embeds else {"embedder": NoEmbedder()}
        opening = cast("Callable[..., AbstractAsyncContextManager[Runtime]]", actormem.open)(place, **given)
    async with AsyncExitStack() as stack:
        with waiting(f"opening {shown(place)}"):
            runtime = await stack.enter_async_context(opening)
        yield cast("Runtime", runtime)
        with waiting(f"closing {shown(place)}"):
            await stack.aclose()


def folder_or_url(text: str) -> Path | str:
    """A folder, or the URL of a database as it is."""
    return text if text.startswith(DATABASES) else Path(text)


def missing(place: Path | str) -> UsageError:
    """The error of a command that looks at a memory where there is none."""
    kind = "schema" if str(place).startswith(DATABASES) else "folder"
    return UsageError(f"no memory is in the {kind} {shown(place)}")


def shown(place: Path | str) -> str:
    """The place as it may be printed: of a database's URL no password, nor its query, which may hold one."""
    text = str(place)
    if not text.startswith(DATABASES):
        return text
    where = text.partition("://")[2]
    user, at, rest = where.partition("@")
    if "/" in user or not at:  # libpq's way to read it
        user, at, rest = "", "", where
    bare = rest.partition("?")[0]
    if "@" in bare:
        return "a database"  # a / or @ in the password: what follows is of it
    return f"postgresql://{user.partition(':')[0]}{at}{bare}"


@contextmanager
def waiting(doing: str) -> Generator[None]:
    """Say on a terminal what is being done, once it has taken a second, and for how long."""
    if not sys.stderr.isatty():
        yield
        return
    done = Event()

    def tell() -> None:
        seconds = 0
        while not done.wait(PATIENCE_S):
            seconds += 1
            print(f"\r{doing} … {seconds} s", end="", file=sys.stderr, flush=True)
        if seconds:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def positive(text: str) -> int:
    """A whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, not {text!r}")
    return number
