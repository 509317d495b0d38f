"""The upkeep actor: has what is too old erased, one owner after the other, and ends what others left half erased.

Law of this file: it does what the front door does when it forgets, by the same road. It asks; nobody asks it but to
settle. What fails is counted, and tried again: the retention the next day, an erasure at the next opening. One is
shared by all owners for the retention, another for the summaries that were waited for; one of each owner's own ends
his erasures.
"""

from contextlib import suppress
from typing import cast

from actormem.actors import memory_messages as say
from actormem.actors.erasures import Erasures
from actormem.actors.expiring import has_expired
from actormem.actors.messages import ExpireTexts, Redacted, Settle, Wake
from actormem.actors.resuming import resume_summaries
from actormem.actors.retiring import files_due
from actormem.actors.services import Services
from actormem.core.erasure import FILES
from actormem.core.health.retention import before_ms
from actormem.core.values import Owner, SessionKey
from actormem.errors import ActorMemError, OverloadedError, StoppedError, StorageError
from actormem.kernel import Reply, Scope
from actormem.limits import ASK_TIMEOUT_S

__all__ = ["UpkeepActor"]


class UpkeepActor:
    """Keeps to the retention; holds nothing by itself."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._erasures = Erasures(services)

    async def started(self, scope: Scope) -> None:
        """Nothing to get ready."""

    async def stopped(self, reason: str) -> None:
        """Nothing to keep: what was left undone is found again when the owner's memory next wakes."""

    def idle(self) -> bool:
        """It holds nothing between two messages."""
        return True

    async def receive(self, message: object, reply: Reply | None) -> None:
        """Look after one owner, or say that those before are done."""
        match message:
            case say.RetentionDue():
                try:
                    if await self._retire(message.owner) + await self._expire(message.owner):
                        await self._erasures.end_files(message.owner)
                except ActorMemError:
                    self._services.counters.retention_failures += 1
            case say.EndErasures():
                await self._end_erasures(message.owner, held=message.held)
            case say.ResumeSummaries():
                with suppress(StorageError):  # what cannot be read stays noted
                    await resume_summaries(self._services)
            case Settle():
                assert reply is not None
                reply.answer(None)
            case _:
                raise AssertionError(f"upkeep was sent a {type(message).__name__}")

    async def _retire(self, owner: Owner) -> int:
        """Erase and archive items, step by step; how many were erased."""
        count, services = 0, self._services
        while True:
            asked = services.ref("longterm", owner).ask(say.RetireItems(), timeout_s=ASK_TIMEOUT_S)
            step = cast("say.Retirement", await asked)
            try:
                await self._erasures.unshow(owner, step.forgotten)
                await self._erasures.end_rows(owner, step.forgotten)
            except ActorMemError:  # what has not ended is out of memory, and noted
                services.counters.retention_failures += 1
            count += step.erased_count
            if not step.more:
                return count

    async def _expire(self, owner: Owner) -> int:
        """Erase what was said before; how many texts."""
        services = self._services
        oldest = before_ms(services.clock.now_ms(), services.options.retention.transcript_days)
        if oldest is None:
            return 0
        await services.record.sync()
        count = 0
        for row in await services.record.sessions(owner):
            key = SessionKey(owner, row.session_id)
            try:
                old = await has_expired(key, services, oldest)
            except StorageError:
                old = True  # it says so itself when it is asked
            if old:
                await services.record.sync([files_due(owner)])
                count += await self._asked(key, ExpireTexts(oldest))
        return count

    async def _asked(self, key: SessionKey, message: ExpireTexts) -> int:
        """How many texts the session erased; one that fails keeps the others from nothing."""
        try:
            answer = await self._services.ref("session", key).ask(message, timeout_s=ASK_TIMEOUT_S)
        except ActorMemError:
            self._services.counters.retention_failures += 1
            return 0
        return cast("Redacted", answer).text_count

    async def _end_erasures(self, owner: Owner, *, held: bool) -> None:
        """Bring an owner's erasures to an end; then his sessions may take up what was in flight."""
        services = self._services
        try:
            async with services.pools.erasing:
                await self._erasures.resume(owner)
        except ActorMemError:
            services.counters.erasures_failed += 1
        finally:
            if held:
                services.unfinished.release(owner)
        if held and owner != FILES:
            for key in await services.record.behind():
                if key.owner == owner:
                    with suppress(OverloadedError, StoppedError):
                        services.ref("session", key).tell(Wake())
