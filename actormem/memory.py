"""An owner's long-term memory, as the runtime gives it: recall, remember, list, edit, import, forget."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, cast

import msgspec

from actormem import limits
from actormem.actors import messages as say
from actormem.actors.recalling import recall
from actormem.core.attributes import cardinality
from actormem.core.ids import checked_id
from actormem.core.text import clean
from actormem.core.values import Fact, Item, ItemKind, Message, Recall, SessionKey
from actormem.core.wire import parse_message
from actormem.errors import UsageError
from actormem.front import FrontDoor, Given, item_text, owner_of, positive
from actormem.ports import EraseOwner, EraseSession
from actormem.statistics import Receipt

__all__ = ["OwnerMemory"]

IMPORT_BATCH = 64  # messages taken in at a time, so that live turns of the same owner get their turn between


class OwnerMemory(FrontDoor):
    """The part of the runtime that speaks of memory items. Every method names the owner; none reads them all."""

    # --- memory -----------------------------------------------------------------------------------------

    async def recall(
        self,
        query: str,
        *,
        user: str,
        tenant: str = "",
        limit: int = 10,
        kinds: Sequence[ItemKind] | None = None,
        at: datetime | None = None,
        min_score: float | None = None,
        deadline_s: float | None = None,
    ) -> Recall:
        """Find the user's memories for a query.

        Args:
            limit: Hits wanted, 1 to 100.
            kinds: Only these kinds; None for all.
            at: What was true at that time; None for now.
            min_score: Hits below it are left out; None for no floor.
            deadline_s: Seconds; None for what `open` was told.

        Returns:
            Hits, best first; `degraded` names what missed the deadline.
        """
        if not isinstance(query, str) or len(query) > limits.QUERY_CHARS_MAX:
            raise UsageError(f"a query must be text of at most {limits.QUERY_CHARS_MAX} characters")
        if not 1 <= limit <= limits.RECALL_HITS_MAX:
            raise UsageError(f"limit must be from 1 to {limits.RECALL_HITS_MAX}, not {limit}")
        self.check_loop()
        clock = self._services.clock
        began_s = clock.monotonic_s()
        asked = say.RecallItems(
            query=clean(query),
            vectors=None,
            limit=limit,
            kinds=None if kinds is None else frozenset(kinds),
            min_score=min_score,
            at_ms=None if at is None else int(at.timestamp() * 1000),
        )
        deadline = self._services.options.recall_deadline_s if deadline_s is None else deadline_s
        found, degraded = await recall(
            self._services, owner_of(user, tenant), asked, positive("deadline_s", deadline)
        )
        return Recall(
            hits=found.hits,
            degraded=degraded,
            elapsed_ms=(clock.monotonic_s() - began_s) * 1000,
            considered_count=found.considered_count,
        )

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
    ) -> Item:
        """Remember a sentence about the user; returns the live item that holds it, when it is durable.

        Args:
            text: One sentence that stands by itself.
            attribute: What it says of the user; `address` and its like hold one value at a time, the newest.
            value: The value; the text itself where it is empty.
            importance: 0 to 1.
            time: Since when it is true; default now.
            expires: When its time runs out; default never.
        """
        words = item_text(text)
        if not 0 <= importance <= 1:
            raise UsageError(f"importance must lie between 0 and 1, not {importance!r}")
        fact = Fact(
            subject="user",
            attribute=attribute,
            cardinality=cardinality(attribute),
            value=clean(value) or words,
            text=words,
            quote="",
            kind=kind,
            importance=importance,
            confidence=1.0,
            explicit=True,
        )
        now_ms = self._services.clock.now_ms()
        asked = say.RememberItem(
            fact=fact,
            event_ms=now_ms if time is None else int(time.timestamp() * 1000),
            offset_minutes=0,
            expires_ms=0 if expires is None else int(expires.timestamp() * 1000),
        )
        return cast("Item", await self.ask_memory(owner_of(user, tenant), asked))

    async def items(
        self,
        user: str,
        *,
        tenant: str = "",
        kinds: Sequence[ItemKind] | None = None,
        history: bool = False,
    ) -> tuple[Item, ...]:
        """The user's items, oldest first: live ones, or with `history` those they superseded too."""
        asked = say.ListItems(None if kinds is None else frozenset(kinds), history)
        return cast("tuple[Item, ...]", await self.ask_memory(owner_of(user, tenant), asked))

    async def item(self, item_id: str, *, user: str, tenant: str = "") -> Item:
        """One item of the user's, live or not.

        Raises:
            NotFoundError: The user has none of that id.
        """
        return cast("Item", await self.ask_memory(owner_of(user, tenant), say.GetItem(item_id)))

    async def value(self, user: str, attribute: str, *, tenant: str = "") -> Item | None:
        """The newest live item that says this of the user (`.value`, `.confidence`, `.source_ids`), or None."""
        found = [one for one in await self.items(user, tenant=tenant) if one.attribute == attribute]
        found = [one for one in found if one.subject == "user"]
        return found[-1] if found else None

    async def edit(self, item_id: str, text: str, *, user: str, tenant: str = "") -> Item:
        """Give an item another text; returns its new version, when it is durable."""
        asked = say.EditItem(item_id, item_text(text))
        return cast("Item", await self.ask_memory(owner_of(user, tenant), asked))

    async def import_history(
        self,
        messages: Sequence[Given],
        *,
        session_id: str,
        user: str,
        tenant: str = "",
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Make memories of an older log; its messages do not become part of a live session.

        Ids and times are kept, so that the same log may be imported again and adds nothing; what the log says
        never takes the place of what was said later.

        Args:
            progress: Called with the number of messages taken in so far.

        Returns:
            How many items were made or changed.
        """
        checked_id(session_id, "session id")
        parsed = [_imported(one, place) for place, one in enumerate(messages, 1)]
        count = 0
        for first in range(0, len(parsed), IMPORT_BATCH):
            batch = tuple(parsed[first : first + IMPORT_BATCH])
            asked = say.ImportItems(session_id=session_id, messages=batch)
            count += cast("int", await self.ask_memory(owner_of(user, tenant), asked))
            if progress is not None:
                progress(first + len(batch))
        return count

    # --- forgetting -------------------------------------------------------------------------------------

    async def forget(
        self, item_id: str, *, user: str, tenant: str = "", sources: Literal["redact", "keep"] = "redact"
    ) -> Receipt:
        """Erase an item with all its versions, and tell what was erased.

        Args:
            sources: `redact` cuts the words out of the messages, episodes, notes and summaries they came from
                or stand in; `keep` leaves the transcript as it is.

        Raises:
            NotFoundError: The user has no item of that id.
        """
        if sources not in ("redact", "keep"):
            raise UsageError(f"sources must be 'redact' or 'keep', not {sources!r}")
        owner = owner_of(user, tenant)
        shown = await self._services.record.shown_in(owner, item_id)
        redact = sources == "redact"
        gone = cast(
            "say.Forgotten", await self.ask_memory(owner_of(user, tenant), say.ForgetItem(item_id, redact))
        )
        keys = {key for key, _ in shown}
        keys |= {SessionKey(owner, item.session_id) for item in gone.items if item.session_id and redact}
        asked = say.Redact(
            words=tuple({item.quote for item in gone.items}) if redact else (),
            values=tuple({word for item in gone.items for word in (item.text, item.value)}),
            item_ids=tuple(item.id for item in gone.items),
        )
        texts = 0
        for key in sorted(keys):
            done = await self.ask(self._system.ref("session", key), asked)
            texts += cast("say.Redacted", done).text_count
        await self._services.record.scrub()
        return Receipt(item_count=len(gone.items), text_count=texts, session_count=len(keys))

    async def forget_session(self, session_id: str, *, user: str, tenant: str = "") -> Receipt:
        """Erase a session: its messages, summaries and notes, and every memory that came from it."""
        key = SessionKey(owner_of(user, tenant), checked_id(session_id, "session id"))
        count = cast("int", await self.ask_memory(owner_of(user, tenant), say.DropItems(session_id)))
        await self._system.stop("session", key, "forgotten")
        await self._services.record.sync([EraseSession(key)])
        await self._services.record.scrub()
        return Receipt(item_count=count, text_count=0, session_count=1)

    async def forget_user(self, user: str, *, tenant: str = "") -> Receipt:
        """Erase everything of a user: sessions, memories, vectors, caches."""
        owner = owner_of(user, tenant)
        await self._services.record.sync()
        sessions = await self._services.record.sessions(owner)
        for row in sessions:
            await self._system.stop("session", SessionKey(owner, row.session_id), "forgotten")
        count = cast("int", await self.ask_memory(owner_of(user, tenant), say.DropItems("")))
        await self._system.stop("longterm", owner, "forgotten")
        await self._services.record.sync([EraseOwner(owner)])
        await self._services.cache.drop_owner(owner)
        await self._services.record.scrub()
        return Receipt(item_count=count, text_count=0, session_count=len(sessions))


def _imported(given: Given, place: int) -> Message:
    """A message of an older log; where it has no id, its place in the log is its id."""
    message = parse_message(given)
    return message if message.id else msgspec.structs.replace(message, id=f"import:{place}")
