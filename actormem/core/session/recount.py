"""What a calibration changes of a session's state: the tokens of everything, and nothing else."""

import msgspec

from actormem.core.session import events as ev
from actormem.core.session.working import Block, Note, Working

__all__ = ["recount"]


def recount(state: Working, event: ev.Calibrated) -> Working:
    """The state with the tokens that the event says; what it does not know of keeps its own."""
    change = msgspec.structs.replace
    entries = {sequence: (tokens, whole) for sequence, tokens, whole in event.entries}
    notes = {sequence: (tokens, apart) for sequence, tokens, apart in event.notes}
    blocks = _blocks((*state.dropped, *state.blocks), event.blocks)
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
        dropped=blocks[: len(state.dropped)],
        blocks=blocks[len(state.dropped) :],
        notes={
            sequence: _note(note, *notes[sequence]) if sequence in notes else note
            for sequence, note in state.notes.items()
        },
        head_tokens=event.head_tokens if state.head else 0,
        head_task_tokens=_part(state.head_task_tokens, state.head_tokens, event.head_tokens),
    )


def _blocks(blocks: tuple[Block, ...], counted: tuple[tuple[int, int], ...]) -> tuple[Block, ...]:
    if len(blocks) != len(counted):
        return blocks
    return tuple(
        msgspec.structs.replace(
            block,
            tokens=tokens if block.wire else 0,
            summary_tokens=summary,
            values_tokens=_part(block.values_tokens, block.tokens, tokens),
        )
        for block, (tokens, summary) in zip(blocks, counted, strict=True)
    )


def _note(note: Note, tokens: int, apart_tokens: int) -> Note:
    told = msgspec.structs.replace(
        note.told,
        task_tokens=_part(note.told.task_tokens, note.tokens, tokens),
        profile_tokens=_part(note.told.profile_tokens, note.tokens, tokens),
    )
    return msgspec.structs.replace(note, tokens=tokens, apart_tokens=apart_tokens, told=told)


def _part(part_tokens: int, before_tokens: int, after_tokens: int) -> int:
    """A part's tokens once the whole takes others."""
    return part_tokens * after_tokens // max(1, before_tokens)
