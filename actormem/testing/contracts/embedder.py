"""The promises of `actormem.ports.Embedder`, over any embedder: `await check(make)`.

`EMBEDDER` needs a function that makes one. `REMOTE_EMBEDDER` is for those with a server behind them: its function is
given the `Server` that the embedder is to find.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

import anyio
import anyio.lowlevel
import numpy as np

from actormem.errors import ProviderError
from actormem.ports import Embedder, Vectors
from actormem.testing.contracts.checks import AsyncCheck, BrokenPromiseError, promised, require, same
from actormem.testing.contracts.servers import PROMPT, Behaviour, Server, holds_no_secret, lets_go
from actormem.testing.corpus import ODD_TEXTS, TEXTS

__all__ = ["EMBEDDER", "REMOTE_EMBEDDER", "MakeEmbedder", "MakeRemoteEmbedder"]

MakeEmbedder: TypeAlias = Callable[[], Embedder]
MakeRemoteEmbedder: TypeAlias = Callable[[Server], Embedder]
TOLERANCE: Final = 1e-4  # of float32 sums in another order


@asynccontextmanager
async def started(make: MakeEmbedder) -> AsyncGenerator[Embedder, None]:
    embedder = make()
    await embedder.start()
    try:
        yield embedder
    finally:
        await embedder.aclose()


async def rows_of(embedder: Embedder, texts: list[str]) -> Vectors:
    """The vectors, which have the shape they must have."""
    rows = await embedder.embed(texts)
    same(rows.shape, (len(texts), embedder.dimensions), "the shape")
    same(rows.dtype, np.dtype(np.float32), "the type of a number")
    return rows


def equal(found: Vectors, expected: Vectors, what: str) -> None:
    require(np.allclose(found, expected, rtol=0, atol=TOLERANCE), f"{what} differ")


@promised("Embedder", 1)
async def rows_are_float32_and_of_length_1(make: MakeEmbedder) -> None:
    """`embed` gives (n, dimensions) float32 for n texts, and rows have length 1."""
    async with started(make) as embedder:
        rows = await rows_of(embedder, [*TEXTS])
    for text, length in zip(TEXTS, np.linalg.norm(rows, axis=1), strict=True):
        require(abs(float(length) - 1) <= TOLERANCE, f"the row of {text[:20]!r} has length {length}")


@promised("Embedder", 1)
async def rows_are_in_the_order_of_the_texts(make: MakeEmbedder) -> None:
    """Rows come in the order of the texts, however many they are."""
    texts = [f"第 {number} 号订单 order {number * 7919}" for number in range(45)]
    async with started(make) as embedder:
        rows = await rows_of(embedder, texts)
        equal((await rows_of(embedder, texts[::-1]))[::-1], rows, "rows of the same texts backwards")
        for place in (0, 20, 44):
            equal(
                (await rows_of(embedder, [texts[place]]))[0],
                rows[place],
                "a text's rows alone and among others",
            )
    require(len({row.tobytes() for row in rows}) > 40, "different texts have the same rows")


@promised("Embedder", 1)
async def a_text_without_words_is_a_row_of_zeros(make: MakeEmbedder) -> None:
    """An empty or blank text is a row of zeros, and no texts are no rows."""
    async with started(make) as embedder:
        rows = await rows_of(embedder, ["", "今天下雨", "", "   "])
        same(rows.any(axis=1).tolist(), [False, True, False, False], "which rows hold anything")
        await rows_of(embedder, [])


@promised("Embedder", 1)
async def the_same_text_has_the_same_vector(make: MakeEmbedder) -> None:
    """The same text has the same vector, and another text another one."""
    async with started(make) as embedder:
        rows = await rows_of(embedder, ["请记住我的地址", "I moved to Berlin", "请记住我的地址"])
    equal(rows[0], rows[2], "two rows of one text")
    require(abs(float(rows[0] @ rows[1])) < 0.95, "two texts that share nothing have nearly the same row")


@promised("Embedder", 2)
async def its_name_stays_and_tells_it_from_others(make: MakeEmbedder) -> None:
    """Vectors are compared by the embedder's `name`: it is not empty, and the same each time one is made."""
    async with started(make) as first, started(make) as second:
        for embedder in (first, second):
            await rows_of(embedder, ["a"])
        found, expected = (second.name, second.dimensions), (first.name, first.dimensions)
        same(found, expected, "name and dimensions of a second one")
        require(first.name, "the name is empty")


@promised("Embedder", 3)
async def other_tasks_run_while_it_embeds(make: MakeEmbedder) -> None:
    """It never blocks the event loop."""
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with started(make) as embedder, anyio.create_task_group() as tasks:
        tasks.start_soon(count_turns)
        await embedder.embed(["一段不短的话。A sentence of some length." * 10] * 4)
        tasks.cancel_scope.cancel()
    require(turns, "no other task had a turn while it embedded")


@promised("Embedder", 4)
async def no_text_makes_it_raise(make: MakeEmbedder) -> None:
    """Nothing is raised for any str: lone surrogates, control words, emoji in pieces; and every number is finite."""
    async with started(make) as embedder:
        for text in ODD_TEXTS:
            await rows_of(embedder, [text])
        require(np.isfinite(await rows_of(embedder, [*ODD_TEXTS])).all(), "a number is not finite")


@promised("Embedder", 4)
async def it_may_be_started_again(make: MakeEmbedder) -> None:
    """`start` may be called more than once."""
    async with started(make) as embedder:
        await embedder.start()
        require((await rows_of(embedder, ["again 再来"])).any(), "it embeds nothing after a second start")


EMBEDDER: Final[tuple[AsyncCheck[[MakeEmbedder]], ...]] = (
    rows_are_float32_and_of_length_1,
    rows_are_in_the_order_of_the_texts,
    a_text_without_words_is_a_row_of_zeros,
    the_same_text_has_the_same_vector,
    its_name_stays_and_tells_it_from_others,
    other_tasks_run_while_it_embeds,
    no_text_makes_it_raise,
    it_may_be_started_again,
)
"""One check for each promise; `make` gives a new embedder each time it is called."""


@promised("Embedder", 3)
async def a_cancelled_caller_does_not_wait(make: MakeRemoteEmbedder) -> None:
    """It stops waiting when its caller is cancelled."""
    server = Server("hangs")
    embedder = make(server)
    await lets_go(server, partial(embedder.embed, [PROMPT]))
    await embedder.aclose()


async def fails(make: MakeRemoteEmbedder, behaviour: Behaviour) -> None:
    embedder = make(Server(behaviour))
    try:
        await embedder.embed([PROMPT])
    except ProviderError as error:
        holds_no_secret(error)
    else:
        raise BrokenPromiseError(f"a server that {behaviour} was no failure")
    finally:
        await embedder.aclose()


@promised("Embedder", 4)
async def a_server_that_refuses_is_a_provider_error(make: MakeRemoteEmbedder) -> None:
    """A refusal of the server is a ProviderError without the text and the key."""
    await fails(make, "refuses")


@promised("Embedder", 4)
async def a_server_that_is_gone_is_a_provider_error(make: MakeRemoteEmbedder) -> None:
    """A server that cannot be reached is a ProviderError."""
    await fails(make, "gone")


@promised("Embedder", 4)
async def a_reply_that_is_none_is_a_provider_error(make: MakeRemoteEmbedder) -> None:
    """A reply that holds no vectors is a ProviderError without the text and the key."""
    await fails(make, "garbage")


REMOTE_EMBEDDER: Final[tuple[AsyncCheck[[MakeRemoteEmbedder]], ...]] = (
    a_cancelled_caller_does_not_wait,
    a_server_that_refuses_is_a_provider_error,
    a_server_that_is_gone_is_a_provider_error,
    a_reply_that_is_none_is_a_provider_error,
)
"""One check for each way a server can fail; `make` gives an embedder in front of the `Server` it is given."""
