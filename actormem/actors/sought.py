"""What an erasure asks of each session, and which sessions it has to ask."""

import anyio.to_thread

from actormem.actors.memory_messages import Forgotten
from actormem.actors.messages import Redact
from actormem.actors.redacting import Redaction, erased_words, said_since_ms, shown_words
from actormem.actors.services import Services
from actormem.core.erased_words import reach
from actormem.core.values import SessionKey
from actormem.errors import StorageError

__all__ = ["SessionWords", "holds_any"]

PAGE_EVENTS = 512  # looked at in one go: some milliseconds in a thread


class SessionWords:
    """The words of forgotten items, as sessions are to lose them.

    Attributes:
        session_ids: Where the items came from, as far as messages lose words.
        elsewhere: What is asked of sessions that the items neither came from nor were shown in.
    """

    def __init__(self, gone: Forgotten) -> None:
        erasure = gone.erasure
        cuts_words = erasure.cut == "words"
        self._words = erased_words(gone.items) if cuts_words else ()
        self._values = shown_words(gone.items) if erasure.cut != "notes" else ()
        self._ids = (*(item.id for item in gone.items), *erasure.touched_ids)
        self._reason = erasure.reason
        self._sources = [source for item in gone.items for source in item.sources if source[0] and cuts_words]
        self._since_ms = said_since_ms(gone.items)
        self._wide = tuple(word for word in self._words if reach(word) == "owner")
        self._near = tuple(word for word in self._words if reach(word) == "session")
        self.session_ids = frozenset(session_id for session_id, _ in self._sources)
        self.elsewhere = Redact(
            words=(),
            values=self._wide,  # the same whether a session is in memory or not: it is sought for no other words
            item_ids=self._ids,
            reason=self._reason,
            wide=self._wide,
        )

    def near(self, session_id: str) -> Redact:
        """What is asked of a session that the items came from, or that has shown them."""
        return Redact(
            words=self._words,
            values=self._values,
            item_ids=self._ids,
            reason=self._reason,
            source_ids=frozenset(id for session, id in self._sources if session == session_id),
            wide=self._wide,
            near=self._near,
            since_ms=self._since_ms,
        )


async def holds_any(key: SessionKey, services: Services, redact: Redact) -> bool:
    """Whether a session, which need not be awake for it, has a text that is to change; one that cannot be read has.

    Cost:
        Reads all of it where it has none, 512 events at a time.
    """
    redaction, first = Redaction(redact), 1
    while True:
        try:
            page = await services.record.read_events(key, first, first + PAGE_EVENTS - 1)
        except StorageError:
            return True
        if not page:
            return False
        if await anyio.to_thread.run_sync(redaction.texts, page, limiter=services.pools.background):
            return True
        first += PAGE_EVENTS
