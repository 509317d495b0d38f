"""The layout: where what memory adds stands among the messages, and what is joined to what.

Law of the file: a layout moves words, it never adds or drops any; nothing of memory has role `system`.
"""

from typing import Literal, get_args

import msgspec

from actormem.errors import UsageError, given_as

__all__ = ["Layout"]

NotesPlace = Literal["append", "volatile", "head"]
Join = Literal["own", "none", "all"]


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Where notes stand, and what is joined; set at spawn.

    Attributes:
        notes: `append`: a note stays with its user message until the epoch ends, so that within an epoch each
            request extends the one before. `volatile`: a note stands with the newest user message and goes with
            the next one. `head`: the newest note stands right behind the system prompt. With the last two the
            prefix is stable within a turn only; nothing of an earlier note counts as shown.
        join: `own`: what the user said himself is joined to his message, the rest of a note stands before it.
            `none`: every note is a message of its own. `all`: for chat templates that demand user and assistant
            in turn and know no system message but the first: neighbours of one role are joined, and memory
            closes the gaps that are left with short marked messages of its own. Within an epoch (`append`) all
            messages but the newest stay byte for byte; to the newest, words may be joined.

    Raises:
        UsageError: A value is not one of these.
    """

    notes: NotesPlace = "append"
    join: Join = "own"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("notes", self.notes, get_args(NotesPlace)),
            ("join", self.join, get_args(Join)),
        ):
            if value not in choices:
                raise UsageError(f"{name} must be one of {', '.join(choices)}, not {given_as(value)}")

    @property
    def keeps_notes(self) -> bool:
        """Whether a note outlives its turn."""
        return self.notes == "append"

    @property
    def note_apart(self) -> bool:
        """Whether all of a note is a message of its own."""
        return self.notes == "head" or self.join == "none"
