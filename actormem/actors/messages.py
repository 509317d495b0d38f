"""What actors say to each other. Every message is a frozen value; who may send it and what comes back is its law.

Asks go one way: front door → session → summarizer, long-term. Long jobs come back by tell, so no two actors
ever wait for each other.
"""

from collections.abc import Iterable, Mapping

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.assembly import Context
from actormem.core.context.layout import Layout
from actormem.core.session.events import MessageAdded, SessionEvent, message_of
from actormem.core.summary import Summary
from actormem.core.values import Fact, Hit, Item, Message, SessionKey
from actormem.ports import Vectors

__all__ = [
    "AddMessages",
    "BuildContext",
    "CloseTurn",
    "Configure",
    "DropItems",
    "EditItem",
    "Erase",
    "ForgetItem",
    "Forgotten",
    "GetItem",
    "ImportItems",
    "ListItems",
    "Observe",
    "Observed",
    "OpenTurn",
    "Opened",
    "ReadMessages",
    "ReadSpeakers",
    "RecallItems",
    "Recalled",
    "Redact",
    "Redacted",
    "RememberItem",
    "Settle",
    "Shown",
    "Summarize",
    "SummaryReady",
    "Wake",
    "WithdrawTurn",
    "observed",
]


# --- front door → session ---------------------------------------------------------------------------


class Configure(msgspec.Struct, frozen=True, kw_only=True):
    """Say what is new of a session's settings; None leaves a setting as it is. Answered by None when durable."""

    model: str | None = None
    system: str | None = None
    tools: str | None = None
    budget: Budget | None = None
    timezone: str | None = None
    layout: Layout | None = None


class AddMessages(msgspec.Struct, frozen=True):
    """Take in messages, all or none. Answered by the messages with their ids, when durable.

    An id that the session has is not stored again; the message that has it is not changed.
    """

    messages: tuple[Message, ...]
    turn_id: str = ""


class OpenTurn(msgspec.Struct, frozen=True):
    """Begin a turn with this user message, after the turn before it. Answered by `Opened`, before it is durable.

    A message whose id is known resumes its unanswered turn. `request` tells one asker from another.
    """

    message: Message
    request: str


class Opened(msgspec.Struct, frozen=True):
    """The turn is open; its first context."""

    turn_id: str
    context: Context


class WithdrawTurn(msgspec.Struct, frozen=True):
    """The one that asked for this turn has gone: end it as unanswered, or let it not begin. A tell."""

    request: str


class CloseTurn(msgspec.Struct, frozen=True):
    """End the open turn: its last messages and its outcome. Answered by None when durable."""

    turn_id: str
    messages: tuple[Message, ...]
    outcome: str


class BuildContext(msgspec.Struct, frozen=True):
    """Answered by a `Context` at once. A `query` recalls for this context alone."""

    query: str = ""


class ReadMessages(msgspec.Struct, frozen=True):
    """Answered by every message of the session, oldest first."""


class Redact(msgspec.Struct, frozen=True):
    """Cut these words out of the session's messages, notes, summaries and exact values.

    Answered by `Redacted` when durable. `words` are cut out of messages; what memory wrote goes where it holds
    them or one of the `values`, or shows one of the items.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]
    item_ids: tuple[str, ...]
    reason: str = "forgetting"


class Erase(msgspec.Struct, frozen=True):
    """Begin again as a session that never was. Answered by None when durable."""


class Redacted(msgspec.Struct, frozen=True):
    """How many texts of the session were changed."""

    text_count: int


class Wake(msgspec.Struct, frozen=True):
    """Be there, and take up what was in flight. A tell."""


class Settle(msgspec.Struct, frozen=True):
    """Answered by None once nothing is pending in the actor."""


# --- session ↔ summarizer -----------------------------------------------------------------------------


class Summarize(msgspec.Struct, frozen=True, kw_only=True):
    """Summarise messages into a block that takes the place of `previous` too. A tell; `SummaryReady` comes back."""

    key: SessionKey
    request: int
    messages: tuple[Message, ...]
    previous: str
    tokens: int
    model: str


class SummaryReady(msgspec.Struct, frozen=True):
    """The summary that was asked for as `request`."""

    request: int
    summary: Summary


# --- session → long-term ------------------------------------------------------------------------------


class Observed(msgspec.Struct, frozen=True):
    """A durable message of a session, and its event."""

    sequence: int
    message: Message


def observed(first: int, events: Iterable[SessionEvent]) -> tuple[Observed, ...]:
    """What was said in events that follow each other from sequence `first`; not what we said ourselves."""
    found: list[Observed] = []
    for sequence, event in enumerate(events, first):
        message = message_of(event)
        if message is not None and isinstance(event, MessageAdded) and not event.marked:
            found.append(Observed(sequence, message))
    return tuple(found)


class Observe(msgspec.Struct, frozen=True, kw_only=True):
    """Take in what was said, up to event `upto`. A tell; sent after the commit, in order, repeated after a crash."""

    key: SessionKey
    first: int
    upto: int
    messages: tuple[Observed, ...]


class RecallItems(msgspec.Struct, frozen=True, kw_only=True):
    """Find items for a query. Answered by `Recalled`.

    Attributes:
        vectors: (s, d) unit rows, one for each segment of the query; None where there is no embedding.
        visible: Ids of messages of `session_id` that the asker sees anyway: their items are left out.
        shown: Items the asker has shown, with the version; those that changed since come back.
    """

    query: str
    vectors: Vectors | None
    limit: int
    kinds: frozenset[str] | None = None
    session_id: str = ""
    visible: frozenset[str] = frozenset()
    shown: Mapping[str, int] = {}
    min_score: float | None = None
    at_ms: int | None = None
    include_shown: bool = False


class Shown(msgspec.Struct, frozen=True):
    """An item the asker has shown and that is no longer so, with what took its place, if anything did."""

    item: Item
    replacement: Item | None


class ReadSpeakers(msgspec.Struct, frozen=True):
    """Answered by the names of those who speak in the owner's episodes: a query may be about one of them."""


class Recalled(msgspec.Struct, frozen=True):
    """Hits, best first; how many items were considered; what changed of the items shown."""

    hits: tuple[Hit, ...]
    considered_count: int
    changed: tuple[Shown, ...]


# --- front door → long-term ------------------------------------------------------------------------------


class RememberItem(msgspec.Struct, frozen=True, kw_only=True):
    """Store a fact that a caller states. Answered by the live `Item` when durable."""

    fact: Fact
    event_ms: int
    offset_minutes: int
    expires_ms: int = 0


class ImportItems(msgspec.Struct, frozen=True, kw_only=True):
    """Take in messages of an older log as episodes and facts. Answered by how many items were stored, when durable."""

    session_id: str
    messages: tuple[Message, ...]


class ListItems(msgspec.Struct, frozen=True):
    """Answered by the owner's items, oldest first: live ones, or all versions."""

    kinds: frozenset[str] | None = None
    history: bool = False


class GetItem(msgspec.Struct, frozen=True):
    """Answered by the `Item`, or a NotFoundError."""

    id: str


class EditItem(msgspec.Struct, frozen=True):
    """Give an item another text. Answered by the new version when durable."""

    id: str
    text: str


class ForgetItem(msgspec.Struct, frozen=True):
    """Erase an item and what came from the same words. Answered by `Forgotten` when durable."""

    id: str
    sources: bool


class Forgotten(msgspec.Struct, frozen=True):
    """What was erased, and the sessions that have shown any of it or an episode its words were cut out of."""

    items: tuple[Item, ...]
    shown_in: frozenset[SessionKey]


class DropItems(msgspec.Struct, frozen=True):
    """Erase every item of a session, or of the owner where it is empty. Answered by `Forgotten`, durable."""

    session_id: str
