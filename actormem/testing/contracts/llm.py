"""The promises of `actormem.ports.LLM`, over any chat model: `await check(make)`.

`make` is given the `Server` that the model is to find, and gives the model in front of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

import msgspec

from actormem import ports
from actormem.core.values import JsonValue
from actormem.errors import ProviderError
from actormem.testing.contracts.checks import AsyncCheck, BrokenPromiseError, promised, require
from actormem.testing.contracts.servers import PROMPT, Behaviour, Server, holds_no_secret, lets_go

__all__ = ["LLM", "MakeLLM"]

MakeLLM: TypeAlias = Callable[[Server], ports.LLM]
MESSAGES: Final[list[dict[str, JsonValue]]] = [{"role": "user", "content": PROMPT}]
SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {"facts": {"type": "array"}},
    "required": ["facts"],
}
LONG_S: Final = 30.0  # a deadline that is not met by chance
SHORT_S: Final = 0.1  # a deadline that runs out


@asynccontextmanager
async def made(make: MakeLLM, server: Server) -> AsyncGenerator[ports.LLM, None]:
    llm = make(server)
    try:
        yield llm
    finally:
        await llm.aclose()


async def asked(llm: ports.LLM, deadline_s: float = LONG_S) -> str:
    return await llm.complete(MESSAGES, tokens_max=50, deadline_s=deadline_s)


async def fails(make: MakeLLM, behaviour: Behaviour, deadline_s: float = LONG_S) -> None:
    """Fail the check unless such a server is a ProviderError that holds no secret."""
    async with made(make, Server(behaviour)) as llm:
        try:
            await asked(llm, deadline_s)
        except ProviderError as error:
            holds_no_secret(error)
        else:
            raise BrokenPromiseError(f"with a server that is `{behaviour}` it gave a reply")


@promised("LLM", 1)
async def a_reply_is_its_text(make: MakeLLM) -> None:
    """`complete` gives the reply's text, never empty; and the model says its name and its window."""
    server = Server("answers")
    async with made(make, server) as llm:
        reply = await asked(llm)
        require(isinstance(reply, str) and reply.strip(), f"the reply is {reply!r}")
        require(llm.name, "the name is empty")
        require(llm.window_tokens > 0, f"the window has {llm.window_tokens} tokens")
    require(PROMPT in told(server), "no request with the words that were given has arrived")


@promised("LLM", 1)
async def a_blank_reply_is_a_provider_error(make: MakeLLM) -> None:
    """A reply without words is a ProviderError."""
    await fails(make, "blank")


@promised("LLM", 1)
async def a_reply_that_is_none_is_a_provider_error(make: MakeLLM) -> None:
    """A body that is no reply is a ProviderError, which holds no prompt text and no key (promise 3)."""
    await fails(make, "garbage")


@promised("LLM", 1)
async def a_server_that_is_gone_is_a_provider_error(make: MakeLLM) -> None:
    """A server that cannot be reached is a ProviderError."""
    await fails(make, "gone")


@promised("LLM", 2)
async def a_server_that_hangs_is_left_at_the_deadline(make: MakeLLM) -> None:
    """It returns or raises within `deadline_s` when the server says nothing."""
    await fails(make, "hangs", SHORT_S)


@promised("LLM", 2)
async def a_server_that_drips_is_left_at_the_deadline(make: MakeLLM) -> None:
    """It returns or raises within `deadline_s` when the server sends a byte at a time and never ends."""
    await fails(make, "drips", SHORT_S)


@promised("LLM", 2)
async def a_cancelled_caller_does_not_wait(make: MakeLLM) -> None:
    """It stops when its caller is cancelled."""
    server = Server("hangs")
    async with made(make, server) as llm:
        await lets_go(server, partial(asked, llm))


@promised("LLM", 3)
async def a_refusal_holds_no_prompt_and_no_key(make: MakeLLM) -> None:
    """A refusal is a ProviderError that holds no prompt text and no key, though the server repeats both."""
    await fails(make, "refuses")


@promised("LLM", 4)
async def a_schema_is_passed_on_and_any_reply_taken(make: MakeLLM) -> None:
    """With `schema` it asks for JSON of that shape as strictly as its server can; the reply may be anything."""
    server = Server("answers")
    async with made(make, server) as llm:
        reply = await llm.complete(MESSAGES, tokens_max=50, deadline_s=LONG_S, schema=SCHEMA)
    require(reply.strip(), "the reply is empty")
    require("facts" in told(server), "no request that tells of the schema has arrived")


def told(server: Server) -> str:
    """All that has arrived, as text."""
    return "\n".join(
        one.decode() if isinstance(one, bytes) else one if isinstance(one, str) else as_json(one)
        for one in server.requests
    )


def as_json(request: object) -> str:
    return msgspec.json.encode(request).decode()


LLM: Final[tuple[AsyncCheck[[MakeLLM]], ...]] = (
    a_reply_is_its_text,
    a_blank_reply_is_a_provider_error,
    a_reply_that_is_none_is_a_provider_error,
    a_server_that_is_gone_is_a_provider_error,
    a_server_that_hangs_is_left_at_the_deadline,
    a_server_that_drips_is_left_at_the_deadline,
    a_cancelled_caller_does_not_wait,
    a_refusal_holds_no_prompt_and_no_key,
    a_schema_is_passed_on_and_any_reply_taken,
)
"""One check for each promise and each way a server can fail."""
