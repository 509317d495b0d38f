"""What a summary says of a question: the lines that share its words, for a note that has room for two or three.

The law of the file: lines are whole and stay in their order; where none shares a word the first ones stand.
"""

from actormem.core.recall.words import Words
from actormem.core.summary.outdated import is_title

__all__ = ["excerpt"]

JOINT = " | "
LINES_MAX = 400  # looked at: more than any summary has


def excerpt(text: str, query: str, *, characters: int) -> str:
    """The lines of a summary nearest to a query, in one line of about so many characters.

    Args:
        text: A summary, line by line; titles are left out.
        characters: The first line is taken whatever its length, others while they fit.
    """
    lines = [
        line.strip().lstrip("-*•").strip() for line in text.splitlines()[:LINES_MAX] if not is_title(line)
    ]
    lines = [line for line in lines if line]
    words = Words()
    asked = frozenset(words.terms(query))
    shared = [len(asked.intersection(words.terms(line))) for line in lines]
    taken: list[int] = []
    left = characters
    for place in sorted(range(len(lines)), key=lambda place: (-shared[place], place)):
        size = len(lines[place]) + len(JOINT)
        if not taken or size <= left:
            taken.append(place)
            left -= size
    return JOINT.join(lines[place] for place in sorted(taken))
