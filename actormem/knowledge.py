"""Knowledge bases, as the runtime gives them: documents of a tenant that its sessions may recall from."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.messages import Wake
from actormem.core.ids import checked_id
from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Owner
from actormem.documents import Document, DocumentGiven, read_documents
from actormem.errors import NotFoundError, OverloadedError, StoppedError
from actormem.front import Progress, told
from actormem.memory import OwnerMemory
from actormem.ports import BaseRow
from actormem.statistics import Receipt

__all__ = ["Imported", "KnowledgeMemory"]

IMPORT_PASSAGES = 32  # taken in at a time: 16 ms, so that turns that recall from the base wait no longer


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of documents did.

    Attributes:
        document_count: Documents given.
        passage_count: Passages they have now.
        added_count: Those of them that are new.
        removed_count: Passages that these documents had before and have no more.
    """

    document_count: int
    passage_count: int
    added_count: int
    removed_count: int


class KnowledgeMemory(OwnerMemory):
    """The part of the runtime that speaks of knowledge bases. A base belongs to a tenant, and to no user."""

    def wake_bases(self, names: Iterable[str], tenant: str) -> None:
        """Have these bases read into memory, so that the first turn that recalls from them need not wait."""
        for name in names:
            with suppress(OverloadedError, StoppedError):  # who is that busy is awake
                self._system.ref("longterm", base_owner(tenant, name)).tell(Wake())

    async def import_knowledge(
        self,
        name: str,
        documents: Sequence[DocumentGiven],
        *,
        tenant: str = "",
        progress: Progress | None = None,
    ) -> Imported:
        """Put documents into a knowledge base, made where there is none of that name.

        They are cut into passages of about 200 words, each with the title and the headings over it. A document is
        known by its `id`, or else by its path, its title, or the text itself: imported again, passages that are the
        same stay as they are, new ones are added, and those it has no more leave the base and the notes that show
        them. Vectors are made in the background; `settle` waits for them. A process that ends in between leaves what
        it had done: import the documents again.

        Args:
            name: The base; unique in its tenant.
            documents: Texts (Markdown or plain), paths of UTF-8 `.md` and `.txt` files, or mappings of `text` and, if
                you have them, `id`, `title`, `time` (an aware datetime or ISO 8601) and `format` (`markdown` or
                `plain`).
            progress: Called after each batch with passages done and of all; may be awaitable.

        Raises:
            UsageError: A document cannot be taken in; says which. Nothing changed.
            StoppedError: The base was removed meanwhile.
        """
        base = _base(name, tenant)
        self.check_loop()
        filtered = partial(self._services.filters.document, tenant=base.tenant)
        parsed = await read_documents(documents, self._services.pools.background, filtered)
        total = sum(len(document.passages) for document in parsed)
        done = added = removed = 0
        for document in parsed:
            for first in range(0, len(document.passages), IMPORT_PASSAGES):
                batch = document.passages[first : first + IMPORT_PASSAGES]
                asked = say.ImportPassages(
                    document_id=document.id,
                    passages=batch,
                    time_ms=document.time_ms,
                    offset_minutes=document.offset_minutes,
                )
                count = await self._ask_base(base, asked)
                assert isinstance(count, int)
                added, done = added + count, done + len(batch)
                await told(progress, done, total)
            removed += await self._seen_through(base, self._keep_only(base, document))
        if removed:
            await self._seen_through(base, self._erasures.end_files(base))
        return Imported(
            document_count=len(parsed), passage_count=total, added_count=added, removed_count=removed
        )

    async def knowledge(self, tenant: str = "") -> tuple[BaseRow, ...]:
        """The tenant's knowledge bases, by name, with how many passages each holds."""
        self.check_loop()
        await self._services.record.sync()
        return await self._services.record.bases(_base("any", tenant).tenant)

    async def remove_knowledge(self, name: str, *, tenant: str = "") -> Receipt:
        """Erase a knowledge base: passages, vectors, and the notes of sessions that show any of it.

        Sessions that had shown some begin a new epoch. What a model or a user said of it stands: it is theirs. A base
        of the same name that is imported later is attached where this one was.

        Raises:
            NotFoundError: The tenant has none of that name.
        """
        base = _base(name, tenant)
        self.check_loop()
        receipt = await self._receipt(base, self._erasures.remove_base(base))
        if not receipt.item_count:
            raise NotFoundError("this tenant has no knowledge base of that name", id=name)
        return receipt

    async def _keep_only(self, base: Owner, document: Document) -> int:
        """Take out the passages that the document has no more; gives how many."""
        kept = frozenset(passage.text for passage in document.passages)
        gone = await self._ask_base(base, say.KeepPassages(document.id, kept))
        assert isinstance(gone, say.Forgotten)
        if gone.items:
            await self._erasures.unshow(base, gone)
            await self._erasures.end_rows(base, gone)
        return len(gone.items)

    async def _ask_base(self, base: Owner, asked: object) -> object:
        await self._services.unfinished.passed(base)
        if base in self._services.forgetting:
            raise StoppedError("nothing is taken in", reason="the knowledge base is being removed")
        return await self.ask_memory(base, asked)


def _base(name: object, tenant: object) -> Owner:
    checked = checked_id(name, "knowledge base")
    return base_owner("" if tenant == "" else checked_id(tenant, "tenant"), checked)
