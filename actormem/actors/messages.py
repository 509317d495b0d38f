"""What actors say to each other. Every message is a frozen value; who may send it and what comes back is its law.

Asks go one way: front door → session → summarizer, long-term. Long jobs come back by tell, so no two actors
ever wait for each other.
"""

from collections.abc import Iterable, Mapping

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.assembly import Context
from actormem.core.context.layout import Layout
from actormem.core.policy import PolicyName
from actormem.core.session.events import BlockMade, MessageAdded, SessionEvent, message_of, summary_of
from actormem.core.session.replay import Placed
from actormem.core.session.working import Settings
from actormem.core.summary import Summary
from actormem.core.values import Fact, Hit, Item, Message, SessionKey
from actormem.ports import Vectors

__all__ = [
    "AddMessages",
    "BlockWords",
    "BuildContext",
    "ChangeTask",
    "ClearTask",
    "CloseTurn",
    "Configure",
    "CutSummaries",
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
    "ReadTask",
    "ReadTrace",
    "ReadTurns",
    "RecallItems",
    "Recalled",
    "Redact",
    "Redacted",
    "RememberBlocks",
    "RememberItem",
    "Rewind",
    "Settle",
    "Shown",
    "Shrink",
    "Summarize",
    "SummaryReady",
    "Wake",
    "WithdrawTurn",
    "blocks_made",
    "configured",
    "observed",
]


# --- front door → session ---------------------------------------------------------------------------


class Configure(msgspec.Struct, frozen=True, kw_only=True):
    """Say what is new of a session's settings; None leaves a setting as it is.

    Answered, when durable, by the settings as they then are: a handle gives them with whatever it asks, for a
    session that was erased meanwhile.
    """

    model: str | None = None
    system: str | None = None
    tools: str | None = None
    budget: Budget | None = None
    timezone: str | None = None
    policy: PolicyName | None = None
    layout: Layout | None = None


class ChangeTask(msgspec.Struct, frozen=True, kw_only=True):
    """Set the task, or with `fresh` off change what is given of it. Answered by None when durable.

    In `values` None takes one away. Too many of them, or no task to change, is a UsageError.
    """

    goal: str | None = None
    step: str | None = None
    values: Mapping[str, str | None] = {}
    fresh: bool = False


class ClearTask(msgspec.Struct, frozen=True):
    """There is no task any more. Answered by None when durable."""


class ReadTask(msgspec.Struct, frozen=True):
    """Answered by the `Task`, or None."""


def configured(settings: Settings) -> Configure:
    """What gives another session the same settings."""
    return Configure(
        model=settings.model,
        system=settings.system,
        tools=settings.tools,
        budget=settings.budget,
        timezone=settings.timezone,
        policy=settings.policy,
        layout=settings.layout,
    )


class AddMessages(msgspec.Struct, frozen=True):
    """Take in messages, all or none. Answered by the messages with their ids, when durable.

    An id that the session has is not stored again; the message that has it is not changed.
    """

    messages: tuple[Message, ...]
    turn_id: str = ""
    settings: Configure | None = None


class OpenTurn(msgspec.Struct, frozen=True):
    """Begin a turn with this user message, after the turn before it. Answered by `Opened`, before it is durable.

    A message whose id is known resumes its unanswered turn. `request` tells one asker from another.
    """

    message: Message
    request: str
    settings: Configure | None = None


class Opened(msgspec.Struct, frozen=True):
    """The turn is open; its first context."""

    turn_id: str
    context: Context


class WithdrawTurn(msgspec.Struct, frozen=True):
    """The one that asked for this turn has gone: end it as unanswered, or let it not begin. A tell."""

    request: str


class CloseTurn(msgspec.Struct, frozen=True):
    """End the open turn: its last messages and its outcome. Answered by None when durable.

    `prompt_tokens` is what the provider counted for its last context, or 0.
    """

    turn_id: str
    messages: tuple[Message, ...]
    outcome: str
    prompt_tokens: int = 0


class BuildContext(msgspec.Struct, frozen=True):
    """Answered by a `Context` at once. A `query` recalls for this context alone.

    With a `turn_id` it is refused where that turn is not open any more. `prompt_tokens` is what the provider counted
    for the context before, or 0.
    """

    query: str = ""
    turn_id: str = ""
    settings: Configure | None = None
    prompt_tokens: int = 0


class Shrink(msgspec.Struct, frozen=True, kw_only=True):
    """Make the newest context smaller: a provider refused it. Answered by a `Context` at once, or a BudgetError.

    `tokens` is the provider's limit, or 0 where it is not known.
    """

    turn_id: str
    tokens: int = 0


class ReadMessages(msgspec.Struct, frozen=True):
    """Answered by every message of the session, oldest first."""


class ReadTurns(msgspec.Struct, frozen=True):
    """Answered by every `PastTurn` of the session, oldest first."""


class ReadTrace(msgspec.Struct, frozen=True):
    """Answered by the `Trace` of the last context of a turn, or a NotFoundError."""

    turn_id: str


class Rewind(msgspec.Struct, frozen=True):
    """Go back to just before a message. Answered by the messages that left, oldest first, when durable."""

    message_id: str


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
    """Begin again as a session that never was. Answered, when durable, by whether there was anything."""


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

    Without messages the events are read from the record; what a rewind among them took out is retracted.
    """

    key: SessionKey
    first: int
    upto: int
    messages: tuple[Observed, ...]


class BlockWords(msgspec.Struct, frozen=True):
    """A durable summary block: its first and last event, and its summary."""

    first: int
    last: int
    summary: str


def blocks_made(events: Iterable[SessionEvent]) -> tuple[BlockWords, ...]:
    """The blocks that events made."""
    return tuple(
        BlockWords(event.first, event.last, summary_of(event))
        for event in events
        if isinstance(event, BlockMade)
    )


class RememberBlocks(msgspec.Struct, frozen=True):
    """Have an item for each of these durable blocks of a session. A tell; repeated at each waking."""

    key: SessionKey
    blocks: tuple[BlockWords, ...]


class RecallItems(msgspec.Struct, frozen=True, kw_only=True):
    """Find items for a query. Answered by `Recalled`.

    Attributes:
        vectors: (s, d) unit rows, one for each segment of the query; None where there is no embedding.
        visible: Ids of messages of `session_id` that the asker sees anyway: their items are left out.
        shown: Items the asker has shown, with the version; those that changed since come back.
        blocks: Last events of the summary blocks of `session_id` that the asker sees anyway.
        repeatable: Those of `shown` that were shown so long ago that they may be shown again.
        profile: Whether to tell what is known of the owner, whatever the query.
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


class Shown(msgspec.Struct, frozen=True):
    """An item the asker has shown and that is no longer so, with what took its place, if anything did."""

    item: Item
    replacement: Item | None


class ReadSpeakers(msgspec.Struct, frozen=True):
    """Answered by the names of those who speak in the owner's episodes: a query may be about one of them."""


class Recalled(msgspec.Struct, frozen=True):
    """Hits, best first; how many items were considered; what changed of the items shown, and which are no more.

    `profile` is what was asked of it, None where it was not asked for or nothing was answered.
    """

    hits: tuple[Hit, ...]
    considered_count: int
    changed: tuple[Shown, ...]
    gone: tuple[str, ...] = ()
    profile: tuple[Item, ...] | None = None


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


class CutSummaries(msgspec.Struct, frozen=True):
    """Cut the lines that hold one of these values out of remembered summaries. Answered by None when durable.

    Asked once the sessions are redacted: what they told before is then in.
    """

    values: tuple[str, ...]


class DropItems(msgspec.Struct, frozen=True):
    """Erase every item of a session, or of the owner where it is empty. Answered by `Forgotten`, durable."""

    session_id: str
