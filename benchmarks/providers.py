"""Where the vectors and the summaries of ours come from, in the benchmarks of the reply path."""

from actormem.ports import Embedder
from benchmarks import report
from benchmarks.scripted import DIMENSIONS, TimedEmbedder, TimedLLM, WatchedLLM
from benchmarks.server import Plan

__all__ = ["EMBEDDING_S", "LLM_S", "installed", "missing", "plan_of", "providers"]

EMBEDDING_S = 0.02  # a server near by
LLM_S = 0.8


def plan_of(llm_s: float) -> Plan:
    """How the server behaves: it takes its time whatever it is sent."""
    return Plan(first_token_s=llm_s, read_tokens_per_s=0, embedding_s=EMBEDDING_S)


def installed(names: tuple[str, ...]) -> list[str]:
    """Those of them that can be measured here: `server` needs a client."""
    return [name for name in names if name != "server" or report.version("openai")]


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
