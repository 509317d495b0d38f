"""Looking after memories, as the runtime gives it: archive, checkup, and whose memories there are."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import anyio.to_thread
import msgspec

from actormem.actors import memory_messages as say
from actormem.core.health.checkup import Checkup, Finding, findings
from actormem.core.ids import checked_id
from actormem.core.values import Item, Owner
from actormem.errors import UsageError
from actormem.front import observed, owner_of, switch, whole
from actormem.memory import OwnerMemory
from actormem.ports import OwnerRow

__all__ = ["Upkeep"]

OWNERS_MAX = 10_000  # named in one answer


class Upkeep(OwnerMemory):
    """The part of the runtime that keeps memories in order."""

    @observed("archive")
    async def archive(self, item_id: str, *, user: str, tenant: str = "", archived: bool = True) -> Item:
        """Put an item out of recall's reach, or back into it; returns it as it then is, when it is durable.

        It holds as before: `item`, `items(history=True)` and `recall(deep=True)` have it, notes that show it stay,
        and who states it again has it back. Notes to come, the profile, `items` and `value` go without it.

        Args:
            archived: False to have it back.

        Raises:
            NotFoundError: The user has no item of that id.
            UsageError: It is superseded; nothing changed.

        Cost:
            Where the owner has more than 4,000 items, the nearest-neighbour index is built anew beside everything
            else; until then recall scans.
        """
        asked = say.ArchiveItem(checked_id(item_id, "item id"), switch("archived", archived))
        return cast("Item", await self.ask_memory(owner_of(user, tenant), asked))

    async def checkup(self, user: str, *, tenant: str = "", apply: bool = False) -> Checkup:
        """Look through all of a user's items: what is doubled, contradicts, has expired, is junk or out of reach.

        Args:
            apply: Do the proposed repairs, by the ordinary roads. What changed meanwhile is left as it is.

        Returns:
            The findings, with ids; `applied` says which are repaired, when it is durable. No finding, no repair.

        Cost:
            About 0.2 ms an item, in a thread; where items are forgotten, a rewriting of the database file.
        """
        owner, repairs = owner_of(user, tenant), switch("apply", apply)
        health = cast("say.Health", await self.ask_memory(owner, say.ReadHealth()))
        look = partial(findings, health.items, now_ms=self._services.clock.now_ms(), waiting=health.waiting)
        found = await anyio.to_thread.run_sync(look, limiter=self._services.pools.background)
        if repairs:
            found = await self._seen_through(owner, self._applied(owner, found))
        return Checkup(owner=owner, item_count=len(health.items), findings=found)

    async def owners(
        self, *, limit: int = 100, tenant: str | None = None, prefix: str = ""
    ) -> tuple[OwnerRow, ...]:
        """Whose memories there are, newest first, with counts: for administrators; nothing of what is in them.

        Args:
            limit: Owners, 1 to 10,000.
            tenant: Only users of this tenant; None for all.
            prefix: Only users whose id begins so.
        """
        if whole("limit", limit) > OWNERS_MAX:
            raise UsageError(f"limit must be at most {OWNERS_MAX}, not {limit}")
        of = tenant if tenant is None or tenant == "" else checked_id(tenant, "tenant")
        begins = checked_id(prefix, "prefix") if prefix else ""
        self.check_loop()
        await self._services.record.sync()
        return await self._services.record.owners(limit, of, begins)

    async def _applied(self, owner: Owner, found: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings, applied if they could be; what was forgotten is in no note or file any more."""
        gone: list[say.Forgotten] = []
        done = tuple([await self._repaired(owner, one, gone) for one in found])
        for one in gone:
            await self._erasures.unshow(owner, one)
            await self._erasures.end_rows(owner, one)
        if gone:
            await self._erasures.end_files(owner)
        return done

    async def _repaired(self, owner: Owner, finding: Finding, gone: list[say.Forgotten]) -> Finding:
        """The finding, applied if it could be: who changed the items meanwhile knew better."""
        first, *others = finding.item_ids
        try:
            match finding.repair:
                case "supersede":
                    await self.ask_memory(owner, say.SupersedeItems(first, tuple(others)))
                case "forget":
                    asked = say.ForgetItem(first, "notes", reason="a checkup")
                    gone.append(cast("say.Forgotten", await self.ask_memory(owner, asked)))
                case "embed":
                    await self.ask_memory(owner, say.EmbedItems())
                case "edit":
                    return finding
        except UsageError:
            return finding
        return msgspec.structs.replace(finding, applied=True)
