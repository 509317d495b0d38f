"""What can happen to a session. A session's state is these events, evolved in order.

An event carries ids and numbers. Its words are its `text`, which the record keeps apart, in a column that
can be erased: an event whose words are gone is read back with `text=None`, and replay goes on.
"""

from typing import TypeAlias

import msgspec

from actormem.core.budget import Budget
from actormem.core.values import Message
from actormem.core.wire import from_wire

__all__ = [
    "BlockMade",
    "BlocksDropped",
    "Configured",
    "Cut",
    "EpochStarted",
    "MessageAdded",
    "NoteWritten",
    "Recounted",
    "SessionEvent",
    "Shortened",
    "TurnClosed",
    "TurnOpened",
    "decode_event",
    "encode_event",
    "message_of",
]


class Shortened(msgspec.Struct, frozen=True):
    """How a message that is too large stands in contexts.

    Its first `characters` are kept, a mark says that `dropped_tokens` are missing, then come exact values of the
    rest in at most `values_characters`; all of it takes `tokens`. `tabled`: a result in JSON stands as lines, each
    field's name once, and the characters are of those.
    """

    sequence: int
    characters: int
    tokens: int
    dropped_tokens: int
    values_characters: int = 0
    tabled: bool = False


class Configured(msgspec.Struct, frozen=True, kw_only=True, tag="configured"):
    """Spawn said something new; the settings from here on. `text` is a JSON object of `system` and `tools`.

    `nonce` stands in the delimiters of everything memory adds; it is drawn once per session.
    """

    model: str
    budget: Budget
    timezone: str
    nonce: str
    system_tokens: int
    tools_tokens: int
    time_ms: int
    text: str | None


class Recounted(msgspec.Struct, frozen=True, kw_only=True, tag="recounted"):
    """Tokens of verbatim messages, counted anew: (sequence, tokens); and of the blocks, oldest first."""

    tokens: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...] = ()
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
    """A turn ended: `complete`, `partial`, `unanswered` or `failed`."""

    turn_id: str
    outcome: str
    time_ms: int
    text: str | None = None


class NoteWritten(msgspec.Struct, frozen=True, kw_only=True, tag="note"):
    """What memory added to the user message `message_sequence`; `text` is empty where it had nothing to add.

    `text` is a JSON object: `merged`, the message's wire form with the note inside, and `apart`, a wire
    message before it for what the user did not say (or an empty string).
    """

    message_sequence: int
    tokens: int
    apart_tokens: int = 0
    items: tuple[tuple[str, int], ...] = ()  # id and version of what it shows
    text: str | None


class Cut(msgspec.Struct, frozen=True, kw_only=True, tag="cut"):
    """The budget was met before a compaction was back: these messages leave the view or are shortened."""

    out: tuple[int, ...]
    shortened: tuple[Shortened, ...] = ()
    text: str | None = None


class BlockMade(msgspec.Struct, frozen=True, kw_only=True, tag="block"):
    """The messages from `first` to `last` are replaced by a summary block; with `merges`, all blocks too.

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
    """The blocks do not fit a budget that has shrunk; what they stand for is in the record."""

    text: str | None = None


class EpochStarted(msgspec.Struct, frozen=True, kw_only=True, tag="epoch"):
    """Contexts start anew, for `reason`. `text` is a wire message with exact values of messages out of view.

    With `keeps_note` the newest user message keeps its note: its turn is not answered yet.
    """

    reason: str
    keeps_note: bool = False
    tokens: int
    time_ms: int
    text: str | None


SessionEvent: TypeAlias = (
    Configured
    | Recounted
    | MessageAdded
    | TurnOpened
    | TurnClosed
    | NoteWritten
    | Cut
    | BlockMade
    | BlocksDropped
    | EpochStarted
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
