"""Carrying an erasure out: sessions first, then caches, then rows, then the bytes of the files.

The law of the file: every road of forgetting ends here, whoever walks it: the front door, retention, or upkeep after
a crash. What is to be erased is noted before the first effect, and the note goes with the last rows; each step may be
done again. What the last rows leave in files is noted too, until it is cleared.
"""

from collections.abc import Collection, Sequence
from typing import cast

import msgspec

from actormem.actors import memory_messages as say
from actormem.actors.messages import Erase, Redact, Redacted
from actormem.actors.probes import PROBES_MAX, item_probes, scanned, session_probes
from actormem.actors.retiring import CLEARING, files_due
from actormem.actors.services import Services
from actormem.actors.sought import SessionWords, holds_any
from actormem.actors.unfinished import unfinished_erasures
from actormem.core.erasure import BYTES_INTENTS, FILES, Erasure, encode_erasure, erasure_name
from actormem.core.ids import item_number
from actormem.core.knowledge.bases import is_base
from actormem.core.values import Owner, SessionKey
from actormem.errors import ActorMemError
from actormem.limits import ASK_TIMEOUT_S
from actormem.ports import DeleteIntent, EraseOwner, PutIntent, Scan

__all__ = ["Erased", "Erasures"]


class Erased(msgspec.Struct, frozen=True):
    """How many items, texts of sessions and sessions were erased or changed, and what the files hold of it then."""

    item_count: int
    text_count: int
    session_count: int
    scan: Scan = Scan()


class Erasures:
    """Carries erasures out, for one owner at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def forget_items(self, owner: Owner, gone: say.Forgotten) -> Erased:
        """Items have left memory: whoever shows them is to show them no more."""
        done = await self.unshow(owner, gone)
        await self.end(owner, (gone.name,))
        return msgspec.structs.replace(done, scan=await scanned(self._services, owner, gone))

    async def forget_session(self, key: SessionKey) -> Erased:
        """A session, and every memory that came from it."""
        owner, record = key.owner, self._services.record
        erasure = Erasure(session_id=key.session_id, cut="values")
        await record.sync()
        known = any(row.session_id == key.session_id for row in await record.sessions(owner))
        if known:
            note = PutIntent(owner, erasure_name(erasure), encode_erasure(erasure))
            await record.sync([note, files_due(owner)])
        held = await session_probes(key, self._services)
        existed = await self._services.ref("session", key).ask(Erase(), timeout_s=ASK_TIMEOUT_S)
        gone = cast("say.Forgotten", await self._memory(owner, say.DropItems(key.session_id)))
        done = await self.unshow(owner, gone, without=key)
        await self.end(owner, (gone.name, erasure_name(CLEARING) if known else ""))
        return Erased(
            done.item_count,
            done.text_count + held.text_count,
            done.session_count + int(existed is True),
            await scanned(self._services, owner, gone, held.texts),
        )

    async def forget_user(self, owner: Owner) -> Erased:
        """Everything of a user; nothing is taken in from his sessions meanwhile."""
        services = self._services
        services.forgetting.add(owner)
        try:
            await services.record.sync()
            keys = {SessionKey(owner, row.session_id) for row in await services.record.sessions(owner)}
            await self._note_whole(owner)
            held = [await session_probes(key, services) for key in sorted(keys)]
            for key in sorted(keys | self._residents(owner)):
                await services.ref("session", key).ask(Erase(), timeout_s=ASK_TIMEOUT_S)
            gone = cast("say.Forgotten", await self._memory(owner, say.DropItems("")))
            await self._end_whole(owner, "forgotten", services.moments.now_ms())
        finally:
            services.forgetting.discard(owner)
        text_count = sum(one.text_count for one in held)
        texts = [text for one in held for text in one.texts[: PROBES_MAX // len(held) + 1]]
        return Erased(len(gone.items), text_count, len(keys), await scanned(services, owner, gone, texts))

    async def remove_base(self, base: Owner) -> Erased:
        """A knowledge base, and the notes that show any of it; nothing is recalled from it meanwhile."""
        services = self._services
        services.forgetting.add(base)
        try:
            await services.record.sync()
            held = await services.record.base_contents(base)
            if not held.item_ids and not services.unfinished.holds(base):
                return Erased(0, 0, 0)
            await self._note_whole(base)
            numbers = [number for one in sorted(held.item_ids)[:PROBES_MAX] if (number := item_number(one))]
            texts = item_probes(await services.record.items_of(base, numbers))
            counts = await self._off_notes(base, held.shown_in, held.item_ids, "removed knowledge")
            await services.stop("longterm", base, "removed")
            await self._end_whole(base, "removed")  # and once more: who asked meanwhile had it read again
        finally:
            services.forgetting.discard(base)
        return msgspec.structs.replace(
            _erased(len(held.item_ids), counts), scan=await scanned(services, base, texts=texts)
        )

    # --- the steps ----------------------------------------------------------------------------------------

    async def unshow(self, owner: Owner, gone: say.Forgotten, *, without: SessionKey | None = None) -> Erased:
        """Take what has left memory out of the sessions that show it, and of those that write a note now.

        What another session says of its own accord stands, in memory or not, but where words are cut that tell enough
        to be sought in all of the owner's: see `core.erased_words.reach`.
        """
        ids = tuple(item.id for item in gone.items)
        if is_base(owner):
            counts = await self._off_notes(owner, gone.shown_in, frozenset(ids), gone.erasure.reason)
            return _erased(len(ids), counts)
        sought = SessionWords(gone)
        residents = self._residents(owner) if gone.items else set[SessionKey]()
        near = (gone.shown_in | {SessionKey(owner, one) for one in sought.session_ids}) - {without}
        asked = {key: sought.near(key.session_id) for key in near}
        asked |= dict.fromkeys(residents - near - {without}, sought.elsewhere)
        asked |= await self._holding(owner, sought.elsewhere, {*asked, without})
        counts = await self._redacted(sorted(asked.items()))
        return _erased(len(ids), counts)

    async def _holding(
        self, owner: Owner, redact: Redact, without: Collection[SessionKey | None]
    ) -> dict[SessionKey, Redact]:
        """Other sessions of the owner that hold words which are sought in all of them; none is woken for it.

        Cost:
            Reads all that they hold, a page at a time, and looks at it in a thread.
        """
        if not redact.wide:
            return {}
        services = self._services
        await services.record.sync()
        keys = {SessionKey(owner, row.session_id) for row in await services.record.sessions(owner)}
        return {key: redact for key in sorted(keys - set(without)) if await holds_any(key, services, redact)}

    async def end_rows(self, owner: Owner, gone: say.Forgotten) -> None:
        """Delete the rows of items that no session shows any more; `end_files` is due then."""
        if gone.name:
            await self._services.record.sync([files_due(owner)])
            await self._memory(owner, say.EndErasure(gone.name))

    async def end_files(self, owner: Owner) -> None:
        """Clear caches and files of what was erased of an owner in several steps."""
        await self.end(owner, (erasure_name(CLEARING),))

    async def end(self, owner: Owner, names: Sequence[str]) -> None:
        """Delete the rows of these erasures, and clear caches and files of the words."""
        await self._drop_cached(owner)
        due = self._bytes_due()
        await self._services.record.sync([due])
        for name in filter(None, names):
            await self._memory(owner, say.EndErasure(name))
        await self._clear((due.name,))

    async def _note_whole(self, owner: Owner) -> None:
        erasure = Erasure(whole=True)
        await self._services.record.sync([PutIntent(owner, erasure_name(erasure), encode_erasure(erasure))])

    async def _end_whole(self, owner: Owner, reason: str, forgotten_ms: int = 0) -> None:
        """Delete all rows, and clear caches and files."""
        await self._drop_cached(owner)
        due = self._bytes_due()
        await self._services.record.sync([due, EraseOwner(owner, forgotten_ms)])
        await self._services.stop("longterm", owner, reason)
        await self._clear((due.name,))

    async def _off_notes(
        self, base: Owner, shown_in: frozenset[SessionKey], ids: frozenset[str], reason: str
    ) -> list[int]:
        """Take passages off the notes that show them, and off those that are being written."""
        residents = {key for key in self._services.sessions() if key.owner.tenant == base.tenant}
        asked: list[tuple[SessionKey, Redact]] = []
        for key in sorted(shown_in | residents if ids else shown_in):
            newest_only = key not in shown_in
            one = Redact(words=(), values=(), item_ids=ids, reason=reason, newest_only=newest_only)
            asked.append((key, one))
        return await self._redacted(asked)

    async def _redacted(self, asked: Sequence[tuple[SessionKey, Redact]]) -> list[int]:
        """How many texts of each session were changed; one that fails keeps the others from nothing.

        Raises:
            ActorMemError: What failed first, when all have been asked.
        """
        counts: list[int] = []
        failures: list[ActorMemError] = []
        for key, redact in asked:
            try:
                done = await self._services.ref("session", key).ask(redact, timeout_s=ASK_TIMEOUT_S)
                counts.append(cast("Redacted", done).text_count)
            except ActorMemError as error:
                failures.append(error)
        if failures:
            raise failures[0].with_traceback(None)
        return counts

    async def _memory(self, owner: Owner, message: object) -> object:
        return await self._services.ref("longterm", owner).ask(message, timeout_s=ASK_TIMEOUT_S)

    def _residents(self, owner: Owner) -> set[SessionKey]:
        """The owner's sessions in memory: a note that is being written now is in one of them."""
        return {key for key in self._services.sessions() if key.owner == owner}

    # --- caches and files -----------------------------------------------------------------------------------

    async def _drop_cached(self, owner: Owner) -> None:
        """Before the rows go: what a crash leaves in a cache is then still noted."""
        self._services.erasure_count += 1
        self._services.rewrites.drop(owner)
        await self._services.cache.drop_owner(owner)

    def _bytes_due(self) -> PutIntent:
        count, now_ms = self._services.erasure_count, self._services.clock.now_ms()
        return PutIntent(FILES, f"{BYTES_INTENTS}{now_ms}:{count}", b"")

    async def _clear(self, names: Sequence[str]) -> None:
        """Clear the files of what rows have left in them."""
        record = self._services.record
        await record.scrub()
        await record.sync([DeleteIntent(FILES, name) for name in names])

    # --- after a crash --------------------------------------------------------------------------------------

    async def resume(self, owner: Owner) -> None:
        """Bring to an end what is noted of an owner; what fails is counted, and tried again at the next opening."""
        counters, record = self._services.counters, self._services.record
        if owner == FILES:
            await self._clear([name for name, _ in await record.intents(FILES)])
            return
        await self._memory(owner, say.ReadErasure(""))  # what was asked of it before is noted then
        await record.sync()
        found, _ = await unfinished_erasures(record, owner)
        # Caches and files last: what is erased before is still noted in them if this ends half-way too.
        found.sort(key=lambda one: one == CLEARING)
        for erasure in [one for one in found if one.whole] or found:
            try:
                await self._resumed(owner, erasure)
                counters.erasures_resumed += 1
            except ActorMemError:
                counters.erasures_failed += 1

    async def _resumed(self, owner: Owner, erasure: Erasure) -> None:
        name = erasure_name(erasure)
        if erasure.whole:
            await (self.remove_base(owner) if is_base(owner) else self.forget_user(owner))
        elif erasure.session_id:
            await self.forget_session(SessionKey(owner, erasure.session_id))
        else:
            gone = cast("say.Forgotten | None", await self._memory(owner, say.ReadErasure(name)))
            if gone is not None:
                await self.unshow(owner, gone)
            await self.end(owner, (name,))


def _erased(item_count: int, counts: Sequence[int]) -> Erased:
    return Erased(item_count, sum(counts), sum(1 for count in counts if count))
