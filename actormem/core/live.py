"""What happens to a memory while one looks on: ids, kinds and times, never a word of anybody's."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from actormem.core.session.events import (
    BlockMade,
    Configured,
    MessageAdded,
    NoteWritten,
    Rewound,
    TaskChanged,
    TurnClosed,
    TurnOpened,
    decode_event,
)
from actormem.core.values import Owner
from actormem.core.writes import (
    AppendEvents,
    DeleteItems,
    EraseOwner,
    EraseSession,
    PutItems,
    ReplaceTexts,
    Write,
)

__all__ = ["LiveEvent", "happened"]

Happening = Literal[
    "message",
    "turn_opened",
    "turn_ended",
    "note",
    "summary",
    "settings",
    "task",
    "rewound",
    "redacted",
    "items",
    "items_forgotten",
    "session_forgotten",
    "user_forgotten",
    "missed",
]


class LiveEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that has happened to an owner's memory, and is durable.

    Attributes:
        kind: `message`: one was added. `turn_opened`, `turn_ended`: of a turn. `note`: memory added one to a message.
            `summary`: a block takes the place of messages. `settings`, `task`: another one was set. `rewound`: messages
            left. `redacted`: words of messages were cut. `items`: memories were made or changed. `items_forgotten`,
            `session_forgotten`, `user_forgotten`: they are gone. `missed`: events were dropped, because whoever listens
            did not keep up: read everything again.
        owner: Whose memory.
        session_id: The session, or an empty string.
        ids: Of the message, of the turn, or of the items that are concerned or that a note shows.
        outcome: Of a turn that ended; else empty.
        time_ms: When it was told, UTC milliseconds.
    """

    kind: Happening
    owner: Owner
    session_id: str = ""
    ids: tuple[str, ...] = ()
    outcome: str = ""
    time_ms: int = 0


def happened(write: Write, time_ms: int) -> Iterator[LiveEvent]:
    """What a write tells to those who look on; nothing for what concerns nobody."""
    match write:
        case AppendEvents(key, events, _):
            for stored in events:
                found = _of_event(stored.body)
                if found is not None:
                    kind, ids, outcome = found
                    yield LiveEvent(
                        kind=kind,
                        owner=key.owner,
                        session_id=key.session_id,
                        ids=ids,
                        outcome=outcome,
                        time_ms=time_ms,
                    )
        case ReplaceTexts(key):
            yield LiveEvent(kind="redacted", owner=key.owner, session_id=key.session_id, time_ms=time_ms)
        case EraseSession(key):
            yield LiveEvent(
                kind="session_forgotten", owner=key.owner, session_id=key.session_id, time_ms=time_ms
            )
        case PutItems(items) if items:
            ids = tuple(item.id for item in items)
            yield LiveEvent(kind="items", owner=items[0].owner, ids=ids, time_ms=time_ms)
        case DeleteItems(owner, ids) if ids:
            yield LiveEvent(kind="items_forgotten", owner=owner, ids=ids, time_ms=time_ms)
        case EraseOwner(owner):
            yield LiveEvent(kind="user_forgotten", owner=owner, time_ms=time_ms)
        case _:
            pass


def _of_event(body: bytes) -> tuple[Happening, tuple[str, ...], str] | None:
    event = decode_event(body, None)
    match event:
        case MessageAdded():
            return "message", (event.id,), ""
        case TurnOpened():
            return "turn_opened", (event.turn_id,), ""
        case TurnClosed():
            return "turn_ended", (event.turn_id,), event.outcome
        case NoteWritten() if event.items:
            return "note", tuple(id for id, _ in event.items), ""
        case BlockMade():
            return "summary", (), ""
        case Configured():
            return "settings", (), ""
        case TaskChanged():
            return "task", (), ""
        case Rewound():
            return "rewound", (), ""
        case _:
            return None
