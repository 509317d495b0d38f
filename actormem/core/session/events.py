"""What can happen to a session. A session's state is these events, evolved in order.

An event carries ids and numbers. Its words are its `text`, which the record keeps apart, in a column that
can be erased: an event whose words are gone is read back with `text=None`, and replay goes on.
"""

from typing import TypeAlias

import msgspec

from actormem.core.budget import Budget
from actormem.core.context.layout import Layout
from actormem.core.policy import PolicyName
from actormem.core.prices import DEFAULT_PRICES, Prices
from actormem.core.values import Message
from actormem.core.wire import from_wire

__all__ = [
    "BlockMade",
    "BlocksDropped",
    "BlocksReturned",
    "Calibrated",
    "Configured",
    "Cut",
    "EpochStarted",
    "MessageAdded",
    "NoteWritten",
    "Recounted",
    "Released",
    "Rewound",
    "SessionEvent",
    "Shortened",
    "SummaryKept",
    "TaskChanged",
    "Told",
    "TurnClosed",
    "TurnOpened",
    "decode_event",
    "encode_event",
    "message_of",
    "summary_of",
]


class Shortened(msgspec.Struct, frozen=True):
    """How a message that is too large stands in contexts.

    Its first `characters` are kept, a mark says that `dropped_tokens` are missing, then come exact values of the
    rest in at most `values_characters`; all of it takes `tokens`. `bare` is for the smallest contexts: three dots.
    `tabled`: a result in JSON stands as lines, each field's name once, and the characters are of those.
    """

    sequence: int
    characters: int
    tokens: int
    dropped_tokens: int
    values_characters: int = 0
    bare: bool = False
    tabled: bool = False


class Configured(msgspec.Struct, frozen=True, kw_only=True, tag="configured"):
    """Spawn said something new; the settings from here on. `text` is a JSON object of `system` and `tools`.

    `nonce` stands in the delimiters of everything memory adds; it is drawn once per session. `prices`, `factor`,
    `wide` and `extra_tokens` are how the model is counted: see `Calibrated`. `layout_tokens` is what the layout may
    need for messages of its own. `knowledge` names the tenant's knowledge bases that recalls look into.
    """

    model: str
    budget: Budget
    timezone: str
    policy: PolicyName = "auto"
    nonce: str
    system_tokens: int
    tools_tokens: int
    layout: Layout = Layout()
    layout_tokens: int = 0
    scope: str = ""
    knowledge: tuple[str, ...] = ()
    time_ms: int
    prices: Prices = DEFAULT_PRICES
    factor: float = 0.0
    wide: bool = False
    extra_tokens: int = 0
    text: str | None


class Recounted(msgspec.Struct, frozen=True, kw_only=True, tag="recounted"):
    """Tokens of verbatim messages, counted anew: (sequence, tokens); and of the blocks, oldest first."""

    tokens: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...] = ()
    text: str | None = None


class Calibrated(msgspec.Struct, frozen=True, kw_only=True, tag="calibrated"):
    """The provider's usage said how to count for the model; what is shown stays, and is counted anew.

    `entries` are (sequence, tokens, tokens of the whole message), `blocks` (tokens, tokens of the summary), `notes`
    (sequence, tokens, tokens apart).
    """

    factor: float
    wide: bool
    extra_tokens: int
    system_tokens: int
    tools_tokens: int
    entries: tuple[tuple[int, int, int], ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    notes: tuple[tuple[int, int, int], ...] = ()
    head_tokens: int = 0
    text: str | None = None


class MessageAdded(msgspec.Struct, frozen=True, kw_only=True, tag="message"):
    """A message came in. `text` is its wire form.

    `marked`: made by us, the "no result" that closes a tool call left open. `late`: the answer to a call
    that is closed already: kept and listed, never shown, so that the past is not rewritten.
    """

    id: str
    tokens: int
    time_ms: int
    offset_minutes: int
    shortened: Shortened | None = None
    marked: bool = False
    late: bool = False
    text: str | None


class TurnOpened(msgspec.Struct, frozen=True, kw_only=True, tag="turn_opened"):
    """A turn began (or, with the same id, began again) with the user message of that id."""

    turn_id: str
    time_ms: int
    text: str | None = None


class TurnClosed(msgspec.Struct, frozen=True, kw_only=True, tag="turn_closed"):
    """A turn ended: `complete`, `partial`, `unanswered` or `failed`.

    `trace` is that of its last context, as `Trace` is packed: ids and numbers, no words. Empty where there is none.
    """

    turn_id: str
    outcome: str
    time_ms: int
    trace: bytes = b""
    text: str | None = None


class Told(msgspec.Struct, frozen=True):
    """What a note says beside memories: of the task that event `task` set (0 for none), and of the profile.

    `profiled`: long-term memory was asked for the profile, and answered.
    """

    task: int = 0
    task_tokens: int = 0
    profile_tokens: int = 0
    profiled: bool = False


class NoteWritten(msgspec.Struct, frozen=True, kw_only=True, tag="note"):
    """What memory added to the user message `message_sequence`; `text` is empty where it had nothing to add.

    `text` is a JSON object: `merged`, the message's wire form with the note inside, and `apart`, a wire
    message before it for what the user did not say (or an empty string).

    """

    message_sequence: int
    tokens: int
    apart_tokens: int = 0
    items: tuple[tuple[str, int], ...] = ()  # id and version of what it shows
    told: Told = Told()
    text: str | None


class Cut(msgspec.Struct, frozen=True, kw_only=True, tag="cut"):
    """The budget was met before a compaction was back: these messages leave the view or are shortened."""

    out: tuple[int, ...]
    shortened: tuple[Shortened, ...] = ()
    text: str | None = None


class Released(msgspec.Struct, frozen=True, kw_only=True, tag="released"):
    """These messages leave working memory: the policy will never show them again. The record keeps them."""

    sequences: tuple[int, ...]
    text: str | None = None


class TaskChanged(msgspec.Struct, frozen=True, kw_only=True, tag="task"):
    """The task is another, or (`ended`) there is none. `text` is a JSON object of goal, step and values.

    `fresh`: it is a new task, for which no calls were made yet.
    """

    fresh: bool = False
    ended: bool = False
    text: str | None


class BlockMade(msgspec.Struct, frozen=True, kw_only=True, tag="block"):
    """The messages from `first` to `last`, and blocks inside that span, are replaced by a summary block.

    It stands where they stood. `merges`: the span begins with the first block, so that it takes in all before it.
    `text` is a JSON object: `summary`, and `wire`, the block's message with its exact values.
    """

    first: int
    last: int
    merges: bool
    method: str
    tokens: int
    summary_tokens: int
    values_tokens: int
    text: str | None


class BlocksDropped(msgspec.Struct, frozen=True, kw_only=True, tag="blocks_dropped"):
    """The blocks do not fit beside what must stay: they leave the view until they fit, or one takes their place."""

    text: str | None = None


class BlocksReturned(msgspec.Struct, frozen=True, kw_only=True, tag="blocks_returned"):
    """The blocks that had left the view fit again."""

    text: str | None = None


class SummaryKept(msgspec.Struct, frozen=True, kw_only=True, tag="summary"):
    """A summary of the messages from `first` to `last` is ready, for when the context nears its budget.

    `text` is the summary; without it none is ready. Recorded, so that a restart neither loses nor delays it.
    """

    first: int
    last: int
    merges: bool
    method: str
    text: str | None


class EpochStarted(msgspec.Struct, frozen=True, kw_only=True, tag="epoch"):
    """Contexts start anew, for `reason`. `text` is a wire message with exact values of messages out of view.

    With `keeps_note` the newest user message keeps its note: its turn is not answered yet. `task_tokens` of the
    message tell of the task; `task` is the event that set it so, or 0.
    """

    reason: str
    keeps_note: bool = False
    tokens: int
    task: int = 0
    task_tokens: int = 0
    time_ms: int
    text: str | None


class Rewound(msgspec.Struct, frozen=True, kw_only=True, tag="rewound"):
    """The session went back to just before event `first`: of the events from there to this one settings alone stay.

    What that means for a replay is in `session.replay`. `sequence` is this event's own; epochs are counted on from
    `epoch_count`, so that no number comes twice.
    """

    first: int
    sequence: int
    epoch_count: int
    time_ms: int
    text: str | None = None


SessionEvent: TypeAlias = (
    Configured
    | Recounted
    | Calibrated
    | MessageAdded
    | TurnOpened
    | TurnClosed
    | NoteWritten
    | Cut
    | Released
    | TaskChanged
    | BlockMade
    | BlocksDropped
    | BlocksReturned
    | SummaryKept
    | EpochStarted
    | Rewound
)

DECODER = msgspec.msgpack.Decoder(SessionEvent)


def encode_event(event: SessionEvent) -> tuple[bytes, str | None]:
    """The event without its words, and its words."""
    return msgspec.msgpack.encode(msgspec.structs.replace(event, text=None)), event.text


def decode_event(body: bytes, text: str | None) -> SessionEvent:
    """The event that `encode_event` made these of.

    Raises:
        msgspec.MsgspecError: The bytes are not an event.
    """
    return msgspec.structs.replace(DECODER.decode(body), text=text)


def message_of(event: SessionEvent) -> Message | None:
    """The message that an event brought, or None where it brought none or its words are erased."""
    if not isinstance(event, MessageAdded) or event.text is None:
        return None
    return from_wire(event.text, id=event.id, time_ms=event.time_ms, offset_minutes=event.offset_minutes)


def summary_of(event: BlockMade) -> str:
    """The summary of a block; empty where its words are erased."""
    return msgspec.json.decode(event.text, type=dict[str, str])["summary"] if event.text else ""
