"""A summary without the clauses that say what is no longer so.

The law of the file: words are only taken out. A clause that names the new value beside the old one tells of the
change, and stays.
"""

import re
from collections.abc import Iterable, Sequence

from actormem.core.summary.salience import clauses

__all__ = ["without_outdated"]

HEAD = re.compile(r"\s*[-*•]\s+(?:[^:：\s]{1,24}[:：]\s?)?")
EDGES = " ，,；;、…"


def without_outdated(text: str, replaced: Iterable[tuple[str, str]]) -> str:
    """The text without clauses that hold a replaced value and not its replacement.

    Args:
        text: A summary, line by line.
        replaced: (old value, new value); the new one is empty where nothing took its place.

    Returns:
        The lines that are left; a title whose lines are gone goes too. Empty where nothing is left.
    """
    pairs = [(old, new) for old, new in replaced if old and old != new]
    if not any(old in text for old, _ in pairs):
        return text
    lines = [_without(line, pairs) for line in text.splitlines()]
    return "\n".join(_without_empty_titles([line for line in lines if line]))


def _without(line: str, pairs: Sequence[tuple[str, str]]) -> str:
    """The line behind its mark and speaker without outdated clauses; empty where none is left."""
    head = HEAD.match(line)
    front = head[0] if head else ""
    words = line[len(front) :]
    for old, new in pairs:
        if old in words and not (new and new in words):
            words = "".join(clause for clause in clauses(words) if old not in clause).rstrip(EDGES)
    return front + words if words.strip() else ""


def _without_empty_titles(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in reversed(lines):
        if not is_title(line) or (kept and not is_title(kept[-1])):
            kept.append(line)
    return kept[::-1]


def is_title(line: str) -> bool:
    return line.endswith((":", "：")) and not line.startswith("- ")
