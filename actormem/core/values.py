"""The values everything speaks of: owners, messages, memory items, hits.

All of them are frozen, hold text as text and time as UTC milliseconds, and compare by value.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal, TypeAlias

import msgspec

__all__ = [
    "Cardinality",
    "Entity",
    "Fact",
    "Hit",
    "Item",
    "ItemKind",
    "JsonValue",
    "Message",
    "Outdated",
    "Owner",
    "Recall",
    "SessionKey",
    "ToolCall",
]

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

Cardinality = Literal["one", "many"]
ItemKind = Literal["fact", "preference", "event", "episode", "summary", "knowledge"]
ItemState = Literal["live", "superseded", "archived"]
Source = Literal["user", "assistant", "tool", "import", "knowledge", "summary"]


class Owner(msgspec.Struct, frozen=True, order=True):
    """Whose memory it is. Opaque, compared by equality, part of every stored row."""

    tenant: str
    user: str


class SessionKey(msgspec.Struct, frozen=True, order=True, gc=False):
    """Which conversation of which owner."""

    owner: Owner
    session_id: str


class ToolCall(msgspec.Struct, frozen=True):
    """One call an assistant message makes; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One wire message.

    Attributes:
        role: `system`, `developer`, `user`, `assistant` or `tool`.
        content: Text, a sequence of multimodal parts (mappings with a `type`), or None.
        name: The wire's `name`, or None.
        tool_calls: Calls this assistant message makes, in wire order.
        tool_call_id: For a tool message: which call it answers.
        id: Unique in its session. Empty on the way in: the session draws one.
        time_ms: When it was said, UTC milliseconds; 0 on the way in: now.
        offset_minutes: Offset of the speaker's clock from UTC, in minutes.
        wire: The message as one JSON object, exactly as it was given (key order, null or absent
            content, arguments kept). Empty on the way in: made from the fields above.
    """

    role: str
    content: JsonValue = None
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    id: str = ""
    time_ms: int = 0
    offset_minutes: int = 0
    wire: str = ""

    @property
    def time(self) -> datetime:
        """When it was said, as an aware datetime in the speaker's own offset."""
        zone = timezone(timedelta(minutes=self.offset_minutes))
        return datetime.fromtimestamp(self.time_ms / 1000, UTC).astimezone(zone)

    @property
    def text(self) -> str:
        """The words alone: text parts joined by newlines, empty where there are none."""
        if isinstance(self.content, str):
            return self.content
        if not isinstance(self.content, Sequence):
            return ""
        texts = (part.get("text") for part in self.content if isinstance(part, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """An exact value that must survive.

    Attributes:
        kind: What it is: `id`, `hash`, `amount`, `percent`, `date`, `time`, `duration`, `phone`, `email`,
            `address`, `url`, `file`, `version`, `quantity`, `name` or `value` (a named field of a tool's
            arguments or result).
        key: What the text calls it, lower case (`order`, `budget`, `flight_number`), or the kind itself.
        value: The exact characters, as they stood.
        normal: The value compared as a value: 一万, 10,000 and 1万 are all `10000`; dates are ISO 8601.
    """

    kind: str
    key: str
    value: str
    normal: str


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """What extraction found in one message: something worth remembering of a subject.

    Attributes:
        subject: Whom it is about; `user` for the speaker.
        attribute: What it says of the subject, lower case snake (`address`, `allergy`, `likes`, `note`).
        cardinality: Whether the subject has `one` such value at a time or `many`.
        value: The value in the user's own words.
        text: One sentence that stands by itself, in the language of the message.
        quote: The very characters of the message it came from: what a redaction cuts out.
        kind: `fact`, `preference` or `event`.
        importance: 0 to 1.
        confidence: 0 to 1.
        negated: True where it takes a value back (`不再…`, `no longer …`).
        explicit: True for a command to remember.
        correction: True where it corrects what the user said before.
    """

    subject: str
    attribute: str
    cardinality: Cardinality
    value: str
    text: str
    quote: str
    kind: ItemKind
    importance: float
    confidence: float = 0.8
    negated: bool = False
    explicit: bool = False
    correction: bool = False


# Without gc: its fields hold no cycle, and a collector that visits a hundred thousand of them holds the loop.
class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One long-term memory.

    Attributes:
        id: Unique over the whole record, never used again; `m` and a number.
        version: Counted from 1; one more at each edit.
        owner: Whose it is.
        kind: What sort of memory.
        text: One sentence or passage that stands by itself.
        subject, attribute, value, cardinality: What a fact says; empty strings for others, but that the subject of
            knowledge is the title and the headings over it.
        quote: The characters of the source message it came from, or an empty string.
        source: Who said it.
        source_ids: Ids of the messages it came from; of knowledge, of the document.
        source_sessions: The sessions of those messages, one for each; empty where all are of `session_id`.
        session_id: The session it came from first, or an empty string.
        speaker: Name or role of who said it.
        importance, confidence: 0 to 1.
        event_ms: When it was said, the last time where it was said again, or became true; UTC milliseconds.
        first_ms: When it was said first, where that was before `event_ms`; else 0.
        offset_minutes: Offset of the speaker's clock from UTC.
        stored_ms: When it was written, UTC milliseconds.
        sequence: Order of arrival: breaks ties of `event_ms`.
        expires_ms: When its time runs out; 0 for never.
        state: `live`, `superseded` or `archived`.
        superseded_by: Id of the item that took its place, or an empty string.
        supersedes: Id of the item whose place it took, or an empty string.
        seen_count: How often it was stated.
        scope: Which of the user's agents it belongs to; empty for all of them.
        shown_count: How often a note showed it or `recall` gave it.
        last_shown_ms: When that was last, UTC milliseconds; 0 for never.
    """

    id: str
    owner: Owner
    kind: ItemKind
    text: str
    version: int = 1
    subject: str = ""
    attribute: str = ""
    value: str = ""
    cardinality: Cardinality = "many"
    quote: str = ""
    source: Source = "user"
    source_ids: tuple[str, ...] = ()
    source_sessions: tuple[str, ...] = ()
    session_id: str = ""
    speaker: str = ""
    importance: float = 0.5
    confidence: float = 0.8
    event_ms: int = 0
    first_ms: int = 0
    offset_minutes: int = 0
    stored_ms: int = 0
    sequence: int = 0
    expires_ms: int = 0
    state: ItemState = "live"
    superseded_by: str = ""
    supersedes: str = ""
    seen_count: int = 1
    scope: str = ""
    shown_count: int = 0
    last_shown_ms: int = 0

    @property
    def since_ms(self) -> int:
        """When it was said first."""
        return self.first_ms or self.event_ms

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """The messages it came from, each as session id and message id."""
        sessions = self.source_sessions or (self.session_id,) * len(self.source_ids)
        return tuple(zip(sessions, self.source_ids, strict=True))


class Outdated(msgspec.Struct, frozen=True):
    """A value that the words of an item state and that is no longer so.

    Attributes:
        value: The old value, as the words have it.
        replacement: What holds instead; None where nothing took its place.
    """

    value: str
    replacement: Item | None


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """An item with its score.

    Attributes:
        item: The memory.
        score: From 0 up, larger is better, about 1 for one that fits by every arm; comparable inside one recall only.
        why: The share of each arm in the score, by name; `rewrite` is that of other words for the query.
        before: What was said right before it, where it says little without that: "Yes, the blue one."
        outdated: What its words state and is no longer so, where the item is a message that said it.
    """

    item: Item
    score: float
    why: Mapping[str, float] = {}
    before: Item | None = None
    outdated: tuple[Outdated, ...] = ()


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: a sequence of hits, best first.

    Attributes:
        hits: Best first; equal scores keep the older item first.
        degraded: Names of the steps that missed the deadline or failed (`vector`, `recall`, `knowledge`), or
            `loading` where a large memory was still being read: words were not looked for in all of it.
        elapsed_ms: From the call to the answer.
        considered_count: Items among which they were chosen: live ones, of the kinds asked for.
    """

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    considered_count: int = 0

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]
