"""The promises of `actormem.ports.Warmer`, over any warmer: `await check(make)`.

`make` is given the `Server` that the warmer is to find, and gives the warmer in front of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

from actormem.core.values import JsonValue
from actormem.errors import ProviderError
from actormem.ports import Warmer
from actormem.testing.contracts.checks import AsyncCheck, BrokenPromiseError, promised, require, same
from actormem.testing.contracts.llm import LONG_S, MESSAGES, SHORT_S, told
from actormem.testing.contracts.servers import PROMPT, Behaviour, Server, holds_no_secret, lets_go

__all__ = ["WARMER", "MakeWarmer"]

MakeWarmer: TypeAlias = Callable[[Server], Warmer]
MODEL: Final = "gpt-4o"
TOOLS: Final[list[dict[str, JsonValue]]] = [
    {"type": "function", "function": {"name": "find_parcel", "parameters": {"type": "object"}}}
]


@asynccontextmanager
async def made(make: MakeWarmer, server: Server) -> AsyncGenerator[Warmer, None]:
    warmer = make(server)
    try:
        yield warmer
    finally:
        await warmer.aclose()


async def warmed(warmer: Warmer, deadline_s: float = LONG_S) -> None:
    await warmer.warm(MODEL, MESSAGES, TOOLS, deadline_s=deadline_s)


async def fails(make: MakeWarmer, behaviour: Behaviour, deadline_s: float = LONG_S) -> None:
    async with made(make, Server(behaviour)) as warmer:
        try:
            await warmed(warmer, deadline_s)
        except ProviderError as error:
            holds_no_secret(error)
        else:
            raise BrokenPromiseError(f"with a server that is `{behaviour}` nothing was raised")


@promised("Warmer", 1)
async def one_request_holds_the_messages_and_the_tools(make: MakeWarmer) -> None:
    """`warm` sends one request with exactly these messages and tools."""
    server = Server("answers")
    async with made(make, server) as warmer:
        await warmed(warmer)
    same(len(server.requests), 1, "the number of requests")
    for words in (PROMPT, "find_parcel"):
        require(words in told(server), f"{words!r} is not in the request")


@promised("Warmer", 2)
async def a_server_that_hangs_is_left_at_the_deadline(make: MakeWarmer) -> None:
    """It returns or raises within `deadline_s` when the server says nothing."""
    await fails(make, "hangs", SHORT_S)


@promised("Warmer", 2)
async def a_server_that_drips_is_left_at_the_deadline(make: MakeWarmer) -> None:
    """It returns or raises within `deadline_s` when the server sends a byte at a time and never ends."""
    await fails(make, "drips", SHORT_S)


@promised("Warmer", 2)
async def a_cancelled_caller_does_not_wait(make: MakeWarmer) -> None:
    """It stops when its caller is cancelled."""
    server = Server("hangs")
    async with made(make, server) as warmer:
        await lets_go(server, partial(warmed, warmer))


@promised("Warmer", 3)
async def a_refusal_is_a_provider_error_without_prompt_or_key(make: MakeWarmer) -> None:
    """A failure is a ProviderError; it holds no prompt text and no key, though the server repeats both."""
    await fails(make, "refuses")


@promised("Warmer", 3)
async def a_server_that_is_gone_is_a_provider_error(make: MakeWarmer) -> None:
    """A server that cannot be reached is a ProviderError."""
    await fails(make, "gone")


WARMER: Final[tuple[AsyncCheck[[MakeWarmer]], ...]] = (
    one_request_holds_the_messages_and_the_tools,
    a_server_that_hangs_is_left_at_the_deadline,
    a_server_that_drips_is_left_at_the_deadline,
    a_cancelled_caller_does_not_wait,
    a_refusal_is_a_provider_error_without_prompt_or_key,
    a_server_that_is_gone_is_a_provider_error,
)
"""One check for each promise and each way a server can fail."""
