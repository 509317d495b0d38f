"""Shares of a note: no memory may take the room of the others.

The law of the file: where all lines fit, none is touched; where they do not, a line that wants more than its part is
told in fewer characters, and none is left out here.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from actormem.core.context.notes import KNOWLEDGE_CHARACTERS_MAX, Line
from actormem.core.context.tasks import FRAME_TOKENS

__all__ = ["SOURCE_HITS", "in_shares"]

SOURCE_HITS: Final = 3  # memories of one message or document in a note: what one says is not all there is
PARTS: Final = 5  # a fifth of the share is the most one memory may take, and
LINE_TOKENS_MIN: Final = 48  # this much in any case: its id and date, and a sentence
CHARACTERS_MIN: Final = 24  # told of a memory however small its part
TRIES: Final = 3  # a part in characters is guessed from the tokens of the whole

One = TypeVar("One")


def in_shares(
    memories: Sequence[One],
    line_of: Callable[[One, int], Line],
    *,
    share_tokens: int,
    count: Callable[[str], int],
) -> list[Line]:
    """The line of each memory, in order.

    Args:
        line_of: The line of a memory, its own words in about so many characters.
        share_tokens: What all of them may take, with the frame of their note.
        count: Tokens of a text.
    """
    lines = [line_of(one, KNOWLEDGE_CHARACTERS_MAX) for one in memories]
    costs = [count(line.text) for line in lines]
    if len(lines) < 2 or sum(costs) + len(lines) + FRAME_TOKENS <= share_tokens:
        return lines
    part = max(share_tokens // PARTS, LINE_TOKENS_MIN)
    for place, one in enumerate(memories):
        characters = len(lines[place].text)
        for _ in range(TRIES):
            if costs[place] <= part or characters <= CHARACTERS_MIN:
                break
            characters = max(CHARACTERS_MIN, characters * part // costs[place] - 1)
            lines[place] = line_of(one, characters)
            costs[place] = count(lines[place].text)
    return lines
