"""Asking long-term memory under a deadline: embed the query, ask the owner's actor, say what was missed."""

from collections.abc import Callable
from typing import cast

import anyio.lowlevel
import msgspec

from actormem.actors.embedding import EmbedQuery
from actormem.actors.memory_messages import BeginRecall, Begun, PrepareRecall, Recalled, RecallItems
from actormem.actors.services import Services
from actormem.actors.shared_recall import checked_answer, recalled_with
from actormem.core.recall.partition import query_texts
from actormem.core.values import Owner
from actormem.errors import ActorMemError, AskTimeoutError
from actormem.kernel import Reply
from actormem.ports import Vectors

__all__ = ["NOTHING", "Answer", "nothing", "recall"]

BEGIN_STEPS = 12  # of the loop, 20 µs each if nothing else is to do: a request is in its socket by then
SHORTEST_S = 0.001  # the last question is asked even where its deadline has just run out


def nothing() -> None:
    """For one who has nothing to do meanwhile."""


class Answer(msgspec.Struct, frozen=True):
    """What was recalled, and the names of the steps that missed the deadline or failed.

    `vectors` are those of the query, and `until_s` when the deadline is: for one who asks again for the same.
    """

    recalled: Recalled
    degraded: tuple[str, ...] = ()
    vectors: Vectors | None = None
    until_s: float = 0.0


NOTHING = Answer(Recalled((), 0, ()))


async def recall(
    services: Services,
    owner: Owner,
    asked: RecallItems,
    deadline_s: float,
    *,
    strict: bool = False,
    before: Answer = NOTHING,
    bases: tuple[Owner, ...] = (),
    meanwhile: Callable[[], object] = nothing,
) -> Answer:
    """What long-term memory finds within the deadline.

    Half of the deadline is the query's embedding's; without it the other arms answer.

    Args:
        strict: For one who asks for nothing else: then only a missed deadline is an empty answer.
        before: The answer to the same query a moment ago: it is not embedded again, and the deadline stays.
        bases: Knowledge bases to look into beside the owner's memory, under the same deadline.
        meanwhile: Called once the query is on its way to the embedder, unless the answer is there before.
    """
    if "recall" in before.degraded:
        return before
    clock = services.clock
    until_s = before.until_s or clock.monotonic_s() + deadline_s
    memory = services.ref("longterm", owner)
    degraded, vectors = list(before.degraded), before.vectors
    try:
        if asked.query and not before.until_s:
            begun = cast("Begun", await memory.ask(BeginRecall(asked), timeout_s=deadline_s))
            if begun.answer is not None and not bases:
                return Answer(checked_answer(begun.answer, owner), (), None, until_s)
            vectors = await _vectors(services, owner, asked, begun.speakers, deadline_s / 2, meanwhile)
            if vectors is None:
                degraded.append("vector")
        asked = msgspec.structs.replace(asked, vectors=vectors)
        left_s = max(SHORTEST_S, until_s - clock.monotonic_s())
        if bases and (asked.query or asked.shown):
            answer, missed = await recalled_with(services, owner, bases, asked, left_s)
            degraded += ("knowledge",) if missed and "knowledge" not in degraded else ()
        else:
            answer = checked_answer(cast("Recalled", await memory.ask(asked, timeout_s=left_s)), owner)
    except AskTimeoutError:
        return Answer(NOTHING.recalled, (*degraded, "recall"), vectors, until_s)
    except ActorMemError:
        if strict:
            raise
        return Answer(NOTHING.recalled, (*degraded, "recall"), vectors, until_s)
    degraded += (name for name in answer.degraded if name not in degraded)
    return Answer(answer, tuple(degraded), vectors, until_s)


async def _vectors(
    services: Services,
    owner: Owner,
    asked: RecallItems,
    speakers: tuple[str, ...],
    deadline_s: float,
    meanwhile: Callable[[], object],
) -> Vectors | None:
    """The vectors of the query's texts; None where they did not come in time."""
    reply = Reply()
    texts = query_texts(asked.query, speakers)
    until_s = services.clock.monotonic_s() + deadline_s
    try:
        services.ref("embedding", "").tell(EmbedQuery(texts, reply, until_s))
        with services.clock.deadline(deadline_s):
            await _let_it_begin(reply)
            if not reply.answered:
                services.ref("longterm", owner).tell(PrepareRecall(asked), control=True)
                meanwhile()
            await reply.wait()
            found = cast("Vectors", reply.result())
            return found if bool(found.any()) else None
    except ActorMemError:  # it failed, or too many wait
        return None
    finally:
        reply.abandon()
    return None


async def _let_it_begin(reply: Reply) -> None:
    """Give way until the call is out, so that what is done meanwhile does not come before it."""
    for _ in range(BEGIN_STEPS):
        if reply.answered:
            return
        await anyio.lowlevel.checkpoint()
