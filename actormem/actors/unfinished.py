"""Whom a crash has left with an erasure half done: nobody is answered about them before it is done.

The law of the file: only the front door waits here; those who do the work never do. An owner holds nobody else up,
but for sessions that show what is being erased of a knowledge base.
"""

from collections.abc import Hashable

import anyio

from actormem.core.erasure import ERASURE_INTENTS, Erasure, decode_erasure
from actormem.core.knowledge.bases import is_base
from actormem.core.values import Owner, SessionKey
from actormem.ports import Record

__all__ = ["Unfinished", "unfinished_erasures"]


class Unfinished:
    """Owners whose erasures are being brought to an end, and the sessions of others that show any of it."""

    def __init__(self) -> None:
        self._held: dict[Owner, tuple[frozenset[SessionKey], anyio.Event]] = {}

    def hold(self, owner: Owner, shown_in: frozenset[SessionKey]) -> None:
        """From here on those who ask wait."""
        self._held[owner] = (shown_in, anyio.Event())

    def release(self, owner: Owner) -> None:
        """They need not wait any more; nothing where nobody is held."""
        _, over = self._held.pop(owner, (frozenset[SessionKey](), anyio.Event()))
        over.set()

    def holds(self, owner: Owner) -> bool:
        """Whether those wait who ask about the owner."""
        return owner in self._held

    async def passed(self, *keys: Hashable) -> None:
        """Return when these owners and sessions may answer."""
        for key in keys:
            while (over := self._over(key)) is not None:
                await over.wait()

    def _over(self, key: Hashable) -> anyio.Event | None:
        owner = key.owner if isinstance(key, SessionKey) else key
        for held, (sessions, over) in self._held.items():
            if held == owner or key in sessions:
                return over
        return None


async def unfinished_erasures(record: Record, owner: Owner) -> tuple[list[Erasure], frozenset[SessionKey]]:
    """What is noted of an owner's erasures, and the sessions of others that may show any of it."""
    noted = await record.intents(owner)
    found = [decode_erasure(body) for name, body in noted if name.startswith(ERASURE_INTENTS)]
    if found and is_base(owner):
        return found, (await record.base_contents(owner)).shown_in
    return found, frozenset()
