"""Which events of a session count after rewinds, and the state they lead to.

The law of the file: a rewind takes every event from its `first` to itself out of the session, settings excepted,
and what was in those events is as if it had never been said. Sequences are never used again.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from actormem.core.session.events import Configured, Rewound, SessionEvent
from actormem.core.session.evolve import evolve
from actormem.core.session.working import Working

__all__ = ["Placed", "reach", "removed", "replay", "survivors"]

Placed: TypeAlias = tuple[int, SessionEvent]
"""An event with its sequence."""


def survivors(events: Iterable[Placed]) -> list[Placed]:
    """The events that count, in order.

    Args:
        events: In order, and without gaps from the lowest `first` among their rewinds.

    Cost:
        O(n): an event is taken out once, settings once for each rewind over them.
    """
    found: list[Placed] = []
    for sequence, event in events:
        if isinstance(event, Rewound):
            settings: list[Placed] = []
            while found and found[-1][0] >= event.first:
                last = found.pop()
                if isinstance(last[1], Configured):
                    settings.append(last)
            found += reversed(settings)
        found.append((sequence, event))
    return found


def removed(events: Sequence[Placed]) -> list[SessionEvent]:
    """The events that rewinds among these took out, in order."""
    stay = {sequence for sequence, _ in survivors(events)}
    return [event for sequence, event in events if sequence not in stay]


def reach(events: Iterable[Placed], first: int) -> int:
    """The lowest sequence that a rewind among these events goes back to, at most `first`."""
    return min((event.first for _, event in events if isinstance(event, Rewound)), default=first)


def replay(state: Working, events: Iterable[Placed]) -> Working:
    """The state after the events.

    Args:
        state: Before them; no rewind among them goes back further than to the first of them.
    """
    for _, event in survivors(events):
        state = evolve(state, event)
    return state
