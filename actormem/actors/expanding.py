"""Recall with a query's own words, and where the runtime was opened so with the LLM's rewrites of it too.

The law of the file: the query's own answer is sought at once and as ever; rewrites add to it within the same deadline
or not at all. What goes wrong with them is counted, and is no part of the answer.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import anyio
import anyio.to_thread
import msgspec

from actormem.actors.memory_messages import CountShown, RecallItems
from actormem.actors.recalling import NOTHING, Answer, nothing, recall
from actormem.actors.rewriting import rewritten
from actormem.actors.services import Services
from actormem.core.recall.expansion import REWRITE_HITS_MAX, expanded
from actormem.core.recall.words import Words
from actormem.core.values import Hit, Owner
from actormem.errors import ActorMemError, OverloadedError, StoppedError

__all__ = ["recall_expanded"]

LLM_PART = 0.75  # of the deadline: the rewrites are embedded and searched for in the rest of it
INLINE_HITS_MAX = 16  # up to here they are fused in 3 ms; a hundred hits take 60 ms


async def recall_expanded(
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
    """What `recall` finds, with what it finds for rewrites of the query that come in time; see there.

    It takes no longer than the deadline. An expanded answer differs from a plain one in its hits alone.
    """
    ask = partial(recall, services, owner, strict=strict, bases=bases)
    if not services.options.expand_queries or not asked.query or "recall" in before.degraded:
        return await ask(asked, deadline_s, before=before, meanwhile=meanwhile)
    clock, erasure_count = services.clock, services.erasure_count
    until_s = before.until_s or clock.monotonic_s() + deadline_s
    # Who asks for the same once more has what came in time before, and asks the LLM no more.
    within_s = 0.0 if before.until_s else LLM_PART * deadline_s
    own = msgspec.structs.replace(asked, counts=bool(asked.session_id))
    plain, failures = NOTHING, list[ActorMemError]()
    rewrites: list[str] = []

    async def rewrite() -> None:
        rewrites.extend(await rewritten(services, owner, asked, within_s))

    async with anyio.create_task_group() as group:
        group.start_soon(rewrite)
        try:
            plain = await ask(own, deadline_s, before=before, meanwhile=meanwhile)
        except ActorMemError as error:
            failures.append(error)
        if failures or "recall" in plain.degraded:
            group.cancel_scope.cancel()
    if failures:
        raise failures[0].with_traceback(None)
    if erasure_count != services.erasure_count:  # what was found before the LLM was waited for may be gone
        left_s = until_s - clock.monotonic_s()
        plain = await ask(own, left_s)
    hits = plain.recalled.hits
    left_s = until_s - clock.monotonic_s()
    if rewrites:
        with clock.deadline(left_s):
            found = await _searched(services, owner, own, rewrites, left_s, bases)
            hits = await _fused(services, asked, hits, found) if found else hits
    if not asked.session_id:  # what a turn shows of them it tells by itself
        _count_shown(services, hits)
    return msgspec.structs.replace(plain, recalled=msgspec.structs.replace(plain.recalled, hits=hits))


async def _fused(
    services: Services, asked: RecallItems, own: tuple[Hit, ...], found: Sequence[tuple[str, Sequence[Hit]]]
) -> tuple[Hit, ...]:
    """One list of all; in a thread, with words of its own, where there may be many."""
    inline = asked.limit <= INLINE_HITS_MAX
    make = partial(
        expanded,
        own,
        found,
        query=asked.query,
        words=services.words if inline else Words(),
        limit=asked.limit,
        min_score=asked.min_score,
        source_max=asked.source_max,
    )
    if inline:
        return make()
    return await anyio.to_thread.run_sync(make, limiter=services.pools.searching)


async def _searched(
    services: Services,
    owner: Owner,
    asked: RecallItems,
    rewrites: Sequence[str],
    timeout_s: float,
    bases: tuple[Owner, ...],
) -> list[tuple[str, tuple[Hit, ...]]]:
    """Each rewrite with its hits, in order; without those that have none."""
    found: dict[str, tuple[Hit, ...]] = {}
    question = msgspec.structs.replace(
        asked, limit=min(asked.limit, REWRITE_HITS_MAX), profile=False, counts=False
    )

    async def search(text: str) -> None:
        one = msgspec.structs.replace(question, query=text)
        answer = await recall(services, owner, one, timeout_s, bases=bases)
        found[text] = answer.recalled.hits

    async with anyio.create_task_group() as group:
        for text in rewrites:
            group.start_soon(search, text)
    return [(text, found[text]) for text in rewrites if found.get(text)]


def _count_shown(services: Services, hits: Sequence[Hit]) -> None:
    """Tell each memory which of its items were given."""
    for owner in dict.fromkeys(hit.item.owner for hit in hits):
        ids = tuple(hit.item.id for hit in hits if hit.item.owner == owner)
        with suppress(OverloadedError, StoppedError):  # counts are hints
            services.ref("longterm", owner).tell(CountShown(ids))
