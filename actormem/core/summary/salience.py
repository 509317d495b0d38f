"""Which sentences of a conversation are worth keeping, in which section of a summary, and how much.

Everything is told by the form of the sentence: who says it, cue words of both languages, the exact values in
it. The law of the file: same sentence, same answer; a sentence is left out or cut to whole clauses, never
reworded.
"""

import re
from collections.abc import Sequence
from typing import Final

from actormem.core.summary.cues import (
    ACTS,
    ASKS,
    CHANGES,
    DECIDES,
    DEFERS,
    DONE,
    FILLER,
    NAMES,
    NEEDS,
    PRAISES,
    REQUESTS,
    SETTLES,
    STRESSED,
    YES_NO_END,
)
from actormem.core.summary.outline import Section
from actormem.core.text import HAN
from actormem.core.values import Entity

__all__ = ["asks", "clauses", "defers", "informative", "requests", "section_of", "settles", "weight_of"]

CLAUSE_CHARS_MAX: Final = 160  # a line of a summary; a longer sentence keeps its best clauses
FILLER_CHARS_MAX: Final = 60  # a longer clause says something
SHORT_CHARS: Final = 14  # Latin characters, or a third of it in Chinese: too short to stand by itself
VALUES_COUNTED: Final = 3  # more values in one line do not make it worth more

CLAUSE_END = re.compile(r"[，；。！？!?~～…]+[\s”’」』）)]*|,(?!\d)\s*|[;.](?:\s+|$)")
DRESS = re.compile(r"^\s*(?:(?:[-*•#>|]+|\d{1,2}[.、)])\s+)+")


def clauses(text: str) -> list[str]:
    """The clauses of a sentence, each with the punctuation behind it; joined they are the sentence."""
    found: list[str] = []
    start = 0
    for end in CLAUSE_END.finditer(text):
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    return [clause for clause in found if clause]


def is_filler(clause: str) -> bool:
    """Whether a clause only greets, thanks or hums."""
    bare = CLAUSE_END.sub("", clause).strip(" \t\"'“”‘’()（）*_")
    if not any(character.isalnum() for character in bare):
        return True
    if len(bare) > FILLER_CHARS_MAX:
        return False
    spaces = [place for place, character in enumerate(bare) if character == " "]
    return (
        FILLER.fullmatch(bare) is not None
        or any(  # "ok thanks": two of them without a comma
            FILLER.fullmatch(bare[:place]) and FILLER.fullmatch(bare[place + 1 :]) for place in spaces
        )
    )


def informative(sentence: str, values: Sequence[str] = ()) -> str:
    """The sentence without list marks, bold marks and the greetings in front; empty where nothing is left.

    Args:
        values: Exact values in it: a sentence longer than a line keeps the clauses that hold them first.
    """
    pieces = clauses(DRESS.sub("", sentence).replace("**", "").replace("`", "").strip())
    while pieces and is_filler(pieces[0]):
        pieces.pop(0)
    while pieces and is_filler(pieces[-1]) and not pieces[-1].strip().endswith(("?", "？")):
        pieces.pop()
    return best_clauses(pieces, values).strip(" \t，,；;、")


def best_clauses(pieces: Sequence[str], values: Sequence[str]) -> str:
    """The clauses in their order, as many of the best as make a line; `…` stands for those left out."""
    if sum(map(len, pieces)) <= CLAUSE_CHARS_MAX:
        return "".join(pieces)

    def worth(position: int) -> tuple[int, int]:
        piece = pieces[position]
        held = sum(value in piece for value in values)
        cues = sum(bool(cue.search(piece)) for cue in (NEEDS, DECIDES, DONE, STRESSED))
        return (-2 * held - cues, position)

    chosen: set[int] = set()
    left = CLAUSE_CHARS_MAX
    for position in sorted(range(len(pieces)), key=worth):
        if len(pieces[position]) <= left:
            chosen.add(position)
            left -= len(pieces[position])
    if not chosen:
        return ""
    parts: list[str] = []
    for position in sorted(chosen):
        if position and position - 1 not in chosen:
            parts.append("…")
        parts.append(pieces[position])
    return "".join(parts) + ("" if len(pieces) - 1 in chosen else "…")


def asks(sentence: str) -> bool:
    """Whether a sentence asks for something: a question, with or without its mark."""
    return ASKS.search(sentence) is not None


def requests(sentence: str) -> bool:
    """Whether a sentence asks the hearer to do something: a need, though it may look like a question."""
    return REQUESTS.search(sentence) is not None


def defers(sentence: str) -> bool:
    """Whether a sentence leaves something open: later, not yet, to be confirmed."""
    return DEFERS.search(sentence) is not None


def settles(text: str) -> bool:
    """Whether a whole message only says yes or no to what was asked before; thanks beside it may stand."""
    if len(text) > FILLER_CHARS_MAX:
        return False
    parts = [part for part in YES_NO_END.split(text.lower()) if part]
    first = " ".join(parts[:1])
    rest = [part for part in parts[1:] if not is_filler(part)]
    return SETTLES.fullmatch(" ".join([first, *rest])) is not None


def section_of(sentence: str, role: str, values_count: int) -> Section:
    """The section in which a statement stands (questions are placed by whether they were answered)."""
    if defers(sentence):
        return "open"
    if DECIDES.search(sentence):
        return "decisions"
    if role == "user":
        if REQUESTS.search(sentence) or NEEDS.search(sentence):
            return "needs"
        if DONE.search(sentence):
            return "decisions"
        return "values" if values_count or NAMES.search(sentence) else "needs"
    return "decisions" if DONE.search(sentence) else "values"


def weight_of(sentence: str, role: str, section: Section | None, entities: Sequence[Entity]) -> float:
    """How much a line is worth, about 0.1 to 3: cue words, exact values and stress count; length costs."""
    weight = BASE.get((role, section), 0.3)
    weight += 0.3 * min(len({entity.normal for entity in entities}), VALUES_COUNTED)
    cued = {"needs": NEEDS, "decisions": DECIDES, "values": NAMES, "open": DEFERS}
    if section is not None and cued[section].search(sentence):
        weight += 0.3
    if STRESSED.search(sentence):
        weight += 0.4
    if CHANGES.search(sentence):
        weight += 0.3
    if PRAISES.search(sentence):
        weight -= 0.5
    if role == "tool":
        return weight + (0.4 if ACTS.search(sentence.partition("(")[0]) else 0.0)
    length = len(sentence) + 1.5 * len(HAN.findall(sentence))
    if length < SHORT_CHARS:
        weight -= 0.3
    return weight - 0.2 * max(0.0, length / CLAUSE_CHARS_MAX - 0.5)


BASE: Final[dict[tuple[str, Section | None], float]] = {
    ("user", "needs"): 0.8,
    ("user", "decisions"): 0.9,
    ("user", "values"): 0.7,
    ("user", "open"): 0.9,
    ("assistant", "needs"): 0.4,
    ("assistant", "decisions"): 0.7,
    ("assistant", "values"): 0.2,
    ("assistant", "open"): 0.6,
    ("tool", "decisions"): 0.9,
    ("tool", "values"): 0.7,
    ("tool", "open"): 0.8,
}
