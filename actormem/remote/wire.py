"""What goes over the wire: one struct for every request and answer. The server's schemas are made of these.

The law of the file: unknown fields are refused in requests and passed over in answers, so that a client that is older
than its server goes on, and a slip of the pen is told.
"""

from typing import Any, Literal

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.context.trace import Trace
from actormem.core.policy import PolicyName
from actormem.core.session.past import PastTurn
from actormem.core.task import Task
from actormem.core.values import Item, ItemKind, Message, Owner
from actormem.core.wire import from_wire

__all__ = [
    "Archiving",
    "ContextAnswer",
    "Count",
    "Editing",
    "Ending",
    "Granted",
    "Health",
    "HistoryImport",
    "KnowledgeImport",
    "MaybeItem",
    "MaybeTask",
    "Messages",
    "NewMessages",
    "NewTask",
    "Nothing",
    "Opening",
    "Querying",
    "Recalling",
    "Remembering",
    "Repairing",
    "Rewinding",
    "Said",
    "SessionSettings",
    "SessionWords",
    "Shrinking",
    "TaskChange",
    "TurnContext",
    "TurnSeen",
    "TurnUsage",
    "UserExport",
    "said",
    "unsaid",
]

Outcome = Literal["complete", "partial", "unanswered", "failed"]


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an answer."""


class Nothing(Answer, frozen=True, kw_only=True):
    """It is done; there is nothing to tell."""


class Health(Answer, frozen=True, kw_only=True):
    """The server is up: its version, and how many turns are open."""

    version: str
    open_turns: int


class Granted(Answer, frozen=True, kw_only=True):
    """What the key that was sent opens.

    Attributes:
        name: Of the key; `local` where the server asks for none.
        tenant: Whose users; null for everybody's.
        user: The one user whose memory it opens; null for all users of the tenant.
    """

    name: str
    tenant: str | None
    user: str | None


class Count(Answer, frozen=True, kw_only=True):
    """How many."""

    count: int


# --- messages -----------------------------------------------------------------------------------------


class Said(Answer, frozen=True, kw_only=True):
    """One message of a session.

    Attributes:
        id: Unique in its session.
        time_ms: When it was said, UTC milliseconds.
        offset_minutes: Offset of the speaker's clock from UTC.
        message: The message as it goes to a model: `role`, `content`, `tool_calls` and so on.
    """

    id: str
    time_ms: int
    offset_minutes: int
    message: msgspec.Raw


class Messages(Answer, frozen=True, kw_only=True):
    """Messages, oldest first."""

    messages: tuple[Said, ...]


class NewMessages(Request, frozen=True, kw_only=True):
    """Messages to be added, all or none: each as it goes to a model, and optionally with its `id` and `time`.

    Attributes:
        messages: At least one.
        prompt_tokens: What the provider counted for the turn's last request, or 0.
    """

    messages: list[dict[str, Any]]
    prompt_tokens: int = 0


class Rewinding(Request, frozen=True, kw_only=True):
    """Go back to just before this message."""

    message_id: str


def said(message: Message) -> Said:
    """A message as the wire has it."""
    return Said(
        id=message.id,
        time_ms=message.time_ms,
        offset_minutes=message.offset_minutes,
        message=msgspec.Raw(message.wire.encode()),
    )


def unsaid(one: Said) -> Message:
    """The message that `said` made this of."""
    wire = bytes(one.message).decode()
    return from_wire(wire, id=one.id, time_ms=one.time_ms, offset_minutes=one.offset_minutes)


# --- sessions -----------------------------------------------------------------------------------------


class SessionSettings(Request, frozen=True, kw_only=True):
    """Settings of a session; what is not given stays as it was. As an answer: all of them, as they then are.

    Attributes:
        model: Whose tokens are counted.
        system: The system prompt.
        tools: The tool schemas that are sent with each request.
        budget: Tokens.
        timezone: An IANA name.
        policy: What becomes of messages that do not fit.
        layout: Where notes stand.
        scope: The agent of the user's that it belongs to.
        knowledge: Knowledge bases of the tenant that turns recall from.
    """

    model: str | msgspec.UnsetType = msgspec.UNSET
    system: str | msgspec.UnsetType = msgspec.UNSET
    tools: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    budget: Budget | msgspec.UnsetType = msgspec.UNSET
    timezone: str | msgspec.UnsetType = msgspec.UNSET
    policy: PolicyName | msgspec.UnsetType = msgspec.UNSET
    layout: Layout | msgspec.UnsetType = msgspec.UNSET
    scope: str | msgspec.UnsetType = msgspec.UNSET
    knowledge: list[str] | msgspec.UnsetType = msgspec.UNSET


class Querying(Request, frozen=True, kw_only=True):
    """A context without a turn; `query` recalls for these words, for this context alone."""

    query: str | None = None


class ContextAnswer(Answer, frozen=True, kw_only=True):
    """What to send to the model, and why it is what it is.

    Attributes:
        turn_id: Of the turn it is for; empty outside of one.
        messages: Ready for a chat completion.
        trace: What went in, tokens by section, hits with scores, what degraded, milliseconds by step.
        cache_breakpoints: Places in `messages` where a prefix may be cached.
    """

    turn_id: str
    messages: list[dict[str, Any]]
    trace: Trace
    cache_breakpoints: tuple[int, ...] = ()


class TaskChange(Request, frozen=True, kw_only=True):
    """Change what is given of the task; None in `values` takes one away."""

    goal: str | None = None
    step: str | None = None
    values: dict[str, str | int | float | None] | None = None


class NewTask(Request, frozen=True, kw_only=True):
    """Begin a task; it takes the place of the one before."""

    goal: str
    step: str = ""
    values: dict[str, str | int | float] | None = None


class MaybeTask(Answer, frozen=True, kw_only=True):
    """The task, or null."""

    task: Task | None


# --- turns --------------------------------------------------------------------------------------------


class Opening(Request, frozen=True, kw_only=True):
    """Open a turn with a user's message. The same id opens the same turn once more: a retry doubles nothing.

    Attributes:
        message: A text, or a whole message of the role user.
        id: Of the message, and so of the turn; drawn where it is not given.
        idle_s: Seconds after which a turn that nobody touches is ended, 1 to 3,600.
        request: A name of the caller's for this one asking: who opens the turn with another one takes it over.
    """

    message: str | list[dict[str, Any]] | dict[str, Any]
    id: str | None = None
    idle_s: float = 120.0
    request: str = ""


class TurnContext(Request, frozen=True, kw_only=True):
    """The context again, after tool results; `prompt_tokens` is what the provider counted for the one before, or 0."""

    prompt_tokens: int = 0
    request: str = ""


class Shrinking(Request, frozen=True, kw_only=True):
    """A smaller context, after a provider's "context too long"; `tokens` is its limit, or null."""

    tokens: int | None = None
    request: str = ""


class TurnUsage(Request, frozen=True, kw_only=True):
    """Turns that are still being worked on, by session and turn id, so that they are not ended as left."""

    turns: list[tuple[str, str]]


class Ending(Request, frozen=True, kw_only=True):
    """End a turn with its reply.

    Attributes:
        message: The reply: a text, or a whole message of the assistant; null where there is none.
        messages: In its place: several messages, the reply last.
        outcome: Null for what follows from the reply: `complete` where there is one, else `unanswered`.
        prompt_tokens: What the provider counted for the last request, or 0.
        request: As in `Opening`.
    """

    message: str | dict[str, Any] | None = None
    messages: list[dict[str, Any]] = []
    outcome: Outcome | None = None
    prompt_tokens: int = 0
    request: str = ""


class TurnSeen(Answer, frozen=True, kw_only=True):
    """A turn, its trace and the exact messages of its last context.

    Attributes:
        turn: When it began and ended, how, and its messages.
        trace: Of its last context; null where none was kept.
        messages: Of its last context, byte for byte; null where the server does not hold them any more: it keeps
            those of the newest turns, in memory alone, and drops a user's when anything of his is forgotten or edited.
    """

    turn: PastTurn
    trace: Trace | None
    messages: list[dict[str, Any]] | None


# --- memories -----------------------------------------------------------------------------------------


class Recalling(Request, frozen=True, kw_only=True):
    """Find memories; see `Runtime.recall`. `at` is ISO 8601 with its zone."""

    query: str
    limit: int = 10
    kinds: list[ItemKind] | None = None
    scope: str | None = None
    at: str | None = None
    deep: bool = False
    min_score: float | None = None
    deadline_s: float | None = None
    knowledge: list[str] = []


class Remembering(Request, frozen=True, kw_only=True):
    """Remember a sentence about the user; see `Runtime.remember`. Times are ISO 8601 with their zone."""

    text: str
    attribute: str = "note"
    value: str = ""
    kind: ItemKind = "fact"
    importance: float = 0.8
    time: str | None = None
    expires: str | None = None
    scope: str = ""


class Editing(Request, frozen=True, kw_only=True):
    """Give an item another text; where they are given, another value, and an end (null: none)."""

    text: str
    value: str | None = None
    expires: str | msgspec.UnsetType | None = msgspec.UNSET


class Archiving(Request, frozen=True, kw_only=True):
    """Put an item out of recall's reach, or back into it."""

    archived: bool = True


class MaybeItem(Answer, frozen=True, kw_only=True):
    """The item, or null where nothing holds."""

    item: Item | None


class HistoryImport(Request, frozen=True, kw_only=True):
    """Make memories of an older log; see `Runtime.import_history`."""

    session_id: str
    messages: list[dict[str, Any]]
    scope: str = ""


class KnowledgeImport(Request, frozen=True, kw_only=True):
    """Documents for a knowledge base: texts, or objects of `text` and optionally `id`, `title`, `time` and `format`."""

    documents: list[str | dict[str, Any]]


class Repairing(Request, frozen=True, kw_only=True):
    """Look through a user's items; with `apply` the proposed repairs are done."""

    apply: bool = False


class SessionWords(Answer, frozen=True, kw_only=True):
    """A session and every message of it."""

    session_id: str
    messages: tuple[Said, ...]


class UserExport(Answer, frozen=True, kw_only=True):
    """All that is kept of a user."""

    owner: Owner
    time_ms: int
    sessions: tuple[SessionWords, ...]
    items: tuple[Item, ...]
