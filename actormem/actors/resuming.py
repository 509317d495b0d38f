"""Summaries that sessions waited for when the process ended: made without anybody asking for these sessions.

The law of the file: a note says that a session wants a summary, and nothing of what it is of. The session works that
out from its record; so a note may be taken up twice, or too late, and nothing is done twice with effect.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from actormem.actors.messages import Settle, Wake
from actormem.actors.services import Services
from actormem.core.values import Owner, SessionKey
from actormem.errors import ActorMemError, OverloadedError, StoppedError
from actormem.limits import RESUMED_AT_ONCE, SUMMARY_LOST_S
from actormem.ports import DeleteIntent, PutIntent, Record

__all__ = ["SUMMARY_INTENTS", "resume_summaries", "summary_asked", "summary_settled"]

SUMMARY_INTENTS: Final = "summary:"  # what the names of these notes begin with


def summary_asked(key: SessionKey) -> PutIntent:
    """Note that the session waits for a summary."""
    return PutIntent(key.owner, _name(key), b"")


def summary_settled(key: SessionKey) -> DeleteIntent:
    """Strike the note: what it asked for is durable, or is not wanted any more."""
    return DeleteIntent(key.owner, _name(key))


async def resume_summaries(services: Services) -> None:
    """Let every session that is noted have its summary, a few at a time, those of each owner in turn.

    Sessions of owners who wait for the end of an erasure come last: their words may be going.
    """
    noted = await _noted(services.record)
    held = [key for key in noted if services.unfinished.holds(key.owner)]
    waiting = deque([key for key in noted if key not in set(held)] + held)
    while waiting:
        some = [waiting.popleft() for _ in range(min(RESUMED_AT_ONCE, len(waiting)))]
        for key in some:
            await services.unfinished.passed(key.owner, key)
            with suppress(OverloadedError, StoppedError):
                services.ref("session", key).tell(Wake(summary_noted=True))
        for key in some:  # what fails stays noted, and is taken up at the next opening
            with suppress(ActorMemError):
                await services.ref("session", key).ask(Settle(), timeout_s=SUMMARY_LOST_S)


async def _noted(record: Record) -> list[SessionKey]:
    """The sessions that are noted: one of each owner, then a second of each, until there are none."""
    keys: OrderedDict[Owner, deque[SessionKey]] = OrderedDict()
    for owner in await record.owners_with_intents(SUMMARY_INTENTS):
        names = (name for name, _ in await record.intents(owner))
        keys[owner] = deque(_sessions(owner, names))
    ordered: list[SessionKey] = []
    while keys:
        owner, own = keys.popitem(last=False)
        if own:
            ordered.append(own.popleft())
            keys[owner] = own
    return ordered


def _sessions(owner: Owner, names: Iterable[str]) -> Iterable[SessionKey]:
    return (
        SessionKey(owner, name.removeprefix(SUMMARY_INTENTS))
        for name in names
        if name.startswith(SUMMARY_INTENTS)
    )


def _name(key: SessionKey) -> str:
    return SUMMARY_INTENTS + key.session_id
