"""Where the vectors and the summaries of ours come from, in the benchmarks of the reply path; and their floor."""

from collections.abc import Sequence
from time import perf_counter

import anyio

import actormem
from actormem.ports import Embedder
from benchmarks import report
from benchmarks.conversation import SpokenTurn
from benchmarks.scripted import DIMENSIONS, TimedEmbedder, TimedLLM, WatchedLLM, percentiles
from benchmarks.server import Plan

__all__ = [
    "ALONE",
    "EMBEDDING_S",
    "LLM_S",
    "alone",
    "beyond",
    "installed",
    "missing",
    "plan_of",
    "providers",
    "warmed",
]

EMBEDDING_S = 0.02  # a server near by
LLM_S = 0.8
LLM_DEADLINE_S = 30.0
ALONE = "client alone"
WITH_CLIENT = ("server", ALONE)


def plan_of(llm_s: float) -> Plan:
    """How the server behaves: it takes its time whatever it is sent."""
    return Plan(first_token_s=llm_s, read_tokens_per_s=0, embedding_s=EMBEDDING_S)


def installed(names: tuple[str, ...]) -> list[str]:
    """Those of them that can be measured here: some need a client."""
    return [name for name in names if name not in WITH_CLIENT or report.version("openai")]


def missing(names: tuple[str, ...]) -> list[str]:
    """Notes on the others."""
    lacking = set(names) - set(installed(names))
    return [f"{name} is not measured: openai is not installed" for name in names if name in lacking]


def providers(
    name: str, base_url: str, llm_s: float, *, with_llm: bool = False
) -> tuple[str | Embedder, WatchedLLM | None]:
    """An embedder, and the LLM of background work.

    Args:
        name: `scripted`, `server`, or an embedder that `actormem.open` knows.
        base_url: Of the server.
        with_llm: Whether an embedder of this process has the scripted LLM beside it, too; else it has none.
    """
    if name == "scripted":
        return TimedEmbedder(EMBEDDING_S), WatchedLLM(TimedLLM(llm_s))
    if name != "server":
        return name, WatchedLLM(TimedLLM(llm_s)) if with_llm else None
    from actormem.adapters.openai import OpenAIEmbedder, OpenAILLM

    embedder = OpenAIEmbedder(
        "text-embedding-3-small", api_key="none", base_url=base_url, dimensions=DIMENSIONS
    )
    return embedder, WatchedLLM(OpenAILLM("gpt-4o-mini", api_key="none", base_url=base_url))


async def warmed(runtime: actormem.Runtime, llm: WatchedLLM | None, spoken: SpokenTurn) -> None:
    """One turn of another user, and one call of the LLM, so that what is loaded late is loaded."""
    session = await runtime.spawn("warm", user="bob", model="gpt-4o")
    async with session.turn(spoken.user) as turn:
        turn.reply(spoken.reply)
    if llm is not None:
        await llm.complete([{"role": "user", "content": "ready?"}], tokens_max=9, deadline_s=LLM_DEADLINE_S)
    await runtime.settle()


def beyond(waits_ms: Sequence[float]) -> dict[str, float]:
    """What waits took beyond the embedding."""
    return percentiles("beyond", [max(0.0, wait_ms - EMBEDDING_S * 1000) for wait_ms in waits_ms])


async def alone(base_url: str, talk: Sequence[SpokenTurn], pause_s: float) -> dict[str, float]:
    """The floor: the vector of each message is asked for at the server, and nothing is done with it."""
    embedder, _ = providers("server", base_url, LLM_S)
    assert not isinstance(embedder, str)
    await embedder.start()
    try:
        await embedder.embed([talk[0].user])
        waits_ms = list[float]()
        for spoken in talk:
            began_s = perf_counter()
            await embedder.embed([spoken.user])
            waits_ms.append((perf_counter() - began_s) * 1000)
            await anyio.sleep(pause_s)
    finally:
        await embedder.aclose()
    return percentiles("context", waits_ms) | beyond(waits_ms)
