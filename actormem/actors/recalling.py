"""Asking long-term memory under a deadline: embed the query, ask the owner's actor, say what was missed."""

import msgspec

from actormem.actors.messages import Recalled, RecallItems
from actormem.actors.services import Services
from actormem.core.partition import query_texts
from actormem.core.values import Owner
from actormem.errors import ActorMemError, ProviderError
from actormem.ports import Vectors

__all__ = ["recall"]

NOTHING = Recalled((), 0, ())


async def recall(
    services: Services, owner: Owner, asked: RecallItems, deadline_s: float
) -> tuple[Recalled, tuple[str, ...]]:
    """What long-term memory finds within the deadline, and the names of the steps that missed it or failed.

    Half of the deadline is the query's embedding's; without it the other arms answer.
    """
    clock = services.clock
    began_s = clock.monotonic_s()
    degraded: list[str] = []
    if asked.query:
        vectors = await _vectors(services, asked.query, deadline_s / 2)
        if vectors is None:
            degraded.append("vector")
        asked = msgspec.structs.replace(asked, vectors=vectors)
    left_s = max(0.001, deadline_s - (clock.monotonic_s() - began_s))
    try:
        answer = await services.ref("longterm", owner).ask(asked, timeout_s=left_s)
    except ActorMemError:
        return NOTHING, (*degraded, "recall")
    assert isinstance(answer, Recalled)
    return answer, tuple(degraded)


async def _vectors(services: Services, query: str, deadline_s: float) -> Vectors | None:
    with services.precedence.query(), services.clock.deadline(deadline_s):
        try:
            found = await services.embedder.embed(query_texts(query))
        except ProviderError:
            return None
        return found if bool(found.any()) else None
    return None
