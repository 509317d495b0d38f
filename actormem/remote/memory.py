"""The memory items of a server's owners: the methods of the runtime, as operations that are asked."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

import anyio.to_thread

from actormem.core.health.checkup import Checkup
from actormem.core.live import LiveEvent
from actormem.core.values import Item, ItemKind, Owner, Recall
from actormem.documents import DOCUMENTS_MAX, DocumentGiven, file_fields
from actormem.errors import UsageError
from actormem.exporting import OwnerExport, SessionExport
from actormem.front import (
    UNSET,
    Given,
    Progress,
    Unset,
    kinds_or_none,
    milliseconds,
    owner_of,
    positive,
    told,
)
from actormem.knowledge import Imported
from actormem.memory import imported_messages
from actormem.ports import BaseRow, OwnerRow
from actormem.remote import wire
from actormem.remote.address import message_fields
from actormem.remote.asking import Asking
from actormem.statistics import Receipt

__all__ = ["RemoteMemory"]

SLOW_S = 600.0  # erasures, exports and imports take as long as there is much of it
IMPORT_BATCH = 64


class RemoteMemory:
    """The part of the runtime that speaks of memory items and knowledge; what each method does is said there."""

    def __init__(self, connection: Asking) -> None:
        self._connection = connection

    def check_loop(self) -> None:
        """As `Runtime.check_loop`."""
        self._connection.check_loop()

    async def recall(
        self,
        query: str,
        *,
        user: str,
        tenant: str = "",
        limit: int = 10,
        kinds: Sequence[ItemKind] | None = None,
        scope: str | None = None,
        at: datetime | None = None,
        deep: bool = False,
        min_score: float | None = None,
        deadline_s: float | None = None,
        knowledge: Sequence[str] = (),
    ) -> Recall:
        """As `Runtime.recall`."""
        kinds_or_none(kinds)
        body = {
            "query": query,
            "limit": limit,
            "kinds": None if kinds is None else list(kinds),
            "scope": scope,
            "at": _moment("at", at),
            "deep": deep,
            "min_score": min_score,
            "deadline_s": None if deadline_s is None else positive("deadline_s", deadline_s),
            "knowledge": list(knowledge),
        }
        return await self._ask("recall", owner_of(user, tenant), body)

    async def remember(
        self,
        text: str,
        *,
        user: str,
        tenant: str = "",
        attribute: str = "note",
        value: str = "",
        kind: ItemKind = "fact",
        importance: float = 0.8,
        time: datetime | None = None,
        expires: datetime | None = None,
        scope: str = "",
    ) -> Item:
        """As `Runtime.remember`."""
        body = {
            "text": text,
            "attribute": attribute,
            "value": value,
            "kind": kind,
            "importance": importance,
            "time": _moment("time", time),
            "expires": _moment("expires", expires),
            "scope": scope,
        }
        return await self._ask("remember", owner_of(user, tenant), body)

    async def items(
        self,
        user: str,
        *,
        tenant: str = "",
        kinds: Sequence[ItemKind] | None = None,
        history: bool = False,
        scope: str | None = None,
    ) -> tuple[Item, ...]:
        """As `Runtime.items`."""
        wanted = kinds_or_none(kinds)
        if wanted is not None and not wanted:
            return ()
        chosen = None if wanted is None else sorted(wanted)
        return await self._ask("items", owner_of(user, tenant), kinds=chosen, history=history, scope=scope)

    async def item(self, item_id: str, *, user: str, tenant: str = "") -> Item:
        """As `Runtime.item`."""
        return await self._ask("item", owner_of(user, tenant), item=item_id)

    async def value(
        self, user: str, attribute: str, *, tenant: str = "", scope: str | None = None
    ) -> Item | None:
        """As `Runtime.value`."""
        answer = await self._ask("value", owner_of(user, tenant), attribute=attribute, scope=scope)
        return cast("wire.MaybeItem", answer).item

    async def edit(
        self,
        item_id: str,
        text: str,
        *,
        user: str,
        tenant: str = "",
        value: str | None = None,
        expires: datetime | Unset | None = UNSET,
    ) -> Item:
        """As `Runtime.edit`."""
        ends = {} if isinstance(expires, Unset) else {"expires": _moment("expires", expires)}
        body = {"text": text, "value": value, **ends}
        return await self._ask("edit", owner_of(user, tenant), body, item=item_id)

    async def archive(self, item_id: str, *, user: str, tenant: str = "", archived: bool = True) -> Item:
        """As `Runtime.archive`."""
        return await self._ask("archive", owner_of(user, tenant), {"archived": archived}, item=item_id)

    async def import_history(
        self,
        messages: Sequence[Given],
        *,
        session_id: str,
        user: str,
        tenant: str = "",
        scope: str = "",
        progress: Progress | None = None,
    ) -> int:
        """As `Runtime.import_history`."""
        owner, parsed, count = owner_of(user, tenant), imported_messages(messages), 0
        for first in range(0, len(parsed), IMPORT_BATCH):
            batch = [message_fields(one) for one in parsed[first : first + IMPORT_BATCH]]
            body = {"session_id": session_id, "messages": batch, "scope": scope}
            count += cast("wire.Count", await self._slow("import_history", owner, body)).count
            await told(progress, first + len(batch), len(parsed))
        return count

    # --- forgetting and looking after -------------------------------------------------------------------

    async def forget(
        self, item_id: str, *, user: str, tenant: str = "", sources: Literal["redact", "keep"] = "redact"
    ) -> Receipt:
        """As `Runtime.forget`."""
        return await self._slow("forget", owner_of(user, tenant), item=item_id, sources=sources)

    async def forget_session(self, session_id: str, *, user: str, tenant: str = "") -> Receipt:
        """As `Runtime.forget_session`."""
        return await self._slow("forget_session", owner_of(user, tenant), session=session_id)

    async def forget_user(self, user: str, *, tenant: str = "") -> Receipt:
        """As `Runtime.forget_user`."""
        return await self._slow("forget_user", owner_of(user, tenant))

    async def checkup(self, user: str, *, tenant: str = "", apply: bool = False) -> Checkup:
        """As `Runtime.checkup`."""
        return await self._slow("checkup", owner_of(user, tenant), {"apply": apply})

    async def owners(
        self, *, limit: int = 100, tenant: str | None = None, prefix: str = ""
    ) -> tuple[OwnerRow, ...]:
        """As `Runtime.owners`; with a key, those of its tenant."""
        return await self._ask("owners", None, limit=limit, of_tenant=tenant, prefix=prefix)

    async def export_user(self, user: str, *, tenant: str = "") -> OwnerExport:
        """As `Runtime.export_user`."""
        found: wire.UserExport = await self._slow("export_user", owner_of(user, tenant))
        return OwnerExport(
            owner=found.owner,
            time_ms=found.time_ms,
            sessions=tuple(
                SessionExport(session_id=one.session_id, messages=tuple(map(wire.unsaid, one.messages)))
                for one in found.sessions
            ),
            items=found.items,
        )

    @asynccontextmanager
    async def events(self, user: str, *, tenant: str = "") -> AsyncGenerator[AsyncIterator[LiveEvent]]:
        """As `Runtime.events`; where the server goes away, StoppedError is raised."""
        async with self._connection.events(owner_of(user, tenant)) as events:
            yield events

    # --- knowledge --------------------------------------------------------------------------------------

    async def import_knowledge(
        self,
        name: str,
        documents: Sequence[DocumentGiven],
        *,
        tenant: str = "",
        progress: Progress | None = None,
    ) -> Imported:
        """As `Runtime.import_knowledge`; paths are those of this machine, and `progress` is told at the end."""
        if isinstance(documents, str) or not isinstance(documents, Sequence):
            raise UsageError("documents must be a list of texts, paths or mappings")
        if not 0 < len(documents) <= DOCUMENTS_MAX:
            raise UsageError(f"between 1 and {DOCUMENTS_MAX} documents are imported at once")
        given = await anyio.to_thread.run_sync(lambda: [_document(one) for one in documents])
        body = {"documents": given}
        imported: Imported = await self._slow(
            "import_knowledge", None, body, name=name, tenant=tenant or None
        )
        await told(progress, imported.passage_count, imported.passage_count)
        return imported

    async def knowledge(self, tenant: str = "") -> tuple[BaseRow, ...]:
        """As `Runtime.knowledge`."""
        return await self._ask("knowledge", None, tenant=tenant or None)

    async def remove_knowledge(self, name: str, *, tenant: str = "") -> Receipt:
        """As `Runtime.remove_knowledge`."""
        return await self._slow("remove_knowledge", None, name=name, tenant=tenant or None)

    async def _ask(
        self, name: str, owner: Owner | None, body: dict[str, Any] | None = None, /, **query: Any
    ) -> Any:
        return await self._connection.ask(name, owner, body=body, **query)

    async def _slow(
        self, name: str, owner: Owner | None, body: dict[str, Any] | None = None, /, **query: Any
    ) -> Any:
        return await self._connection.ask(name, owner, body=body, timeout_s=SLOW_S, **query)


def _moment(name: str, given: datetime | None) -> str | None:
    if given is None:
        return None
    milliseconds(name, given)
    return given.isoformat()


def _document(given: object) -> object:
    if isinstance(given, os.PathLike):
        return file_fields(Path(cast("os.PathLike[str]", given)))
    return given
