"""Recall of an owner's memory and of knowledge bases as one answer, all asked at once under one deadline.

The law of the file: from each nothing passes but its own; a base that does not answer, or answers with what is
another's, takes nothing from the others.
"""

from collections.abc import Sequence

import anyio
import msgspec

from actormem.actors.memory_messages import Recalled, RecallItems
from actormem.actors.services import Services
from actormem.core.ownership import check_owner
from actormem.core.values import Hit, Owner
from actormem.errors import ActorMemError

__all__ = ["checked_answer", "recalled_with"]


async def recalled_with(
    services: Services, owner: Owner, bases: Sequence[Owner], asked: RecallItems, timeout_s: float
) -> tuple[Recalled, bool]:
    """What the owner's memory and the bases found, best first; and whether one of the bases is missing.

    Raises:
        ActorMemError: The owner's own memory did not answer. Then the bases are not waited for.
    """
    places = (owner, *bases)
    answers: list[Recalled | None] = [None] * len(places)
    failures: list[ActorMemError] = []
    of_bases = msgspec.structs.replace(
        asked, session_id="", visible=frozenset(), blocks=frozenset(), profile=False
    )

    async def ask(place: int) -> None:
        question = of_bases if place else asked
        try:
            answer = await services.ref("longterm", places[place]).ask(question, timeout_s=timeout_s)
            assert isinstance(answer, Recalled)
            answers[place] = checked_answer(answer, places[place])
        except ActorMemError as error:
            if not place:
                failures.append(error)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for place in range(len(places)):
            group.start_soon(ask, place)
    if failures:
        raise failures[0].with_traceback(None)
    own = answers[0]
    assert own is not None, "the owner's memory answered or failed"
    others = [answer for answer in answers[1:] if answer is not None]
    missed = len(others) < len(bases)
    return _merged(own, others, asked.limit, missed=missed), missed


def checked_answer(answer: Recalled, owner: Owner) -> Recalled:
    """The answer itself, when every item in it is the owner's.

    Raises:
        CorruptError: One is not: nothing of the answer may be used.
    """
    check_owner((hit.item for hit in answer.hits), owner)
    check_owner((one.item for one in answer.changed), owner)
    check_owner((item for one in answer.changed if (item := one.replacement) is not None), owner)
    check_owner(answer.profile or (), owner)
    return answer


def _merged(own: Recalled, others: Sequence[Recalled], limit: int, *, missed: bool) -> Recalled:
    """One answer. What none of them has any more is gone; while one is missing, nobody knows."""
    hits: list[Hit] = sorted(
        (hit for answer in (own, *others) for hit in answer.hits), key=lambda hit: -hit.score
    )
    elsewhere = [frozenset(answer.gone) for answer in others]
    gone = () if missed else tuple(id for id in own.gone if all(id in one for one in elsewhere))
    return msgspec.structs.replace(
        own,
        hits=tuple(hits[:limit]),
        considered_count=own.considered_count + sum(answer.considered_count for answer in others),
        gone=gone,
        degraded=tuple(dict.fromkeys(name for answer in (own, *others) for name in answer.degraded)),
    )
