"""What the tools of the memory server are asked and what they answer, as JSON schemas say it to a model."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from actormem import Item

__all__ = [
    "Edit",
    "Erased",
    "Forget",
    "Found",
    "Hit",
    "List",
    "Listed",
    "Prepare",
    "Prepared",
    "Recall",
    "Remember",
    "Remembered",
    "remembered",
    "schema_of",
]

Kind: TypeAlias = Literal["fact", "preference", "event", "episode", "summary", "knowledge"]
Kinds: TypeAlias = Annotated[
    Sequence[Kind] | None, Meta(description="Only memories of these kinds; null: all.")
]
Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
ItemId: TypeAlias = Annotated[str, Meta(description="The id of a memory, such as m12.")]
Scope: TypeAlias = Annotated[
    str | None, Meta(description="Only memories of this agent and of none; null: all of the user's.")
]
LIST_MAX = 500  # memories of one answer: a model reads no more


class Remember(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Remember one sentence about the user, from now on and in every conversation."""

    text: Annotated[str, Meta(description="One sentence that stands by itself: 'Ada is allergic to nuts.'")]
    attribute: Annotated[
        str, Meta(description="What it says of the user: address, allergy, likes, birthday, note …")
    ] = "note"
    value: Annotated[str, Meta(description="The value alone: 'nuts'. Empty: the text itself.")] = ""
    kind: Literal["fact", "preference", "event"] = "fact"
    importance: Annotated[float, Meta(ge=0, le=1)] = 0.8
    expires: Annotated[Moment | None, Meta(description="When it ends, with its zone; null: never.")] = None
    scope: Annotated[str, Meta(description="The agent it is for; empty: for all of the user's.")] = ""


class Recall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Find what is remembered of the user, by meaning and by words, best first."""

    query: Annotated[str, Meta(description="A question or some words, in any language.")]
    limit: Annotated[int, Meta(ge=1, le=100, description="Hits wanted.")] = 10
    kinds: Kinds = None
    scope: Scope = None
    at: Annotated[Moment | None, Meta(description="What was true then, with its zone; null: now.")] = None
    deep: Annotated[bool, Meta(description="Archived memories too.")] = False
    min_score: Annotated[float, Meta(ge=0, le=1)] | None = None


class List(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List what is remembered of the user, newest first."""

    kinds: Kinds = None
    scope: Scope = None
    history: Annotated[bool, Meta(description="What was superseded or archived, too.")] = False
    limit: Annotated[int, Meta(ge=1, le=LIST_MAX)] = 50
    offset: Annotated[int, Meta(ge=0, description="Memories to pass over.")] = 0


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Give a memory another text; what it said before is not shown any more."""

    id: ItemId
    text: Annotated[str, Meta(description="The new sentence, whole.")]


class Forget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Erase a memory with all its versions, for good. Ask the user before you call it."""

    id: ItemId
    sources: Annotated[
        Literal["redact", "keep"],
        Meta(description="redact: cut its words out of the conversations too; keep: leave these."),
    ] = "redact"


class Prepare(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to put before a model: the context of a session within its budget, or what memory knows of a query."""

    query: Annotated[
        str | None, Meta(description="What memory is asked for; null: the session's newest user message.")
    ] = None
    session: Annotated[
        str | None, Meta(description="The id of a session of the user's; null: none, and a query is needed.")
    ] = None


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """One memory."""

    id: str
    version: int
    kind: str
    state: str
    text: str
    attribute: str
    value: str
    since: datetime
    expires: datetime | None
    scope: str
    session: str
    source_ids: Sequence[str]
    superseded_by: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with its score, comparable inside one answer; `before` is what was said right before it."""

    score: float
    item: Remembered
    before: str | None
    no_longer: Sequence[str]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, best first; `degraded` names what missed its deadline."""

    hits: Sequence[Hit]
    degraded: Sequence[str]
    elapsed_ms: float


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """Memories, newest first, and how many there are in all."""

    items: Sequence[Remembered]
    total_count: int


class Erased(msgspec.Struct, frozen=True, kw_only=True):
    """What was erased."""

    item_count: int
    text_count: int
    session_count: int
    found_count: int


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Messages for a model, in the shape of chat completions."""

    messages: Sequence[Mapping[str, Any]]
    tokens: int
    budget_tokens: int
    degraded: Sequence[str]


def remembered(item: Item) -> Remembered:
    """An item as it is told."""
    zone = timezone(timedelta(minutes=item.offset_minutes))
    return Remembered(
        id=item.id,
        version=item.version,
        kind=item.kind,
        state=item.state,
        text=item.text,
        attribute=item.attribute,
        value=item.value,
        since=datetime.fromtimestamp(item.since_ms / 1000, zone),
        expires=datetime.fromtimestamp(item.expires_ms / 1000, UTC) if item.expires_ms else None,
        scope=item.scope,
        session=item.session_id,
        source_ids=item.source_ids,
        superseded_by=item.superseded_by,
    )


def schema_of(shape: type) -> dict[str, Any]:
    """The JSON schema of a shape, an object at its root as the protocol wants it."""
    schema = msgspec.json.schema(shape)
    root = schema.pop("$ref").rpartition("/")[2]
    shapes: dict[str, Any] = schema.pop("$defs")
    own = shapes.pop(root)
    return {**own, "$defs": shapes} if shapes else own
