"""All that is kept of a user, to be handed out: what was said, and what is remembered."""

from typing import cast

import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.messages import ReadMessages
from actormem.core.values import Item, Message, Owner, SessionKey
from actormem.front import owner_of
from actormem.memory import OwnerMemory

__all__ = ["Exporting", "OwnerExport", "SessionExport"]


class SessionExport(msgspec.Struct, frozen=True, kw_only=True):
    """A session and every message of it, oldest first, summarised ones too."""

    session_id: str
    messages: tuple[Message, ...]


class OwnerExport(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of an owner; `msgspec.json.encode` makes a file of it.

    Attributes:
        owner: Whose it is.
        time_ms: When it was read, UTC milliseconds.
        sessions: Oldest change first.
        items: Oldest first, superseded and archived ones too.
    """

    owner: Owner
    time_ms: int
    sessions: tuple[SessionExport, ...]
    items: tuple[Item, ...]


class Exporting(OwnerMemory):
    """The part of the runtime that hands out what it keeps."""

    async def export_user(self, user: str, *, tenant: str = "") -> OwnerExport:
        """Everything kept of a user: what was forgotten or rewound is not in it, nor are vectors and traces.

        Returns:
            Empty where nothing is kept.

        Cost:
            All of it is in memory at once: about 2 KB a message.
        """
        owner = owner_of(user, tenant)
        self.check_loop()
        await self._services.record.sync()
        rows = await self._services.record.sessions(owner)
        sessions: list[SessionExport] = []
        for row in reversed(rows):
            ref = self._system.ref("session", SessionKey(owner, row.session_id))
            messages = cast("tuple[Message, ...]", await self.ask(ref, ReadMessages()))
            sessions.append(SessionExport(session_id=row.session_id, messages=messages))
        asked = say.ListItems(None, history=True)
        items = cast("tuple[Item, ...]", await self.ask_memory(owner, asked))
        return OwnerExport(
            owner=owner, time_ms=self._services.clock.now_ms(), sessions=tuple(sessions), items=items
        )
