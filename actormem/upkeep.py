"""Looking after memories, as the runtime gives it: archive, checkup, and whose memories there are."""

from typing import cast

from actormem.actors import memory_messages as say
from actormem.core.ids import checked_id
from actormem.core.values import Item
from actormem.front import owner_of, switch
from actormem.memory import OwnerMemory

__all__ = ["Upkeep"]


class Upkeep(OwnerMemory):
    """The part of the runtime that keeps memories in order."""

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
