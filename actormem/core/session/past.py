"""The turns a session has had, as its events tell of them."""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from actormem.core.context.trace import packed_tokens
from actormem.core.session.events import MessageAdded, Rewound, SessionEvent, TurnClosed, TurnOpened

__all__ = ["OPEN", "PastTurn", "past_turns"]

OPEN = "open"


class PastTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a session.

    Attributes:
        id: Of its user message.
        outcome: `complete`, `partial`, `unanswered` or `failed`; `open` for the one that is open.
        began: When it was opened first, in UTC.
        ended: When it ended last, in UTC; None while it is open.
        message_ids: Its messages in order, the user's first, also those added from outside while it was open.
        context_tokens: Of its last context; 0 where none is known.
    """

    id: str
    outcome: str
    began: datetime
    ended: datetime | None
    message_ids: tuple[str, ...]
    context_tokens: int


def past_turns(events: Iterable[SessionEvent]) -> tuple[PastTurn, ...]:
    """The turns among the events that count, by when they were opened first.

    A turn that was resumed is one turn; one whose end was rewound is unanswered since then.
    """
    found: dict[str, PastTurn] = {}
    current = ""
    change = msgspec.structs.replace
    for event in events:
        match event:
            case TurnOpened(turn_id=current):
                begun = PastTurn(
                    id=current,
                    outcome=OPEN,
                    began=_moment(event.time_ms),
                    ended=None,
                    message_ids=(current,),
                    context_tokens=0,
                )
                found[current] = change(found.get(current, begun), outcome=OPEN, ended=None)
            case MessageAdded() if current:
                turn = found[current]
                found[current] = change(turn, message_ids=(*turn.message_ids, event.id))
            case TurnClosed() if current:
                found[current] = change(
                    found[current],
                    outcome=event.outcome,
                    ended=_moment(event.time_ms),
                    context_tokens=packed_tokens(event.trace) or found[current].context_tokens,
                )
                current = ""
            case Rewound() if current:
                found[current] = change(found[current], outcome="unanswered", ended=_moment(event.time_ms))
                current = ""
            case _:
                pass
    return tuple(found.values())


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)
