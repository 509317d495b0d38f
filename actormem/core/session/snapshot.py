"""The state of a session as bytes, so that waking need not replay a long life from its first event.

A snapshot is a cache: one that cannot be read is left aside and the events are replayed. It holds words, so
whatever erases words erases the session's snapshot too.
"""

from zlib import crc32

import msgspec

from actormem.core.entities import EntityTable
from actormem.core.session.working import Block, Entry, Note, Ready, Settings, Working
from actormem.core.task import Task
from actormem.core.values import Message
from actormem.core.wire import from_wire

__all__ = ["decode_state", "encode_state"]

SNAPSHOT_VERSION = 1
CHECK_BYTES = 4  # a CRC-32 in front: a flipped bit inside a text would still be a text


class EntryRow(msgspec.Struct, frozen=True, array_like=True):
    """An entry, its message as wire text alone."""

    sequence: int
    group: int
    id: str
    time_ms: int
    offset_minutes: int
    whole: str
    shown: str
    tokens: int
    whole_tokens: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`Working`, in types that are read back as they were written."""

    version: int
    settings: Settings
    sequence: int
    entries: tuple[EntryRow, ...]
    out: tuple[int, ...]
    open_calls: tuple[str, ...]
    blocks: tuple[Block, ...]
    dropped: tuple[Block, ...] = ()
    ready: Ready | None = None
    head: str
    head_tokens: int
    head_task_tokens: int = 0
    task: Task | None = None
    task_sequence: int = 0
    task_shown: int = 0
    notes: dict[int, Note]
    noted: int
    shown: dict[str, int]
    shown_at: dict[str, int] = {}
    profiled: bool = False
    entities: EntityTable
    turn_id: str
    outcomes: dict[str, str]
    epoch_count: int
    epoch_reason: str
    message_count: int
    history_tokens: int
    compaction_count: int
    rewound: int = 0


DECODER = msgspec.msgpack.Decoder(Snapshot)
OWN_FIELDS = ("version", "entries", "out")


def encode_state(state: Working) -> bytes:
    """The state as bytes."""
    same = {name: getattr(state, name) for name in Snapshot.__struct_fields__ if name not in OWN_FIELDS}
    snapshot = Snapshot(
        version=SNAPSHOT_VERSION,
        entries=tuple(_row(entry) for entry in state.entries),
        out=tuple(sorted(state.out)),
        **same,
    )
    body = msgspec.msgpack.encode(snapshot)
    return _check(body) + body


def decode_state(body: bytes) -> Working | None:
    """The state that `encode_state` wrote so; None where they are damaged or of another version."""
    if body[:CHECK_BYTES] != _check(body[CHECK_BYTES:]):
        return None
    try:
        snapshot = DECODER.decode(body[CHECK_BYTES:])
        if snapshot.version != SNAPSHOT_VERSION:
            return None
        entries = tuple(_entry(row) for row in snapshot.entries)
    except ValueError:  # msgspec's own and ours: bytes of a version that wrote other fields or messages
        return None
    same = {name: getattr(snapshot, name) for name in Snapshot.__struct_fields__ if name not in OWN_FIELDS}
    return Working(entries=entries, out=frozenset(snapshot.out), **same)


def _check(body: bytes) -> bytes:
    return crc32(body).to_bytes(CHECK_BYTES, "big")


def _row(entry: Entry) -> EntryRow:
    message: Message = entry.message
    return EntryRow(
        entry.sequence,
        entry.group,
        message.id,
        message.time_ms,
        message.offset_minutes,
        message.wire,
        "" if entry.wire == message.wire else entry.wire,
        entry.tokens,
        entry.whole_tokens,
    )


def _entry(row: EntryRow) -> Entry:
    message = from_wire(row.whole, id=row.id, time_ms=row.time_ms, offset_minutes=row.offset_minutes)
    return Entry(
        sequence=row.sequence,
        group=row.group,
        message=message,
        wire=row.shown or row.whole,
        tokens=row.tokens,
        whole_tokens=row.whole_tokens,
    )
