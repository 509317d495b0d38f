"""What actors say to each other. Every message is a frozen value; who may send it and what comes back is its law.

Asks go one way: front door → session → summarizer, long-term. Long jobs come back by tell, so no two actors
ever wait for each other. What long-term memory is sent is in `memory_messages`.
"""

from collections.abc import Mapping

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.assembly import Context
from actormem.core.context.layout import Layout
from actormem.core.policy import PolicyName
from actormem.core.session.working import Settings
from actormem.core.summary import Summary
from actormem.core.values import Message, SessionKey

__all__ = [
    "AddMessages",
    "BuildContext",
    "ChangeTask",
    "ClearTask",
    "CloseTurn",
    "Configure",
    "Erase",
    "ExpireTexts",
    "OpenTurn",
    "Opened",
    "ReadMessages",
    "ReadTask",
    "ReadTrace",
    "ReadTurns",
    "Redact",
    "Redacted",
    "Rewind",
    "Settle",
    "Shrink",
    "Summarize",
    "SummaryReady",
    "SummaryRefused",
    "Wake",
    "WithdrawTurn",
    "configured",
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
    scope: str | None = None
    knowledge: tuple[str, ...] | None = None


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
        scope=settings.scope,
        knowledge=settings.knowledge,
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

    Answered by `Redacted` when durable.

    Attributes:
        words: Quotes, cut as they stand out of the messages `source_ids`.
        values: What memory wrote goes where it holds one of them, or of `words`, or shows one of the items.
        newest_only: Nothing is done where the notes that stand now show none of the items, for one who asks many
            sessions and has dealt with older notes.
        wide: Cut as whole words out of every message.
        near: Cut as whole words out of what was said at `since_ms` or later.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]
    item_ids: tuple[str, ...] | frozenset[str]
    reason: str = "forgetting"
    newest_only: bool = False
    source_ids: frozenset[str] = frozenset()
    wide: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    since_ms: int = 0


class Erase(msgspec.Struct, frozen=True):
    """Begin again as a session that never was. Answered, when durable, by whether there was anything."""


class ExpireTexts(msgspec.Struct, frozen=True):
    """Erase the messages from before that time, and what was written over them; not while a turn is open.

    Answered by `Redacted`, durable.
    """

    before_ms: int


class Redacted(msgspec.Struct, frozen=True):
    """How many texts of the session were changed."""

    text_count: int


class Wake(msgspec.Struct, frozen=True):
    """Be there, and take up what was in flight. A tell.

    With `summary_noted` a summary that was asked for is one of these things, or was.
    """

    summary_noted: bool = False


class Settle(msgspec.Struct, frozen=True):
    """Answered by None once nothing is pending in the actor."""


# --- session ↔ summarizer -----------------------------------------------------------------------------


class Summarize(msgspec.Struct, frozen=True, kw_only=True):
    """Summarise messages into a block that takes the place of `previous` too.

    A tell; `SummaryReady` comes back, or `SummaryRefused` where too many wait.
    """

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


class SummaryRefused(msgspec.Struct, frozen=True):
    """There was no room for the request: with the session's next message it may ask again."""

    request: int
