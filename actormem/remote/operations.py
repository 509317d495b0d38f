"""Every call there is: its method, its path, what it is sent, and what it answers. Server, client and document agree.

The law of the file: ids stand in the query and in bodies, never in a path: they are opaque, and may be `..` or `a/b`.
"""

from typing import Literal

import msgspec

from actormem.core.context.trace import Trace
from actormem.core.health.checkup import Checkup
from actormem.core.session.past import PastTurn
from actormem.core.values import Item, ItemKind, Recall
from actormem.knowledge import Imported
from actormem.ports import BaseRow, OwnerRow, SessionRow
from actormem.remote import wire
from actormem.statistics import Receipt, RuntimeStatistics

__all__ = ["OPERATIONS", "Operation", "named"]

Scope = Literal["user", "tenant", "server"]


class Operation(msgspec.Struct, frozen=True):
    """One call.

    Attributes:
        name: Unique.
        method, path: Of the request.
        query: The struct of its query parameters.
        body: The struct of its body; None where it has none.
        answer: What it answers.
        about: One line on what it does.
        scope: `user`: on one user's memory. `tenant`: needs a key for all users of a tenant. `server`: that too, and
            tells of the server as a whole.
    """

    name: str
    method: str
    path: str
    query: type[msgspec.Struct]
    body: type[msgspec.Struct] | None
    answer: type
    about: str
    scope: Scope = "user"


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose memory: a key for one user says so by itself."""

    user: str = ""
    tenant: str = ""


class OfSession(Query, frozen=True, kw_only=True):
    """Which session."""

    session: str


class NewestOfSession(OfSession, frozen=True, kw_only=True):
    """Which session, and how many of its newest; all where that is not said."""

    last: int | None = None


class OfTurn(OfSession, frozen=True, kw_only=True):
    """Which turn."""

    turn: str


class LeftTurn(OfTurn, frozen=True, kw_only=True):
    """Which turn, as asked for by whom."""

    request: str = ""


class OfItem(Query, frozen=True, kw_only=True):
    """Which item."""

    item: str


class ForgottenItem(OfItem, frozen=True, kw_only=True):
    """Which item, and what becomes of the words it came from."""

    sources: Literal["redact", "keep"] = "redact"


class WhichItems(Query, frozen=True, kw_only=True):
    """Which items: of these kinds, of this scope and of none; with `history` those that hold no more.

    With `newest` the newest first; then `limit` of them from `offset` on.
    """

    kinds: list[ItemKind] | None = None
    history: bool = False
    scope: str | None = None
    newest: bool = False
    offset: int = 0
    limit: int | None = None


class OfAttribute(Query, frozen=True, kw_only=True):
    """Which attribute."""

    attribute: str
    scope: str | None = None


class Limited(Query, frozen=True, kw_only=True):
    """At most how many."""

    limit: int = 100


class WhichOwners(Limited, frozen=True, kw_only=True):
    """Whose: of one tenant or, where that is not said, of all a key reaches; with ids that begin so."""

    of_tenant: str | None = None
    prefix: str = ""


class OfBase(Query, frozen=True, kw_only=True):
    """Which knowledge base."""

    name: str


OPERATIONS: tuple[Operation, ...] = (
    Operation("health", "GET", "/api/health", Query, None, wire.Health, "Whether the server is up."),
    Operation("grant", "GET", "/api/grant", Query, None, wire.Granted,
              "What the key that is sent opens: one user's memory, or that of all users of a tenant."),
    # sessions
    Operation("sessions", "GET", "/api/sessions", Query, None, tuple[SessionRow, ...],
              "The user's sessions, newest change first."),
    Operation("spawn", "PUT", "/api/session", OfSession, wire.SessionSettings, wire.SessionSettings,
              "Set what is given of a session's settings; it always exists. Answers all of them."),
    Operation("settings", "GET", "/api/session", OfSession, None, wire.SessionSettings, "A session's settings."),
    Operation("forget_session", "DELETE", "/api/session", OfSession, None, Receipt,
              "Erase a session, and every memory that came from it."),
    Operation("messages", "GET", "/api/messages", NewestOfSession, None, wire.Messages,
              "Every message of the session, oldest first, summarised ones too."),
    Operation("add", "POST", "/api/messages", OfSession, wire.NewMessages, wire.Messages,
              "Add messages, all or none. One whose id the session has is not stored again."),
    Operation("rewind", "POST", "/api/rewind", OfSession, wire.Rewinding, wire.Messages,
              "Go back to just before a message. Answers the messages that left."),
    Operation("context", "POST", "/api/context", OfSession, wire.Querying, wire.ContextAnswer,
              "The context as it stands, without opening a turn."),
    Operation("summaries", "GET", "/api/summaries", OfSession, None, tuple[Item, ...],
              "The session's summary blocks, as they are remembered, with the ids of the messages they stand for."),
    Operation("task", "GET", "/api/task", OfSession, None, wire.MaybeTask, "What the session is at."),
    Operation("set_task", "PUT", "/api/task", OfSession, wire.NewTask, wire.Nothing, "Begin a task."),
    Operation("update_task", "PATCH", "/api/task", OfSession, wire.TaskChange, wire.Nothing,
              "Change what is given of the task."),
    Operation("clear_task", "DELETE", "/api/task", OfSession, None, wire.Nothing, "End the task."),
    # turns
    Operation("turns", "GET", "/api/turns", NewestOfSession, None, tuple[PastTurn, ...],
              "Every turn of the session, oldest first, the open one too."),
    Operation("trace", "GET", "/api/trace", OfTurn, None, Trace, "Why the last context of a turn was what it was."),
    Operation("turn", "GET", "/api/turn", OfTurn, None, wire.TurnSeen,
              "A turn, its trace, and the exact messages of its last context while the server holds them."),
    Operation("open_turn", "POST", "/api/turn", OfSession, wire.Opening, wire.ContextAnswer,
              "Open a turn with a user's message. Answers its id and the context for the model."),
    Operation("add_in_turn", "POST", "/api/turn/messages", LeftTurn, wire.NewMessages, wire.Nothing,
              "Add messages inside an open turn: the assistant's tool calls, and their results."),
    Operation("turn_context", "POST", "/api/turn/context", OfTurn, wire.TurnContext, wire.ContextAnswer,
              "The context of an open turn again, after tool results."),
    Operation("shrink", "POST", "/api/turn/shrink", OfTurn, wire.Shrinking, wire.ContextAnswer,
              "A smaller context of an open turn, after a provider's \"too long\"."),
    Operation("reply", "POST", "/api/turn/reply", OfTurn, wire.Ending, wire.Nothing,
              "End an open turn with its reply. The same once more changes nothing."),
    Operation("leave_turn", "DELETE", "/api/turn", LeftTurn, None, wire.Nothing,
              "End an open turn without a reply."),
    Operation("keep_turns", "POST", "/api/turn/keep", Query, wire.TurnUsage, wire.Count,
              "Say of open turns that they are still being worked on. Answers how many of them are open."),
    # memories
    Operation("recall", "POST", "/api/recall", Query, wire.Recalling, Recall, "Find the user's memories for a query."),
    Operation("items", "GET", "/api/items", WhichItems, None, tuple[Item, ...],
              "The user's items, oldest first, with sources, versions and times."),
    Operation("remember", "POST", "/api/items", Query, wire.Remembering, Item, "Remember a sentence about the user."),
    Operation("item", "GET", "/api/item", OfItem, None, Item, "One item, live or not."),
    Operation("edit", "PATCH", "/api/item", OfItem, wire.Editing, Item, "Give an item another text."),
    Operation("forget", "DELETE", "/api/item", ForgottenItem, None, Receipt,
              "Erase an item with all its versions, and its words where they came from."),
    Operation("archive", "POST", "/api/item/archive", OfItem, wire.Archiving, Item,
              "Put an item out of recall's reach, or back into it."),
    Operation("value", "GET", "/api/value", OfAttribute, None, wire.MaybeItem,
              "What holds of the user, for a tool's argument."),
    Operation("import_history", "POST", "/api/import", Query, wire.HistoryImport, wire.Count,
              "Make memories of an older log. Answers how many items were made or changed."),
    Operation("export_user", "GET", "/api/export", Query, None, wire.UserExport, "All that is kept of a user."),
    Operation("checkup", "POST", "/api/checkup", Query, wire.Repairing, Checkup,
              "What is doubled, contradicts, has expired, is junk or out of reach; repaired if told to."),
    Operation("forget_user", "DELETE", "/api/user", Query, None, Receipt, "Erase everything of a user."),
    # knowledge, and the server
    Operation("knowledge", "GET", "/api/knowledge", Query, None, tuple[BaseRow, ...],
              "The tenant's knowledge bases.", "tenant"),
    Operation("import_knowledge", "POST", "/api/knowledge", OfBase, wire.KnowledgeImport, Imported,
              "Put documents into a knowledge base.", "tenant"),
    Operation("remove_knowledge", "DELETE", "/api/knowledge", OfBase, None, Receipt,
              "Erase a knowledge base.", "tenant"),
    Operation("owners", "GET", "/api/owners", WhichOwners, None, tuple[OwnerRow, ...],
              "Whose memories there are, with counts.", "tenant"),
    Operation("statistics", "GET", "/api/statistics", Query, None, RuntimeStatistics,
              "Counts since opening, and what is in memory now.", "server"),
    Operation("settle", "POST", "/api/settle", Query, None, wire.Nothing,
              "Return when no background work is pending.", "server"),
)  # fmt: skip
BY_NAME = {one.name: one for one in OPERATIONS}


def named(name: str) -> Operation:
    """The operation of that name."""
    return BY_NAME[name]
