"""Where a prompt cache that must be told so should end a prefix.

Anthropic's cache takes at most four such places, and each must be at words: one at a message without any moves
to the message before it.
"""

from collections.abc import Mapping, Sequence

from actormem.core.context.assembly import Part
from actormem.core.values import JsonValue

__all__ = ["cache_breakpoints"]

STANDING = ("summary", "values")  # what stands for a whole epoch


def cache_breakpoints(
    parts: Sequence[Part], before: Sequence[Part], messages: Sequence[Mapping[str, JsonValue]]
) -> tuple[int, ...]:
    """Places in `messages` after which a cached prefix should end: at most 4, ascending.

    They are the end of the system prompt, of what stands for the whole epoch, of what the context before held
    already, and of the context.

    Args:
        parts: What `messages` were made of.
        before: The parts of the context before.
    """
    system = 1 if parts and parts[0].section == "system" else 0
    standing = system
    while standing < len(parts) and parts[standing].section in STANDING:
        standing += 1
    held = 0
    while held < min(len(before), len(parts)) and before[held].wire == parts[held].wire:
        held += 1
    ends = (system, standing, held, len(parts))
    found = {_last_with_words(messages[:end]) for end in ends}
    return tuple(sorted(place for place in found if place >= 0))


def _last_with_words(messages: Sequence[Mapping[str, JsonValue]]) -> int:
    """The place of the last message that says something, or -1."""
    return next((place for place in range(len(messages) - 1, -1, -1) if messages[place].get("content")), -1)
