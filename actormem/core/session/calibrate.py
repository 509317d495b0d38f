"""Deciding to count a session anew, byte for byte as it stands: a calibration says that tokens are others.

Law: nothing that contexts show changes, only what it is counted as. What is then over the budget is cut by the
next context, as ever; so no epoch ends for a better count alone.
"""

from actormem.core.calibration import Calibration
from actormem.core.context.assembly import system_wire
from actormem.core.context.shorten import Counter
from actormem.core.session import events as ev
from actormem.core.session.working import Working
from actormem.core.wire import message_tokens, tools_tokens, wire_tokens

__all__ = ["calibrated"]


def calibrated(state: Working, calibration: Calibration, counter: Counter) -> ev.Calibrated:
    """The event from which on the session counts with this calibration.

    Args:
        counter: Counts so already.

    Cost:
        One count of everything that contexts show: for a thread where that is long.
    """
    settings, count = state.settings, counter.count
    shown = {one.sequence: wire_tokens(one.wire, count, settings.prices) for one in state.entries}
    notes: list[tuple[int, int, int]] = []
    for sequence, note in state.notes.items():
        inside = wire_tokens(note.merged, count, settings.prices) - shown.get(sequence, 0)
        apart = wire_tokens(note.apart, count)
        notes.append((sequence, max(0, inside) + apart, apart))
    return ev.Calibrated(
        factor=calibration.factor,
        wide=calibration.wide,
        extra_tokens=calibration.extra_tokens,
        system_tokens=wire_tokens(system_wire(settings.system), count) if settings.system else 0,
        tools_tokens=tools_tokens(settings.tools, count),
        entries=tuple(
            (one.sequence, shown[one.sequence], message_tokens(one.message, count, settings.prices))
            if one.wire != one.message.wire
            else (one.sequence, shown[one.sequence], shown[one.sequence])
            for one in state.entries
        ),
        blocks=tuple(
            (wire_tokens(one.wire, count), count(one.summary)) for one in (*state.dropped, *state.blocks)
        ),
        notes=tuple(notes),
        head_tokens=wire_tokens(state.head, count),
    )
