"""What a session and the front door say to long-term memory, and what it answers; see `messages` for the others.

Every message is a frozen value; who may send it and what comes back is its law. Long-term memory asks nobody.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from actormem.core.erasure import Cut, Erasure
from actormem.core.facts.found import Found
from actormem.core.facts.request import Said
from actormem.core.knowledge.split import Passage
from actormem.core.session.events import MessageAdded, message_of
from actormem.core.session.replay import Placed
from actormem.core.values import Fact, Hit, Item, Message, Owner, SessionKey
from actormem.ports import Vectors

__all__ = [
    "ArchiveItem",
    "BeginRecall",
    "Begun",
    "BlockWords",
    "CountShown",
    "DropItems",
    "EditItem",
    "EmbedItems",
    "EndErasure",
    "EndErasures",
    "Extracted",
    "ForgetItem",
    "Forgotten",
    "GetItem",
    "Health",
    "ImportItems",
    "ImportPassages",
    "KeepPassages",
    "ListItems",
    "Observe",
    "Observed",
    "PrepareRecall",
    "ReadErasure",
    "ReadHealth",
    "RecallItems",
    "Recalled",
    "RememberBlocks",
    "RememberItem",
    "ResumeSummaries",
    "RetentionDue",
    "RetireItems",
    "Retirement",
    "Shown",
    "SupersedeItems",
    "observed",
]


# --- session → long-term ------------------------------------------------------------------------------


class Observed(msgspec.Struct, frozen=True):
    """A durable message of a session, and its event."""

    sequence: int
    message: Message


def observed(events: Iterable[Placed]) -> tuple[Observed, ...]:
    """What was said in these events; not what we said ourselves."""
    found: list[Observed] = []
    for sequence, event in events:
        message = message_of(event)
        if message is not None and isinstance(event, MessageAdded) and not event.marked:
            found.append(Observed(sequence, message))
    return tuple(found)


class Observe(msgspec.Struct, frozen=True, kw_only=True):
    """Take in what was said, up to event `upto`. A tell; sent after the commit, in order, repeated after a crash.

    Without messages the events are read from the record; what a rewind among them took out is retracted. What is
    learned belongs to `scope`.
    """

    key: SessionKey
    first: int
    upto: int
    messages: tuple[Observed, ...]
    scope: str = ""


class BlockWords(msgspec.Struct, frozen=True):
    """A durable summary block: its first and last event, and its summary."""

    first: int
    last: int
    summary: str


class RememberBlocks(msgspec.Struct, frozen=True):
    """Have an item for each of these durable blocks of a session. A tell; repeated at each waking."""

    key: SessionKey
    blocks: tuple[BlockWords, ...]
    scope: str = ""


class Extracted(msgspec.Struct, frozen=True):
    """What an LLM found in user messages. A tell of the actor's own child: taken where the messages are as they were.

    `gone` are messages that wait no more: they are not there, or were given up.
    """

    said: tuple[Said, ...]
    found: tuple[Found, ...]
    gone: tuple[tuple[str, str], ...] = ()


class RecallItems(msgspec.Struct, frozen=True, kw_only=True):
    """Find items for a query. Answered by `Recalled`.

    Attributes:
        vectors: (s, d) unit rows, one for each segment of the query; None where there is no embedding.
        visible: Ids of messages of `session_id` that the asker sees anyway: their items are left out.
        shown: Items the asker has shown, with the version; those that changed since come back. So do facts that
            what is visible or shown states in words; those are told once, for then they stand here as gone.
        blocks: Last events of the summary blocks of `session_id` that the asker sees anyway.
        repeatable: Those of `shown` that were shown so long ago that they may be shown again.
        profile: Whether to tell what is known of the owner, whatever the query.
        asked_ms, offset_minutes: When and where the query was said: what its "yesterday" is; 0 and None: now, in the
            zone of what the owner said last.
        scope: Items of it and of no scope alone; None for all.
        deep: Archived items too.
        source_max: Hits of one message or one document at most; 0 for any number.
        counts: Whether the hits count as shown; False where the asker chooses among them and tells by itself.
    """

    query: str
    vectors: Vectors | None
    limit: int
    kinds: frozenset[str] | None = None
    session_id: str = ""
    visible: frozenset[str] = frozenset()
    shown: Mapping[str, int] = {}
    repeatable: frozenset[str] = frozenset()
    min_score: float | None = None
    at_ms: int | None = None
    blocks: frozenset[int] = frozenset()
    profile: bool = False
    asked_ms: int = 0
    offset_minutes: int | None = None
    scope: str | None = None
    deep: bool = False
    source_max: int = 0
    counts: bool = True


class Shown(msgspec.Struct, frozen=True):
    """An item the asker has shown and that is no longer so, with what took its place, if anything did.

    `words` are the old ones where it has not shown the item but a message, or a summary of messages, that states it;
    what took the place is then the item itself where that was edited.
    """

    item: Item
    replacement: Item | None
    words: str = ""


class CountShown(msgspec.Struct, frozen=True):
    """Notes of a turn showed these items. A tell; what is lost of it is a count."""

    ids: tuple[str, ...]


class BeginRecall(msgspec.Struct, frozen=True):
    """What will be asked, before its query is embedded. Answered by `Begun`."""

    asked: RecallItems


class PrepareRecall(msgspec.Struct, frozen=True):
    """What will be asked as soon as its query has vectors: time to do all that needs none."""

    urgent: ClassVar[bool] = True

    asked: RecallItems


class Recalled(msgspec.Struct, frozen=True):
    """Hits, best first; how many items were considered; what changed of the items shown, and which are no more.

    `profile` is what was asked of it, None where it was not asked for or nothing was answered; `attributes` are those
    that the query names. `degraded` is `loading` where some of the items could not be looked at yet.
    """

    hits: tuple[Hit, ...]
    considered_count: int
    changed: tuple[Shown, ...]
    gone: tuple[str, ...] = ()
    profile: tuple[Item, ...] | None = None
    attributes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Begun(msgspec.Struct, frozen=True):
    """The names of those who speak in the owner's episodes, since a query may be about one of them.

    `answer` is the whole answer where the same was asked a moment ago and nothing has changed since.
    """

    speakers: tuple[str, ...]
    answer: Recalled | None = None


# --- front door → long-term ------------------------------------------------------------------------------


class RememberItem(msgspec.Struct, frozen=True, kw_only=True):
    """Store a fact that a caller states. Answered by the live `Item` when durable."""

    fact: Fact
    event_ms: int
    offset_minutes: int
    expires_ms: int = 0
    scope: str = ""


class ImportItems(msgspec.Struct, frozen=True, kw_only=True):
    """Take in messages of an older log as episodes and facts. Answered by how many items were stored, when durable."""

    session_id: str
    messages: tuple[Message, ...]
    scope: str = ""


class ImportPassages(msgspec.Struct, frozen=True, kw_only=True):
    """Take in passages of a document, in a knowledge base. Answered by how many are new, when durable.

    `time_ms` is when the document was written, or 0 where nobody knows.
    """

    document_id: str
    passages: tuple[Passage, ...]
    time_ms: int = 0
    offset_minutes: int = 0


class KeepPassages(msgspec.Struct, frozen=True):
    """Erase the passages of a document whose texts are not among these. Answered by `Forgotten` when durable."""

    document_id: str
    texts: frozenset[str]


class ListItems(msgspec.Struct, frozen=True):
    """Answered by the owner's items, oldest first: live ones, or all versions; of a scope and of none, or all."""

    kinds: frozenset[str] | None = None
    history: bool = False
    scope: str | None = None


class GetItem(msgspec.Struct, frozen=True):
    """Answered by the `Item`, or a NotFoundError."""

    id: str


class EditItem(msgspec.Struct, frozen=True):
    """Give an item another text. Answered by the new version when durable.

    `value` is its value, None for what follows from the text; `expires_ms` its end, None for the one it has.
    """

    id: str
    text: str
    value: str | None = None
    expires_ms: int | None = None

    def ends_ms(self, item: Item) -> int:
        """When the edited item's time runs out."""
        return item.expires_ms if self.expires_ms is None else self.expires_ms


class ArchiveItem(msgspec.Struct, frozen=True):
    """Put an item out of recall's reach, or back into it. Answered by the item as it then is, when durable."""

    id: str
    archived: bool


class ReadHealth(msgspec.Struct, frozen=True):
    """Answered by `Health`."""


class Health(msgspec.Struct, frozen=True):
    """The owner's items, and those of them that have no vector though others have and none is being made."""

    items: tuple[Item, ...]
    waiting: frozenset[str]


class SupersedeItems(msgspec.Struct, frozen=True):
    """Let an item stand in the place of others; all of them are live, or it is a UsageError. Answered when durable."""

    id: str
    others: tuple[str, ...]


class EmbedItems(msgspec.Struct, frozen=True):
    """Make the vectors that are missing, even if the embedder has just failed. Answered by None at once."""


class ForgetItem(msgspec.Struct, frozen=True):
    """Erase an item and what came from the same words. Answered by `Forgotten` when durable."""

    id: str
    cut: Cut
    reason: str = "forgetting"


class Forgotten(msgspec.Struct, frozen=True):
    """What has left memory, and the sessions that have shown any of it or of what its words were cut out of.

    Its rows stay until `EndErasure` of that name; an empty name where there was nothing to erase.
    """

    items: tuple[Item, ...]
    shown_in: frozenset[SessionKey]
    name: str = ""
    erasure: Erasure = Erasure()


class ReadErasure(msgspec.Struct, frozen=True):
    """Answered by the `Forgotten` of an erasure that has begun and not ended, or None."""

    name: str


class EndErasure(msgspec.Struct, frozen=True):
    """Delete the rows of an erasure, now that no session shows them, and cut what sessions told meanwhile.

    Answered by None when durable; may be repeated.
    """

    name: str


class DropItems(msgspec.Struct, frozen=True):
    """Erase every item of a session, or of the owner where it is empty. Answered by `Forgotten`, durable.

    Those of an owner leave memory alone: their rows go with his.
    """

    session_id: str


# --- upkeep → long-term, and back --------------------------------------------------------------------------


class RetentionDue(msgspec.Struct, frozen=True):
    """An owner's memory has woken, or been awake for a day. A tell to upkeep, from long-term memory."""

    owner: Owner


class RetireItems(msgspec.Struct, frozen=True):
    """Take the next step of what retention asks for. Answered by `Retirement` when durable."""


class EndErasures(msgspec.Struct, frozen=True):
    """Bring what is noted of an owner's erasures to its end: who began them does not. A tell to upkeep.

    With `held`, those wait who ask about the owner.
    """

    owner: Owner
    held: bool = False


class ResumeSummaries(msgspec.Struct, frozen=True):
    """Have those summaries made that sessions waited for when the process ended. A tell to upkeep, at opening."""


class Retirement(msgspec.Struct, frozen=True):
    """Items that have left memory, and that notes must not show any more.

    `erased_count` texts were erased; with `more` there is another step.
    """

    forgotten: Forgotten
    erased_count: int
    more: bool
