"""An owner's long-term memory, as the runtime gives it: recall, remember, list, edit, import, forget."""

from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Literal, TypeVar, cast

import msgspec

from actormem import limits
from actormem.actors import memory_messages as say
from actormem.actors.erasures import Erased, Erasures
from actormem.actors.expanding import recall_expanded
from actormem.core.erasure import Cut, Erasure
from actormem.core.ids import checked_id, checked_scope
from actormem.core.knowledge.bases import base_owner
from actormem.core.values import Fact, Item, ItemKind, Message, Owner, Recall, SessionKey
from actormem.core.wire import parse_message
from actormem.errors import OverloadedError, StoppedError, UsageError, given_as
from actormem.front import (
    UNSET,
    FrontDoor,
    Given,
    Progress,
    Unset,
    item_text,
    kinds_or_none,
    milliseconds,
    observed,
    offset_minutes,
    owner_of,
    positive,
    query_text,
    share,
    switch,
    text_or_none,
    told,
)
from actormem.statistics import Receipt

__all__ = ["OwnerMemory", "imported_messages"]

Done = TypeVar("Done")
IMPORT_BATCH = 64  # messages taken in at a time, so that live turns of the same owner get their turn between


class OwnerMemory(FrontDoor):
    """The part of the runtime that speaks of memory items. Every method names the owner; none reads them all."""

    # --- memory -----------------------------------------------------------------------------------------

    @observed("recall")
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
        """Find the user's memories for a query.

        Args:
            limit, kinds: Hits wanted, 1 to 100; only of these kinds, None for all.
            scope: Only items of this scope and of none; None for all of the user's.
            at: What was true at that time, as far as it had been said by then; None for now.
            deep: Archived items too.
            min_score: Hits below it are left out; None for no floor.
            deadline_s: Seconds; None for what `open` was told.
            knowledge: Names of knowledge bases of the tenant to look into, too.

        Returns:
            Hits, best first, those of rewrites where `open` was told so; `degraded` names what missed the deadline.

        Raises:
            NotFoundError: The tenant has no knowledge base of that name.
        """
        if type(limit) is not int or not 1 <= limit <= limits.RECALL_HITS_MAX:
            raise UsageError(f"limit must lie in 1 to {limits.RECALL_HITS_MAX}, not {given_as(limit)}")
        self.check_loop()
        clock = self._services.clock
        began_s = clock.monotonic_s()
        asked = say.RecallItems(
            query=query_text(query),
            vectors=None,
            limit=limit,
            kinds=kinds_or_none(kinds),
            min_score=None if min_score is None else share("min_score", min_score),
            at_ms=None if at is None else milliseconds("at", at),
            scope=None if scope is None else checked_scope(scope),
            deep=switch("deep", deep),
        )
        deadline = self._services.options.recall_deadline_s if deadline_s is None else deadline_s
        owner = owner_of(user, tenant)
        bases = tuple(base_owner(owner.tenant, one) for one in await self.attached(knowledge, owner.tenant))
        await self._services.unfinished.passed(owner, *bases)
        answer = await recall_expanded(
            self._services, owner, asked, positive("deadline_s", deadline), strict=True, bases=bases
        )
        return Recall(
            hits=answer.recalled.hits,
            degraded=answer.degraded,
            elapsed_ms=(clock.monotonic_s() - began_s) * 1000,
            considered_count=answer.recalled.considered_count,
        )

    @observed("remember")
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
        """Remember a sentence about the user; returns the live item that holds it, when it is durable.

        Args:
            text: One sentence that stands by itself.
            attribute: What it says of the user; `address` and its like, and what `open` was told so, hold one value at
                a time, the newest.
            value: The value; the text itself where it is empty.
            importance: 0 to 1.
            time: Since when it is true; default now.
            expires: When its time runs out, in the future; default never.
            scope: The agent it is for; empty for all of the user's. Each scope has its own newest value.
        """
        words = item_text(text)
        kinds_or_none([kind])
        fact = Fact(
            subject="user",
            attribute=checked_id(attribute, "attribute"),
            cardinality=self._services.options.attributes.cardinality(attribute),
            value=(text_or_none("value", value) or "").strip() or words,
            text=words,
            quote="",
            kind=kind,
            importance=share("importance", importance),
            confidence=1.0,
            explicit=True,
        )
        asked = say.RememberItem(
            fact=fact,
            event_ms=self._services.moments.now_ms() if time is None else milliseconds("time", time),
            offset_minutes=offset_minutes(time),
            expires_ms=self._end(expires),
            scope=checked_scope(scope),
        )
        return cast("Item", await self.ask_memory(owner_of(user, tenant), asked))

    async def items(
        self,
        user: str,
        *,
        tenant: str = "",
        kinds: Sequence[ItemKind] | None = None,
        history: bool = False,
        scope: str | None = None,
    ) -> tuple[Item, ...]:
        """The user's items, oldest first: live ones, or with `history` superseded and archived ones too.

        Args:
            scope: Only items of this scope and of none; None for all.
        """
        asked = say.ListItems(kinds_or_none(kinds), history, None if scope is None else checked_scope(scope))
        return cast("tuple[Item, ...]", await self.ask_memory(owner_of(user, tenant), asked))

    async def item(self, item_id: str, *, user: str, tenant: str = "") -> Item:
        """One item of the user's, live or not.

        Raises:
            NotFoundError: The user has none of that id.
        """
        asked = say.GetItem(checked_id(item_id, "item id"))
        return cast("Item", await self.ask_memory(owner_of(user, tenant), asked))

    async def value(
        self, user: str, attribute: str, *, tenant: str = "", scope: str | None = None
    ) -> Item | None:
        """What holds of the user, for a tool's argument; None where nothing does.

        Args:
            scope: What is of this scope comes before what is of none; None: the newest of all.

        Returns:
            The newest live item: its `value`, `confidence`, `event_ms` and `source_ids`. Of an attribute of many
            values, and where two older logs give one attribute two values at the same time, `items` has the others.
        """
        items = await self.items(user, tenant=tenant, scope=scope)
        found = [one for one in items if one.attribute == attribute and one.subject == "user"]
        found = [one for one in found if scope and one.scope == scope] or found
        return found[-1] if found else None

    @observed("edit")
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
        """Give an item another text; returns its new version, when it is durable.

        The old text leaves the notes that show it; messages stay as they were said, and are shown with what holds
        instead.

        Args:
            value: Its value from now on; None: what follows from the text.
            expires: When its time runs out, None for never; where it is not given, that stays as it is.

        Raises:
            NotFoundError: The user has no item of that id.
            UsageError: It is superseded, the text is none, or it would have ended already; nothing changed.
        """
        owner = owner_of(user, tenant)
        ends_ms = None if isinstance(expires, Unset) else self._end(expires)
        given = None if value is None else text_or_none("value", value)
        asked = say.EditItem(checked_id(item_id, "item id"), item_text(text), given, ends_ms)
        edited = cast("Item", await self.ask_memory(owner, asked))
        shown = await self._services.record.shown_in(owner, item_id)
        old = say.Forgotten((edited,), frozenset(key for key, _ in shown), erasure=Erasure(reason="an edit"))
        await self._erasures.unshow(owner, old)
        return edited

    @observed("import")
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
        """Make memories of an older log; its messages do not become part of a live session.

        Ids and times are kept, so that the same log, or a longer one, may be imported again and adds nothing
        twice; a message without an id is known by its words and time. What the log says never takes the place
        of what was said later. What was forgotten is not taken in again: the texts of a forgotten item or session, and
        of a forgotten user all that is older than the forgetting or does not say when it was said.

        Args:
            scope: The agent whose log it is; empty for all of the user's.
            progress: Called after each batch with the number of messages taken in, and of all; may be awaitable.

        Returns:
            How many items were made or changed.
        """
        checked_id(session_id, "session id")
        agent, parsed = checked_scope(scope), imported_messages(messages)
        count = 0
        for first in range(0, len(parsed), IMPORT_BATCH):
            batch = tuple(parsed[first : first + IMPORT_BATCH])
            asked = say.ImportItems(session_id=session_id, messages=batch, scope=agent)
            count += cast("int", await self.ask_memory(owner_of(user, tenant), asked))
            await told(progress, first + len(batch), len(parsed))
        return count

    # --- forgetting -------------------------------------------------------------------------------------

    @observed("forget")
    async def forget(
        self, item_id: str, *, user: str, tenant: str = "", sources: Literal["redact", "keep"] = "redact"
    ) -> Receipt:
        """Erase an item with all its versions, and tell what was erased.

        Any forgetting that has begun is done to its end: where the caller is cancelled, beside him; after a crash at
        the next opening, before anything of the user is answered.

        Args:
            sources: `redact` cuts the words out of the messages they came from, and value and quote as whole words
                out of all that was said: those that tell much by themselves (an address, an order number, four
                Chinese characters) wherever they stand, a single word from when it was said on, in the sessions it
                was said or shown in, what is short or common ("5", "yes") only with its sentence; see
                `core.erased_words.reach`. `keep` leaves the transcript as it is.

        Raises:
            NotFoundError: The user has no item of that id.
            StorageError: A session cannot be read; the item is out of reach, and gone from all others. Forget that
                session, and then the item again.
        """
        if sources not in ("redact", "keep"):
            raise UsageError(f"sources must be 'redact' or 'keep', not {given_as(sources)}")
        owner = owner_of(user, tenant)
        cut: Cut = "words" if sources == "redact" else "values"
        asked = say.ForgetItem(checked_id(item_id, "item id"), cut)
        return await self._receipt(owner, self._forget_item(owner, asked))

    @observed("forget_session")
    async def forget_session(self, session_id: str, *, user: str, tenant: str = "") -> Receipt:
        """Erase a session: its messages, summaries and notes, and every memory that came from it.

        Hashes of its texts stay, so that no import brings them back.
        """
        owner = owner_of(user, tenant)
        key = SessionKey(owner, checked_id(session_id, "session id"))
        return await self._receipt(owner, self._erasures.forget_session(key))

    @observed("forget_user")
    async def forget_user(self, user: str, *, tenant: str = "") -> Receipt:
        """Erase everything of a user: sessions, memories, vectors, caches.

        A keyed hash of tenant and user stays with the time: messages from before it are refused, by imports passed
        over. What the user says anew is taken in.
        """
        owner = owner_of(user, tenant)
        return await self._receipt(owner, self._erasures.forget_user(owner))

    def _end(self, expires: datetime | None) -> int:
        """When an item's time runs out, in milliseconds; 0 for never."""
        if expires is None:
            return 0
        expires_ms = milliseconds("expires", expires)
        if expires_ms <= self._services.clock.now_ms():
            raise UsageError("expires must lie in the future", hint="what has ended is not remembered")
        return expires_ms

    @property
    def _erasures(self) -> Erasures:
        return Erasures(self._services)

    async def _forget_item(self, owner: Owner, asked: say.ForgetItem) -> Erased:
        gone = cast("say.Forgotten", await self.ask_memory(owner, asked))
        return await self._erasures.forget_items(owner, gone)

    async def _receipt(self, owner: Owner, erasing: Coroutine[object, object, Erased]) -> Receipt:
        """What an erasure did."""
        done = await self._seen_through(owner, erasing)
        return Receipt(
            item_count=done.item_count,
            text_count=done.text_count,
            session_count=done.session_count,
            scanned_bytes=done.scan.scanned_bytes,
            found_count=done.scan.found_count,
            elsewhere=self._services.record.elsewhere(),
        )

    async def _seen_through(self, owner: Owner, erasing: Coroutine[object, object, Done]) -> Done:
        """Erase; what the caller does not see through, because he is cancelled or it fails, upkeep does."""
        try:
            self.check_loop()
            await self._services.unfinished.passed(owner)
            return await erasing
        except UsageError:
            raise
        except BaseException:
            with suppress(OverloadedError, StoppedError):
                self._system.ref("upkeep", owner).tell(say.EndErasures(owner))
            raise
        finally:
            erasing.close()


def imported_messages(log: Sequence[Given]) -> list[Message]:
    """The messages of an older log; one without an id gets the same one at each import."""
    seen_counts: Counter[str] = Counter()
    found: list[Message] = []
    for given in log:
        message = parse_message(given)
        if not message.id:
            words = blake2b(f"{message.time_ms}\n{message.wire}".encode(), digest_size=16).hexdigest()
            seen_counts[words] += 1
            message = msgspec.structs.replace(message, id=f"import:{words}:{seen_counts[words]}")
        found.append(message)
    return found
