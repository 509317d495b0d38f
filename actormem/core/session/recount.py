"""What a calibration changes of a session's state: the tokens of everything, and nothing else."""

from typing import TYPE_CHECKING

import msgspec

from actormem.core.session import events as ev

if TYPE_CHECKING:
    from actormem.core.session.working import Working

__all__ = ["recount"]


def recount(state: "Working", event: ev.Calibrated) -> "Working":
    """The state with the tokens that the event says; what it does not know of keeps its own."""
    change = msgspec.structs.replace
    entries = {sequence: (tokens, whole) for sequence, tokens, whole in event.entries}
    notes = {sequence: (tokens, apart) for sequence, tokens, apart in event.notes}
    same_blocks = len(event.blocks) == len(state.blocks)
    return change(
        state,
        settings=change(
            state.settings,
            factor=event.factor,
            wide=event.wide,
            extra_tokens=event.extra_tokens,
            system_tokens=event.system_tokens,
            tools_tokens=event.tools_tokens,
        ),
        entries=tuple(
            change(one, tokens=entries[one.sequence][0], whole_tokens=entries[one.sequence][1])
            if one.sequence in entries
            else one
            for one in state.entries
        ),
        blocks=tuple(
            change(
                block,
                tokens=tokens if block.wire else 0,
                summary_tokens=summary,
                values_tokens=block.values_tokens * tokens // max(1, block.tokens),
            )
            for block, (tokens, summary) in zip(state.blocks, event.blocks, strict=True)
        )
        if same_blocks
        else state.blocks,
        notes={
            sequence: change(note, tokens=notes[sequence][0], apart_tokens=notes[sequence][1])
            if sequence in notes
            else note
            for sequence, note in state.notes.items()
        },
        head_tokens=event.head_tokens if state.head else 0,
    )
